//! The kubelet settings of an EC2NodeClass.

use manifest::tree::{Members, Node, members_of};
use values::placeholder::has_placeholder;
use values::quantity::Quantity;

/// View of `spec.kubelet`.
#[derive(Clone, Copy, Debug)]
pub struct KubeletConfiguration<'d>(Node<'d>);

impl<'d> KubeletConfiguration<'d> {
    pub(super) fn new(node: Node<'d>) -> Self {
        Self(node)
    }

    /// The whole section.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `maxPods`.
    pub fn max_pods(self) -> Option<Node<'d>> {
        self.0.get("maxPods")
    }

    /// `clusterDNS`.
    pub fn cluster_dns(self) -> Option<Node<'d>> {
        self.0.get("clusterDNS")
    }

    /// The values that Karpenter reads as expressions since 1.15: `maxPods` as a string, and reservations that are not
    /// quantities. A value with a placeholder is not an expression yet.
    pub fn expressions(self) -> impl Iterator<Item = (Node<'d>, &'d str)> {
        let max_pods = self.max_pods().and_then(|node| Some((node, node.as_str()?)));
        let reserved = self.kube_reserved().chain(self.system_reserved());
        let reserved = reserved.filter_map(|(_, node)| Some((node, node.as_str()?)));
        let reserved = reserved.filter(|(_, text)| Quantity::parse(text).is_err());
        max_pods.into_iter().chain(reserved).filter(|(_, text)| !has_placeholder(text))
    }

    /// The members of `systemReserved`.
    pub fn system_reserved(self) -> Members<'d> {
        members_of(self.0.get("systemReserved"))
    }

    /// The members of `kubeReserved`.
    pub fn kube_reserved(self) -> Members<'d> {
        members_of(self.0.get("kubeReserved"))
    }

    /// The members of `evictionHard`.
    pub fn eviction_hard(self) -> Members<'d> {
        members_of(self.0.get("evictionHard"))
    }

    /// The members of `evictionSoft`.
    pub fn eviction_soft(self) -> Members<'d> {
        members_of(self.0.get("evictionSoft"))
    }

    /// The members of `evictionSoftGracePeriod`.
    pub fn eviction_soft_grace_period(self) -> Members<'d> {
        members_of(self.0.get("evictionSoftGracePeriod"))
    }
}
