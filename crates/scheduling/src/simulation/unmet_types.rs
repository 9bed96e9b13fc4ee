//! The smallest set of demands without which an instance type is left.
//!
//! Each instance type, in each zone and capacity type in which it is sold, meets or does not meet each demand. The type that
//! meets all but the fewest demands tells the set; no demand of the set can be kept with that type, and no type needs fewer.

use std::collections::{BTreeMap, BTreeSet};

use ids::IdVec;
use values::quantity::Quantity;

use super::catalog::{OfferingId, TypeId, TypeSet};
use super::exclusion::excluding_requirement;
use super::pool::Pool;
use super::reason::{Disagreement, LimitMiss, NearestMiss, UnmetLabel};
use super::resources::{ResourceId, ResourceNames, Resources};
use super::variant::Variant;
use crate::requirements::{Requirement, Requirements};

/// Allocatable resources of an instance type beside its daemons.
#[derive(Clone, Debug)]
struct TypeRoom {
    id: TypeId,
    room: Resources,
}

/// The instance types of a NodePool that meet its own requirements, whatever the pod.
#[derive(Debug, Default)]
pub(super) struct TypesLeft<'d> {
    /// The types whose daemons fit, with their room.
    rooms: Vec<TypeRoom>,
    /// The offerings that agree with the NodePool.
    offerings: Vec<OfferingId>,
    /// The requirement that excludes all types.
    excluding: Option<&'d str>,
}

impl<'d> TypesLeft<'d> {
    /// The types of a NodePool.
    pub(super) fn of(pool: &Pool<'d>) -> Self {
        let catalog = &pool.catalog;
        let mut types = pool.types.clone();
        catalog.retain_compatible(&mut types, &pool.requirements);
        types.intersect_with(&catalog.offered(&pool.requirements));
        let agrees = |id: &OfferingId| {
            let offering = catalog.offerings.get(*id);
            offering.is_some_and(|one| pool.requirements.compatible(&one.requirements).is_ok())
        };
        let room = |id: TypeId| Some(TypeRoom { id, room: room_of(pool, id)? });
        Self {
            rooms: types.iter().filter_map(room).collect(),
            offerings: catalog.offerings.ids().filter(agrees).collect(),
            excluding: types.is_empty().then(|| excluding_requirement(pool)).flatten(),
        }
    }
}

/// The room of an instance type; `None` if its daemons do not fit.
fn room_of(pool: &Pool<'_>, id: TypeId) -> Option<Resources> {
    let group = pool.groups.iter().find(|group| group.types.contains(id))?;
    let mut room = pool.catalog.resources.get(id)?.allocatable.clone();
    room.subtract(&group.overhead);
    let is_missing = |resource: ResourceId| room.find(resource).is_none();
    let lacks = group.overhead.iter().any(|(resource, amount)| is_missing(resource) && !amount.is_zero());
    (!lacks && !room.iter().any(|(_, amount)| amount.is_negative())).then_some(room)
}

/// Demand on the instance type.
enum TypeDemand<'d> {
    HostPort(i64),
    Label(&'d str, Requirement<'d>),
    Volume(&'d str, Requirement<'d>),
    Topology(&'d str),
    Resource(ResourceId, Quantity),
    Limits,
}

/// Demand with the instance types and offerings that meet it.
struct DemandTypes<'d> {
    demand: TypeDemand<'d>,
    /// `None` if all types meet it, or if it is a resource.
    types: Option<TypeSet>,
    /// The offerings that do not meet it.
    refused: BTreeSet<OfferingId>,
}

/// The pod and the NodePool whose types are asked for.
pub(super) struct TypeQuestion<'q, 'd> {
    /// The NodePool.
    pub(super) pool: &'q Pool<'d>,
    /// Its types.
    pub(super) left: &'q TypesLeft<'d>,
    /// The pod.
    pub(super) pod: &'q Variant<'d>,
    /// The domains that topology allows.
    pub(super) domains: &'q Requirements<'d>,
    /// The types that the limits leave; `None` if limits do not count.
    pub(super) within_limits: Option<&'q TypeSet>,
    /// The names of resources.
    pub(super) names: &'q ResourceNames<'d>,
}

/// Largest number of sets of the same size that are looked at.
const MAX_SETS: usize = 4;

/// Order of sets of the same size: the least effort first, then the smallest excess over what a type has.
///
/// A request comes before a label: with a smaller request the pod stays where its author wants it, and a selector is seldom written
/// without need. A resource that no type left has comes last, since no request of it can be met.
type Effort = (u8, i128, TypeId);

