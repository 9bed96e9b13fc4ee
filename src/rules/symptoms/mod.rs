//! Rules for what observes Karpenter: metrics in alerts and dashboards.

family! {
    metric_removed in "files",
    metric_renamed in "files",
}
