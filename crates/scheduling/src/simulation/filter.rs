//! Choice of the instance types that can run the pods of a node.
//!
//! Source: `filterInstanceTypesByRequirements` and `InstanceTypeFilterError` in
//! pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at v1.14.1.

use ids::ids;

use super::catalog::{Catalog, TypeSet};
use super::host_ports::{HostPort, HostPortUsage};
use super::resources::Resources;
use crate::requirements::Requirements;

ids! {
    /// Pod of a DaemonSet.
    pub(crate) DaemonId;
}

/// Instance types of a NodePool on which the same `DaemonSets` run.
#[derive(Clone, Debug)]
pub(crate) struct DaemonGroup<'d> {
    /// The instance types.
    pub(crate) types: TypeSet,
    /// The resources of the daemons.
    pub(crate) overhead: Resources,
    /// The host ports of the daemons.
    pub(crate) ports: HostPortUsage<'d>,
    /// The daemons.
    pub(crate) members: Vec<DaemonId>,
}

/// The instance types that met a criterion alone and in pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "Karpenter's criteria are independent")]
pub(crate) struct FilterFlags {
    /// A type meets the requirements.
    pub(crate) requirements: bool,
    /// A type has enough resources.
    pub(crate) resources: bool,
    /// A type has an offering.
    pub(crate) offering: bool,
    requirements_and_resources: bool,
    requirements_and_offering: bool,
    resources_and_offering: bool,
    min_values: bool,
}

/// No instance type remains.
#[derive(Clone, Debug)]
pub(crate) struct FilterFailure<'d> {
    /// The criteria.
    pub(crate) flags: FilterFlags,
    /// The labels whose `minValues` are not met, each with its number of values.
    pub(crate) min_values: Vec<(&'d str, usize)>,
    /// The smallest and the largest overhead of daemons.
    pub(crate) overhead: Option<(Resources, Resources)>,
    /// Whether all types were left out because daemons take a host port.
    pub(crate) host_ports: bool,
}

impl FilterFailure<'_> {
    /// Whether Karpenter's message leaves open if a label, a resource or the offerings are the reason: each criterion is met by some
    /// type, or both labels and resources are met by none.
    pub(crate) fn leaves_kind_open(&self) -> bool {
        let FilterFlags { requirements, resources, offering, min_values, .. } = self.flags;
        let is_tuple = requirements && resources && offering;
        !self.host_ports && !min_values && (is_tuple || !(requirements || resources))
    }
}

/// Question to the filter.
pub(crate) struct FilterInput<'f, 'd> {
    /// The instance types of the NodePool.
    pub(crate) catalog: &'f Catalog<'d>,
    /// The types that are left.
    pub(crate) types: &'f TypeSet,
    /// The requirements on the node.
    pub(crate) requirements: &'f Requirements<'d>,
    /// The requests of all pods of the node.
    pub(crate) requests: &'f Resources,
    /// The daemons by instance type.
    pub(crate) groups: &'f [DaemonGroup<'d>],
    /// The host ports of the pod, in releases where they depend on the instance type.
    pub(crate) ports: &'f [HostPort<'d>],
    /// Whether a type fits only together with an offering.
    pub(crate) fits_with_offering: bool,
    /// Whether fewer values than `minValues` are accepted.
    pub(crate) relaxes_min_values: bool,
}

/// The types that remain, and the labels with fewer values than `minValues`, which were accepted.
pub(crate) type Filtered<'d> = (TypeSet, Vec<(&'d str, usize)>);

impl<'d> FilterInput<'_, 'd> {
    /// The types that meet every criterion.
    pub(crate) fn filter(&self) -> Result<Filtered<'d>, Box<FilterFailure<'d>>> {
        let candidates = self.candidates();
        let mut compatible = candidates.clone();
        self.catalog.retain_compatible(&mut compatible, self.requirements);
        let mut offered = self.catalog.offered(self.requirements);
        offered.intersect_with(&candidates);
        let mut fitting = self.fitting(&candidates);
        if self.fits_with_offering {
            fitting.intersect_with(&offered);
        }
        let mut remaining = compatible.clone();
        remaining.intersect_with(&offered);
        remaining.intersect_with(&fitting);
        let missing = missing_values(self.catalog, &remaining, self.requirements);
        let refused = !missing.is_empty() && !self.relaxes_min_values;
        if !remaining.is_empty() && !refused {
            return Ok((remaining, missing));
        }
        let mut flags = FilterFlags::of(&compatible, &fitting, &offered);
        flags.min_values = refused;
        Err(Box::new(FilterFailure {
            flags,
            min_values: if refused { missing } else { Vec::new() },
            overhead: self.overhead(),
            host_ports: candidates.is_empty() && !self.types.is_empty(),
        }))
    }

    fn admitted(&self) -> impl Iterator<Item = &DaemonGroup<'d>> {
        self.groups.iter().filter(|group| group.ports.conflict(self.ports).is_none())
    }

    fn candidates(&self) -> TypeSet {
        let mut all = TypeSet::empty(self.types.capacity());
        for group in self.admitted() {
            all.union_with(&group.types);
        }
        all.intersect_with(self.types);
        all
    }

    /// The types with enough resources for the pods and the daemons.
    pub(crate) fn fitting(&self, candidates: &TypeSet) -> TypeSet {
        fitting(self.catalog, self.admitted(), self.requests, candidates)
    }

    fn overhead(&self) -> Option<(Resources, Resources)> {
        let mut bounds: Option<(Resources, Resources)> = None;
        for group in self.admitted().filter(|group| !group.overhead.is_empty()) {
            match &mut bounds {
                None => bounds = Some((group.overhead.clone(), group.overhead.clone())),
                Some((least, most)) => {
                    least.lower(&group.overhead);
                    most.raise(&group.overhead);
                }
            }
        }
        bounds
    }
}

