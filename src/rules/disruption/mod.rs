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

family! {
    budget_blocks_always,
    budget_blocks_node_repair,
    budget_schedule_never_runs,
    budget_window_inverted,
    ca_bundle_drift in "files",
    churn_consolidate_after_short,
    consolidate_after_shields_nodes in "files",
    consolidation_off,
    disruption_cost_ignored in "kubernetes",
    do_not_disrupt_bad_value in "kubernetes",
    do_not_disrupt_duration in "files",
    do_not_disrupt_overridden_by_tgp in "kubernetes",
    do_not_disrupt_pins_node_forever in "kubernetes",
    do_not_disrupt_wrong_place in "kubernetes",
    expire_after_misuse,
    expiry_ignores_budgets,
    job_protected_unbounded in "kubernetes",
    job_unprotected in "kubernetes",
    nodeclass_hash_changes in "files",
    pdb_overlap in "kubernetes",
    pdb_selector_mismatch in "kubernetes",
    pdb_unhealthy_pods_block in "kubernetes",
    pdb_zero_disruption in "kubernetes",
    pod_deletion_cost_replaced in "files",
    release_with_regression in "files",
    single_replica_no_budget_downtime in "kubernetes",
}
