//! NodeClaims, and the specification that they share with the template of a NodePool.

use karpenter::auto_mode;
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};

use crate::object::Object;
use crate::requirement::RequirementList;
use crate::taint::TaintItem;

/// View of a NodeClaim.
#[derive(Clone, Copy, Debug)]
pub struct NodeClaim<'d>(Object<'d>);

impl<'d> NodeClaim<'d> {
    /// The object as a NodeClaim, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::NODE_CLAIM).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec`.
    pub fn spec(self) -> Option<NodeClaimSpec<'d>> {
        self.0.spec().map(NodeClaimSpec::new)
    }
}

/// The list of taints that a taint is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaintField {
    /// `taints`.
    Taints,
    /// `startupTaints`.
    StartupTaints,
}

impl TaintField {
    /// Both lists.
    pub const ALL: [Self; 2] = [Self::Taints, Self::StartupTaints];

    /// The key of the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taints => "taints",
            Self::StartupTaints => "startupTaints",
        }
    }
}

/// View of `spec` of a NodeClaim, and of `spec.template.spec` of a NodePool.
#[derive(Clone, Copy, Debug)]
pub struct NodeClaimSpec<'d>(Node<'d>);

impl<'d> NodeClaimSpec<'d> {
    /// The specification that a node holds.
    pub fn new(node: Node<'d>) -> Self {
        Self(node)
    }

    /// The whole specification.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `requirements`.
    pub fn requirements(self) -> RequirementList<'d> {
        RequirementList::new(self.0.get("requirements"))
    }

    /// `taints` or `startupTaints`.
    pub fn taint_list(self, field: TaintField) -> Option<Node<'d>> {
        self.0.get(field.name())
    }

    /// The items of `taints` or `startupTaints`.
    pub fn taints(self, field: TaintField) -> impl Iterator<Item = TaintItem<'d>> {
        items_of(self.taint_list(field)).map(TaintItem::new)
    }

    /// `nodeClassRef`.
    pub fn node_class_ref(self) -> Option<NodeClassRef<'d>> {
        self.0.get("nodeClassRef").map(NodeClassRef)
    }

    /// `expireAfter`.
    pub fn expire_after(self) -> Option<Node<'d>> {
        self.0.get("expireAfter")
    }

    /// `terminationGracePeriod`.
    pub fn termination_grace_period(self) -> Option<Node<'d>> {
        self.0.get("terminationGracePeriod")
    }
}

/// View of `nodeClassRef`.
#[derive(Clone, Copy, Debug)]
pub struct NodeClassRef<'d>(Node<'d>);

impl<'d> NodeClassRef<'d> {
    /// The whole reference.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `apiVersion`, which v1beta1 had in the place of `group`.
    pub fn api_version(self) -> Option<Node<'d>> {
        self.0.get("apiVersion")
    }

    /// `group`.
    pub fn group(self) -> Option<Node<'d>> {
        self.0.get("group")
    }

    /// `kind`.
    pub fn kind(self) -> Option<Node<'d>> {
        self.0.get("kind")
    }

    /// `name`.
    pub fn name(self) -> Option<Node<'d>> {
        self.0.get("name")
    }

    /// Whether the reference names the node class of EKS Auto Mode, whose NodePools no release of Karpenter concerns.
    pub fn is_of_auto_mode(self) -> bool {
        auto_mode::is_reference(self.group_text(), self.kind().and_then(Node::as_str).unwrap_or_default())
    }

    /// `group`, or the placeholder in place of the whole reference; empty where it is absent or no string.
    pub fn group_text(self) -> &'d str {
        self.group().unwrap_or(self.0).as_str().unwrap_or_default()
    }
}
