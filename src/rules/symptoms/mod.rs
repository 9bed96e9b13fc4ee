//! Rules for what observes Karpenter: metrics in alerts and dashboards.

pub(crate) mod metric_removed;
pub(crate) mod metric_renamed;
