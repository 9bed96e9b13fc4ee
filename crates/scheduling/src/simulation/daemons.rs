//! `DaemonSets`: the resources and host ports that their pods take on new nodes.
//!
//! Source: `buildDaemonOverheadGroups` and `isDaemonPodCompatible` in pkg/controllers/provisioning/scheduling/scheduler.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use ids::IdVec;
use karpenter::release::Release;
use values::quantity::Quantity;

use super::behaviour::SchedulerBehaviour;
use super::catalog::TypeSet;
use super::filter::{DaemonGroup, DaemonId, FilterInput};
use super::host_ports::HostPortUsage;
use super::pool::Pool;
use super::resources::{PODS, Resources};
use super::settings::SimulationSettings;
use super::shape::PodShape;
use crate::demand::PREFER_NO_SCHEDULE;
use crate::requirements::Requirements;
use crate::taints::PoolTaint;
use crate::template::{check_labels, check_taints};

/// The pods of the `DaemonSets`. Karpenter drops the alternatives of a node affinity that did not match a NodePool, and tries
/// the next NodePool without them.
#[derive(Clone, Debug)]
pub(crate) struct Daemons<'d> {
    pods: IdVec<DaemonId, PodShape<'d>>,
    release: Release,
}

impl<'d> Daemons<'d> {
    /// The pods of the `DaemonSets`.
    pub(crate) fn new(pods: IdVec<DaemonId, PodShape<'d>>, release: Release) -> Self {
        Self { pods, release }
    }

    /// Filters the instance types by the NodePools' own requirements, and adds the daemons.
    pub(crate) fn prepare<'p>(
        &mut self,
        pools: impl IntoIterator<Item = &'p mut Pool<'d>>,
        settings: &SimulationSettings,
    ) where
        'd: 'p,
    {
        let best_effort = settings.min_values_best_effort
            && SchedulerBehaviour::MIN_VALUES_POLICY.holds_in(settings.release);
        let filters = SchedulerBehaviour::DROPS_EMPTY_POOLS.holds_in(settings.release);
        let mut without_daemons = Self::new(IdVec::default(), self.release);
        for pool in pools {
            let all = pool.catalog.all();
            let groups = without_daemons.groups(pool, &all);
            let filter = FilterInput {
                catalog: &pool.catalog,
                types: &all,
                requirements: &pool.requirements,
                requests: &Resources::default(),
                groups: &groups,
                ports: &[],
                fits_with_offering: false,
                relaxes_min_values: best_effort,
            };
            let filtered = filter.filter().map(|(types, _)| types).unwrap_or_default();
            pool.types = if filters { filtered } else { all };
            pool.groups = self.groups(pool, &pool.types);
        }
    }

    /// The groups of a NodePool.
    fn groups(&mut self, pool: &Pool<'d>, types: &TypeSet) -> Vec<DaemonGroup<'d>> {
        let empty = DaemonGroup {
            types: types.clone(),
            overhead: Resources::default(),
            ports: HostPortUsage::default(),
            members: Vec::new(),
        };
        let mut groups = vec![empty];
        for id in self.pods.ids() {
            let on = self.types_of(id, pool, types);
            groups = groups.iter().flat_map(|group| group.split(&on, id)).collect();
        }
        for group in &mut groups {
            let members = group.members.iter().filter_map(|id| self.pods.get(*id));
            let none = SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(self.release) && group.members.is_empty();
            if !none {
                group.overhead.set(PODS, Quantity::ZERO);
            }
            for pod in members {
                group.overhead.add(&pod.requests);
                group.ports.add(&pod.ports);
            }
        }
        groups
    }

    /// The types of a NodePool on which a daemon runs.
    fn types_of(&mut self, id: DaemonId, pool: &Pool<'d>, types: &TypeSet) -> TypeSet {
        let none = TypeSet::empty(types.capacity());
        let by_type = SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(self.release);
        let alternatives = SchedulerBehaviour::DAEMON_ALTERNATIVES.holds_in(self.release);
        let release = self.release;
        let Some(pod) = self.pods.get_mut(id).filter(|pod| !is_left_out(pod, release)) else { return none };
        if alternatives && !pod.demand.tolerations.contains(&PREFER_NO_SCHEDULE) {
            pod.demand.tolerations.push(PREFER_NO_SCHEDULE);
        }
        if check_taints(&pool.taints, &pod.demand.tolerations).is_err() {
            return none;
        }
        loop {
            let asked = pod.demand.requirements(!alternatives);
            let mut matching = none.clone();
            if check_labels(&pool.requirements, &asked).is_ok() {
                matching.clone_from(types);
                if by_type {
                    pool.catalog.retain_compatible(&mut matching, &asked);
                }
            }
            if matching == *types || pod.demand.required_terms.len() < 2 || !alternatives {
                return matching;
            }
            pod.demand.required_terms.remove(0);
        }
    }

    /// The resources of the daemons that run on a node.
    pub(crate) fn on_node(&self, labels: &Requirements<'d>, taints: &[PoolTaint<'d>]) -> Resources {
        let mut all = Resources::default();
        all.set(PODS, Quantity::ZERO);
        let with_preference = !SchedulerBehaviour::DAEMON_PREFERENCES_DO_NOT_COUNT.holds_in(self.release);
        for pod in self.pods.iter().filter(|pod| !is_left_out(pod, self.release)) {
            let asked = pod.demand.requirements(with_preference);
            let tolerates = check_taints(taints, &pod.demand.tolerations).is_ok();
            if tolerates && labels.compatible_strictly(&asked).is_ok() {
                all.add(&pod.requests);
            }
        }
        all
    }
}

/// Whether a DaemonSet does not count because its pods use resource claims (`shouldSkipDaemonPod`).
fn is_left_out(pod: &PodShape<'_>, release: Release) -> bool {
    pod.has_resource_claims && SchedulerBehaviour::REFUSES_RESOURCE_CLAIMS.holds_in(release)
}
