//! Node classes that look healthy and never work.

family! {
    compat_annotation_leftover,
    al2_end_of_life,
    instance_profile_is_arn,
    nodeclass_ref_dangling,
    nodeclass_role_is_arn,
    selector_term_id_mixed,
    status_contradiction,
}
