//! Disruption that does not happen, or happens too much.

mod budgets;

family! {
    budget_blocks_always,
    budget_schedule_never_runs,
    budget_window_inverted,
    expiry_ignores_budgets,
}