/// The candidates with enough resources for pods and for the daemons of their group.
pub(crate) fn fitting<'f, 'd: 'f>(
    catalog: &Catalog<'d>,
    groups: impl Iterator<Item = &'f DaemonGroup<'d>>,
    requests: &Resources,
    candidates: &TypeSet,
) -> TypeSet {
    let mut all = TypeSet::empty(candidates.capacity());
    for group in groups {
        let mut with_daemons = requests.clone();
        with_daemons.add(&group.overhead);
        let mut types = group.types.clone();
        types.intersect_with(candidates);
        catalog.retain_fitting(&mut types, &with_daemons);
        all.union_with(&types);
    }
    all
}

/// The labels with fewer values than `minValues` among types, with the number of values. An empty set misses nothing.
pub(crate) fn missing_values<'d>(
    catalog: &Catalog<'d>,
    types: &TypeSet,
    requirements: &Requirements<'d>,
) -> Vec<(&'d str, usize)> {
    let mut missing = Vec::new();
    for (key, requirement) in requirements.iter() {
        let Some(least) = requirement.min_values().filter(|_| !types.is_empty()) else { continue };
        let count = catalog.count_values(key, types);
        if i64::try_from(count).unwrap_or(i64::MAX) < least {
            missing.push((key, count));
        }
    }
    missing
}

impl FilterFlags {
    fn of(compatible: &TypeSet, fitting: &TypeSet, offered: &TypeSet) -> Self {
        let pair = |one: &TypeSet, other: &TypeSet, without: &TypeSet| {
            one.common(other).any(|id| !without.contains(id))
        };
        Self {
            requirements: !compatible.is_empty(),
            resources: !fitting.is_empty(),
            offering: !offered.is_empty(),
            requirements_and_resources: pair(compatible, fitting, offered),
            requirements_and_offering: pair(compatible, offered, fitting),
            resources_and_offering: pair(fitting, offered, compatible),
            min_values: false,
        }
    }

    /// Karpenter's sentence.
    pub(crate) fn message(self) -> &'static str {
        match (self.requirements, self.resources, self.offering) {
            (false, false, false) => {
                "no instance type met the scheduling requirements or had enough resources or had a required offering"
            }
            (false, false, true) => {
                "no instance type met the scheduling requirements or had enough resources"
            }
            (false, true, false) => {
                "no instance type met the scheduling requirements or had a required offering"
            }
            (true, false, false) => "no instance type had enough resources or had a required offering",
            (false, true, true) => "no instance type met all requirements",
            (true, false, true) => "no instance type has enough resources",
            (true, true, false) => "no instance type has the required offering",
            (true, true, true) if self.requirements_and_resources => {
                "no instance type which met the scheduling requirements and had enough resources, had a required offering"
            }
            (true, true, true) if self.resources_and_offering => {
                "no instance type which had enough resources and the required offering met the scheduling requirements"
            }
            (true, true, true) if self.requirements_and_offering => {
                "no instance type which met the scheduling requirements and the required offering had the required resources"
            }
            (true, true, true) => "no instance type met the requirements/resources/offering tuple",
        }
    }

    /// Whether `minValues` failed.
    pub(crate) fn is_min_values(self) -> bool {
        self.min_values
    }
}

impl DaemonGroup<'_> {
    /// Splits the group into the types with and without a daemon.
    pub(crate) fn split(&self, on: &TypeSet, id: DaemonId) -> impl Iterator<Item = Self> {
        let mut with = self.clone();
        with.types.intersect_with(on);
        with.members.push(id);
        let mut without = self.clone();
        without.types.difference_with(on);
        let is_only = with.types.is_empty() && without.types.is_empty();
        let kept = (!without.types.is_empty() || is_only).then_some(without);
        Some(with).filter(|group| !group.types.is_empty()).into_iter().chain(kept)
    }
}
