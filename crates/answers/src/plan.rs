//! Effect of a change on nodes: the answer of `plan --format json`.

use disruption::forecast::LimitedBy;
use drift::{DriftReason, Effect, ObjectChangeKind};
use serde::Serialize;

use crate::report::ReportedFinding;
use crate::{DateTime, OrEmpty, PricedType};

/// Effect of a change on the nodes of one or several clusters.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanAnswer {
    /// Version of the shape of this answer.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
    pub schema: u8,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Release of Karpenter after the change.
    pub karpenter_version: String,
    /// Release of Karpenter before the change; the same without an upgrade.
    pub karpenter_version_before: String,
    /// The time of the change.
    pub at: DateTime,
    /// The result in one sentence.
    pub verdict: String,
    /// The strongest effect.
    pub effect: Effect,
    /// The changed objects, by cluster, kind and name.
    pub changes: Vec<PlannedChange>,
    /// The changes of the controller.
    pub controller: Vec<ControllerChange>,
    /// The NodePools that the changes concern, by cluster and name.
    pub node_pools: Vec<PlannedPool>,
    /// The nodes that are replaced or removed, or may be, in the order of their start. Empty without nodes in the input.
    pub nodes: Vec<PlannedNode>,
    /// The rollout of each NodePool. Empty without nodes in the input.
    pub rollouts: Vec<PlannedRollout>,
    /// The cost of the nodes in USD per hour; all 0 without nodes in the input.
    pub cost: PlannedCost,
    /// The pods that the changes concern.
    pub pods: PlannedPods,
    /// Assumptions about facts that the input does not show.
    pub assumptions: Vec<String>,
    /// A finding at each changed field.
    pub findings: Vec<ReportedFinding>,
}

/// Changed object.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlannedChange {
    /// Name of the cluster, environment or overlay; empty if the input has one.
    pub cluster: String,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// Kind of the change.
    pub change: ObjectChangeKind,
    /// The strongest effect of the fields.
    pub effect: Effect,
    /// The reason of drift of this effect.
    pub reason: OrEmpty<DriftReason>,
    /// The NodePools whose nodes the change concerns, by name.
    pub node_pools: Vec<String>,
    /// Consequence for the whole object, such as of its removal; may be empty.
    pub message: String,
    /// Name of the file.
    pub file: String,
    /// Line of the object, from 1.
    pub line: usize,
    /// The changed fields.
    pub fields: Vec<PlannedField>,
}

impl PlannedChange {
    /// A change at a line of a file that may replace nodes, of objects that the input does not show.
    pub fn of_file(
        cluster: &str,
        change: ObjectChangeKind,
        (file, line): (&str, usize),
        message: String,
    ) -> Self {
        Self {
            cluster: cluster.to_owned(),
            kind: String::new(),
            name: String::new(),
            change,
            effect: Effect::Unknown,
            reason: OrEmpty(None),
            node_pools: Vec::new(),
            message,
            file: file.to_owned(),
            line,
            fields: Vec::new(),
        }
    }
}

/// Changed field.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlannedField {
    /// Path of the field in the API server's notation.
    pub path: String,
    /// The effect.
    pub effect: Effect,
    /// The reason of drift.
    pub reason: OrEmpty<DriftReason>,
    /// The value before, shortened; empty if the field is absent or has its default.
    pub old: String,
    /// The value after, shortened; empty if the field is absent or has its default.
    pub new: String,
    /// The effect in a sentence.
    pub message: String,
    /// Name of the file: of the new value, or of the object if the field is removed.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// Name of the file of the old value, or of the old object if the field is new; empty without an old object.
    pub old_file: String,
    /// Line in this file, from 1; 0 without an old object.
    pub old_line: usize,
}

/// Change of the controller.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ControllerChange {
    /// Name of the cluster, environment or overlay; empty if the input has one.
    pub cluster: String,
    /// The changed part of the controller, such as `release`, `EC2NodeClass hash` or the name of an option.
    pub subject: String,
    /// The value before; empty if it is not set.
    pub old: String,
    /// The value after; empty if it is not set.
    pub new: String,
    /// The effect.
    pub effect: Effect,
    /// The effect in a sentence.
    pub message: String,
}

/// Effect of the changes on a NodePool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlannedPool {
    /// Name of the cluster, environment or overlay; empty if the input has one.
    pub cluster: String,
    /// Name of the NodePool.
    pub name: String,
    /// The strongest effect of all changes on its nodes.
    pub effect: Effect,
    /// Number of instance types that it can launch before; null without the NodePool.
    pub instance_types_before: Option<usize>,
    /// Number of instance types that it can launch after; null without the NodePool.
    pub instance_types_after: Option<usize>,
    /// The cheapest instance types before, by price, then name.
    pub cheapest_before: Vec<PricedType>,
    /// The cheapest instance types after, by price, then name.
    pub cheapest_after: Vec<PricedType>,
    /// Whether its budgets never let a drifted node go.
    pub never: bool,
    /// Reasons why no drifted node can go at the time of the change.
    pub blocked: Vec<String>,
}

/// Node that the changes replace or remove, or may.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that programs read")]
pub struct PlannedNode {
    /// Name of the cluster; empty if the input has one.
    pub cluster: String,
    /// Name of the NodeClaim.
    pub node_claim: String,
    /// Name of the Node; empty without one.
    pub node: String,
    /// Name of the NodePool.
    pub node_pool: String,
    /// Whether the node drifts. A node that is removed with its NodePool does not.
    pub drifted: bool,
    /// Whether facts decide that the input does not show, so that the node may drift.
    pub uncertain: bool,
    /// The reason of drift; the possible one if it is uncertain.
    pub reason: OrEmpty<DriftReason>,
    /// Whether Karpenter has marked the node as drifted before the change.
    pub drifted_before: bool,
    /// Time at which the replacement starts; empty if it does not start in the time of the forecast.
    pub start: OrEmpty<DateTime>,
    /// Time at which the node is gone; empty if it is not in the time of the forecast.
    pub end: OrEmpty<DateTime>,
    /// Whether the node is never replaced.
    pub never: bool,
    /// Reasons why the node waits, or is never replaced.
    pub because: Vec<String>,
}

/// Rollout of a NodePool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlannedRollout {
    /// Name of the cluster; empty if the input has one.
    pub cluster: String,
    /// Name of the NodePool.
    pub node_pool: String,
    /// Number of nodes that drift.
    pub nodes: usize,
    /// Time at which the first replacement starts.
    pub start: OrEmpty<DateTime>,
    /// Time at which the last node is gone.
    pub end: OrEmpty<DateTime>,
    /// The cause of the pace.
    pub limited_by: LimitedBy,
    /// Largest number of nodes beyond the number before.
    pub extra_nodes: usize,
}

/// Cost of the nodes in USD per hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PlannedCost {
    /// Before the change.
    pub before: f64,
    /// After the rollout.
    pub after: f64,
    /// The highest during the rollout.
    pub peak: f64,
}

/// Pods that the changes concern.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PlannedPods {
    /// Pods that end without a node, as `NAMESPACE/NAME`.
    pub pending: Vec<String>,
    /// Pods of `pending` that have no place before the change either.
    pub pending_before: Vec<String>,
    /// Number of pods that move to another node.
    pub moved: usize,
    /// Pods that have a place after the change and none before.
    pub gained: Vec<String>,
    /// Pods that have a place before the change and none after.
    pub lost: Vec<String>,
    /// Sentences about pods and PodDisruptionBudgets that hold up the drain of a node.
    pub holding: Vec<String>,
}
