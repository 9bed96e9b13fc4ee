//! Requirements and limits of NodePools with which Karpenter launches nothing, or other nodes than intended.

family! {
    gt_lt_off_by_one_or_unit,
    limit_unit_or_too_small,
    requirement_contradiction,
}
