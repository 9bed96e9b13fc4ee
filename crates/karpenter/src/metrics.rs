//! Metrics that a release renames or drops, and labels and values of labels that change.

use crate::release::Releases;

/// A change of a metric, of one of its labels, or of a value of a label.
#[derive(Clone, Copy, Debug)]
pub struct MetricChange {
    /// The minor release that makes the change; `None` for a change of 1.0, which holds in every release.
    pub since: Option<u8>,
    /// The metrics whose label changes; empty if the metric itself changes.
    pub of: &'static [&'static str],
    /// The name or value that no longer exists.
    pub was: &'static str,
    /// Its replacement.
    pub now: MetricReplacement,
}

/// Replacement of a metric, a label or a value.
#[derive(Clone, Copy, Debug)]
pub enum MetricReplacement {
    /// Another name.
    Name(&'static str),
    /// Two names that share what the old name counted.
    Split(&'static str, &'static str),
    /// A name that exists already, so that nothing follows from it on a downgrade.
    Merged(&'static str),
    /// Nothing: the metric is dropped.
    Dropped,
    /// Nothing: the label is dropped.
    LabelDropped,
}

impl MetricChange {
    /// The releases in which the old name does not exist.
    pub fn releases(&self) -> Releases {
        self.since.map_or(Releases::ALL, Releases::since)
    }
}

const fn renamed(was: &'static str, is: &'static str) -> MetricChange {
    MetricChange { since: None, of: &[], was, now: MetricReplacement::Name(is) }
}

const fn dropped(was: &'static str) -> MetricChange {
    MetricChange { since: None, of: &[], was, now: MetricReplacement::Dropped }
}

const fn label(of: &'static [&'static str], was: &'static str, is: &'static str) -> MetricChange {
    MetricChange { since: None, of, was, now: MetricReplacement::Name(is) }
}

impl MetricChange {
    const fn since(mut self, minor: u8) -> Self {
        self.since = Some(minor);
        self
    }
}

const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";
const REASONS: &[&str] = &["karpenter_voluntary_disruption_queue_failures_total", DISRUPTED];
const BUDGETS: &[&str] =
    &["karpenter_nodepools_allowed_disruptions", "karpenter_nodepools_nodes_consuming_budgets"];
/// Metrics of controller-runtime with the label `controller`.
const CONTROLLERS: &[&str] = &[
    "controller_runtime_active_workers",
    "controller_runtime_max_concurrent_reconciles",
    "controller_runtime_reconcile_errors_total",
    "controller_runtime_reconcile_time_seconds",
    "controller_runtime_reconcile_total",
];

/// The changes of 1.0. Source: website/content/en/v1.0/upgrading/v1-migration.md of aws/karpenter-provider-aws, "Updated
/// metrics".
pub const OF_1_0: &[MetricChange] = &[
    renamed("karpenter_nodes_termination_time_seconds", "karpenter_nodes_termination_duration_seconds"),
    renamed("karpenter_nodes_terminated", "karpenter_nodes_terminated_total"),
    renamed("karpenter_nodes_leases_deleted", "karpenter_nodes_leases_deleted_total"),
    renamed("karpenter_nodes_created", "karpenter_nodes_created_total"),
    renamed("karpenter_pods_startup_time_seconds", "karpenter_pods_startup_duration_seconds"),
    renamed(
        "karpenter_disruption_replacement_nodeclaim_failures_total",
        "karpenter_voluntary_disruption_queue_failures_total",
    ),
    renamed(
        "karpenter_disruption_evaluation_duration_seconds",
        "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
    ),
    renamed("karpenter_disruption_eligible_nodes", "karpenter_voluntary_disruption_eligible_nodes"),
    renamed(
        "karpenter_disruption_consolidation_timeouts_total",
        "karpenter_voluntary_disruption_consolidation_timeouts_total",
    ),
    renamed("karpenter_disruption_budgets_allowed_disruptions", "karpenter_nodepools_allowed_disruptions"),
    renamed("karpenter_disruption_actions_performed_total", "karpenter_voluntary_disruption_decisions_total"),
    renamed(
        "karpenter_provisioner_scheduling_simulation_duration_seconds",
        "karpenter_scheduler_scheduling_duration_seconds",
    ),
    renamed("karpenter_provisioner_scheduling_queue_depth", "karpenter_scheduler_queue_depth"),
    renamed("karpenter_interruption_received_messages", "karpenter_interruption_received_messages_total"),
    renamed("karpenter_interruption_deleted_messages", "karpenter_interruption_deleted_messages_total"),
    renamed(
        "karpenter_interruption_message_latency_time_seconds",
        "karpenter_interruption_message_queue_duration_seconds",
    ),
    renamed("karpenter_nodepool_usage", "karpenter_nodepools_usage"),
    renamed("karpenter_nodepool_limit", "karpenter_nodepools_limit"),
    renamed("karpenter_nodeclaims_terminated", "karpenter_nodeclaims_terminated_total"),
    renamed("karpenter_nodeclaims_disrupted", DISRUPTED),
    renamed("karpenter_nodeclaims_created", "karpenter_nodeclaims_created_total"),
    dropped("karpenter_disruption_replacement_nodeclaim_initialized_seconds"),
    dropped("karpenter_disruption_queue_depth"),
    dropped("karpenter_disruption_pods_disrupted_total"),
    dropped("karpenter_consistency_errors"),
    dropped("karpenter_nodeclaims_registered"),
    dropped("karpenter_nodeclaims_launched"),
    dropped("karpenter_nodeclaims_initialized"),
    dropped("karpenter_nodeclaims_drifted"),
    dropped("karpenter_provisioner_scheduling_duration_seconds"),
    dropped("karpenter_interruption_actions_performed"),
];

/// The changes of later releases. Sources: the upgrade guide, and the source beside an entry. For 1.3 the guide writes
/// `karpenter_scheduler_ignored_pod_count`, but the source has `ignored_pods_count`
/// (pkg/controllers/provisioning/scheduling/metrics.go of kubernetes-sigs/karpenter at v1.3.0).
pub const LATER: &[MetricChange] = &[
    dropped("karpenter_nodes_leases_deleted_total").since(1),
    label(REASONS, "Drifted", "drifted").since(2),
    label(REASONS, "Empty", "empty").since(2),
    label(REASONS, "Expired", "expired").since(2),
    label(REASONS, "Underutilized", "underutilized").since(2),
    MetricChange {
        since: Some(2),
        of: CONTROLLERS,
        was: "nodeclass.status",
        now: MetricReplacement::Merged("nodeclass"),
    },
    MetricChange {
        since: Some(2),
        of: CONTROLLERS,
        was: "nodeclass.termination",
        now: MetricReplacement::Merged("nodeclass"),
    },
    renamed("karpenter_ignored_pod_count", "karpenter_scheduler_ignored_pods_count").since(3),
    // kubernetes-sigs/karpenter#2364
    MetricChange {
        since: Some(6),
        of: &["karpenter_nodeclaims_created_total"],
        was: "capacity_type",
        now: MetricReplacement::LabelDropped,
    },
    renamed("karpenter_pods_pods_drained_total", "karpenter_pods_drained_total").since(7),
    // kubernetes-sigs/karpenter#2349: a NodeClaim that does not launch has another timeout and reason.
    MetricChange {
        since: Some(7),
        of: &[DISRUPTED],
        was: "liveness",
        now: MetricReplacement::Split("registration_timeout", "launch_timeout"),
    },
    // kubernetes-sigs/karpenter#2757
    renamed("karpenter_nodes_eviction_requests_total", "karpenter_pods_eviction_requests_total").since(9),
    // The guide of 1.15, which writes `karpenter_nodepool_` for these metrics.
    label(BUDGETS, "Drifted", "drifted").since(15),
    label(BUDGETS, "Empty", "empty").since(15),
    label(BUDGETS, "Underutilized", "underutilized").since(15),
    // kubernetes-sigs/karpenter#3323
    label(&["karpenter_cloudprovider_errors_total"], "error=\"\"", "error=\"unknown\"").since(15),
];
