//! Rules for workloads and NodePools that scheduling treats differently than written.

family! {
    feature_gate_needed in "files",
    node_limit_enforced in "files",
    on_demand_selector_skips_reservations in "files",
    resource_claims_ignored in "files",
    spread_needs_more_zones in "kubernetes",
    topology_spread_regression in "files",
}
