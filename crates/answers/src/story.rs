//! Stories: what happened to one node, pod or NodePool over time, as plain data in the shape of the JSON report.

use rule::finding::Severity;
use serde::Serialize;

use crate::report::Confidence;

/// The events in the life of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// The name of the cluster; empty if there is only one.
    pub cluster: String,
    /// The kind of object.
    pub kind: StoryKind,
    /// The name, with the namespace of a pod.
    pub name: String,
    /// The events, in the order of time.
    pub steps: Vec<StoryStep>,
    /// The diagnoses that are about the object, the most severe first.
    pub causes: Vec<StoryCause>,
    /// The NodeClaims of the object, in the order of their creation.
    pub lifelines: Vec<Lifeline>,
    /// Number of steps that were left out because there are too many.
    pub forgotten: u64,
}

/// Diagnosis that explains a part of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StoryCause {
    /// Name of the symptom.
    pub rule: &'static str,
    /// Severity of the problem.
    pub severity: Severity,
    /// Confidence of the diagnosis.
    pub confidence: Confidence,
    /// The problem in one sentence.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// Kind of object that has a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum StoryKind {
    /// A Node or NodeClaim.
    Node,
    /// A pod.
    Pod,
    /// A NodePool.
    NodePool,
    /// Every NodeClaim of a cluster, without steps.
    Cluster,
}

impl StoryKind {
    /// The name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::Pod => "Pod",
            Self::NodePool => "NodePool",
            Self::Cluster => "Cluster",
        }
    }
}

/// Kind of a step, in the order of steps with the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    /// Karpenter created the NodeClaim.
    Created,
    /// The instance was launched.
    Launched,
    /// The instance could not be launched.
    LaunchFailed,
    /// The Node joined the cluster.
    Registered,
    /// The Node takes pods.
    Initialized,
    /// Karpenter found a pending pod.
    #[serde(rename = "podFound")]
    Found,
    /// Karpenter found no node for a pod.
    #[serde(rename = "podNotScheduled")]
    NotScheduled,
    /// A pod was nominated for the Node.
    #[serde(rename = "podNominated")]
    Nominated,
    /// A pod was bound to the Node.
    #[serde(rename = "podBound")]
    Bound,
    /// Something kept Karpenter from acting.
    Blocked,
    /// A method of disruption considered the Node.
    Considered,
    /// The NodeClaim drifted.
    Drifted,
    /// Karpenter decided to remove the Node.
    Disrupted,
    /// Karpenter created a replacement.
    Replacing,
    /// The NodeClaim was deleted.
    Deleting,
    /// The drain began.
    Draining,
    /// `terminationGracePeriod` limits the drain.
    DrainLimited,
    /// A pod was evicted.
    #[serde(rename = "podEvicted")]
    Evicted,
    /// The drain ended.
    Drained,
    /// The volumes were detached.
    VolumesDetached,
    /// The instance was terminated.
    Terminated,
    /// The Node was deleted.
    NodeDeleted,
    /// A condition of the NodeClaim changed.
    Condition,
    /// Another event.
    Event,
    /// An error in the log.
    Error,
}

impl StepKind {
    /// Whether it happens once in the life of a NodeClaim, so that a log line, a condition and an event are one step.
    pub const fn is_once(self) -> bool {
        matches!(
            self,
            Self::Created
                | Self::Launched
                | Self::Registered
                | Self::Initialized
                | Self::Deleting
                | Self::Draining
                | Self::Drained
                | Self::VolumesDetached
                | Self::Terminated
                | Self::NodeDeleted
        )
    }
}

/// Step of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StoryStep {
    /// The kind of step.
    pub event: StepKind,
    /// The time, or the first one if it repeats.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub time: Option<String>,
    /// The age in a table, such as `192s ago`, if the input has no time; else empty.
    pub age: String,
    /// The last time, if it repeats.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last: Option<String>,
    /// Number of times.
    pub count: u64,
    /// The NodeClaim; may be empty, like the other names.
    pub node_claim: String,
    /// The Node.
    pub node: String,
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// The NodePool.
    pub node_pool: String,
    /// The reason, such as `Drifted` or `pdb`.
    pub reason: String,
    /// Karpenter's own words, or the properties of the instance.
    pub message: String,
    /// The consequence in one sentence; may be empty.
    pub meaning: String,
    /// The file that shows it.
    pub file: String,
    /// The line that shows it.
    pub line: usize,
}

/// Life of one NodeClaim. A time is absent if the input does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Lifeline {
    /// Name of the NodeClaim.
    pub node_claim: String,
    /// Name of its Node; may be empty.
    pub node: String,
    /// Name of its NodePool; may be empty.
    pub node_pool: String,
    /// Instance type, zone and capacity type; may be empty.
    pub instance: String,
    /// When it was created.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created: Option<String>,
    /// When its instance was launched.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub launched: Option<String>,
    /// When its Node joined the cluster.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub registered: Option<String>,
    /// When its Node could take pods.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub initialized: Option<String>,
    /// When Karpenter decided to remove it.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub disrupted: Option<String>,
    /// Why Karpenter decided to remove it; may be empty.
    pub reason: String,
    /// When its drain began.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub draining: Option<String>,
    /// When its drain ended.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub drained: Option<String>,
    /// When its instance was terminated.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub terminated: Option<String>,
    /// The pods that were bound to its Node, by name.
    pub pods: Vec<String>,
}
