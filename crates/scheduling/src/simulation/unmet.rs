//! The smallest set of demands without which a NodePool takes a pod.
//!
//! Karpenter names the first demand that a NodePool does not meet, and only says that no instance type is left if the demands together
//! exclude all of them (kubernetes-sigs/karpenter#1088, aws/karpenter-provider-aws#6475, aws/karpenter-provider-aws#6509). Here the
//! pod is tried again without each demand that was found, until the NodePool takes it.

use std::rc::Rc;

use super::behaviour::SchedulerBehaviour;
use super::catalog::TypeSet;
use super::claim::{Attempt, Claim, Rejection};
use super::filter::FilterFailure;
use super::pool::Pool;
use super::reason::{Disagreement, LimitMiss, UnmetLabel, UnmetMinValues};
use super::resources::{NODES, ResourceNames};
use super::unmet_types::{TypeQuestion, TypesLeft};
use super::variant::Variant;
use crate::requirements::{Mismatch, Requirement, Requirements};
use crate::taints::Toleration;
use crate::template::Obstacle;
use values::quantity::Quantity;

/// Largest number of demands that are left out one after the other.
const MAX_STEPS: usize = 64;

/// The state of a simulation in which a pod is tried without some of its demands.
pub(super) struct UnmetDemands<'u, 'd> {
    /// The state that nodes share.
    pub(super) attempt: Attempt<'u, 'd>,
    /// The names of resources.
    pub(super) names: &'u ResourceNames<'d>,
    /// Placeholder of the host name.
    pub(super) host: &'d str,
}

/// The demands that a NodePool does not meet; none if the NodePool rejects the pod for another reason.
#[derive(Debug, Default)]
pub(super) struct Unmet<'d> {
    /// The smallest set of demands.
    pub(super) demands: Vec<Disagreement<'d>>,
    /// Other sets of the same size.
    pub(super) others: Vec<Vec<Disagreement<'d>>>,
}

/// Pod without some of its demands.
struct Trial<'d> {
    variant: Variant<'d>,
    ignores_limits: bool,
    ignores_min_values: bool,
}

