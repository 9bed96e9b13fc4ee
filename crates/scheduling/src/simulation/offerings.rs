//! The catalog of a node class: labels, resources and offerings of every instance type.
//!
//! Source: pkg/providers/instancetype/types.go and pkg/providers/instancetype/offering of aws/karpenter-provider-aws at
//! v1.14.1.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::{Id, IdVec};
use karpenter::instance_types::{self, InstanceType, MULTIPLE_TENANCIES, TypeLabel};
use karpenter::labels;
use manifest::tree::{Node, items_of};
use objects::node_class::{Ec2NodeClass, Ec2NodeClassStatus};

use super::behaviour::SchedulerBehaviour;
use super::catalog::{
    Catalog, LabelTypes, Offering, OfferingId, SharedLabel, TypeId, TypeResources, TypeSet,
};
use super::node_class::{AmiFamily, NodeClassModel};
use super::resources::{MEMORY, ResourceNames};
use super::settings::SimulationSettings;
use crate::requirements::{Requirement, Requirements};
use crate::scalar::text_or_empty;

pub(crate) use karpenter::labels::ZONE;
use karpenter::labels::ZONE_ID;
const REGION: &str = "topology.kubernetes.io/region";
const OS: &str = "kubernetes.io/os";
const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";
/// The ID of a capacity reservation.
pub(crate) const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
const RESERVATION_TYPE: &str = "karpenter.k8s.aws/capacity-reservation-type";
const RESERVATION_INTERRUPTIBLE: &str = "karpenter.k8s.aws/capacity-reservation-interruptible";
/// The labels of the nodes of a capacity reservation.
pub(crate) const RESERVATION_LABELS: [&str; 3] =
    [RESERVATION_ID, RESERVATION_TYPE, RESERVATION_INTERRUPTIBLE];

/// The reserved capacity is nearly free: the on-demand price divided by this.
const RESERVED_DIVISOR: f64 = 10_000_000.0;

/// Zone of a node class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClassZone<'d> {
    name: &'d str,
    id: &'d str,
}

/// Capacity reservation of a node class.
struct Reservation<'d> {
    id: &'d str,
    instance_type: &'d str,
    zone: &'d str,
    kind: &'d str,
    interruptible: &'d str,
    is_available: bool,
}

/// The instance types that the catalogs of all node classes share.
pub(crate) struct InstanceTypes<'d> {
    kinds: &'static [InstanceType],
    labels: BTreeMap<&'d str, SharedLabel<'d>>,
    /// The prices from NodeOverlays of types without a price.
    overlay_prices: BTreeMap<&'d str, f64>,
}

impl<'d> InstanceTypes<'d> {
    /// The types of the table, with the labels that a release knows. `overlay_prices` has prices for types without one.
    pub(crate) fn new(settings: &SimulationSettings, overlay_prices: BTreeMap<&'d str, f64>) -> Self {
        let kinds = instance_types::all();
        let known = |label: &TypeLabel| labels::well_known(label.key).contains(settings.release);
        let index = |label: TypeLabel| (label.key, lazy(move || index(kinds, |kind| label.value(kind))));
        let labels = TypeLabel::all().filter(known).map(index).collect();
        Self { kinds, labels, overlay_prices }
    }

    /// Makes the catalog of a node class, or of a class that the input lacks.
    pub(crate) fn catalog(
        &self,
        class: Option<Ec2NodeClass<'d>>,
        model: &NodeClassModel<'d>,
        names: &ResourceNames<'d>,
        settings: &'d SimulationSettings,
    ) -> Catalog<'d> {
        let resources = self.kinds.iter().map(|kind| {
            let capacity = model.capacity(kind, names);
            let mut allocatable = capacity.clone();
            allocatable.subtract(&model.overhead(kind, &capacity));
            TypeResources { capacity, allocatable }
        });
        let maker = OfferingMaker { types: self, model, settings, class };
        Catalog {
            names: self.kinds.iter().map(InstanceType::name).collect(),
            labels: maker.labels(),
            resources: resources.collect(),
            offerings: maker.offerings(),
            reserved: maker.reserved_offerings().into_iter().map(|(offering, _)| offering).collect(),
            ..Catalog::default()
        }
    }
}

