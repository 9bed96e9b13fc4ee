//! Rules about nodes that Karpenter never disrupts, or disrupts too often.

family! {
    budget_blocks_always,
    budget_blocks_node_repair,
    budget_schedule_never_runs,
    budget_window_inverted,
    ca_bundle_drift in "files",
    consolidate_after_shields_nodes in "files",
    disruption_cost_ignored in "kubernetes",
    do_not_disrupt_bad_value in "kubernetes",
    do_not_disrupt_duration in "files",
    do_not_disrupt_wrong_place in "kubernetes",
    expiry_ignores_budgets,
    nodeclass_hash_changes in "files",
    pdb_overlap in "kubernetes",
    pdb_selector_mismatch in "kubernetes",
    pdb_unhealthy_pods_block in "kubernetes",
    pdb_zero_disruption in "kubernetes",
    pod_deletion_cost_replaced in "files",
    release_with_regression in "files",
}
