//! Node groups of eksctl: the nodes that no controller of Karpenter launches.
//!
//! Sources: userdocs/src/usage/nodegroup-managed.md, userdocs/src/usage/nodegroup-taints.md and pkg/apis/eksctl.io/v1alpha5/types.go of
//! eksctl-io/eksctl.

use manifest::tree::{Children, Node, items_of};

use crate::node_access::CLUSTER_CONFIG;
use crate::object::Object;

/// Labels with the name of the group, which eksctl and EKS set.
const NAMED: [&str; 2] = ["alpha.eksctl.io/nodegroup-name", "eks.amazonaws.com/nodegroup"];

/// View of an item of `managedNodeGroups` or `nodeGroups`.
#[derive(Clone, Copy, Debug)]
pub struct NodeGroup<'d>(Node<'d>);

impl<'d> NodeGroup<'d> {
    /// The node groups of a `ClusterConfig`; none for another object.
    pub fn all(object: Object<'d>) -> Vec<Self> {
        let lists = [&["managedNodeGroups"], &["nodeGroups"]];
        let lists = lists.into_iter().filter(|_| object.is(CLUSTER_CONFIG));
        lists.flat_map(|path| items_of(object.at(path))).map(Self).collect()
    }

    /// The group.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `name`.
    pub fn name(self) -> Option<&'d str> {
        self.0.str_at(&["name"])
    }

    /// `labels`.
    pub fn labels(self) -> Option<Node<'d>> {
        self.0.get("labels").filter(|labels| !labels.is_null())
    }

    /// The value of a label that the group sets or gets for its name.
    pub fn label(self, key: &str) -> Option<&'d str> {
        let own = self.labels().and_then(|labels| labels.get(key)).and_then(Node::as_str);
        own.or_else(|| self.name().filter(|_| NAMED.contains(&key)))
    }

    /// The items of `taints`, each with `key`, `value` and `effect`.
    pub fn taints(self) -> Children<'d> {
        items_of(self.0.get("taints"))
    }
}

/// Whether the group that a label selects is known from the configuration file: labels of users, and the name of the group.
pub fn is_of_node_group(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_known = ["kubernetes.io", "k8s.io", "eksctl.io", "amazonaws.com", "k8s.aws", "karpenter.sh"];
    let is_in =
        |known: &str| domain.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    // Many configurations give their own label to the nodes of the controller.
    NAMED.contains(&key) || key == "karpenter.sh/controller" || !is_known.into_iter().any(is_in)
}

/// Whether a profile of Fargate in a `ClusterConfig` takes the pods of a namespace.
pub fn has_fargate_for(object: Object<'_>, namespace: &str) -> bool {
    let profiles = items_of(object.at(&["fargateProfiles"]).filter(|_| object.is(CLUSTER_CONFIG)));
    let mut selectors = profiles.flat_map(|profile| items_of(profile.get("selectors")));
    selectors.any(|selector| selector.str_at(&["namespace"]) == Some(namespace))
}
