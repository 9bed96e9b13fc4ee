//! A pod or a node of a cluster, explained: the answer of `why --format json`.

use serde::Serialize;

use crate::disruption::{NodeDrain, NodeObstacle};
use crate::page::MethodDecision;
use crate::simulation::{IgnoredPodField, Placed, PoolObjection, ReportedNode};
use crate::{DateTime, OrEmpty};

/// Explanation of a pod or a node.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WhyAnswer {
    /// Version of the shape of this answer.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
    pub schema: u8,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Release of Karpenter.
    pub karpenter_version: String,
    /// The result in one sentence.
    pub verdict: String,
    /// The pod, if the question is about a pod.
    pub pod: Option<ExplainedPod>,
    /// The node, if the question is about a node, or about a pod that has a node.
    pub node: Option<ExplainedNode>,
    /// Assumptions about things that the cluster does not show.
    pub assumptions: Vec<String>,
}

/// Pod of the cluster.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPod {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// The scheduler of the pod, if another one than kube-scheduler places it; else empty.
    pub scheduler: String,
    /// Effect of the annotation `karpenter.sh/do-not-disrupt`, for a pod that has a node; else empty.
    pub protection: String,
    /// Placement of the pod by Karpenter; null if the pod has a node or needs none.
    pub placement: Option<PodPlacement>,
}

/// Place of a pending pod, or the reasons why it has none.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PodPlacement {
    /// Placement of the pod.
    pub placed: Placed,
    /// Name of the existing node that has room; else empty.
    pub node: String,
    /// The new node that Karpenter would launch.
    pub new_node: Option<ReportedNode>,
    /// Karpenter's message about a pod without a node; for a pod that was not tried, that it was not; else empty.
    pub message: String,
    /// Reasons of the NodePools that do not take the pod.
    pub reasons: Vec<PoolObjection>,
    /// Number of further NodePools whose reasons are left out.
    pub reasons_left_out: usize,
    /// Field for which Karpenter ignores the pod.
    pub ignored: Option<IgnoredPodField>,
}

/// Node of the cluster.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ExplainedNode {
    /// Name of the node.
    pub name: String,
    /// Name of its NodePool; may be empty.
    pub node_pool: String,
    /// Number of pods on the node.
    pub pods: usize,
    /// The instant of the judgement.
    pub at: DateTime,
    /// The condition `Ready` of the Node and the conditions of its NodeClaim, such as `Drifted is True`, each as a sentence.
    pub conditions: Vec<String>,
    /// Time at which the node expires, whatever is in the way.
    pub expires: OrEmpty<DateTime>,
    /// The first thing that keeps the node from being disrupted.
    pub obstacle: NodeObstacle,
    /// Remedy of the obstacle; may be empty.
    pub advice: String,
    /// Whether drift ignores the obstacle, because the NodeClaim has a `terminationGracePeriod`.
    pub ignored_by_drift: bool,
    /// The decision of each method, in the order in which Karpenter tries them.
    pub decisions: Vec<MethodDecision>,
    /// The result of consolidation if Karpenter looked at this node first; may be empty.
    pub alone: String,
    /// The estimated termination of the node.
    pub drain: Option<NodeDrain>,
}
