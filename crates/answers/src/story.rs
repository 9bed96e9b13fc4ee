//! Stories: what happened to one node, pod or NodePool over time, as plain data in the shape of the JSON report.

use serde::Serialize;

/// The events in the life of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// The name of the cluster; empty if there is only one.
    pub cluster: String,
    /// `Node`, `Pod`, `NodePool`, or `Cluster` for every NodeClaim.
    pub kind: &'static str,
    /// The name, with the namespace of a pod.
    pub name: String,
    /// The events, in the order of time.
    pub steps: Vec<StoryStep>,
    /// The NodeClaims of the object, in the order of their creation.
    pub lifelines: Vec<Lifeline>,
    /// Number of steps that were left out because there are too many.
    pub forgotten: u64,
}

/// Step of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryStep {
    /// The kind of step, such as `launched` or `blocked`.
    pub event: &'static str,
    /// The time, or the first one if it repeats.
    pub time: Option<String>,
    /// The last time, if it repeats.
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
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the keys of the JSON report")]
pub struct Lifeline {
    pub node_claim: String,
    pub node: String,
    pub node_pool: String,
    pub instance: String,
    pub created: Option<String>,
    pub launched: Option<String>,
    pub registered: Option<String>,
    pub initialized: Option<String>,
    /// When Karpenter decided to remove it, and why.
    pub disrupted: Option<String>,
    pub reason: String,
    /// When its drain began and ended.
    pub draining: Option<String>,
    pub drained: Option<String>,
    pub terminated: Option<String>,
    /// The pods that were bound to its Node, by name.
    pub pods: Vec<String>,
}