impl<'d> TypeQuestion<'_, 'd> {
    /// The smallest sets, the one with the least effort first; none if no type of the NodePool is left whatever the pod demands.
    pub(super) fn smallest_sets(&self) -> Vec<Vec<Disagreement<'d>>> {
        if let Some(key) = self.left.excluding {
            return vec![vec![Disagreement::OwnRequirement(key)]];
        }
        let demands = self.demands();
        let mut sets: Vec<(Effort, Vec<usize>)> =
            self.fewest(&demands).into_iter().map(|(unmet, effort)| (effort, unmet)).collect();
        sets.sort();
        let disagreements = |(effort, unmet): &(Effort, Vec<usize>)| {
            let chosen = unmet.iter().filter_map(|index| demands.get(*index));
            chosen.filter_map(|demand| self.disagreement(demand, effort.2)).collect()
        };
        sets.iter().take(MAX_SETS).map(disagreements).collect()
    }

    /// The sets with the fewest demands, each with the least effort of a type that meets all others.
    fn fewest(&self, demands: &[DemandTypes<'d>]) -> BTreeMap<Vec<usize>, Effort> {
        let sold = self.sold(demands);
        let mut sets: BTreeMap<Vec<usize>, Effort> = BTreeMap::new();
        let mut fewest = demands.len();
        for one in &self.left.rooms {
            let unmet = demands.iter().enumerate().filter(|(_, demand)| !demand.is_met_by(one));
            let of_type: BTreeSet<usize> =
                unmet.map(|(index, _)| index).take(fewest.saturating_add(1)).collect();
            for (refusing, _) in sold.iter().filter(|(_, types)| types.contains(one.id)) {
                let unmet: Vec<usize> = of_type.union(refusing).copied().collect();
                if unmet.len() > fewest {
                    continue;
                }
                if unmet.len() < fewest {
                    fewest = unmet.len();
                    sets.clear();
                }
                let effort = self.effort(demands, &unmet, one);
                let least = sets.entry(unmet).or_insert(effort);
                *least = effort.min(*least);
            }
        }
        sets
    }

    /// The types that are sold, by the demands that refuse their offerings.
    fn sold(&self, demands: &[DemandTypes<'d>]) -> BTreeMap<BTreeSet<usize>, TypeSet> {
        let mut sold: BTreeMap<BTreeSet<usize>, TypeSet> = BTreeMap::new();
        for id in &self.left.offerings {
            let Some(offering) = self.pool.catalog.offerings.get(*id) else { continue };
            let refusing = demands.iter().enumerate().filter(|(_, demand)| demand.refused.contains(id));
            let refusing = refusing.map(|(index, _)| index).collect();
            let types = sold.entry(refusing).or_insert_with(|| TypeSet::empty(offering.types.capacity()));
            types.union_with(&offering.types);
        }
        sold
    }

    fn effort(&self, demands: &[DemandTypes<'d>], unmet: &[usize], one: &TypeRoom) -> Effort {
        let unmet = unmet.iter().filter_map(|index| demands.get(*index));
        let efforts = unmet.map(|demand| self.effort_of(&demand.demand, one));
        let (hardest, excess) = efforts.fold((0, 0_i128), |(hardest, excess), (effort, ratio)| {
            (effort.max(hardest), excess.saturating_add(ratio))
        });
        (hardest, excess, one.id)
    }

    /// The effort to give up a demand, and the excess of a request or a type in thousandths of what is there.
    fn effort_of(&self, demand: &TypeDemand<'d>, one: &TypeRoom) -> (u8, i128) {
        match demand {
            TypeDemand::Resource(resource, requested) => {
                let has = one.room.get(*resource);
                let ratio = requested.nano().saturating_mul(1_000).checked_div(has.nano());
                ratio.map_or((4, 0), |ratio| (0, ratio))
            }
            TypeDemand::Label(..) => (1, 0),
            TypeDemand::HostPort(_) | TypeDemand::Volume(..) | TypeDemand::Topology(_) => (2, 0),
            TypeDemand::Limits => (3, self.limit_miss(one.id).map_or(0, |miss| miss.needed.nano())),
        }
    }

    /// The first limit that an instance type does not keep.
    fn limit_miss(&self, id: TypeId) -> Option<LimitMiss<'d>> {
        let capacity = &self.pool.catalog.resources.get(id)?.capacity;
        let remaining = self.pool.remaining.borrow();
        let (resource, left) = remaining.iter().find(|(resource, left)| capacity.get(*resource) > *left)?;
        Some(LimitMiss { resource: self.names.name(resource), left, needed: capacity.get(resource) })
    }

    fn demands(&self) -> Vec<DemandTypes<'d>> {
        let mut all = Vec::new();
        self.add_host_ports(&mut all);
        for (key, asked) in self.pod.requirements.iter() {
            let of_volume = self.pod.shape.volume_labels.get(key).is_some();
            let make = if of_volume { TypeDemand::Volume } else { TypeDemand::Label };
            all.push(self.on_label(key, asked, make(key, asked.clone())));
        }
        self.add_volumes(&mut all);
        for (key, domains) in self.domains.iter() {
            all.push(self.on_label(key, domains, TypeDemand::Topology(key)));
        }
        let requests = self.pod.shape.requests.iter();
        all.extend(requests.map(|(id, amount)| DemandTypes::new(TypeDemand::Resource(id, amount), None)));
        if let Some(types) = self.within_limits {
            all.push(DemandTypes::new(TypeDemand::Limits, Some(types.clone())));
        }
        all
    }

    /// The types on which daemons leave the host ports of the pod free.
    fn add_host_ports(&self, all: &mut Vec<DemandTypes<'d>>) {
        for port in &self.pod.shape.ports {
            let mut types = TypeSet::empty(self.pool.types.capacity());
            let asked = std::slice::from_ref(port);
            for group in self.pool.groups.iter().filter(|group| group.ports.conflict(asked).is_none()) {
                types.union_with(&group.types);
            }
            all.push(DemandTypes::new(TypeDemand::HostPort(port.port), Some(types)));
        }
    }

    /// The demand for a label of the types or the offerings.
    fn on_label(&self, key: &'d str, asked: &Requirement<'d>, demand: TypeDemand<'d>) -> DemandTypes<'d> {
        let merged = self.pool.requirements.get(key).map(|present| present.intersection(asked));
        let types = self.pool.catalog.accepted(key, merged.as_ref().unwrap_or(asked));
        let mut alone = Requirements::default();
        alone.replace(key, asked.clone());
        DemandTypes {
            demand,
            types: types.map(|types| TypeSet::clone(&types)),
            refused: self.offerings_that(|offered| alone.conflict(offered).is_some()),
        }
    }

    /// The demand of the volumes: one of their alternatives.
    fn add_volumes(&self, all: &mut Vec<DemandTypes<'d>>) {
        let alternatives = &self.pod.shape.volumes;
        let Some((key, first)) = alternatives.iter().flat_map(Requirements::iter).next() else { return };
        let mut types = TypeSet::empty(self.pool.types.capacity());
        for alternative in alternatives {
            let mut accepted = self.pool.types.clone();
            self.pool.catalog.retain_compatible(&mut accepted, alternative);
            types.union_with(&accepted);
        }
        let conflicts = |offered: &Requirements<'d>| {
            alternatives.iter().all(|alternative| alternative.conflict(offered).is_some())
        };
        let refused = self.offerings_that(conflicts);
        let demand = TypeDemand::Volume(key, first.clone());
        all.push(DemandTypes { demand, types: Some(types), refused });
    }

    fn offerings_that(&self, is_refused: impl Fn(&Requirements<'d>) -> bool) -> BTreeSet<OfferingId> {
        let offerings: &IdVec<OfferingId, _> = &self.pool.catalog.offerings;
        let ids = self.left.offerings.iter().copied();
        ids.filter(|id| offerings.get(*id).is_some_and(|one| is_refused(&one.requirements))).collect()
    }

    /// A demand that a type does not meet.
    fn disagreement(&self, demand: &DemandTypes<'d>, id: TypeId) -> Option<Disagreement<'d>> {
        let label = |key: &'d str, asked: &Requirement<'d>| UnmetLabel {
            key,
            asked: asked.clone(),
            present: self.pool.requirements.get(key).cloned(),
            is_of_types: true,
        };
        Some(match &demand.demand {
            TypeDemand::HostPort(port) => Disagreement::HostPort(*port),
            TypeDemand::Label(key, asked) => Disagreement::Label(label(key, asked)),
            TypeDemand::Volume(key, asked) => Disagreement::Volume(label(key, asked)),
            TypeDemand::Topology(key) => Disagreement::Topology(key),
            TypeDemand::Limits => Disagreement::Limits(self.limit_miss(id)),
            TypeDemand::Resource(resource, requested) => Disagreement::Resource(NearestMiss {
                resource: self.names.name(*resource),
                requested: *requested,
                largest: self.left.rooms.iter().find(|one| one.id == id)?.room.get(*resource),
                instance_type: self.pool.catalog.names.get(id)?,
            }),
        })
    }
}

impl<'d> DemandTypes<'d> {
    fn new(demand: TypeDemand<'d>, types: Option<TypeSet>) -> Self {
        Self { demand, types, refused: BTreeSet::new() }
    }

    /// Whether an instance type meets the demand, whatever its offering.
    fn is_met_by(&self, one: &TypeRoom) -> bool {
        let fits = match self.demand {
            TypeDemand::Resource(resource, requested) => one.room.get(resource) >= requested,
            _ => true,
        };
        fits && self.types.as_ref().is_none_or(|types| types.contains(one.id))
    }
}
