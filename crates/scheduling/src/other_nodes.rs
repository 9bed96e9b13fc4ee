//! Pods that are meant for nodes that Karpenter does not launch.

use karpenter::labels::{self, is_within};
use manifest::tree::Node;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};

/// Labels of nodes from node groups and other autoscalers, and their replacements on nodes of Karpenter.
const OF_NODE_GROUPS: &[(&str, LabelReplacement)] = &[
    ("eks.amazonaws.com/nodegroup", LabelReplacement::Pool),
    ("eks.amazonaws.com/nodegroup-image", LabelReplacement::Nothing),
    ("eks.amazonaws.com/sourceLaunchTemplateId", LabelReplacement::Nothing),
    ("eks.amazonaws.com/sourceLaunchTemplateVersion", LabelReplacement::Nothing),
    ("eks.amazonaws.com/capacityType", LabelReplacement::CapacityType),
    ("alpha.eksctl.io/nodegroup-name", LabelReplacement::Pool),
    ("alpha.eksctl.io/cluster-name", LabelReplacement::Nothing),
    ("alpha.eksctl.io/instance-id", LabelReplacement::Nothing),
    // `NodeLabelInstanceGroup` in pkg/apis/kops/instancegroup.go of kubernetes/kops: kOps labels the nodes of its instance groups.
    ("kops.k8s.io/instancegroup", LabelReplacement::Pool),
    ("node.kubernetes.io/lifecycle", LabelReplacement::CapacityType),
    ("spotinst.io/node-lifecycle", LabelReplacement::CapacityType),
    ("lifecycle", LabelReplacement::CapacityType),
    ("k8s.amazonaws.com/accelerator", LabelReplacement::Gpu),
    ("cloud.google.com/gke-nodepool", LabelReplacement::Pool),
    ("cloud.google.com/gke-spot", LabelReplacement::CapacityType),
    ("cloud.google.com/gke-preemptible", LabelReplacement::CapacityType),
    ("cloud.google.com/gke-accelerator", LabelReplacement::Gpu),
];

/// Replacement of a node group label on nodes of Karpenter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelReplacement {
    /// The name of the NodePool.
    Pool,
    /// The capacity type.
    CapacityType,
    /// The labels of accelerators.
    Gpu,
    /// No label.
    Nothing,
}

/// Returns the replacement of a node group label in an expression; `None` for any other label.
pub fn node_group_label(expression: &LabelExpression<'_>) -> Option<LabelReplacement> {
    let key = expression.key;
    // The name is generic; the values come from the Spot tutorials.
    if key == "lifecycle" && !values(expression).any(|value| value == "Ec2Spot" || value == "OnDemand") {
        return None;
    }
    replacement(key)
}

fn replacement(key: &str) -> Option<LabelReplacement> {
    let known = OF_NODE_GROUPS.iter().find(|(name, _)| *name == key).map(|(_, instead)| *instead);
    let other = key.split_once('/').is_some_and(|(domain, _)| domain == "cloud.google.com");
    known.or(other.then_some(LabelReplacement::Nothing))
}

/// Returns the replacement of a label that, whatever its value, belongs to nodes of node groups or of other clouds; `None` for any
/// other label.
pub fn replacement_of_key(key: &str) -> Option<LabelReplacement> {
    replacement(key).filter(|_| key != "lifecycle")
}

/// Whether a label, whatever its value, belongs to nodes of node groups or of other clouds.
pub fn is_node_group_label(key: &str) -> bool {
    replacement_of_key(key).is_some()
}

/// The capacity type that a value of a label of other autoscalers means.
pub fn capacity_type_of(value: &str) -> Option<&'static str> {
    match value {
        "SPOT" | "spot" | "Ec2Spot" => Some("spot"),
        "ON_DEMAND" | "on-demand" | "od" | "normal" | "OnDemand" => Some("on-demand"),
        _ => None,
    }
}

/// Whether a label marks control-plane nodes, which Karpenter does not launch.
pub fn is_control_plane(key: &str) -> bool {
    let role = key.strip_prefix("node-role.kubernetes.io/");
    matches!(role, Some("control-plane" | "controlplane" | "master" | "etcd" | "api-server"))
}

/// Whether software on the node sets a label, such as Node Feature Discovery and the GPU operator.
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

/// Whether an expression selects Fargate, virtual or hybrid nodes, which belong to no NodePool.
fn is_of_other_machines(expression: &LabelExpression<'_>) -> bool {
    match expression.key {
        "eks.amazonaws.com/compute-type" | "kubernetes.io/role" => true,
        "type" => values(expression).any(|value| value == "virtual-kubelet"),
        _ => false,
    }
}

fn values<'d>(expression: &LabelExpression<'d>) -> impl Iterator<Item = &'d str> {
    expression.values().filter_map(Node::as_str)
}

/// Whether an expression selects nodes that Karpenter does not launch.
fn selects_other_nodes(expression: &LabelExpression<'_>) -> bool {
    let key = expression.key;
    let hard = !matches!(expression.origin, ExpressionOrigin::Preferred { .. });
    let elsewhere = node_group_label(expression).is_some()
        || is_control_plane(key)
        || is_discovered(key)
        || is_of_other_machines(expression);
    hard && !expression.operator.is_negative() && elsewhere
}

/// Whether the pod has to run on nodes that Karpenter does not launch.
pub fn is_meant_for_other_nodes(pod: Pod<'_>) -> bool {
    pod.expressions().any(|expression| selects_other_nodes(&expression))
}

/// Whether the pod selects labels that only nodes of Karpenter have, in the node selector or in every required term: a
/// NodePool, a capacity type, or a label that describes the instance.
pub fn is_for_karpenter(pod: Pod<'_>) -> bool {
    let own = |expression: &LabelExpression<'_>| {
        let key = expression.key;
        let known = key == labels::NODEPOOL || key == labels::CAPACITY_TYPE;
        !expression.operator.is_negative() && (known || key.starts_with("karpenter.k8s.aws/"))
    };
    let mut terms = pod.spec().required_terms().peekable();
    let has_terms = terms.peek().is_some();
    let every =
        has_terms && terms.all(|term| term.expressions(ExpressionOrigin::NodeSelector).any(|one| own(&one)));
    every || pod.expressions().any(|one| one.origin == ExpressionOrigin::NodeSelector && own(&one))
}

/// Whether the cluster depends on the pod. Such pods often run on nodes that Karpenter does not manage.
pub fn is_critical(pod: Pod<'_>) -> bool {
    let class = pod.spec().priority_class_name().unwrap_or_default();
    let addon = pod.spec().tolerations().any(|toleration| toleration.key() == Some("CriticalAddonsOnly"));
    addon || pod.object().namespace() == "kube-system" || class.starts_with("system-")
}
