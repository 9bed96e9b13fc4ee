//! The existing nodes that may take pods of a shape, kept between the rounds of a cluster.
//!
//! In most clusters few nodes have room for a pod. Without this list each round compares each pod with every node again.

use std::collections::BTreeMap;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use ids::Id as _;

use super::known_pods::KnownShapeId;
use super::node::ExistingNode;
use super::shape::PodShape;
use super::work::Work;
use super::world::{Base, BaseNode, NodeSlot};
use crate::demand::PREFER_NO_SCHEDULE;
use crate::requirements::Requirements;
use crate::taints::Toleration;
use crate::template::check_taints;

/// Number of steps to compare a shape with a node.
const STEPS_OF_COMPARISON: usize = 2;

/// The nodes that may take pods of a shape, by their slots. The other nodes have no room, or their labels or taints refuse the pods,
/// whatever these relax.
pub(super) type FittingSlots = Rc<FixedBitSet>;

/// The nodes that may take pods, by shape.
#[derive(Debug, Default)]
pub(super) struct FittingNodes<'d> {
    /// The slots of the nodes that changed, in the order of the changes, each with the place of the node in the order of nodes.
    changed: Vec<(NodeSlot, (bool, &'d str))>,
    by_shape: BTreeMap<KnownShapeId, KeptSlots<'d>>,
}

#[derive(Debug)]
struct KeptSlots<'d> {
    question: SlotQuestion<'d>,
    slots: FittingSlots,
    /// The number of changes that the slots take into account; `None` before the first comparison.
    seen: Option<usize>,
}

/// The part of a shape that no step of its relaxation changes.
#[derive(Debug)]
struct SlotQuestion<'d> {
    shape: Rc<PodShape<'d>>,
    tolerations: Vec<Toleration<'d>>,
    /// `None` if the relaxation may change the requirements.
    requirements: Option<Requirements<'d>>,
}

impl<'d> SlotQuestion<'d> {
    fn of(shape: &Rc<PodShape<'d>>) -> Self {
        let demand = &shape.demand;
        let is_constant = demand.required_terms.len() <= 1 && demand.preferred_terms.is_empty();
        Self {
            shape: Rc::clone(shape),
            tolerations: demand.tolerations.iter().copied().chain([PREFER_NO_SCHEDULE]).collect(),
            requirements: is_constant.then(|| demand.requirements(false)),
        }
    }

    fn accepts(&self, node: &ExistingNode<'d>) -> bool {
        self.shape.requests.fit_into(&node.available)
            && check_taints(&node.taints, &self.tolerations).is_ok()
            && node.ports.conflict(&self.shape.ports).is_none()
            && self.requirements.as_ref().is_none_or(|asked| node.labels.compatible_strictly(asked).is_ok())
    }
}

impl<'d> FittingNodes<'d> {
    /// Notes that a node was added, has changed or went.
    pub(super) fn note(&mut self, node: &BaseNode<'d>) {
        self.changed.push((node.slot, node.node.sort_key()));
    }

    /// The nodes of a cluster that may take pods of a shape.
    pub(super) fn of_shape(
        &mut self,
        id: KnownShapeId,
        shape: &Rc<PodShape<'d>>,
        base: &Base<'d>,
        work: &Work,
    ) -> FittingSlots {
        let kept = self.by_shape.entry(id).or_insert_with(|| KeptSlots {
            question: SlotQuestion::of(shape),
            slots: Rc::default(),
            seen: None,
        });
        let slots = Rc::make_mut(&mut kept.slots);
        let changed = kept.seen.and_then(|seen| self.changed.get(seen..));
        if let Some(changed) = changed.filter(|changed| changed.len() <= base.nodes.len()) {
            work.count(changed.len() * STEPS_OF_COMPARISON);
            // A node changes with each of its pods.
            let runs = changed.chunk_by(|one, next| one == next);
            for (slot, key) in runs.filter_map(<[_]>::first) {
                let fits = base.find(*slot, *key).is_some_and(|one| kept.question.accepts(&one.node));
                slots.grow(slot.position() + 1);
                slots.set(slot.position(), fits);
            }
        } else {
            work.count(base.nodes.len() * STEPS_OF_COMPARISON);
            slots.clear();
            let fitting = base.nodes.iter().filter(|one| kept.question.accepts(&one.node));
            fitting.for_each(|one| slots.grow_and_insert(one.slot.position()));
        }
        kept.seen = Some(self.changed.len());
        Rc::clone(&kept.slots)
    }
}
