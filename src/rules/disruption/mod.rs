//! Rules about nodes that Karpenter never disrupts, or disrupts too often.

family! {
    budget_blocks_always,
    budget_blocks_node_repair,
    budget_schedule_never_runs,
    budget_window_inverted,
    ca_bundle_drift,
    consolidate_after_shields_nodes,
    disruption_cost_ignored,
    do_not_disrupt_duration,
    expiry_ignores_budgets,
    nodeclass_hash_changes,
    pod_deletion_cost_replaced,
    release_with_regression,
}
