//! Requirements and limits of NodePools with which Karpenter launches nothing, or other nodes than intended.

pub(crate) mod accelerator_pool_untainted;
pub(crate) mod capacity_type_omitted_means_spot;
pub(crate) mod catch_all_outweighs_specific;
pub(crate) mod device_plugin_missing;
pub(crate) mod ephemeral_request_too_big;
pub(crate) mod equal_weight_overlap;
pub(crate) mod exists_label_without_consumers;
pub(crate) mod gpu_pod_without_request;
pub(crate) mod gpu_request_without_toleration;
pub(crate) mod gt_lt_off_by_one_or_unit;
pub(crate) mod instance_scope_unbounded;
pub(crate) mod limit_unit_or_too_small;
pub(crate) mod max_pods_vs_eni;
pub(crate) mod odcr_mismatch;
pub(crate) mod overlay_gate_off;
pub(crate) mod pod_eni_trunk;
pub(crate) mod pool_without_limits;
pub(crate) mod raid0_without_nvme;
pub(crate) mod requests_exceed_any_type;
pub(crate) mod requirement_contradiction;
pub(crate) mod reserved_enis_unset;
pub(crate) mod single_type_or_zone_pool;
pub(crate) mod spot_only_no_fallback;
pub(crate) mod spot_to_spot_disabled;
pub(crate) mod static_pool_misuse;
pub(crate) mod unknown_extended_resource;
pub(crate) mod zone_outside_nodeclass;
pub(crate) mod zones_of_several_regions;

family! {
    accelerator_pool_untainted,
    capacity_type_omitted_means_spot,
    catch_all_outweighs_specific in "node-pools",
    device_plugin_missing in "files",
    ephemeral_request_too_big in "files",
    equal_weight_overlap in "node-pools",
    exists_label_without_consumers in "files",
    gpu_pod_without_request in "kubernetes",
    gpu_request_without_toleration in "files",
    gt_lt_off_by_one_or_unit,
    instance_scope_unbounded,
    limit_unit_or_too_small,
    max_pods_vs_eni in "files",
    odcr_mismatch in "node-pools",
    overlay_gate_off in "files",
    pod_eni_trunk in "files",
    pool_without_limits,
    raid0_without_nvme in "node-pools",
    requests_exceed_any_type in "files",
    requirement_contradiction,
    reserved_enis_unset in "files",
    single_type_or_zone_pool,
    spot_only_no_fallback,
    spot_to_spot_disabled in "files",
    static_pool_misuse in "files",
    unknown_extended_resource in "files",
    zone_outside_nodeclass in "node-pools",
    zones_of_several_regions,
}
