//! Rules about nodes that Karpenter never disrupts, or disrupts too often.

family! {
    budget_blocks_always,
    budget_schedule_never_runs,
    budget_window_inverted,
    ca_bundle_drift,
    do_not_disrupt_duration,
    expiry_ignores_budgets,
}
