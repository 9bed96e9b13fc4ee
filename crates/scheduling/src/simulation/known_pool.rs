//! NodePools with their instance types and prices.

use karpenter::labels;
use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::catalog::{Offering, TypeId};
use super::offerings::ZONE;
use super::pool::Pool;
use super::report;
use super::result::SimulatedClaim;
use super::settings::SimulationSettings;
use crate::requirements::Requirements;

/// NodePool with its instance types.
#[derive(Clone, Copy)]
pub struct KnownPool<'c, 'd> {
    pool: &'c Pool<'d>,
    settings: &'d SimulationSettings,
}

impl<'c, 'd> KnownPool<'c, 'd> {
    pub(super) fn new(pool: &'c Pool<'d>, settings: &'d SimulationSettings) -> Self {
        Self { pool, settings }
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.pool.object
    }

    /// Whether the pool takes pods: it is Ready, not static, and not being deleted.
    pub fn is_used(self) -> bool {
        self.pool.is_used
    }

    /// Whether the provider has instance types for the pool. Without its node class it has no type.
    pub fn has_types(self) -> bool {
        !self.pool.catalog.names.is_empty()
    }

    /// Whether the provider knows an instance type.
    pub fn has_type(self, name: &str) -> bool {
        self.type_id(name).is_some()
    }

    fn type_id(self, name: &str) -> Option<TypeId> {
        self.pool.catalog.names.enumerate().find(|(_, known)| **known == name).map(|(id, _)| id)
    }

    /// The price of an instance type in USD per hour, whether or not the type is available; `None` without an offering.
    ///
    /// Source: `OfferingPrice` in pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at v1.14.1.
    pub fn price(self, instance_type: &str, zone: &str, capacity_type: &str) -> Option<f64> {
        self.prices(instance_type, zone, capacity_type, |_| true).first().copied()
    }

    /// The price of the cheapest offering of an instance type that the labels of a node agree with, whether or not the type is
    /// available; `None` without an offering.
    ///
    /// Source: `Offerings.Compatible` and `Offerings.Cheapest` in pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at
    /// v1.14.1.
    pub fn price_by_labels(
        self,
        instance_type: &str,
        labels: impl IntoIterator<Item = (&'d str, &'d str)>,
    ) -> Option<f64> {
        let labels = Requirements::of_labels(labels);
        let value = |key: &str| labels.get(key).and_then(|value| value.named_values().next());
        let (zone, capacity_type) = (value(ZONE)?, value(labels::CAPACITY_TYPE)?);
        let agrees = |offering: &Offering<'d>| labels.compatible(&offering.requirements).is_ok();
        self.prices(instance_type, zone, capacity_type, agrees).into_iter().reduce(f64::min)
    }

    /// The prices of the offerings of an instance type in a zone. The provider has an offering in every zone of the region,
    /// whether or not a subnet is there, and also for a type without a known price, whose price is zero then (`ResolveOfferings` in
    /// `base_resolver.go` in pkg/providers/instancetype/offering of aws/karpenter-provider-aws at v1.14.1).
    fn prices(
        self,
        instance_type: &str,
        zone: &str,
        capacity_type: &str,
        agrees: impl Fn(&Offering<'d>) -> bool,
    ) -> Vec<f64> {
        let catalog = &self.pool.catalog;
        let Some(id) = self.type_id(instance_type) else { return Vec::new() };
        let mut offerings: Vec<&Offering<'d>> = if capacity_type == "reserved" {
            catalog.reserved.iter().filter(|one| one.types.contains(id)).collect()
        } else {
            catalog.offerings.iter().filter(|one| one.capacity_type == capacity_type).collect()
        };
        let in_region = self.settings.zones.iter().any(|known| known.name == zone);
        let has_subnet = offerings.iter().any(|one| one.zone == zone);
        if !has_subnet && in_region && capacity_type != "reserved" {
            offerings.truncate(1);
        } else {
            offerings.retain(|one| one.zone == zone && agrees(one));
        }
        let known = |price: f64| if price < f64::MAX { price } else { 0.0 };
        offerings.into_iter().map(|one| known(one.price(id))).collect()
    }

    /// The template of the NodePool as a new node without pods and without instance types.
    pub fn template(self) -> SimulatedClaim<'d> {
        let inclusive = SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(self.settings.release);
        let requirements = self.pool.requirements.iter().filter(|(key, _)| *key != labels::HOSTNAME);
        SimulatedClaim {
            pool: self.pool.object,
            pods: Vec::new(),
            instance_types: 0,
            offered: 0,
            cheapest: Vec::new(),
            on_demand_price: None,
            spot_price: None,
            zones: Vec::new(),
            capacity_types: Vec::new(),
            requests: Vec::new(),
            allocatable: Vec::new(),
            requirements: report::written(requirements, inclusive),
            reservations: Vec::new(),
            round: 1,
        }
    }
}
