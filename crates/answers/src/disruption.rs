//! Disruption that Karpenter may cause: the answer of `disruption --format json`.

use crate::report::{RelatedLocation, ReportedFinding};
use disruption::allowance::DisruptionReason;
use disruption::blocked_by::BlockedBy;
use disruption::command::Decision;
use disruption::methods::Method;
use serde::Serialize;

use crate::{DateTime, OrEmpty, PricedType};

/// Disruption in a cluster at an instant.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DisruptionAnswer {
    /// Version of the shape of this answer.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
    pub schema: u8,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Release of Karpenter.
    pub karpenter_version: String,
    /// The instant.
    pub at: DateTime,
    /// The method that acts now.
    pub acts: OrEmpty<Method>,
    /// The NodePools, by name.
    pub node_pools: Vec<LimitedPool>,
    /// The nodes, by name.
    pub nodes: Vec<NodeObstacle>,
    /// The methods, in the order in which Karpenter tries them.
    pub methods: Vec<MethodAnswer>,
    /// The estimated termination of each node, by name.
    pub drain: Vec<NodeDrain>,
    /// The findings of `check` in the input.
    pub findings: Vec<ReportedFinding>,
}

/// Limits of the disruption of a NodePool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LimitedPool {
    /// Name of the NodePool.
    pub name: String,
    /// Number of nodes that budgets count.
    pub nodes: usize,
    /// Limit for each reason of disruption.
    pub budgets: Vec<ReasonBudget>,
}

/// Number of nodes that all budgets together allow for a reason.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasonBudget {
    /// The reason.
    pub reason: DisruptionReason,
    /// The number that the controller uses: 0 where a budget cannot be evaluated.
    pub allowed: i64,
    /// Whether there is no limit; then `allowed` has no meaning.
    pub unlimited: bool,
    /// Whether each budget limits now.
    pub active: Vec<BudgetActivity>,
    /// Karpenter's texts for budgets that it cannot evaluate, or the reason for which it refuses the NodePool; else empty.
    pub error: String,
    /// Time at which the number changes.
    pub until: OrEmpty<DateTime>,
}

/// Whether a budget limits now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(untagged)]
pub enum BudgetActivity {
    /// Whether the window of the budget is open, or the budget has none.
    Known(bool),
    /// Karpenter cannot evaluate the schedule.
    Unknown(BrokenBudget),
}

/// Word for a budget that Karpenter cannot evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum BrokenBudget {
    /// The only word.
    Error,
}

/// Node with the first thing that keeps it from being disrupted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodeObstacle {
    /// Name of the node.
    pub name: String,
    /// Name of its NodePool.
    pub node_pool: String,
    /// Whether the methods consider the node.
    pub candidate: bool,
    /// Kind of obstacle.
    pub blocked_by: OrEmpty<BlockedBy>,
    /// Karpenter's text about the obstacle, or a text in its words where Karpenter says nothing.
    pub message: String,
    /// The fields that are the reason.
    pub related: Vec<RelatedLocation>,
    /// Time at which the obstacle goes away by itself.
    pub until: OrEmpty<DateTime>,
}

/// Result of a method of disruption.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MethodAnswer {
    /// The method.
    pub method: Method,
    /// Names of the nodes that it considers.
    pub candidates: Vec<String>,
    /// Its commands.
    pub commands: Vec<CommandAnswer>,
    /// Nodes that it considers and does not disrupt.
    pub rejected: Vec<RejectedNode>,
    /// Names of the nodes whose simulation takes too much work: whether the method disrupts them is unknown.
    pub undecided: Vec<String>,
}

/// Command of a method.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandAnswer {
    /// Fate of the nodes.
    pub decision: Decision,
    /// Names of the nodes that go.
    pub candidates: Vec<String>,
    /// USD per hour.
    pub savings: f64,
    /// The nodes that take their place.
    pub replacements: Vec<ReplacementNode>,
}

/// New node of a command.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ReplacementNode {
    /// Name of the NodePool.
    pub node_pool: String,
    /// Number of instance types.
    pub instance_types: usize,
    /// At most five instance types, by price, then name.
    pub cheapest: Vec<PricedType>,
    /// Capacity types.
    pub capacity_types: Vec<String>,
}

/// Node that a method considers and does not disrupt.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RejectedNode {
    /// Name of the node.
    pub node: String,
    /// Karpenter's text.
    pub message: String,
}

/// Estimated termination of a node.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NodeDrain {
    /// Name of the node.
    pub node: String,
    /// The longest time of the termination; null without a limit.
    pub longest_seconds: Option<i64>,
    /// Whether the termination never ends.
    pub never: bool,
    /// Reasons for a delay, or for its limit.
    pub because: Vec<String>,
}
