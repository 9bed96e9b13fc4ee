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
    /// New nodes.
    pub node_claims: usize,
    /// USD per hour, if each new node is of its cheapest type.
    pub price_per_hour: f64,
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
    /// Requested amount of each resource.
    pub requests: BTreeMap<String, String>,
    /// Parts of the allocatable CPU, memory and pods of its new node.
    pub usage: BTreeMap<String, f64>,
    /// Placement of the pod.
    pub placed: Placed,
    /// Index of the new node.
    pub node_claim: Option<usize>,
    /// Name of the existing node; else empty.
    pub node: String,
    /// Karpenter's message about a pod without a node; else empty.
    pub message: String,
    /// Reason of each NodePool that does not take the pod.
    pub reasons: Vec<PoolObjection>,
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
    /// Nowhere: Karpenter rejects the pod before scheduling.
    Ignored,
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

/// New node, with the instance types that it can have.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename = "NewNode", rename_all = "camelCase")]
pub struct ReportedNode {
    /// Name of the NodePool.
    pub node_pool: String,
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
