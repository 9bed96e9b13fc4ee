//! Requirements and limits of NodePools with which Karpenter launches nothing, or other nodes than intended.

family! {
    accelerator_pool_untainted,
    capacity_type_omitted_means_spot,
    catch_all_outweighs_specific in "files",
    equal_weight_overlap in "files",
    gt_lt_off_by_one_or_unit,
    instance_scope_unbounded,
    limit_unit_or_too_small,
    max_pods_vs_eni in "files",
    odcr_mismatch in "files",
    overlay_gate_off in "files",
    pool_without_limits,
    raid0_without_nvme in "files",
    requirement_contradiction,
    reserved_enis_unset in "kubernetes",
    single_type_or_zone_pool,
    spot_only_no_fallback,
    spot_to_spot_disabled in "files",
    static_pool_misuse in "files",
    zone_outside_nodeclass in "files",
    zones_of_several_regions,
}
