//! Rules about manifests that every release accepts but that change their meaning from one release to another. They run
//! only under `karpwarden upgrade`; each rule belongs to the family of the problem that it reports.
//!
//! Like every rule, an upgrade rule declares the releases in which its finding holds: `Releases::since` a boundary for
//! upgrades, `Releases::until` it for downgrades. The driver decides whether the upgrade path crosses the boundary.

family! {
    bottlerocket_raid0_too_old,
    ca_bundle_drift,
    do_not_disrupt_duration,
    feature_gate_needed,
    kubernetes_label_selector_opens,
    metric_renamed,
    neuron_accelerator_renamed,
    node_limit_enforced,
    on_demand_selector_skips_reservations,
    open_reservations_unused,
    al2_alias_unsupported,
    resource_claims_ignored,
    role_path_makes_profiles,
    topology_spread_regression,
    volume_topology_alternatives,
}
