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
