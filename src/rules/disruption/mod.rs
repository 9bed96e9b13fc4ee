//! Rules about nodes that Karpenter never disrupts, or disrupts too often.

pub(crate) mod budget_blocks_always;
pub(crate) mod budget_blocks_node_repair;
pub(crate) mod budget_schedule_never_runs;
pub(crate) mod budget_window_inverted;
pub(crate) mod ca_bundle_drift;
pub(crate) mod churn_consolidate_after_short;
pub(crate) mod consolidate_after_shields_nodes;
pub(crate) mod consolidation_off;
pub(crate) mod disruption_cost_ignored;
pub(crate) mod do_not_disrupt_bad_value;
pub(crate) mod do_not_disrupt_duration;
pub(crate) mod do_not_disrupt_overridden_by_tgp;
pub(crate) mod do_not_disrupt_pins_node_forever;
pub(crate) mod do_not_disrupt_wrong_place;
pub(crate) mod expire_after_misuse;
pub(crate) mod expiry_ignores_budgets;
pub(crate) mod job_protected_unbounded;
pub(crate) mod job_unprotected;
pub(crate) mod nodeclass_hash_changes;
pub(crate) mod pdb_overlap;
pub(crate) mod pdb_selector_mismatch;
pub(crate) mod pdb_unhealthy_pods_block;
pub(crate) mod pdb_zero_disruption;
pub(crate) mod pod_deletion_cost_replaced;
pub(crate) mod release_with_regression;
pub(crate) mod single_replica_no_budget_downtime;
