//! Names of the obstacles to the disruption of a node.

/// Kind of the first thing that keeps a node from being disrupted, in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum BlockedBy {
    /// The node has no NodeClaim.
    Unmanaged,
    /// The NodeClaim has no Node.
    NoNode,
    /// The node has not started completely.
    NotInitialized,
    /// The node is going.
    Deleting,
    /// The node is nominated for a pending pod.
    Nominated,
    /// The annotation on the node.
    DoNotDisrupt,
    /// The annotation on a pod.
    PodDoNotDisrupt,
    /// A PodDisruptionBudget allows no eviction of a pod.
    Pdb,
    /// Several PodDisruptionBudgets select one pod.
    SeveralPdbs,
    /// The node has no NodePool, or its NodePool has no instance type.
    NoPool,
    /// The instance type, the zone or the capacity type is unknown.
    NoInstanceType,
    /// The NodePool has a fixed number of nodes.
    Static,
    /// `consolidateAfter` has not passed, or is `Never`.
    ConsolidateAfter,
    /// `consolidationPolicy` allows the disruption of empty nodes only.
    Policy,
    /// The node keeps capacity free for a buffer.
    Condition,
    /// The budgets of the NodePool allow no further disruption.
    Budget,
    /// A command in progress disrupts the node.
    InProgress,
}

impl BlockedBy {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unmanaged => "unmanaged",
            Self::NoNode => "no-node",
            Self::NotInitialized => "not-initialized",
            Self::Deleting => "deleting",
            Self::Nominated => "nominated",
            Self::DoNotDisrupt => "do-not-disrupt",
            Self::PodDoNotDisrupt => "pod-do-not-disrupt",
            Self::Pdb => "pdb",
            Self::SeveralPdbs => "several-pdbs",
            Self::NoPool => "no-pool",
            Self::NoInstanceType => "no-instance-type",
            Self::Static => "static",
            Self::ConsolidateAfter => "consolidate-after",
            Self::Policy => "policy",
            Self::Condition => "condition",
            Self::Budget => "budget",
            Self::InProgress => "in-progress",
        }
    }
}
