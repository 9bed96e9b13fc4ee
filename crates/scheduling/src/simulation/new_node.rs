//! New nodes whose instance types the caller filters further.
//!
//! Source: pkg/cloudprovider/types.go and pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at
//! v1.14.1.

use std::rc::Rc;

use karpenter::labels;
use karpenter::release::Release;
use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::catalog::{Catalog, TypeId, TypeSet};
use super::claim::Claim;
use super::filter::missing_values;
use super::launch::Launch;
use super::report;
use super::resources::ResourceNames;
use super::result::PodId;
use super::result::SimulatedClaim;
use crate::requirements::Requirement;

/// The order in which a launch prefers capacity types.
const BY_PREFERENCE: [&str; 3] = ["reserved", "spot", "on-demand"];

/// New node with its instance types, the cheapest first.
#[derive(Debug)]
pub struct NewNode<'d> {
    claim: Claim<'d>,
    types: Vec<TypeId>,
    names: Rc<ResourceNames<'d>>,
    release: Release,
}

impl<'d> NewNode<'d> {
    /// A new node with as many instance types as Karpenter keeps.
    pub(super) fn new(claim: Claim<'d>, names: &Rc<ResourceNames<'d>>, release: Release) -> Self {
        let most = if SchedulerBehaviour::SIX_HUNDRED_TYPES.holds_in(release) { 600 } else { 60 };
        let by_price = claim.pool.catalog.by_price(&claim.types, &claim.requirements);
        let types = by_price.into_iter().take(most).map(|(id, _)| id).collect();
        Self { claim, types, names: Rc::clone(names), release }
    }

    /// The launch with one of the instance types that are left; `None` if none can be bought.
    pub(super) fn launch(&self) -> Option<Launch<'_, 'd>> {
        Launch::of_types(&self.claim, &self.set())
    }

    fn catalog(&self) -> &Catalog<'d> {
        &self.claim.pool.catalog
    }

    fn set(&self) -> TypeSet {
        let mut set = TypeSet::empty(self.claim.types.capacity());
        set.extend(self.types.iter().copied());
        set
    }

    /// The NodePool.
    pub fn pool(&self) -> Object<'d> {
        self.claim.pool.object
    }

    /// The pods, by their id in [`Round::pods`](super::Round::pods).
    pub fn pods(&self) -> &[PodId] {
        &self.claim.pods
    }

    /// The names of the instance types.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> {
        self.types.iter().filter_map(|id| self.catalog().names.get(*id).copied())
    }

    /// The number of instance types.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// Whether the node may have a capacity type.
    pub fn accepts(&self, capacity_type: &str) -> bool {
        let requirement = self.claim.requirements.get(labels::CAPACITY_TYPE);
        requirement.is_none_or(|requirement| requirement.has(capacity_type))
    }

    /// Requires spot capacity.
    pub fn require_spot(&mut self) {
        self.claim.requirements.add(labels::CAPACITY_TYPE, Requirement::is("spot"));
    }

    /// Keeps the types with an available offering.
    pub fn keep_offered(&mut self) {
        let offered = self.catalog().offered(&self.claim.requirements);
        self.types.retain(|id| offered.contains(*id));
    }

    /// Keeps the first types.
    pub fn keep_first(&mut self, count: usize) {
        self.types.truncate(count);
    }

    /// Keeps the types that cost less than a price in every zone (`RemoveInstanceTypeOptionsByPriceAndMinValues`). The error
    /// has the labels whose `minValues` are not met any more.
    pub fn keep_cheaper(&mut self, limit: f64) -> Result<(), Vec<&'d str>> {
        let types = std::mem::take(&mut self.types);
        self.types = types.into_iter().filter(|id| self.worst_price(*id) < limit).collect();
        let missing = missing_values(self.catalog(), &self.set(), &self.claim.requirements);
        if missing.is_empty() { Ok(()) } else { Err(missing.into_iter().map(|(key, _)| key).collect()) }
    }

    /// The highest price of a type in the capacity type that a launch chooses (`WorstLaunchPrice`).
    fn worst_price(&self, id: TypeId) -> f64 {
        let price_in = |capacity_type: &str| {
            let offerings = self.catalog().compatible_offerings(&self.claim.requirements);
            let fitting =
                offerings.filter(|one| one.capacity_type == capacity_type && one.types.contains(id));
            fitting.map(|offering| offering.price(id)).reduce(f64::max)
        };
        BY_PREFERENCE.iter().find_map(|capacity_type| price_in(capacity_type)).unwrap_or(f64::MAX)
    }

    /// The lowest price of the first type.
    pub fn price_of_first(&self) -> Option<f64> {
        let id = *self.types.first()?;
        let price = Catalog::price(self.catalog().compatible_offerings(&self.claim.requirements), id);
        Some(price).filter(|price| *price < f64::MAX)
    }

    /// The price by which a release estimates savings (`EstimatedSavings` in pkg/controllers/disruption/types.go).
    pub fn estimated_price(&self) -> Option<f64> {
        let any = SchedulerBehaviour::ESTIMATES_BY_ANY_OFFERING.holds_in(self.release);
        if !any && !SchedulerBehaviour::ESTIMATES_BY_AVAILABLE_OFFERING.holds_in(self.release) {
            return self.price_of_first();
        }
        let id = *self.types.first()?;
        let reserved = self.catalog().reserved.iter().filter(|one| any && one.types.contains(id));
        let other = self.catalog().offerings.iter().filter(|one| any || one.types.contains(id));
        let prices = reserved.chain(other).map(|offering| offering.price(id));
        prices.reduce(f64::min).filter(|price| *price < f64::MAX)
    }

    /// Whether a requirement has `minValues`.
    pub fn has_min_values(&self) -> bool {
        self.claim.requirements.has_min_values()
    }

    /// The number of types from the front that meet all `minValues` (`SatisfiesMinValues`).
    pub fn needed_for_min_values(&self) -> usize {
        let mut set = TypeSet::empty(self.claim.types.capacity());
        for (index, id) in self.types.iter().enumerate() {
            set.insert(*id);
            if missing_values(self.catalog(), &set, &self.claim.requirements).is_empty() {
                return index + 1;
            }
        }
        self.types.len()
    }

    /// The node as plain data.
    pub fn describe(&self) -> SimulatedClaim<'d> {
        let inclusive = SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(self.release);
        report::describe_with(&self.claim, &self.set(), &self.names, inclusive)
    }
}
