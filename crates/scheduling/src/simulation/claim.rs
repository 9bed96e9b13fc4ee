//! New nodes that the simulation opens.
//!
//! Source: pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeSet;
use std::rc::Rc;

use karpenter::labels;

use super::behaviour::SchedulerBehaviour;
use super::catalog::TypeSet;
use super::filter::{FilterFailure, FilterInput, Filtered, fitting, missing_values};
use super::host_ports::{HostPort, HostPortUsage};
use super::offerings::RESERVATION_ID;
use super::pool::Pool;
use super::reason::{Disagreement, PoolReason, ReasonKind, UnmetMinValues};
use super::reservations::Reservations;
use super::resources::Resources;
use super::result::PodId;
use super::settings::SimulationSettings;
use super::topology::{KeptAway, Topology, TopologyFailure};
use super::variant::{Variant, VariantId};
use super::work::Work;
use crate::id_set::IdSet;
use crate::requirements::{Mismatch, Requirement, Requirements};
use crate::template::{Obstacle, check_labels, check_taints};

/// Reason for which a node cannot take a pod.
#[derive(Debug)]
pub(crate) enum Rejection<'d> {
    /// The taints or the labels of the node.
    Obstacle(Obstacle<'d>),
    /// A host port is taken.
    HostPort(HostPort<'d>, HostPort<'d>),
    /// The requirements of the volumes do not agree with the node.
    Volume(Mismatch<'d>, Requirements<'d>),
    /// No domain satisfies a constraint.
    Topology(Box<TopologyFailure<'d>>),
    /// The domains of several constraints do not agree.
    Domains(Mismatch<'d>, Requirements<'d>),
    /// No instance type remains, for these requirements.
    Types(Box<FilterFailure<'d>>, Requirements<'d>),
    /// No reserved instance is left.
    Reservation(&'static str),
    /// All instance types exceed the limits of the NodePool.
    Limits,
    /// The limit `nodes` of the NodePool is used up.
    NodeLimit,
    /// The resources are known to be too small.
    Full,
}

/// The node after a pod is added.
#[derive(Debug)]
pub(crate) struct Addition<'d> {
    requirements: Option<Requirements<'d>>,
    types: TypeSet,
    reserved: BTreeSet<&'d str>,
}

impl Addition<'_> {
    /// The instance types that are left.
    pub(crate) fn types(&self) -> &TypeSet {
        &self.types
    }
}

/// The state that nodes share while a pod is tried.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a, 'd> {
    /// The constraints of pods.
    pub(crate) topology: &'a Topology<'d>,
    /// The capacity reservations.
    pub(crate) reservations: &'a Reservations<'d>,
    /// The settings.
    pub(crate) settings: &'d SimulationSettings,
    /// The steps of the simulation.
    pub(crate) work: &'a Work,
    /// Whether rejections are explained in Karpenter's words.
    pub(crate) explains: bool,
}

/// Number of steps for the choice of instance types.
const STEPS_OF_FILTER: usize = 200;
/// Number of steps to join the requirements of a pod and a node.
const STEPS_OF_ADDITION: usize = 20;
/// Number of steps for the comparison of a pod with the taints and labels of a node.
pub(super) const STEPS_OF_TEMPLATE: usize = 4;
/// Number of steps for the search of types with enough resources.
pub(super) const STEPS_OF_ROOM: usize = 10;

/// New node.
#[derive(Debug)]
pub(crate) struct Claim<'d> {
    /// The NodePool.
    pub(crate) pool: Rc<Pool<'d>>,
    /// Placeholder of the host name.
    pub(crate) host: &'d str,
    /// The requirements on the node.
    pub(crate) requirements: Requirements<'d>,
    /// The instance types that are left.
    pub(crate) types: TypeSet,
    /// The requests of its pods.
    pub(crate) requests: Resources,
    /// The pods.
    pub(crate) pods: Vec<PodId>,
    /// The capacity reservations that the node may use.
    pub(crate) reserved: BTreeSet<&'d str>,
    ports: HostPortUsage<'d>,
    /// The variants of pods that the node can never take, because it only gets fuller.
    refused: IdSet<VariantId>,
}

