//! The instance types of a NodePool, as sets: by label, by offering, by resources.

use std::cell::{LazyCell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{IdVec, ids};

use super::amounts::AmountIndex;
use super::resources::Resources;
use crate::id_set::IdSet;
use crate::requirements::{EffectiveOperator, Requirement, Requirements};

ids! {
    /// Instance type of a catalog.
    pub(crate) TypeId;
    /// Offering of a catalog.
    pub(crate) OfferingId;
}

/// Set of instance types.
pub(crate) type TypeSet = IdSet<TypeId>;

/// The instance types by the values of a label.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelTypes<'d> {
    /// The types that have a value.
    pub(crate) by_value: BTreeMap<&'d str, TypeSet>,
    /// The types without the label.
    pub(crate) absent: TypeSet,
}

/// Label of an instance type that is indexed when a pod or a NodePool first asks for it.
pub(crate) type SharedLabel<'d> = Rc<LazyCell<LabelTypes<'d>, Box<dyn FnOnce() -> LabelTypes<'d> + 'd>>>;

impl<'d> LabelTypes<'d> {
    /// The types whose values a requirement accepts.
    fn accepted(&self, requirement: &Requirement<'d>) -> TypeSet {
        let mut accepted = if requirement.is_negative() {
            self.absent.clone()
        } else {
            TypeSet::empty(self.absent.capacity())
        };
        for (_, types) in self.by_value.iter().filter(|(value, _)| requirement.has(value)) {
            accepted.union_with(types);
        }
        accepted
    }
}

/// Capacity that can be bought in a zone.
#[derive(Clone, Debug)]
pub(crate) struct Offering<'d> {
    /// The labels of its nodes.
    pub(crate) requirements: Requirements<'d>,
    /// The zone.
    pub(crate) zone: &'d str,
    /// `spot`, `on-demand` or `reserved`.
    pub(crate) capacity_type: &'d str,
    /// The ID of the capacity reservation.
    pub(crate) reservation: Option<&'d str>,
    /// The instance types that are available.
    pub(crate) types: TypeSet,
    /// The price of each instance type in USD per hour.
    pub(crate) prices: Rc<IdVec<TypeId, f64>>,
}

impl Offering<'_> {
    /// The price of a type.
    pub(crate) fn price(&self, id: TypeId) -> f64 {
        self.prices.get(id).copied().unwrap_or(f64::MAX)
    }
}

/// Resources of an instance type.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeResources {
    /// The capacity.
    pub(crate) capacity: Resources,
    /// The capacity without overhead.
    pub(crate) allocatable: Resources,
}

/// The instance types of a NodePool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog<'d> {
    /// The names.
    pub(crate) names: IdVec<TypeId, &'static str>,
    /// The labels.
    pub(crate) labels: BTreeMap<&'d str, SharedLabel<'d>>,
    /// The resources.
    pub(crate) resources: IdVec<TypeId, TypeResources>,
    /// The offerings.
    pub(crate) offerings: IdVec<OfferingId, Offering<'d>>,
    /// The offerings of all capacity reservations, including reservations that are used up.
    pub(crate) reserved: Vec<Offering<'d>>,
    /// The types by the amounts of [`Self::resources`].
    pub(crate) amounts: AmountIndex,
    /// The results of [`Self::accepted`], because pods ask the same again.
    pub(crate) accepted: RefCell<BTreeMap<(&'d str, Requirement<'d>), Rc<TypeSet>>>,
}

impl<'d> Catalog<'d> {
    /// The set of all types.
    pub(crate) fn all(&self) -> TypeSet {
        TypeSet::full(self.names.len())
    }

    /// The types whose label agrees with a requirement; `None` if types do not have the label.
    pub(crate) fn accepted(&self, key: &'d str, requirement: &Requirement<'d>) -> Option<Rc<TypeSet>> {
        let label = self.labels.get(key)?;
        let known = self.accepted.borrow().get(&(key, requirement.clone())).cloned();
        Some(known.unwrap_or_else(|| {
            let types = Rc::new(label.accepted(requirement));
            self.accepted.borrow_mut().insert((key, requirement.clone()), Rc::clone(&types));
            types
        }))
    }

    /// Removes the types whose labels do not agree with requirements.
    pub(crate) fn retain_compatible(&self, types: &mut TypeSet, requirements: &Requirements<'d>) {
        for (key, requirement) in requirements.iter() {
            if let Some(accepted) = self.accepted(key, requirement) {
                types.intersect_with(&accepted);
            }
        }
    }