impl<'d> UnmetDemands<'_, 'd> {
    /// The demands of a pod that a NodePool does not meet.
    pub(super) fn of(&self, pool: &Rc<Pool<'d>>, left: &TypesLeft<'d>, pod: &Variant<'d>) -> Unmet<'d> {
        let mut trial = Trial { variant: pod.copy(), ignores_limits: false, ignores_min_values: false };
        let mut demands: Vec<Disagreement<'d>> = Vec::new();
        let mut others: Vec<Vec<Disagreement<'d>>> = Vec::new();
        for _ in 0..MAX_STEPS {
            if self.attempt.work.is_over() {
                break;
            }
            let rejection = match self.place(pool, &trial) {
                Ok(types) => {
                    self.measure_limits(pool, &types, &mut demands);
                    return Unmet { demands, others };
                }
                Err(rejection) => rejection,
            };
            let mut sets = self.demands(pool, left, &trial, &rejection).into_iter();
            let found = sets.next().unwrap_or_default();
            if let [Disagreement::OwnRequirement(_)] = found.as_slice() {
                return Unmet { demands: found, others };
            }
            let present = &demands;
            others = sets.map(|set| present.iter().cloned().chain(set).collect()).collect();
            let new: Vec<_> = found.into_iter().filter(|demand| !demands.contains(demand)).collect();
            if new.is_empty() {
                break;
            }
            for demand in &new {
                trial.leave_out(demand, self.names);
            }
            demands.extend(new);
        }
        Unmet::default()
    }

    /// The instance types with which a new node of the NodePool takes the pod.
    fn place(&self, pool: &Rc<Pool<'d>>, trial: &Trial<'d>) -> Result<TypeSet, Rejection<'d>> {
        if pool.has_no_node_left() && !trial.ignores_limits {
            return Err(Rejection::NodeLimit);
        }
        let types =
            if trial.ignores_limits { pool.types.clone() } else { TypeSet::clone(&pool.within_limits()) };
        if types.is_empty() && !pool.types.is_empty() {
            return Err(Rejection::Limits);
        }
        let settings = self.attempt.settings;
        let best_effort = settings.min_values_best_effort
            && SchedulerBehaviour::MIN_VALUES_POLICY.holds_in(settings.release);
        let claim = Claim::open(pool, types, self.host);
        let ignores_min_values = best_effort || trial.ignores_min_values;
        claim.try_add(&trial.variant, self.attempt, ignores_min_values).map(|added| added.types().clone())
    }

    /// The demands behind a rejection: the smallest set, and other sets of the same size.
    fn demands(
        &self,
        pool: &Pool<'d>,
        left: &TypesLeft<'d>,
        trial: &Trial<'d>,
        rejection: &Rejection<'d>,
    ) -> Vec<Vec<Disagreement<'d>>> {
        let pod = &trial.variant;
        let only = match rejection {
            Rejection::Obstacle(Obstacle::Taint(taint)) => Disagreement::Taint(*taint),
            Rejection::Obstacle(Obstacle::Label(mismatch)) => {
                let label = unmet_label(*mismatch, &pool.requirements, &pod.requirements);
                let of_volume = pod.shape.volume_labels.get(mismatch.key()).is_some();
                if of_volume { Disagreement::Volume(label) } else { Disagreement::Label(label) }
            }
            Rejection::HostPort(asked, _) => Disagreement::HostPort(asked.port),
            Rejection::Volume(mismatch, asked) => {
                Disagreement::Volume(unmet_label(*mismatch, &pool.requirements, asked))
            }
            Rejection::Topology(failure) => Disagreement::Topology(failure.key),
            Rejection::Domains(mismatch, _) => Disagreement::Topology(mismatch.key()),
            Rejection::Types(failure, requirements) => {
                return self.demands_on_types(pool, left, trial, failure, requirements);
            }
            Rejection::Limits | Rejection::NodeLimit => Disagreement::Limits(None),
            Rejection::Reservation(_) | Rejection::Full => return Vec::new(),
        };
        vec![vec![only]]
    }

    fn demands_on_types(
        &self,
        pool: &Pool<'d>,
        left: &TypesLeft<'d>,
        trial: &Trial<'d>,
        failure: &FilterFailure<'d>,
        requirements: &Requirements<'d>,
    ) -> Vec<Vec<Disagreement<'d>>> {
        if !failure.min_values.is_empty() {
            let miss = |(key, found): &(&'d str, usize)| {
                let least = requirements.get(key).and_then(Requirement::min_values).unwrap_or_default();
                Disagreement::MinValues(UnmetMinValues { key, least, found: *found })
            };
            return vec![failure.min_values.iter().map(miss).collect()];
        }
        let domains = self.attempt.topology.requirements(&trial.variant, requirements).unwrap_or_default();
        let demands = trial.variant.requirements.iter().count() + trial.variant.shape.requests.iter().count();
        self.attempt.work.count((1 + demands) * pool.types.capacity());
        let within_limits = (!trial.ignores_limits).then(|| pool.within_limits());
        let question = TypeQuestion {
            pool,
            left,
            pod: &trial.variant,
            domains: &domains,
            within_limits: within_limits.as_deref(),
            names: self.names,
        };
        question.smallest_sets()
    }

    /// Adds the missing amount to the demand for the limits.
    fn measure_limits(&self, pool: &Pool<'d>, types: &TypeSet, demands: &mut [Disagreement<'d>]) {
        for demand in demands.iter_mut() {
            if let Disagreement::Limits(miss @ None) = demand {
                *miss = self.limit_miss(pool, types);
            }
        }
    }

    /// The first limit that none of the instance types keeps.
    fn limit_miss(&self, pool: &Pool<'d>, types: &TypeSet) -> Option<LimitMiss<'d>> {
        if pool.has_no_node_left() {
            let needed = Quantity::from_units(1);
            return Some(LimitMiss { resource: self.names.name(NODES), left: Quantity::ZERO, needed });
        }
        let remaining = pool.remaining.borrow();
        remaining.iter().find_map(|(id, left)| {
            let capacities = pool.catalog.resources_of(types).map(|resources| resources.capacity.get(id));
            let needed = capacities.min()?;
            (needed > left).then(|| LimitMiss { resource: self.names.name(id), left, needed })
        })
    }
}

/// A label that the requirements of a pod or its volumes and of a NodePool do not agree on.
fn unmet_label<'d>(
    mismatch: Mismatch<'d>,
    present: &Requirements<'d>,
    asked: &Requirements<'d>,
) -> UnmetLabel<'d> {
    let key = mismatch.key();
    UnmetLabel {
        key,
        asked: asked.get(key).cloned().unwrap_or_else(Requirement::exists),
        present: present.get(key).cloned(),
        is_of_types: false,
    }
}

impl<'d> Trial<'d> {
    /// Leaves out a demand.
    fn leave_out(&mut self, demand: &Disagreement<'d>, names: &ResourceNames<'d>) {
        let shape = &mut self.variant.shape;
        match demand {
            Disagreement::Taint(taint) => {
                shape.demand.tolerations.push(Toleration::of_taint(*taint));
            }
            Disagreement::Label(label) => self.variant.leave_out_label(label.key),
            Disagreement::HostPort(port) => shape.ports.retain(|asked| asked.port != *port),
            Disagreement::Volume(label) => {
                shape.volumes.clear();
                if shape.volume_labels.get(label.key).is_some() {
                    self.variant.leave_out_label(label.key);
                }
            }
            Disagreement::Topology(key) => self.variant.leave_out_topology(key),
            Disagreement::Resource(miss) => shape.requests.remove(names.id(miss.resource)),
            Disagreement::MinValues(_) => self.ignores_min_values = true,
            Disagreement::Limits(_) => self.ignores_limits = true,
            Disagreement::OwnRequirement(_) => {}
        }
    }
}
