//! Rules for what observes Karpenter: metrics in alerts and dashboards.

family! {
    metric_removed,
    metric_renamed,
}
