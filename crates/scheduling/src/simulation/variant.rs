//! Pod at one step of its relaxation.
//!
//! Source: pkg/controllers/provisioning/scheduling/preferences.go of kubernetes-sigs/karpenter at v1.14.1.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use ids::ids;

use super::catalog::{Catalog, TypeSet};
use super::node_search::NodeSearch;
use super::shape::PodShape;
use super::topology::{CreatedGroups, GroupIdentity, SharedGroup, TopologyConstraint};
use super::work::Work;
use crate::demand::PREFER_NO_SCHEDULE;
use crate::requirements::Requirements;

ids! {
    /// Variant of a pod in a simulation.
    pub(crate) VariantId;
}

/// Number of steps to find the instance types of a catalog for a pod.
const STEPS_OF_CATALOG: usize = 40;

/// The groups of other pods that concern the pods of a shape, whatever they have relaxed.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupsOfOthers<'d> {
    /// The groups that count the pod, and the number of groups that were looked at.
    selecting: RefCell<(usize, Vec<SharedGroup<'d>>)>,
    /// The groups of other pods whose anti-affinity it must respect.
    matching_inverse: OnceCell<Vec<SharedGroup<'d>>>,
}

/// Pod at one step of its relaxation. Pods with equal shapes share it.
#[derive(Debug)]
pub(crate) struct Variant<'d> {
    /// The id.
    pub(crate) id: VariantId,
    /// The shape without the relaxed preferences.
    pub(crate) shape: PodShape<'d>,
    /// The requirements with the heaviest preference.
    pub(crate) requirements: Requirements<'d>,
    /// The requirements without preferences.
    pub(crate) strict: Requirements<'d>,
    /// The groups of its constraints.
    pub(crate) groups: Vec<SharedGroup<'d>>,
    /// The groups of its required anti-affinity, for other pods.
    pub(crate) inverse: Vec<SharedGroup<'d>>,
    neighbours: Rc<GroupsOfOthers<'d>>,
    /// The instance types that a catalog may have for it. The NodePools of a node class share a catalog.
    possible: RefCell<Option<(Rc<Catalog<'d>>, Rc<TypeSet>)>>,
    /// The existing nodes that may take it.
    pub(super) search: RefCell<NodeSearch>,
}

impl<'d> Variant<'d> {
    /// A variant with its groups.
    pub(crate) fn new(
        id: VariantId,
        shape: PodShape<'d>,
        (groups, inverse): (Vec<SharedGroup<'d>>, Vec<SharedGroup<'d>>),
        neighbours: &Rc<GroupsOfOthers<'d>>,
        ignores_preferences: bool,
    ) -> Self {
        Self {
            id,
            requirements: shape.demand.requirements(!ignores_preferences),
            strict: shape.demand.requirements(false),
            shape,
            groups,
            inverse,
            neighbours: Rc::clone(neighbours),
            possible: RefCell::default(),
            search: RefCell::default(),
        }
    }

    /// Takes over the instance types of the step before, if the step left the requirements on the node as they were.
    pub(super) fn keep_possible(&mut self, before: &Self, step: Relaxed) {
        if !matches!(step, Relaxed::RequiredTerm | Relaxed::NodeAffinity) {
            self.possible.clone_from(&before.possible);
        }
    }

    /// The instance types of a catalog that may be left for the pod.
    pub(crate) fn possible(&self, catalog: &Rc<Catalog<'d>>, work: &Work) -> Rc<TypeSet> {
        let mut known = self.possible.borrow_mut();
        if let Some((_, types)) = known.as_ref().filter(|(of, _)| Rc::ptr_eq(of, catalog)) {
            return Rc::clone(types);
        }
        work.count(STEPS_OF_CATALOG);
        let types = Rc::new(catalog.possible(&self.requirements));
        *known = Some((Rc::clone(catalog), Rc::clone(&types)));
        types
    }

    /// A copy whose demands can be left out.
    pub(crate) fn copy(&self) -> Self {
        Self {
            id: self.id,
            shape: self.shape.clone(),
            requirements: self.requirements.clone(),
            strict: self.strict.clone(),
            groups: self.groups.clone(),
            inverse: self.inverse.clone(),
            neighbours: Rc::new(GroupsOfOthers::clone(&self.neighbours)),
            possible: RefCell::default(),
            search: RefCell::default(),
        }
    }

