//! Rules for what observes Karpenter: metrics in alerts and dashboards.

family! {
    metric_renamed,
}
