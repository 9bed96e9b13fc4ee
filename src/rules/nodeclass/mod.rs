//! Node classes that look healthy but do not work as intended.

family! {
    al2_alias_unsupported in "files",
    al2_end_of_life,
    alias_version_format,
    auto_mode_mixups,
    bottlerocket_block_devices,
    bottlerocket_raid0_paths in "files",
    bottlerocket_raid0_too_old in "files",
    compat_annotation_leftover,
    instance_profile_is_arn,
    nodeclass_fields_missing,
    nodeclass_ref_dangling,
    nodeclass_ref_incomplete,
    nodeclass_role_is_arn,
    open_reservations_unused in "files",
    resource_id_format,
    role_path_makes_profiles in "files",
    root_device_name_mismatch,
    selector_comma_list,
    selector_term_id_mixed,
    status_contradiction,
}
