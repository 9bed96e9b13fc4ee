//! Pod at one step of its relaxation.
//!
//! Source: pkg/controllers/provisioning/scheduling/preferences.go of kubernetes-sigs/karpenter at v1.14.1.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use ids::ids;
use manifest::source::certain;

use super::shape::PodShape;
use super::topology::{GroupIdentity, SharedGroup, TopologyConstraint};
use crate::demand::PREFER_NO_SCHEDULE;
use crate::requirements::Requirements;

ids! {
    /// Variant of a pod in a simulation.
    pub(crate) VariantId;
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
    /// The groups that count it, and the number of groups that were looked at.
    selecting: RefCell<(usize, Vec<SharedGroup<'d>>)>,
    /// The groups of other pods whose anti-affinity it must respect.
    matching_inverse: OnceCell<Vec<SharedGroup<'d>>>,
}

impl<'d> Variant<'d> {
    /// A variant with its groups.
    pub(crate) fn new(
        id: VariantId,
        shape: PodShape<'d>,
        (groups, inverse): (Vec<SharedGroup<'d>>, Vec<SharedGroup<'d>>),
        ignores_preferences: bool,
    ) -> Self {
        Self {
            id,
            requirements: shape.demand.requirements(!ignores_preferences),
            strict: shape.demand.requirements(false),
            shape,
            groups,
            inverse,
            selecting: RefCell::default(),
            matching_inverse: OnceCell::new(),
        }
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
            selecting: RefCell::default(),
            matching_inverse: self.matching_inverse.clone(),
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
        if let Some(others) = self.matching_inverse.get_mut() {
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
        created: &[SharedGroup<'d>],
        mut each: impl FnMut(&SharedGroup<'d>),
    ) {
        let mut selecting = self.selecting.borrow_mut();
        let (seen, found) = &mut *selecting;
        let new = certain(created.get(*seen..));
        found.extend(new.iter().filter(|group| group.borrow().constraint.selects(&self.shape)).cloned());
        *seen = created.len();
        found.iter().for_each(&mut each);
    }

    /// The groups of other pods whose anti-affinity the pod must respect. All pods have joined the topology before the
    /// first pod is tried, so the groups do not change.
    pub(crate) fn matching_inverse(
        &self,
        inverse: &BTreeMap<GroupIdentity<'d>, SharedGroup<'d>>,
    ) -> &[SharedGroup<'d>] {
        let matching = || {
            let all = inverse.values().filter(|group| group.borrow().constraint.selects(&self.shape));
            all.cloned().collect()
        };
        self.matching_inverse.get_or_init(matching)
    }
}

/// Returns the shape without its next preference; `None` if nothing is left to relax.
pub(crate) fn relax<'d>(shape: &PodShape<'d>, tolerates: bool) -> Option<PodShape<'d>> {
    let mut relaxed = shape.clone();
    let changed = drop_required_term(&mut relaxed)
        || drop_heaviest(&mut relaxed.affinity.preferred)
        || drop_heaviest(&mut relaxed.anti_affinity.preferred)
        || drop_heaviest(&mut relaxed.demand.preferred_terms)
        || drop_spread(&mut relaxed)
        || (tolerates && tolerate(&mut relaxed));
    changed.then_some(relaxed)
}

/// The terms are alternatives, and the last term stays.
fn drop_required_term(shape: &mut PodShape<'_>) -> bool {
    let can = shape.demand.required_terms.len() > 1;
    if can {
        shape.demand.required_terms.remove(0);
    }
    can
}

fn drop_heaviest<T>(terms: &mut Vec<(i64, T)>) -> bool {
    terms.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let can = !terms.is_empty();
    if can {
        terms.remove(0);
    }
    can
}

fn drop_spread(shape: &mut PodShape<'_>) -> bool {
    let first = shape.spreads.iter().position(|spread| spread.is_preference);
    if let Some(index) = first {
        shape.spreads.swap_remove(index);
    }
    first.is_some()
}

fn tolerate(shape: &mut PodShape<'_>) -> bool {
    let can = !shape.demand.tolerations.contains(&PREFER_NO_SCHEDULE);
    if can {
        shape.demand.tolerations.push(PREFER_NO_SCHEDULE);
    }
    can
}
