//! Volumes of a pod.

use manifest::tree::Node;

/// View of an item of `volumes`.
#[derive(Clone, Copy, Debug)]
pub struct PodVolume<'d>(Node<'d>);

impl<'d> PodVolume<'d> {
    pub(super) fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// `persistentVolumeClaim.claimName`.
    pub fn claim_name(self) -> Option<Node<'d>> {
        self.0.get("persistentVolumeClaim")?.get("claimName")
    }

    /// `ephemeral.volumeClaimTemplate`.
    pub fn ephemeral_claim(self) -> Option<Node<'d>> {
        self.0.get("ephemeral")?.get("volumeClaimTemplate")
    }

    /// `awsElasticBlockStore`.
    pub fn aws_elastic_block_store(self) -> Option<Node<'d>> {
        self.0.get("awsElasticBlockStore")
    }
}
