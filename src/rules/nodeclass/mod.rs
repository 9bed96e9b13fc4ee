//! Node classes that look healthy but do not work as intended.

family! {
    compat_annotation_leftover,
    al2_end_of_life,
    instance_profile_is_arn,
    nodeclass_ref_dangling,
    nodeclass_role_is_arn,
    selector_term_id_mixed,
    status_contradiction,
}
