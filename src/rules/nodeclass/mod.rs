//! Node classes that look healthy but do not work as intended.

pub(crate) mod al2_alias_unsupported;
pub(crate) mod al2_end_of_life;
pub(crate) mod alias_version_format;
pub(crate) mod ami_alias_latest;
pub(crate) mod ami_arch_vs_pool;
pub(crate) mod ami_selector_too_broad;
pub(crate) mod auto_mode_mixups;
pub(crate) mod bottlerocket_block_devices;
pub(crate) mod bottlerocket_raid0_paths;
pub(crate) mod bottlerocket_raid0_too_old;
pub(crate) mod compat_annotation_leftover;
pub(crate) mod gp3_io1_limits;
pub(crate) mod imds_hop_limit_1_vs_consumers;
pub(crate) mod imdsv1_or_hop_2_hardening;
pub(crate) mod instance_profile_is_arn;
pub(crate) mod kms_volume_permissions;
pub(crate) mod nodeclass_fields_missing;
pub(crate) mod nodeclass_ref_dangling;
pub(crate) mod nodeclass_ref_incomplete;
pub(crate) mod nodeclass_role_is_arn;
pub(crate) mod noisy_gitops_drift;
pub(crate) mod open_reservations_unused;
pub(crate) mod resource_id_format;
pub(crate) mod role_path_makes_profiles;
pub(crate) mod root_device_name_mismatch;
pub(crate) mod selector_comma_list;
pub(crate) mod selector_term_id_mixed;
pub(crate) mod status_contradiction;

family! {
    al2_alias_unsupported in "files",
    al2_end_of_life,
    alias_version_format,
    ami_alias_latest,
    ami_arch_vs_pool,
    ami_selector_too_broad,
    auto_mode_mixups,
    bottlerocket_block_devices,
    bottlerocket_raid0_paths in "files",
    bottlerocket_raid0_too_old in "files",
    compat_annotation_leftover,
    gp3_io1_limits,
    imds_hop_limit_1_vs_consumers in "kubernetes",
    imdsv1_or_hop_2_hardening,
    instance_profile_is_arn,
    kms_volume_permissions,
    nodeclass_fields_missing,
    nodeclass_ref_dangling,
    nodeclass_ref_incomplete,
    nodeclass_role_is_arn,
    noisy_gitops_drift,
    open_reservations_unused in "files",
    resource_id_format,
    role_path_makes_profiles in "files",
    root_device_name_mismatch,
    selector_comma_list,
    selector_term_id_mixed,
    status_contradiction,
}
