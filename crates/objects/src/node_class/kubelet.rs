//! The kubelet settings of an EC2NodeClass.

use manifest::tree::{Members, Node, members_of};

/// View of `spec.kubelet`.
#[derive(Clone, Copy, Debug)]
pub struct KubeletConfiguration<'d>(Node<'d>);

impl<'d> KubeletConfiguration<'d> {
    pub(super) fn new(node: Node<'d>) -> Self {
        Self(node)
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
