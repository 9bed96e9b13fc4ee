//! Rules for workloads and NodePools that scheduling treats differently than written.

family! {
    feature_gate_needed,
    node_limit_enforced,
    on_demand_selector_skips_reservations,
    resource_claims_ignored,
    topology_spread_regression,
}
