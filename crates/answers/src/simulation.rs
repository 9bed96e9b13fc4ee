//! Placement of pods: the answer of `simulate --format json`.

use std::collections::BTreeMap;

use crate::report::ReportedFinding;
use scheduling::simulation::ReasonKind;
use serde::Serialize;

use crate::{FieldPlace, PricedType};

/// Placement of the pods of the input.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SimulationAnswer {
    /// Version of the shape of this answer.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
    pub schema: u8,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Release of Karpenter.
    pub karpenter_version: String,
    /// The result in one sentence.
    pub verdict: String,
    /// Totals.
    pub summary: PlacementSummary,
    /// The pods, in the order of the input.
    pub pods: Vec<PlacedPod>,
    /// The new nodes, in the order of their first pod.
    pub node_claims: Vec<ReportedNode>,
    /// The workloads with a chosen number of replicas, by namespace, kind and name.
    pub workloads: Vec<ReportedWorkload>,
    /// Assumptions about things that the input does not show.
    pub assumptions: Vec<String>,
    /// The findings of `check` in the input.
    pub findings: Vec<ReportedFinding>,
}

/// Numbers of pods and nodes, and the price of the new nodes.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlacementSummary {
    /// Pods.
    pub pods: usize,
    /// Pods on new nodes.
    pub new: usize,
    /// Pods on existing nodes.
    pub existing: usize,
    /// Pods without a node.
    pub unplaced: usize,
    /// Pods that Karpenter ignores.
    pub ignored: usize,
    /// Pods whose place is not known, because the input takes too much work.
    pub untried: usize,
    /// New nodes.
    pub node_claims: usize,
    /// The last round of the provisioner that placed a pod; 0 if no round did.
    pub rounds: usize,
    /// USD per hour, if each new node is of its cheapest type.
    pub price_per_hour: f64,
    /// USD per month of 730 hours, if each new node is of its cheapest type.
    pub price_per_month: f64,
    /// USD per hour, if the same nodes are on demand, whether or not their NodePools allow it.
    pub on_demand_price_per_hour: f64,
    /// USD per month of 730 hours, if the same nodes are on demand.
    pub on_demand_price_per_month: f64,
    /// USD per hour, if the same nodes have spot capacity, whether or not their NodePools allow it.
    pub spot_price_per_hour: f64,
    /// USD per month of 730 hours, if the same nodes have spot capacity.
    pub spot_price_per_month: f64,
}

/// Pod with its node, or with the reasons why it has none.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlacedPod {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod; pods of a workload are numbered.
    pub name: String,
    /// Kind and name of the object that has the pod, such as `Deployment/web`.
    pub workload: String,
    /// Name of the node that the pod leaves, because the node is being deleted; else empty.
    pub leaves_node: String,
    /// Requested amount of each resource.
    pub requests: BTreeMap<String, String>,
    /// Parts of the allocatable CPU, memory and pods of its new node.
    pub usage: BTreeMap<String, f64>,
    /// Placement of the pod.
    pub placed: Placed,
    /// Index of the new node.
    pub node_claim: Option<usize>,
    /// Round in which the pod got its place, from 1.
    pub round: Option<usize>,
    /// Name of the existing node; else empty.
    pub node: String,
    /// Karpenter's message about a pod without a node, with the reasons of at most 10 NodePools and the number of the others; for a pod
    /// that was not tried, that it was not; else empty.
    pub message: String,
    /// Reasons of the NodePools that do not take the pod. Of several pods with the same reasons, the first has them.
    pub reasons: Vec<PoolObjection>,
    /// Index of the pod that has the reasons of this pod, if another pod has them.
    pub same_reasons_as: Option<usize>,
    /// Number of further NodePools whose reasons are left out, because very many pods and NodePools disagree.
    pub reasons_left_out: usize,
    /// Field for which Karpenter ignores the pod.
    pub ignored: Option<IgnoredPodField>,
}

/// Field of a pod for which Karpenter ignores the pod.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct IgnoredPodField {
    /// Path of the field.
    pub path: String,
    /// Place of the field.
    pub place: FieldPlace,
    /// Problem of the field.
    pub message: String,
    /// Change with which Karpenter looks at the pod.
    pub remedy: String,
}

/// Placement of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Placed {
    /// On a new node.
    New,
    /// On a node of the input.
    Existing,
    /// Nowhere.
    No,
    /// Nowhere: Karpenter ignores the pod before it schedules.
    Ignored,
    /// Unknown: the simulation ended before it tried the pod, because the input takes too much work.
    Untried,
}

/// Reason for which a NodePool does not take a pod.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PoolObjection {
    /// Name of the NodePool.
    pub node_pool: String,
    /// Kind of the reason.
    pub reason: ReasonKind,
    /// Karpenter's message.
    pub message: String,
    /// Demands of the pod that the NodePool does not meet, with numbers; may be empty.
    pub nearest: String,
    /// Changes after which the pod has a place, as alternatives. Each was simulated; empty if none is known.
    pub remedy: String,
    /// Path of the field of the pod; may be empty.
    pub pod_path: String,
    /// Place of the field of the pod.
    pub pod_place: Option<FieldPlace>,
    /// Path of the field of the NodePool; may be empty.
    pub pool_path: String,
    /// Place of the field of the NodePool.
    pub pool_place: Option<FieldPlace>,
}

/// Workload with a chosen number of replicas.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "ScaledWorkload", rename_all = "camelCase")]
pub struct ReportedWorkload {
    /// Kind.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Pods of the input that stay.
    pub kept: usize,
    /// Pods that are added.
    pub added: usize,
    /// Pods of the input that go.
    pub removed: usize,
}

/// New node, with the instance types that it can have.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "NewNode", rename_all = "camelCase")]
pub struct ReportedNode {
    /// Name of the NodePool.
    pub node_pool: String,
    /// Round that opened the node, from 1.
    pub round: usize,
    /// The pods, as `namespace/name`.
    pub pods: Vec<String>,
    /// Number of instance types.
    pub instance_types: usize,
    /// At most five instance types, by price, then name.
    pub cheapest: Vec<PricedType>,
    /// Zones.
    pub zones: Vec<String>,
    /// Capacity types.
    pub capacity_types: Vec<String>,
    /// Requested amount of each resource, with the requests of DaemonSets.
    pub requests: BTreeMap<String, String>,
    /// Allocatable amount of each resource.
    pub allocatable: BTreeMap<String, String>,
    /// Parts of the allocatable CPU, memory and pods that are requested.
    pub usage: BTreeMap<String, f64>,
    /// Requirements of the NodeClaim, such as `In arm64`, by key.
    pub requirements: BTreeMap<String, String>,
}