impl<'d> Claim<'d> {
    /// An empty node of a NodePool with some of its instance types.
    pub(crate) fn open(pool: &Rc<Pool<'d>>, types: TypeSet, host: &'d str) -> Self {
        let mut requirements = pool.requirements.clone();
        requirements.replace(labels::HOSTNAME, Requirement::is(host));
        Self {
            pool: Rc::clone(pool),
            host,
            requirements,
            types,
            requests: Resources::default(),
            pods: Vec::new(),
            reserved: BTreeSet::new(),
            ports: HostPortUsage::default(),
            refused: IdSet::default(),
        }
    }

    /// Tries a pod on a node that has pods; a variant that it can never take is remembered.
    pub(crate) fn try_more(&mut self, pod: &Variant<'d>, attempt: Attempt<'_, 'd>) -> Option<Addition<'d>> {
        if self.refused.contains(pod.id) {
            return None;
        }
        attempt.work.count(STEPS_OF_TEMPLATE);
        let refusal = attempt.topology.refusal(pod, &self.requirements);
        if refusal == Some(KeptAway::Now) {
            return None;
        }
        if refusal == Some(KeptAway::ForEver) {
            self.refused.insert(pod.id);
            return None;
        }
        match self.try_quickly(pod, attempt).and_then(|()| self.try_add(pod, attempt, false)) {
            Ok(addition) => Some(addition),
            Err(rejection) => {
                if is_final(&rejection, pod) {
                    self.refused.insert(pod.id);
                }
                None
            }
        }
    }

    /// Does the checks that take little time. A pod that fails them is kept away for the rest of the round.
    fn try_quickly(&self, pod: &Variant<'d>, attempt: Attempt<'_, 'd>) -> Result<(), Rejection<'d>> {
        check_taints(&self.pool.taints, &pod.shape.demand.tolerations).map_err(Rejection::Obstacle)?;
        check_labels(&self.requirements, &pod.requirements).map_err(Rejection::Obstacle)?;
        let is_impossible = self.types.is_disjoint(&pod.possible(&self.pool.catalog, attempt.work));
        attempt.work.count(STEPS_OF_ROOM);
        if is_impossible || self.is_full_for(pod) { Err(Rejection::Full) } else { Ok(()) }
    }

    /// Whether no type that is left has enough resources for the pod as well.
    fn is_full_for(&self, pod: &Variant<'d>) -> bool {
        let mut requests = self.requests.clone();
        requests.add(&pod.shape.requests);
        fitting(&self.pool.catalog, self.pool.groups.iter(), &requests, &self.types).is_empty()
    }

    /// Tries a pod (`CanAdd`).
    pub(crate) fn try_add(
        &self,
        pod: &Variant<'d>,
        attempt: Attempt<'_, 'd>,
        relaxes_min_values: bool,
    ) -> Result<Addition<'d>, Rejection<'d>> {
        attempt.work.count(STEPS_OF_ADDITION);
        check_taints(&self.pool.taints, &pod.shape.demand.tolerations).map_err(Rejection::Obstacle)?;
        self.check_ports(pod, attempt.settings)?;
        check_labels(&self.requirements, &pod.requirements).map_err(Rejection::Obstacle)?;
        let base = merged(&self.requirements, &pod.requirements);
        if pod.shape.volumes.is_empty() {
            return self.try_volume(pod, base, None, attempt, relaxes_min_values);
        }
        let mut last = None;
        for volume in &pod.shape.volumes {
            attempt.work.count(STEPS_OF_ADDITION);
            match self.try_volume(pod, base.clone(), Some(volume), attempt, relaxes_min_values) {
                Ok(addition) => return Ok(addition),
                Err(rejection) => last = Some(rejection),
            }
        }
        Err(last.unwrap_or(Rejection::Full))
    }

    /// Host ports are checked here until they depend on the instance type.
    fn check_ports(&self, pod: &Variant<'d>, settings: &SimulationSettings) -> Result<(), Rejection<'d>> {
        let release = settings.release;
        if pod.shape.ports.is_empty() {
            return Ok(());
        }
        let shared = SchedulerBehaviour::SHARED_HOST_PORTS.holds_in(release);
        let by_type = SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(release);
        let of_daemons = SchedulerBehaviour::DAEMON_HOST_PORTS.holds_in(release) && !by_type;
        let daemons = self
            .pool
            .groups
            .iter()
            .filter(|_| of_daemons)
            .find_map(|group| group.ports.conflict(&pod.shape.ports));
        let pool = self.pool.shared_ports.borrow();
        let taken = if shared { &*pool } else { &self.ports };
        match taken.conflict(&pod.shape.ports).or(daemons) {
            Some((asked, taken)) => Err(Rejection::HostPort(asked, taken)),
            None => Ok(()),
        }
    }

    /// Tries a pod with one alternative of its volumes. `base` is `None` while the requirements of the node do not change.
    fn try_volume(
        &self,
        pod: &Variant<'d>,
        base: Option<Requirements<'d>>,
        volume: Option<&Requirements<'d>>,
        attempt: Attempt<'_, 'd>,
        relaxes_min_values: bool,
    ) -> Result<Addition<'d>, Rejection<'d>> {
        let mut changed = base;
        if let Some(volume) = volume {
            let current = changed.as_ref().unwrap_or(&self.requirements);
            if let Err(mismatch) = current.compatible(volume) {
                return Err(Rejection::Volume(mismatch, volume.clone()));
            }
            changed = merged(current, volume).or(changed);
        }
        let current = changed.as_ref().unwrap_or(&self.requirements);
        let explained =
            |unsatisfied| Box::new(attempt.topology.explain(&unsatisfied, pod, current, attempt.explains));
        let domains = attempt
            .topology
            .requirements(pod, current)
            .map_err(|unsatisfied| Rejection::Topology(explained(unsatisfied)))?;
        if let Err(mismatch) = current.compatible(&domains) {
            return Err(Rejection::Domains(mismatch, domains));
        }
        changed = merged(current, &domains).or(changed);
        let (types, missing) = self.filter(pod, changed.as_ref(), attempt, relaxes_min_values)?;
        for (key, count) in missing {
            let mut all = changed.unwrap_or_else(|| self.requirements.clone());
            if let Some(requirement) = all.get(key).cloned() {
                all.replace(key, requirement.with_min_values(i64::try_from(count).ok()));
            }
            changed = Some(all);
        }
        let reserved = self.reserve(&types, changed.as_ref().unwrap_or(&self.requirements), attempt)?;
        Ok(Addition { requirements: changed, types, reserved })
    }

    /// The instance types that remain with a pod.
    fn filter(
        &self,
        pod: &Variant<'d>,
        changed: Option<&Requirements<'d>>,
        attempt: Attempt<'_, 'd>,
        relaxes_min_values: bool,
    ) -> Result<Filtered<'d>, Rejection<'d>> {
        attempt.work.count(STEPS_OF_FILTER);
        let release = attempt.settings.release;
        let requirements = changed.unwrap_or(&self.requirements);
        let mut requests = self.requests.clone();
        requests.add(&pod.shape.requests);
        let by_type = SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(release);
        let input = FilterInput {
            catalog: &self.pool.catalog,
            types: &self.types,
            requirements,
            requests: &requests,
            groups: &self.pool.groups,
            ports: if by_type { &pod.shape.ports } else { &[] },
            fits_with_offering: SchedulerBehaviour::FITS_WITH_OFFERING.holds_in(release),
            relaxes_min_values,
        };
        // The types of a node meet its requirements already.
        if changed.is_none() && !self.pods.is_empty() && pod.shape.ports.is_empty() {
            let types = input.fitting(&self.types);
            let missing = missing_values(&self.pool.catalog, &types, requirements);
            if !types.is_empty() && missing.is_empty() {
                return Ok((types, missing));
            }
        }
        let filtered = input.filter();
        filtered.map_err(|failure| Rejection::Types(failure, requirements.clone()))
    }

    /// The capacity reservations that the node may use.
    fn reserve(
        &self,
        types: &TypeSet,
        requirements: &Requirements<'d>,
        attempt: Attempt<'_, 'd>,
    ) -> Result<BTreeSet<&'d str>, Rejection<'d>> {
        let mut reserved = BTreeSet::new();
        let mut is_compatible = false;
        let offerings =
            self.pool.catalog.offerings.iter().filter(|offering| !offering.types.is_disjoint(types));
        for offering in offerings {
            let Some(id) = offering.reservation else { continue };
            if requirements.compatible(&offering.requirements).is_err() {
                continue;
            }
            is_compatible = true;
            if attempt.reservations.can_reserve(self.host, id) {
                reserved.insert(id);
            }
        }
        if attempt.settings.reservation_fallback {
            return Ok(reserved);
        }
        if is_compatible && reserved.is_empty() {
            return Err(Rejection::Reservation(
                "one or more instance types with compatible reserved offerings are available, but could not be reserved",
            ));
        }
        if !self.reserved.is_empty() && reserved.is_empty() {
            return Err(Rejection::Reservation(
                "satisfying updated nodeclaim constraints would remove all compatible reserved offering options",
            ));
        }
        Ok(reserved)
    }

    /// Places a pod (`Add`).
    pub(crate) fn add(
        &mut self,
        id: PodId,
        pod: &Variant<'d>,
        addition: Addition<'d>,
        topology: &mut Topology<'d>,
        reservations: &mut Reservations<'d>,
    ) {
        if self.pods.is_empty() {
            topology.register(labels::HOSTNAME, self.host);
        }
        self.pods.push(id);
        self.types = addition.types;
        self.requests.add(&pod.shape.requests);
        if let Some(requirements) = addition.requirements {
            self.requirements = requirements;
        }
        topology.record(pod, &self.pool.taints, &self.requirements);
        self.ports.add(&pod.shape.ports);
        self.pool.shared_ports.borrow_mut().add(&pod.shape.ports);
        for id in &addition.reserved {
            reservations.reserve(self.host, id);
        }
        for id in self.reserved.difference(&addition.reserved) {
            reservations.release(self.host, id);
        }
        self.reserved = addition.reserved;
    }

    /// The labels that have too few values for `minValues` among the cheapest instance types, with the number of values.
    pub(crate) fn missing_after_truncation(&self, most: usize) -> Vec<(&'d str, usize)> {
        if !self.requirements.has_min_values() {
            return Vec::new();
        }
        let catalog = &self.pool.catalog;
        let mut types = TypeSet::empty(self.types.capacity());
        types.extend(catalog.by_price(&self.types, &self.requirements).iter().take(most).map(|(id, _)| *id));
        missing_values(catalog, &types, &self.requirements)
    }

    /// The reason that the labels with too few values are.
    pub(crate) fn few_values(&self, message: &str, missing: &[(&'d str, usize)]) -> PoolReason<'d> {
        let unmet = missing.iter().map(|(key, found)| {
            let least = self.requirements.get(key).and_then(Requirement::min_values).unwrap_or_default();
            Disagreement::MinValues(UnmetMinValues { key, least, found: *found })
        });
        let unmet = unmet.collect();
        PoolReason { unmet, ..PoolReason::unusable(self.pool.object, ReasonKind::MinValues, message) }
    }

    /// Fixes the reserved capacity and adds the daemons (`FinalizeScheduling`).
    pub(crate) fn finish(&mut self) {
        self.requirements.remove(labels::HOSTNAME);
        if !self.reserved.is_empty() {
            self.requirements.replace(labels::CAPACITY_TYPE, Requirement::is("reserved"));
            self.requirements.add(RESERVATION_ID, Requirement::one_of(self.reserved.iter().copied()));
        }
        let mut least = Resources::default();
        for group in self.pool.groups.iter().filter(|group| !group.types.is_disjoint(&self.types)) {
            if least.is_empty() {
                least.clone_from(&group.overhead);
            } else {
                least.lower(&group.overhead);
            }
        }
        self.requests.add(&least);
    }
}

/// Whether the node can never take the pod after this rejection. Its types and requirements only get fewer; the domains of a
/// constraint can change.
fn is_final(rejection: &Rejection<'_>, pod: &Variant<'_>) -> bool {
    match rejection {
        Rejection::Obstacle(_) | Rejection::HostPort(..) | Rejection::Full => true,
        Rejection::Topology(failure) => failure.is_final,
        Rejection::Types(..) => pod.groups.is_empty() && pod.shape.volumes.is_empty(),
        _ => false,
    }
}

/// The requirements with additional ones; `None` if these change nothing.
fn merged<'d>(present: &Requirements<'d>, added: &Requirements<'d>) -> Option<Requirements<'d>> {
    let changes = |(key, requirement): (&'d str, &Requirement<'d>)| {
        present.get(key).is_none_or(|present| present.intersection(requirement) != *present)
    };
    if !added.iter().any(changes) {
        return None;
    }
    let mut all = present.clone();
    all.extend(added.iter().map(|(key, requirement)| (key, requirement.clone())));
    Some(all)
}
