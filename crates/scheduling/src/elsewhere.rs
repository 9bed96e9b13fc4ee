//! Signs that a pod is meant for nodes that Karpenter does not make, or that wait for nobody's rule.

use super::pod::{Expression, Origin, Pod, expressions_of};
use karpenter::labels::{self, is_within};
use manifest::tree::Node;

/// Labels that node groups and other autoscalers put on their nodes, and what there is in their place.
const OF_NODE_GROUPS: &[(&str, Instead)] = &[
    ("eks.amazonaws.com/nodegroup", Instead::Pool),
    ("eks.amazonaws.com/nodegroup-image", Instead::Nothing),
    ("eks.amazonaws.com/sourceLaunchTemplateId", Instead::Nothing),
    ("eks.amazonaws.com/sourceLaunchTemplateVersion", Instead::Nothing),
    ("eks.amazonaws.com/capacityType", Instead::CapacityType),
    ("alpha.eksctl.io/nodegroup-name", Instead::Pool),
    ("alpha.eksctl.io/cluster-name", Instead::Nothing),
    ("alpha.eksctl.io/instance-id", Instead::Nothing),
    ("node.kubernetes.io/lifecycle", Instead::CapacityType),
    ("spotinst.io/node-lifecycle", Instead::CapacityType),
    ("lifecycle", Instead::CapacityType),
    ("k8s.amazonaws.com/accelerator", Instead::Gpu),
    ("cloud.google.com/gke-nodepool", Instead::Pool),
    ("cloud.google.com/gke-spot", Instead::CapacityType),
    ("cloud.google.com/gke-preemptible", Instead::CapacityType),
    ("cloud.google.com/gke-accelerator", Instead::Gpu),
];

/// What a label of a node group is called on Karpenter's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The name of the NodePool.
    Pool,
    /// The capacity type.
    CapacityType,
    /// The labels of accelerators.
    Gpu,
    /// There is nothing like it.
    Nothing,
}

/// What there is instead of a label of node groups that an expression mentions; `None` for any other label.
pub fn of_node_group(expression: &Expression<'_>) -> Option<Instead> {
    let key = expression.key;
    // A name that is anybody's, unless the value is that of the Spot tutorials.
    if key == "lifecycle" && !values(expression).any(|value| value == "Ec2Spot" || value == "OnDemand") {
        return None;
    }
    let known = OF_NODE_GROUPS.iter().find(|(name, _)| *name == key).map(|(_, instead)| *instead);
    let other = key.split_once('/').is_some_and(|(domain, _)| domain == "cloud.google.com");
    known.or(other.then_some(Instead::Nothing))
}

/// Whether a label marks nodes of a control plane, which Karpenter does not make.
pub fn is_control_plane(key: &str) -> bool {
    let role = key.strip_prefix("node-role.kubernetes.io/");
    matches!(role, Some("control-plane" | "controlplane" | "master" | "etcd" | "api-server"))
}

/// Whether a label is put on nodes by what runs there, such as Node Feature Discovery and the GPU operator.
fn is_discovered(key: &str) -> bool {
    const DOMAINS: [&str; 6] = [
        "feature.node.kubernetes.io",
        "nfd.node.kubernetes.io",
        "nvidia.com",
        "amd.com",
        "intel.com",
        "beta.amd.com",
    ];
    let Some((domain, _)) = key.split_once('/') else { return false };
    DOMAINS.iter().any(|other| is_within(domain, other))
}

/// Whether an expression asks for machines that no NodePool can stand for: Fargate, virtual and hybrid nodes.
fn is_of_other_machines(expression: &Expression<'_>) -> bool {
    match expression.key {
        "eks.amazonaws.com/compute-type" | "kubernetes.io/role" => true,
        "type" => values(expression).any(|value| value == "virtual-kubelet"),
        _ => false,
    }
}

fn values<'d>(expression: &Expression<'d>) -> impl Iterator<Item = &'d str> {
    expression.values().filter_map(Node::as_str)
}

/// Whether an expression asks for nodes of another maker.
fn asks(expression: &Expression<'_>) -> bool {
    let key = expression.key;
    let hard = !matches!(expression.origin, Origin::Preferred { .. });
    let elsewhere = of_node_group(expression).is_some()
        || is_control_plane(key)
        || is_discovered(key)
        || is_of_other_machines(expression);
    hard && !expression.operator.is_negative() && elsewhere
}

/// Whether the pod has to run on nodes of another maker.
pub fn is_meant_for_other_nodes(pod: Pod<'_>) -> bool {
    pod.expressions().any(|expression| asks(&expression))
}

/// Whether the pod asks for what nodes of Karpenter alone have, so that no node of another maker can take it: a NodePool, a
/// capacity type, or anything that Karpenter tells of its instances, in the node selector or in every required term.
pub fn is_for_karpenter(pod: Pod<'_>) -> bool {
    let own = |expression: &Expression<'_>| {
        let key = expression.key;
        let known = key == labels::NODEPOOL || key == labels::CAPACITY_TYPE;
        !expression.operator.is_negative() && (known || key.starts_with("karpenter.k8s.aws/"))
    };
    let mut terms = pod.required_terms().peekable();
    let asked = terms.peek().is_some();
    let every = asked && terms.all(|term| expressions_of(term, Origin::NodeSelector).any(|one| own(&one)));
    every || pod.expressions().any(|one| one.origin == Origin::NodeSelector && own(&one))
}

/// Whether the cluster depends on the pod, so that it is often kept on nodes that Karpenter does not manage.
pub fn is_critical(pod: Pod<'_>) -> bool {
    let class = pod.spec().str_at(&["priorityClassName"]).unwrap_or_default();
    let addon = pod.spec().items_at(&["tolerations"]);
    let addon =
        addon.filter_map(|toleration| toleration.str_at(&["key"])).any(|key| key == "CriticalAddonsOnly");
    addon || pod.object().namespace() == "kube-system" || class.starts_with("system-")
}
