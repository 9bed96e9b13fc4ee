//! Rules for workloads and NodePools that scheduling treats differently than written.

pub(crate) mod arch_unconstrained_workload;
pub(crate) mod custom_scheduler_or_nodename;
pub(crate) mod daemonset_excluded_from_karpenter_nodes;
pub(crate) mod daemonset_misses_tainted_pool;
pub(crate) mod daemonset_too_big_for_smallest_type;
pub(crate) mod daemonset_without_priority;
pub(crate) mod feature_gate_needed;
pub(crate) mod memory_limit_above_request;
pub(crate) mod node_limit_enforced;
pub(crate) mod on_demand_selector_skips_reservations;
pub(crate) mod pod_affinity_without_anchor;
pub(crate) mod pod_requests_missing;
pub(crate) mod preferred_rules_act_hard;
pub(crate) mod resource_claims_ignored;
pub(crate) mod spread_needs_more_zones;
pub(crate) mod topology_spread_regression;
pub(crate) mod unsupported_topology_key;

family! {
    arch_unconstrained_workload,
    custom_scheduler_or_nodename in "kubernetes",
    daemonset_excluded_from_karpenter_nodes in "kubernetes",
    daemonset_misses_tainted_pool in "kubernetes",
    daemonset_too_big_for_smallest_type in "files",
    daemonset_without_priority in "kubernetes",
    feature_gate_needed in "files",
    memory_limit_above_request in "kubernetes",
    node_limit_enforced in "files",
    on_demand_selector_skips_reservations in "files",
    pod_affinity_without_anchor in "files",
    pod_requests_missing in "kubernetes",
    preferred_rules_act_hard in "kubernetes",
    resource_claims_ignored in "files",
    spread_needs_more_zones in "kubernetes",
    topology_spread_regression in "files",
    unsupported_topology_key in "kubernetes",
}