/// A label that is indexed when it is first asked for.
fn lazy<'d>(index: impl FnOnce() -> LabelTypes<'d> + 'd) -> SharedLabel<'d> {
    let index: Box<dyn FnOnce() -> LabelTypes<'d> + 'd> = Box::new(index);
    Rc::new(LazyCell::new(index))
}

/// A label that is indexed already.
fn indexed(label: LabelTypes<'_>) -> SharedLabel<'_> {
    lazy(move || label)
}

/// The ids of the types, in their order.
fn type_ids() -> impl Iterator<Item = TypeId> {
    (0..).map(TypeId::from_position)
}

/// Indexes types by the value of a label.
fn index<'d>(kinds: &[InstanceType], value: impl Fn(&InstanceType) -> Option<&'d str>) -> LabelTypes<'d> {
    let mut all = LabelTypes { absent: TypeSet::empty(kinds.len()), ..LabelTypes::default() };
    for (kind, id) in kinds.iter().zip(type_ids()) {
        match value(kind) {
            Some(value) => {
                let types = all.by_value.entry(value).or_insert_with(|| TypeSet::empty(kinds.len()));
                types.insert(id);
            }
            None => all.absent.insert(id),
        }
    }
    all
}

/// The parts of the catalog that depend on the node class.
struct OfferingMaker<'m, 'd> {
    types: &'m InstanceTypes<'d>,
    model: &'m NodeClassModel<'d>,
    settings: &'d SimulationSettings,
    class: Option<Ec2NodeClass<'d>>,
}

