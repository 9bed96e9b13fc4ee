//! NodePools with their instance types and prices.

use karpenter::labels;
use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::catalog::TypeId;
use super::pool::Pool;
use super::report;
use super::result::SimulatedClaim;
use super::settings::SimulationSettings;

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
    /// Source: `OfferingPrice` in pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at v1.14.1. The provider has
    /// offerings in all zones of the region; those outside the node class are not available.
    pub fn price(self, instance_type: &str, zone: &str, capacity_type: &str) -> Option<f64> {
        let id = self.type_id(instance_type)?;
        let is_reserved = capacity_type == "reserved";
        let in_region = self.settings.zones.iter().any(|known| known.name == zone);
        let of_type = self.pool.catalog.offerings.iter().filter(|one| one.capacity_type == capacity_type);
        let mut of_type = of_type.filter(|one| !is_reserved || one.types.contains(id));
        let in_zone = of_type.clone().find(|one| one.zone == zone);
        let offering = in_zone.or_else(|| of_type.next().filter(|_| in_region && !is_reserved))?;
        Some(offering.price(id)).filter(|price| *price < f64::MAX)
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
            zones: Vec::new(),
            capacity_types: Vec::new(),
            requests: Vec::new(),
            allocatable: Vec::new(),
            requirements: report::written(requirements, inclusive),
            reservations: Vec::new(),
        }
    }
}
