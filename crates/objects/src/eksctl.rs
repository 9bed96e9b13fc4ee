//! The parts that eksctl installs for the section `karpenter` of its configuration file: the controller, the role of nodes, and the queue.
//!
//! Sources: userdocs/src/usage/eksctl-karpenter.md, pkg/actions/karpenter/create.go, pkg/karpenter/karpenter.go and
//! pkg/cfn/builder/karpenter.go of eksctl-io/eksctl.

use manifest::tree::Node;

use crate::node_access::CLUSTER_CONFIG;
use crate::object::Object;

/// View of a `ClusterConfig` with which eksctl installs Karpenter.
#[derive(Clone, Copy, Debug)]
pub struct EksctlKarpenter<'d> {
    config: Object<'d>,
    section: Node<'d>,
}

impl<'d> EksctlKarpenter<'d> {
    /// The view, if the object is a `ClusterConfig` with the section `karpenter`.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let section = Some(object).filter(|object| object.is(CLUSTER_CONFIG))?.at(&["karpenter"])?;
        section.is_mapping().then_some(Self { config: object, section })
    }

    /// The name of the cluster, which the controller gets.
    pub fn cluster_name(self) -> Option<Node<'d>> {
        self.config.at(&["metadata", "name"])
    }

    /// The region of the cluster.
    pub fn region(self) -> Option<&'d str> {
        self.config.str_at(&["metadata", "region"])
    }

    /// Whether eksctl creates the queue, under the name of the cluster.
    pub fn creates_queue(self) -> bool {
        self.section.get("withSpotInterruptionQueue").and_then(Node::as_bool) == Some(true)
    }

    /// The name of the role that eksctl creates for nodes, and gives access to the cluster.
    pub fn node_role(self) -> Option<String> {
        Some(format!("eksctl-KarpenterNodeRole-{}", self.cluster_name()?.as_str()?))
    }
}

#[cfg(test)]
mod tests {
    use manifest::{Document, File};

    use super::EksctlKarpenter;
    use crate::embedded::READ_OPTIONS;
    use crate::identity::Identity;
    use crate::node_access::NodeAccess;
    use crate::object::Object;

    /// The form of examples/29-cluster-with-karpenter.yaml of eksctl-io/eksctl.
    const CONFIG: &str = r"apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata:
  name: cluster-with-karpenter
  region: us-west-2
  tags: {karpenter.sh/discovery: cluster-with-karpenter}
iam: {withOIDC: true}
karpenter:
  version: 'v0.20.0'
  createServiceAccount: true
  withSpotInterruptionQueue: true
managedNodeGroups: [{name: managed-ng-1, iam: {instanceRoleName: groups}}]
";

    fn with<T>(text: &str, check: impl FnOnce(&[Object<'_>]) -> T) -> T {
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
        check(&Object::all(tree))
    }

    #[test]
    fn eksctl_names_the_cluster_and_creates_role_and_queue() {
        with(CONFIG, |objects| {
            let identity = Identity::of(objects, &[]);
            assert_eq!(identity.name.map(|name| name.text), Some("cluster-with-karpenter"));
            assert_eq!((identity.region, identity.may_have_queue), (Some("us-west-2"), true));
            let granted: Vec<String> = NodeAccess::of(objects).granted.into_iter().collect();
            assert_eq!(granted, ["eksctl-KarpenterNodeRole-cluster-with-karpenter", "groups"]);
        });
    }

    #[test]
    fn a_cluster_without_the_section_says_nothing_about_karpenter() {
        with(&CONFIG.replace("karpenter:\n", "other:\n"), |objects| {
            assert!(objects.iter().all(|object| EksctlKarpenter::of(*object).is_none()));
            assert!(Identity::of(objects, &[]).name.is_none());
        });
        with(&CONFIG.replace("withSpotInterruptionQueue: true", ""), |objects| {
            assert!(!Identity::of(objects, &[]).may_have_queue);
        });
    }
}
