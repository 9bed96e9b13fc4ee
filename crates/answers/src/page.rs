//! Answers of the WebAssembly modules to the page and to programs that use the npm package, beside the answers of the commands.

use std::collections::BTreeMap;

use disruption::allowance::DisruptionReason;
use disruption::blocked_by::BlockedBy;
use disruption::methods::Method;
use drift::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::SkippedFix;
use crate::{CharacterRange, DateTime, FieldPlace, OrEmpty};

/// File. Names that end in `.json` or `.jsonl` are JSON; all other files are YAML.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SourceFile {
    /// Name of the file.
    pub name: String,
    /// Text of the file.
    pub text: String,
}

/// Description of a build.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct About {
    /// Version of Karpwarden.
    pub version: &'static str,
    /// The keys of the settings.
    pub keys: Vec<&'static str>,
    /// Known minor releases of Karpenter, oldest first.
    pub releases: Vec<KnownRelease>,
}

/// Minor release of Karpenter.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct KnownRelease {
    /// Name, such as `1.8`.
    pub name: String,
    /// Newest patch release, such as `1.8.6`.
    pub newest: String,
}

/// Parsed settings, or the mistakes in them.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CheckedSettings {
    /// Every mistake.
    pub problems: Vec<PlacedProblem>,
    /// The settings as written; null if they have a mistake.
    #[cfg_attr(feature = "schema", ts(type = "Settings | null"))]
    pub settings: Option<BTreeMap<String, Value>>,
}

/// Mistake in settings, with its place.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlacedProblem {
    /// Path of the key.
    pub path: String,
    /// The mistake.
    pub message: String,
    /// The key.
    #[serde(flatten)]
    pub range: CharacterRange,
}

/// Files with the safe fixes applied.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct FixedFiles {
    /// The changed files.
    pub files: Vec<SourceFile>,
    /// Number of applied fixes.
    pub applied: usize,
    /// Fixes that were not applied.
    pub skipped: Vec<SkippedFix>,
}

/// Object in a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ListedObject {
    /// Name of the file.
    pub file: String,
    /// Index of the document in its file.
    pub document: usize,
    /// API version of the object.
    pub api_version: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; may be empty.
    pub namespace: String,
    /// Name of the object; may be empty.
    pub name: String,
    /// Operation of an AdmissionReview; empty for a manifest.
    pub operation: OrEmpty<ReviewedOperation>,
    /// Line of the object.
    pub line: usize,
    /// Offset of the object.
    pub offset: usize,
    /// The object; absent unless the caller asks for whole objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional, type = "Json"))]
    pub object: Option<Value>,
    /// The object before an update, or null; absent unless the caller asks for whole objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional, type = "Json"))]
    pub old_object: Option<Value>,
}

/// Operation of an AdmissionReview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "UPPERCASE")]
pub enum ReviewedOperation {
    /// The object is created.
    Create,
    /// The object is updated.
    Update,
    /// The object is deleted.
    Delete,
}

/// Refusal of an object by the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "Refusal", rename_all = "camelCase")]
pub struct ReportedRefusal {
    /// Output of `kubectl`.
    pub output: String,
    /// Whether the server could decode the object. It then calls mutating webhooks before it refuses the object.
    pub is_decoded: bool,
}

/// The effect that a change of a field has on nodes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DescribedField {
    /// The path of the field, or of the field around it that has the effect.
    pub path: String,
    /// The effect.
    pub effect: Effect,
    /// The effect in a few words, such as `replaces every node`.
    pub words: &'static str,
    /// The effect in a sentence.
    pub message: &'static str,
}

/// Instance types that the requirements of a NodePool leave.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TypesOfPool {
    /// Name of the NodePool.
    pub node_pool: String,
    /// Number of instance types without the requirements.
    pub all: usize,
    /// Number of instance types that every requirement allows.
    pub left: usize,
    /// The requirements.
    pub requirements: Vec<TypesOfRequirement>,
}

/// Instance types that one requirement leaves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TypesOfRequirement {
    /// Name of the file.
    pub file: String,
    /// Offset of the first character.
    pub offset: usize,
    /// Offset after the last character.
    pub end_offset: usize,
    /// Key of the requirement.
    pub key: String,
    /// Number of instance types; null if the requirement says nothing about instance types.
    pub types: Option<usize>,
}

