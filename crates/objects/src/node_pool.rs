//! NodePools. The versions `v1` and `v1beta1` have the same shape, as far as these views read them.

use karpenter::kind::Kind;
use manifest::tree::{Members, Node, items_of, members_of};

use crate::metadata::Metadata;
use crate::node_claim::{NodeClaimSpec, NodeClassRef, TaintField};
use crate::object::Object;
use crate::requirement::RequirementList;
use crate::taint::TaintItem;

/// View of a NodePool.
#[derive(Clone, Copy, Debug)]
pub struct NodePool<'d>(Object<'d>);

impl<'d> NodePool<'d> {
    /// The object as a NodePool, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::NODE_POOL).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.template`.
    pub fn template(self) -> Option<NodePoolTemplate<'d>> {
        self.0.spec()?.get("template").map(NodePoolTemplate)
    }

    /// `spec.template.spec`.
    pub fn claim_spec(self) -> Option<NodeClaimSpec<'d>> {
        self.template()?.spec()
    }

    /// `spec.template.spec.requirements`.
    pub fn requirements(self) -> RequirementList<'d> {
        self.claim_spec().map_or(RequirementList::new(None), NodeClaimSpec::requirements)
    }

    /// The items of `spec.template.spec.taints` or `startupTaints`.
    pub fn taints(self, field: TaintField) -> impl Iterator<Item = TaintItem<'d>> {
        self.claim_spec().into_iter().flat_map(move |spec| spec.taints(field))
    }

    /// `spec.template.spec.nodeClassRef`.
    pub fn node_class_ref(self) -> Option<NodeClassRef<'d>> {
        self.claim_spec()?.node_class_ref()
    }

    /// Whether the NodePool belongs to EKS Auto Mode.
    pub fn is_of_auto_mode(self) -> bool {
        self.node_class_ref().is_some_and(NodeClassRef::is_of_auto_mode)
    }

    /// The labels that the NodePool sets on its nodes: `spec.template.metadata.labels`.
    pub fn node_labels(self) -> Members<'d> {
        members_of(self.template().and_then(|template| template.metadata().label_map()))
    }

    /// `spec.limits`.
    pub fn limits(self) -> Option<Node<'d>> {
        self.0.spec()?.get("limits")
    }

    /// `spec.limits.nodes`.
    pub fn node_limit(self) -> Option<Node<'d>> {
        self.limits()?.get("nodes")
    }

    /// `spec.weight`, unless it is null.
    pub fn weight(self) -> Option<Node<'d>> {
        self.0.spec()?.get("weight").filter(|node| !node.is_null())
    }

    /// `spec.replicas`, which makes the NodePool static.
    pub fn replicas(self) -> Option<Node<'d>> {
        self.0.spec()?.get("replicas")
    }

    /// `spec.disruption`.
    pub fn disruption(self) -> Option<Disruption<'d>> {
        self.0.spec()?.get("disruption").map(Disruption)
    }

    /// The items of `spec.disruption.budgets`.
    pub fn budgets(self) -> impl Iterator<Item = DisruptionBudget<'d>> {
        self.disruption().into_iter().flat_map(Disruption::budgets)
    }
}

/// View of `spec.template`, from which Karpenter creates NodeClaims.
#[derive(Clone, Copy, Debug)]
pub struct NodePoolTemplate<'d>(Node<'d>);

impl<'d> NodePoolTemplate<'d> {
    /// The template.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `metadata`.
    pub fn metadata(self) -> Metadata<'d> {
        Metadata::of(self.0)
    }

    /// `spec`.
    pub fn spec(self) -> Option<NodeClaimSpec<'d>> {
        self.0.get("spec").map(NodeClaimSpec::new)
    }
}

/// View of `spec.disruption`.
#[derive(Clone, Copy, Debug)]
pub struct Disruption<'d>(Node<'d>);

impl<'d> Disruption<'d> {
    /// The section.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `consolidationPolicy`.
    pub fn consolidation_policy(self) -> Option<Node<'d>> {
        self.0.get("consolidationPolicy")
    }

    /// `consolidateAfter`.
    pub fn consolidate_after(self) -> Option<Node<'d>> {
        self.0.get("consolidateAfter")
    }

    /// `budgets`.
    pub fn budget_list(self) -> Option<Node<'d>> {
        self.0.get("budgets")
    }

    /// The items of `budgets`.
    pub fn budgets(self) -> impl Iterator<Item = DisruptionBudget<'d>> {
        items_of(self.budget_list()).map(DisruptionBudget)
    }
}

/// View of an item of `spec.disruption.budgets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisruptionBudget<'d>(Node<'d>);

impl<'d> DisruptionBudget<'d> {
    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `nodes`: a number or a percentage.
    pub fn nodes(self) -> Option<Node<'d>> {
        self.0.get("nodes")
    }

    /// `reasons`.
    pub fn reasons(self) -> Option<Node<'d>> {
        self.0.get("reasons")
    }

    /// `schedule`.
    pub fn schedule(self) -> Option<Node<'d>> {
        self.0.get("schedule")
    }

    /// `duration`.
    pub fn duration(self) -> Option<Node<'d>> {
        self.0.get("duration")
    }
}