    /// Leaves out the requirement on a label.
    pub(crate) fn leave_out_label(&mut self, key: &str) {
        self.requirements.remove(key);
        self.strict.remove(key);
    }

    /// Leaves out the constraints on the values of a label, and the constraints of other pods as far as they were computed.
    pub(crate) fn leave_out_topology(&mut self, key: &str) {
        let is_kept = |group: &SharedGroup<'d>| group.borrow().constraint.key != key;
        self.groups.retain(is_kept);
        if let Some(others) = Rc::make_mut(&mut self.neighbours).matching_inverse.get_mut() {
            others.retain(is_kept);
        }
    }

    /// Whether the pod counts for a constraint.
    pub(crate) fn is_selected_by(&self, constraint: &TopologyConstraint<'d>) -> bool {
        constraint.selects(&self.shape)
    }

    /// Calls a function with every group that counts the pod.
    pub(crate) fn selecting_groups(
        &self,
        created: &CreatedGroups<'d>,
        work: &Work,
        mut each: impl FnMut(&SharedGroup<'d>),
    ) {
        let mut selecting = self.neighbours.selecting.borrow_mut();
        let (seen, found) = &mut *selecting;
        if *seen < created.len() {
            let new = created.since(*seen, &self.shape.labels).inspect(|_| work.count(1));
            found.extend(new.filter(|group| group.borrow().constraint.selects(&self.shape)).cloned());
            *seen = created.len();
        }
        work.count(found.len());
        found.iter().for_each(&mut each);
    }

    /// The groups of other pods whose anti-affinity the pod must respect. All pods have joined the topology before the
    /// first pod is tried, so the groups do not change.
    pub(crate) fn matching_inverse(
        &self,
        inverse: &BTreeMap<Rc<GroupIdentity<'d>>, SharedGroup<'d>>,
        work: &Work,
    ) -> &[SharedGroup<'d>] {
        let matching = || {
            work.count(inverse.len());
            let all = inverse.values().filter(|group| group.borrow().constraint.selects(&self.shape));
            all.cloned().collect()
        };
        self.neighbours.matching_inverse.get_or_init(matching)
    }
}

/// Preference that a step of the relaxation drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relaxed {
    /// The first of the required terms of the node affinity, which are alternatives.
    RequiredTerm,
    /// The heaviest preferred pod affinity.
    Affinity,
    /// The heaviest preferred pod anti-affinity.
    AntiAffinity,
    /// The heaviest preferred node affinity.
    NodeAffinity,
    /// A topology spread constraint, by its position. The last one takes its place.
    Spread(usize),
    /// The taints with the effect `PreferNoSchedule`.
    SoftTaints,
}

/// Returns the shape without its next preference; `None` if nothing is left to relax.
pub(crate) fn relax<'d>(shape: &PodShape<'d>, tolerates: bool) -> Option<(PodShape<'d>, Relaxed)> {
    let mut relaxed = shape.clone();
    let step = if drop_required_term(&mut relaxed) {
        Relaxed::RequiredTerm
    } else if relaxed.affinity.preferred.drop_heaviest() {
        Relaxed::Affinity
    } else if relaxed.anti_affinity.preferred.drop_heaviest() {
        Relaxed::AntiAffinity
    } else if relaxed.demand.preferred_terms.drop_heaviest() {
        Relaxed::NodeAffinity
    } else if let Some(position) = relaxed.spreads.iter().position(|spread| spread.is_preference) {
        relaxed.spreads.swap_remove(position);
        Relaxed::Spread(position)
    } else if tolerates && tolerate(&mut relaxed) {
        Relaxed::SoftTaints
    } else {
        return None;
    };
    Some((relaxed, step))
}

/// The terms are alternatives, and the last term stays.
fn drop_required_term(shape: &mut PodShape<'_>) -> bool {
    let can = shape.demand.required_terms.len() > 1;
    if can {
        shape.demand.required_terms.remove(0);
    }
    can
}

fn tolerate(shape: &mut PodShape<'_>) -> bool {
    let can = !shape.demand.tolerations.contains(&PREFER_NO_SCHEDULE);
    if can {
        shape.demand.tolerations.push(PREFER_NO_SCHEDULE);
    }
    can
}