/// Calendar of the NodePools, and the obstacles of the nodes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DisruptionOverview {
    /// Release of Karpenter.
    pub karpenter_version: String,
    /// The instant.
    pub at: DateTime,
    /// The result in one sentence.
    pub verdict: String,
    /// The first NodePools, by name.
    pub pools: Vec<PoolWeeks>,
    /// Number of further NodePools.
    pub more_pools: usize,
    /// The first nodes, by name.
    pub nodes: Vec<DisruptedNode>,
    /// Number of further nodes.
    pub more_nodes: usize,
    /// Number of nodes that no method looked at one by one.
    pub unevaluated: usize,
    /// Assumptions about things that the input does not show.
    pub assumptions: Vec<String>,
}

/// The coming week of a NodePool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PoolWeeks {
    /// Name of the NodePool.
    pub name: String,
    /// Number of nodes that budgets count.
    pub nodes: usize,
    /// Of these, the nodes that are not ready or going.
    pub unavailable: usize,
    /// Whether the input shows no nodes and the number is an assumption.
    pub assumed: bool,
    /// Text with which the controller's client refuses the NodePool; else empty.
    pub error: String,
    /// The budgets.
    pub budgets: Vec<BudgetText>,
    /// The weeks, each with the reasons that share it.
    pub weeks: Vec<WeekOfReasons>,
    /// Remarks on the budgets.
    pub remarks: Vec<BudgetRemark>,
}

/// Budget in words.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct BudgetText {
    /// The words.
    pub text: String,
    /// Place of the budget; null for the default budget.
    pub place: Option<FieldPlace>,
}

/// Week, with the reasons for disruption that have it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WeekOfReasons {
    /// The reasons.
    pub reasons: Vec<DisruptionReason>,
    /// The rest of the first number: nodes that are not ready use it up.
    pub left: i64,
    /// The intervals, in the order of time.
    pub intervals: Vec<WeekInterval>,
}

/// Period of a week in which a NodePool allows the same number of disruptions.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WeekInterval {
    /// Start of the period.
    pub start: DateTime,
    /// End of the period.
    pub end: DateTime,
    /// The number that the controller uses.
    pub allowed: i64,
    /// Whether there is no limit; then `allowed` has no meaning.
    pub unlimited: bool,
    /// Karpenter's texts for budgets that it cannot evaluate; else empty.
    pub error: String,
    /// Index of the budget that decides; null if no budget is active.
    pub budget: Option<usize>,
}

/// Remark on the budgets of a NodePool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct BudgetRemark {
    /// The remark.
    pub text: String,
    /// Index of the budget to change.
    pub budget: Option<usize>,
}

/// Node, and what keeps it from being disrupted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DisruptedNode {
    /// Name of the node.
    pub name: String,
    /// Name of its NodePool.
    pub node_pool: String,
    /// Kind of the first obstacle.
    pub blocked_by: OrEmpty<BlockedBy>,
    /// Whether a method disrupts the node.
    pub disrupted: bool,
    /// The method that disrupts the node, or the first obstacle.
    pub state: String,
    /// Meaning of the obstacle, and its remedy; may be empty.
    pub advice: String,
    /// Time at which the obstacle goes away by itself.
    pub until: OrEmpty<DateTime>,
    /// The fields that are the reason.
    pub places: Vec<FieldPlace>,
    /// Conditions of the NodeClaim.
    pub conditions: Vec<String>,
    /// The decision of each method.
    pub methods: Vec<MethodDecision>,
    /// The longest time of the termination in a few words; may be empty.
    pub drain: String,
    /// Reasons for a delay of the termination, or for its limit.
    pub drain_reasons: Vec<String>,
}

/// Decision of a method about a node.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct MethodDecision {
    /// The method.
    pub method: Method,
    /// The decision.
    pub text: String,
}

/// The week of one budget with a schedule, whatever the other budgets do.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ScheduleWeek {
    /// Place of the schedule.
    pub place: FieldPlace,
    /// Name of the NodePool.
    pub node_pool: String,
    /// The budget in words.
    pub budget: String,
    /// `nodes` of the budget.
    pub nodes: String,
    /// The reasons that the budget limits, as written; null for all.
    pub reasons: Option<Vec<String>>,
    /// Whether Karpenter cannot evaluate the schedule.
    pub broken: bool,
    /// Start of the week.
    pub start: DateTime,
    /// End of the week.
    pub end: DateTime,
    /// The windows.
    pub openings: Vec<WindowOpening>,
    /// The first run after the week.
    pub next: Option<DateTime>,
}

/// Window of a schedule.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WindowOpening {
    /// Start of the window.
    pub start: DateTime,
    /// End of the window.
    pub end: DateTime,
}
