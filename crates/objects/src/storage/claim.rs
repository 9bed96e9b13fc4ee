//! Claims on volumes: objects of the kind PersistentVolumeClaim, and the templates of claims within workloads.

use karpenter::kind::Kind;
use manifest::tree::{Children, Node, items_of};

use crate::object::Object;
use crate::pod::{Pod, PodVolume};
use crate::workload::Workload;

/// View of a claim on a volume: a PersistentVolumeClaim, or a template within a workload.
#[derive(Clone, Copy, Debug)]
pub struct VolumeClaim<'d> {
    /// The object that holds the claim.
    pub object: Object<'d>,
    /// The claim: the node that has `spec`.
    pub node: Node<'d>,
    /// The form of the claim.
    pub form: ClaimForm,
}

/// Form of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimForm {
    /// A PersistentVolumeClaim.
    Object,
    /// An item of a StatefulSet's `volumeClaimTemplates`.
    Template,
    /// The template of an ephemeral volume.
    Ephemeral,
}

impl ClaimForm {
    /// Name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "claim",
            Self::Template => "claim template",
            Self::Ephemeral => "ephemeral volume",
        }
    }
}

impl<'d> VolumeClaim<'d> {
    /// `v1` PersistentVolumeClaim.
    pub const KIND: Kind = Kind::of("", "v1", "PersistentVolumeClaim");

    fn field(&self, key: &str) -> Option<Node<'d>> {
        self.node.get("spec")?.get(key)
    }

    /// The class that the claim names; `None` where it names none and gets the cluster's default.
    pub fn class(&self) -> Option<&'d str> {
        self.field("storageClassName")?.as_str()
    }

    /// The node that names the class, or the claim where none is named.
    pub fn class_node(&self) -> Node<'d> {
        self.field("storageClassName").unwrap_or(self.node)
    }

    /// Whether the claim names the volume that it is for, so that none is created.
    pub fn names_volume(&self) -> bool {
        self.field("volumeName").and_then(Node::as_str).is_some_and(|name| !name.is_empty())
    }

    /// `spec.volumeMode`, where it is a string.
    pub fn volume_mode(&self) -> Option<&'d str> {
        self.field("volumeMode")?.as_str()
    }

    /// The items of `spec.accessModes`.
    pub fn access_modes(&self) -> Children<'d> {
        items_of(self.field("accessModes"))
    }
}

/// Returns all claims of an object.
pub fn claims_in(object: Object<'_>) -> Vec<VolumeClaim<'_>> {
    if object.is(VolumeClaim::KIND) {
        return vec![VolumeClaim { object, node: object.root(), form: ClaimForm::Object }];
    }
    let templates = Workload::of(object).volume_claim_templates();
    let templates = templates.map(|node| VolumeClaim { object, node, form: ClaimForm::Template });
    templates.chain(Pod::of(object).into_iter().flat_map(ephemeral_claims)).collect()
}

/// Returns the claims of a pod's ephemeral volumes.
pub(super) fn ephemeral_claims(pod: Pod<'_>) -> impl Iterator<Item = VolumeClaim<'_>> {
    let claims = pod.spec().volumes().filter_map(PodVolume::ephemeral_claim);
    claims.map(move |node| VolumeClaim { object: pod.object(), node, form: ClaimForm::Ephemeral })
}