    /// Removes the offerings of a capacity reservation that is used up.
    pub(crate) fn drop_reservation(&mut self, id: &str) {
        let offerings = std::mem::take(&mut self.offerings).into_iter();
        self.offerings = offerings.filter(|offering| offering.reservation != Some(id)).collect();
    }

    /// The types that may be left for a pod with requirements: no NodePool leaves another type, but perhaps fewer. A requirement with
    /// listed values only loses values when it is joined with the requirement of a NodePool.
    pub(crate) fn possible(&self, asked: &Requirements<'d>) -> TypeSet {
        let listed = || asked.iter().filter(|(_, one)| one.operator() == EffectiveOperator::In);
        let mut types = TypeSet::empty(self.names.len());
        let may_be_sold = |offering: &&Offering<'d>| {
            listed().all(|(key, one)| {
                offering.requirements.get(key).is_none_or(|offered| one.intersects(offered))
            })
        };
        self.offerings.iter().filter(may_be_sold).for_each(|offering| types.union_with(&offering.types));
        for (key, one) in listed() {
            if let Some(accepted) = self.accepted(key, one) {
                types.intersect_with(&accepted);
            }
        }
        types
    }

    /// Whether any type agrees with requirements. Types that the table lacks may have other values.
    pub(crate) fn has_compatible(&self, requirements: &Requirements<'d>) -> bool {
        let mut types = self.all();
        self.retain_compatible(&mut types, requirements);
        !types.is_empty()
    }

    /// Removes the types that have less allocatable resources than requested.
    pub(crate) fn retain_fitting(&self, types: &mut TypeSet, requests: &Resources) {
        self.amounts.retain_fitting(types, requests, &self.resources);
    }

    /// The offerings that are compatible with requirements.
    pub(crate) fn compatible_offerings<'c>(
        &'c self,
        requirements: &'c Requirements<'d>,
    ) -> impl Iterator<Item = &'c Offering<'d>> {
        let compatible = |offering: &&Offering<'d>| requirements.compatible(&offering.requirements).is_ok();
        self.offerings.iter().filter(compatible)
    }

    /// The types with a compatible offering.
    pub(crate) fn offered(&self, requirements: &Requirements<'d>) -> TypeSet {
        let mut types = TypeSet::empty(self.names.len());
        for offering in self.compatible_offerings(requirements) {
            types.union_with(&offering.types);
        }
        types
    }

    /// The number of different values of a label among types.
    pub(crate) fn count_values(&self, key: &str, types: &TypeSet) -> usize {
        let label = self.labels.get(key);
        label.map_or(0, |label| label.by_value.values().filter(|with| !with.is_disjoint(types)).count())
    }

    /// The lowest price of a type among offerings.
    pub(crate) fn price<'c>(offerings: impl Iterator<Item = &'c Offering<'d>>, id: TypeId) -> f64
    where
        'd: 'c,
    {
        let available = offerings.filter(|offering| offering.types.contains(id));
        available.map(|offering| offering.price(id)).fold(f64::MAX, f64::min)
    }

    /// The types of a set by price, then name.
    pub(crate) fn by_price(&self, types: &TypeSet, requirements: &Requirements<'d>) -> Vec<(TypeId, f64)> {
        let mut all = self.priced(types, requirements);
        all.sort_unstable_by(|one, other| self.compare(one, other));
        all
    }

    /// The type of a set that costs the least, the first one by name.
    pub(crate) fn cheapest(&self, types: &TypeSet, requirements: &Requirements<'d>) -> Option<TypeId> {
        let all = self.priced(types, requirements).into_iter();
        all.min_by(|one, other| self.compare(one, other)).map(|(id, _)| id)
    }

    /// The types of a set with their lowest prices.
    fn priced(&self, types: &TypeSet, requirements: &Requirements<'d>) -> Vec<(TypeId, f64)> {
        let offerings: Vec<&Offering<'d>> = self.compatible_offerings(requirements).collect();
        types.iter().map(|id| (id, Self::price(offerings.iter().copied(), id))).collect()
    }

    /// Compares types by price, then name.
    fn compare(&self, (one, price): &(TypeId, f64), (other, other_price): &(TypeId, f64)) -> Ordering {
        price.total_cmp(other_price).then_with(|| self.names.get(*one).cmp(&self.names.get(*other)))
    }

    /// The resources of the types of a set.
    pub(crate) fn resources_of<'c>(&'c self, types: &'c TypeSet) -> impl Iterator<Item = &'c TypeResources> {
        types.iter().filter_map(|id| self.resources.get(id))
    }
}
