//! Persistent volumes.

use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};

use crate::object::Object;
use crate::pod::NodeSelectorTerm;

/// View of a PersistentVolume.
#[derive(Clone, Copy, Debug)]
pub struct PersistentVolume<'d>(Object<'d>);

impl<'d> PersistentVolume<'d> {
    /// `v1` PersistentVolume.
    pub const KIND: Kind = Kind::of("", "v1", "PersistentVolume");

    /// The object as a PersistentVolume, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is(Self::KIND).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.awsElasticBlockStore`.
    pub fn aws_elastic_block_store(self) -> Option<Node<'d>> {
        self.0.spec()?.get("awsElasticBlockStore")
    }

    /// `spec.csi`, where its driver has a name.
    pub fn csi(self, driver: &str) -> Option<Node<'d>> {
        let csi = self.0.spec()?.get("csi")?;
        (csi.get("driver")?.as_str() == Some(driver)).then_some(csi)
    }

    /// The list of terms in `spec.nodeAffinity.required`.
    pub fn node_term_list(self) -> Option<Node<'d>> {
        self.0.spec()?.get("nodeAffinity")?.get("required")?.get("nodeSelectorTerms")
    }

    /// The terms in `spec.nodeAffinity.required`.
    pub fn node_terms(self) -> impl Iterator<Item = NodeSelectorTerm<'d>> {
        items_of(self.node_term_list()).map(NodeSelectorTerm::new)
    }
}
