//! What changes meaning from one release to another while every release accepts it. These rules speak in
//! `karpwarden upgrade` alone; each is of the family of what goes wrong.
//!
//! A rule says where the new meaning holds, as every rule does: `Releases::since` a boundary for the way up, `until` it for
//! the way down. Whether the boundary is crossed is not its business.

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