impl<'d> OfferingMaker<'_, 'd> {
    fn status(&self) -> Option<Ec2NodeClassStatus<'d>> {
        self.class.and_then(Ec2NodeClass::status)
    }

    /// The zones of the node class: of its subnets if the status lists them, else of the settings.
    fn zones(&self) -> BTreeSet<ClassZone<'d>> {
        let subnets = self.status().and_then(Ec2NodeClassStatus::subnets);
        let known = |name: &str| self.settings.zones.iter().find(|zone| zone.name == name);
        if subnets.is_none() {
            let zones = self.settings.zones.iter();
            return zones.map(|zone| ClassZone { name: &zone.name, id: &zone.id }).collect();
        }
        let listed = items_of(subnets).filter_map(|subnet| {
            let zone = known(text_or_empty(subnet.get("zone")))?;
            let id = subnet.str_at(&["zoneID"]).unwrap_or(&zone.id);
            Some(ClassZone { name: &zone.name, id })
        });
        listed.collect()
    }

    fn reservations(&self) -> Vec<Reservation<'d>> {
        let gate = self.settings.reserved_capacity;
        let exists = SchedulerBehaviour::RESERVED_CAPACITY.holds_in(self.settings.release);
        let list = self.status().and_then(|status| status.node().get("capacityReservations"));
        let expires = SchedulerBehaviour::EXPIRING_RESERVATIONS.holds_in(self.settings.release);
        let read = |item: Node<'d>| {
            let id = text_or_empty(item.get("id"));
            let left = self.settings.reservation_capacity.get(id).copied();
            let is_expiring = expires && item.str_at(&["state"]) == Some("expiring");
            Reservation {
                id,
                instance_type: text_or_empty(item.get("instanceType")),
                zone: text_or_empty(item.get("availabilityZone")),
                kind: item.str_at(&["reservationType"]).unwrap_or("default"),
                interruptible: match item.get("interruptible").and_then(Node::as_bool) {
                    Some(true) => "true",
                    _ => "false",
                },
                is_available: left != Some(0) && !is_expiring,
            }
        };
        items_of(list).filter(|_| gate && exists).map(read).collect()
    }

    /// The labels of the types, shared and of the node class.
    fn labels(&self) -> BTreeMap<&'d str, SharedLabel<'d>> {
        let mut all = self.types.labels.clone();
        let kinds = self.types.kinds;
        let windows = matches!(self.model.family, AmiFamily::Windows(_));
        let os = |kind: &InstanceType| match (windows, kind.is_arm()) {
            (false, _) => Some("linux"),
            (true, false) => Some("windows"),
            (true, true) => None,
        };
        let build = |_: &InstanceType| match self.model.family {
            AmiFamily::Windows(build) => Some(build),
            _ => None,
        };
        all.insert(OS, indexed(index(kinds, os)));
        all.insert(WINDOWS_BUILD, indexed(index(kinds, build)));
        all.insert(REGION, indexed(self.everywhere([self.settings.region.as_str()])));
        let zones = self.zones();
        all.insert(ZONE, indexed(self.everywhere(zones.iter().map(|zone| zone.name))));
        let ids = zones.iter().map(|zone| zone.id).filter(|id| !id.is_empty());
        all.insert(ZONE_ID, indexed(self.everywhere(ids)));
        if labels::well_known(TENANCY).contains(self.settings.release) {
            all.insert(TENANCY, indexed(self.everywhere(MULTIPLE_TENANCIES)));
        }
        let mut capacity = self.everywhere(["on-demand", "spot"]);
        self.add_reservations(&mut all, &mut capacity);
        all.insert(labels::CAPACITY_TYPE, indexed(capacity));
        all
    }

    /// A label that all types have with all values.
    fn everywhere(&self, values: impl IntoIterator<Item = &'d str>) -> LabelTypes<'d> {
        let all = TypeSet::full(self.types.kinds.len());
        let by_value: BTreeMap<&str, TypeSet> =
            values.into_iter().map(|value| (value, all.clone())).collect();
        let absent = if by_value.is_empty() { all } else { TypeSet::empty(all.capacity()) };
        LabelTypes { by_value, absent }
    }

    fn add_reservations(&self, all: &mut BTreeMap<&'d str, SharedLabel<'d>>, capacity: &mut LabelTypes<'d>) {
        let reservations = self.reservations();
        for (number, key) in RESERVATION_LABELS.into_iter().enumerate() {
            if !labels::well_known(key).contains(self.settings.release) {
                continue;
            }
            let mut label = self.everywhere([]);
            for reservation in &reservations {
                let value =
                    [reservation.id, reservation.kind, reservation.interruptible].get(number).copied();
                let types = self.named(reservation.instance_type);
                label.absent.difference_with(&types);
                add(&mut label, value.unwrap_or_default(), &types);
            }
            all.insert(key, indexed(label));
        }
        for reservation in &reservations {
            add(capacity, "reserved", &self.named(reservation.instance_type));
        }
    }

    fn named(&self, name: &str) -> TypeSet {
        let mut types = TypeSet::empty(self.types.kinds.len());
        let named = self.types.kinds.iter().zip(type_ids()).find(|(kind, _)| kind.name() == name);
        types.extend(named.map(|(_, id)| id));
        types
    }

    fn offerings(&self) -> IdVec<OfferingId, Offering<'d>> {
        let kinds = self.types.kinds.iter();
        let on_demand: Vec<Option<f64>> =
            kinds.map(|kind| self.settings.prices.price_of(kind.name())).collect();
        let overlay_price = |kind: &InstanceType| self.types.overlay_prices.get(kind.name()).copied();
        let prices = |factor: f64| {
            let all = self.types.kinds.iter().zip(&on_demand).map(|(kind, price)| {
                price.map(|price| price * factor).or_else(|| overlay_price(kind)).unwrap_or(f64::MAX)
            });
            Rc::new(all.collect::<IdVec<TypeId, f64>>())
        };
        let by_capacity = [("on-demand", prices(1.0)), ("spot", prices(1.0 - self.settings.spot_discount))];
        let mut launchable = TypeSet::empty(self.types.kinds.len());
        let kinds = self.types.kinds.iter().zip(&on_demand).zip(type_ids());
        let is_launchable = |kind, price: &Option<f64>| {
            (price.is_some() || overlay_price(kind).is_some()) && self.model.is_compatible(kind)
        };
        launchable.extend(kinds.filter(|((kind, price), _)| is_launchable(kind, price)).map(|(_, id)| id));
        let mut all = Vec::new();
        for zone in self.zones() {
            for (capacity_type, prices) in &by_capacity {
                all.push(Offering {
                    requirements: self.requirements(zone, capacity_type, None),
                    zone: zone.name,
                    capacity_type,
                    reservation: None,
                    types: launchable.clone(),
                    prices: Rc::clone(prices),
                });
            }
        }
        let reserved = self.reserved_offerings().into_iter();
        all.extend(reserved.filter(|(_, is_available)| *is_available).map(|(offering, _)| offering));
        all.into_iter().collect()
    }

    /// The offerings of the capacity reservations, and whether each is available.
    fn reserved_offerings(&self) -> Vec<(Offering<'d>, bool)> {
        let zones = self.zones();
        let price = |kind: &InstanceType| self.settings.prices.price_of(kind.name());
        let prices =
            self.types.kinds.iter().map(|kind| price(kind).map_or(0.0, |price| price / RESERVED_DIVISOR));
        let prices = Rc::new(prices.collect::<IdVec<TypeId, f64>>());
        let offering = |reservation: &Reservation<'d>| {
            let of_class = zones.iter().find(|zone| zone.name == reservation.zone);
            let zone = of_class.copied().unwrap_or(ClassZone { name: reservation.zone, id: "" });
            let offering = Offering {
                requirements: self.requirements(zone, "reserved", Some(reservation)),
                zone: zone.name,
                capacity_type: "reserved",
                reservation: Some(reservation.id),
                types: self.named(reservation.instance_type),
                prices: Rc::clone(&prices),
            };
            (offering, reservation.is_available && of_class.is_some())
        };
        self.reservations().iter().map(offering).collect()
    }

    fn requirements(
        &self,
        zone: ClassZone<'d>,
        capacity_type: &'d str,
        reservation: Option<&Reservation<'d>>,
    ) -> Requirements<'d> {
        let mut all = Requirements::default();
        all.add(labels::CAPACITY_TYPE, Requirement::is(capacity_type));
        all.add(ZONE, Requirement::is(zone.name));
        if !zone.id.is_empty() {
            all.add(ZONE_ID, Requirement::is(zone.id));
        }
        let values = reservation.map(|one| [one.id, one.kind, one.interruptible]);
        for (number, key) in RESERVATION_LABELS.into_iter().enumerate() {
            if labels::well_known(key).contains(self.settings.release) {
                let value = values.and_then(|values| values.get(number).copied());
                all.add(key, Requirement::one_of(value));
            }
        }
        all
    }
}

fn add<'d>(label: &mut LabelTypes<'d>, value: &'d str, types: &TypeSet) {
    let with = label.by_value.entry(value).or_insert_with(|| TypeSet::empty(types.capacity()));
    with.union_with(types);
}

/// Lowers allocatable memory by huge pages, which are memory (`computeAllocatable`).
pub(crate) fn subtract_huge_pages(resources: &mut TypeResources, names: &ResourceNames<'_>) {
    let pages: Vec<_> =
        resources.capacity.iter().filter(|(id, _)| names.name(*id).starts_with("hugepages-")).collect();
    for (_, amount) in pages {
        let left = resources.allocatable.get(MEMORY).minus(amount);
        resources
            .allocatable
            .set(MEMORY, if left.is_negative() { values::quantity::Quantity::ZERO } else { left });
    }
}
