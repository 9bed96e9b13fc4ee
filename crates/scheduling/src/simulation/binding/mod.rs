//! kube-scheduler's part: pods that fit nodes of the cluster are bound to them before Karpenter looks at the rest.
//!
//! | module | content |
//! |---|---|
//! | `node` | a node with the filters that look at nothing else |
//! | `neighbours` | the filters that look at the pods of other nodes |
//! | `score` | the choice among the nodes that remain |
//!
//! The filters are the filters of the default profile (`getDefaultPlugins` in `pkg/scheduler/apis/config/v1/default_plugins.go` of
//! kubernetes/kubernetes at v1.33.0). Preemption is left out.

mod neighbours;
mod node;
mod score;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::IdVec;
use objects::pod::Pod;

use super::pods::{PendingPod, PendingPods, ShapeId};
use super::result::PodId;
use super::shape::PodShape;
use super::work::Work;
use super::world::Base;

use neighbours::{PodTallies, TalliesOfPod};
use node::BindingNode;

/// kube-scheduler's name for itself.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Number of steps to compare and to rate a node that has room, and the labels and taints for a pod.
const STEPS_OF_CANDIDATE: usize = 4;

/// Binds pods to nodes. Returns the position of the node of each bound pod among the existing nodes.
pub(super) fn bind<'d>(base: &Base<'d>, pending: &PendingPods<'d>, work: &Work) -> BTreeMap<PodId, usize> {
    let nodes: Vec<BindingNode<'d>> = BindingNode::all(base);
    if nodes.is_empty() {
        return BTreeMap::new();
    }
    let shapes = pending.shapes.clone();
    let pods = nodes.iter().map(|node| node.pods.len()).sum();
    let neighbours = PodTallies::of(&nodes);
    let in_order = in_order(base, &pending.pods);
    let mut waiting: BTreeMap<ShapeId, usize> = BTreeMap::new();
    for (_, pod) in &in_order {
        *waiting.entry(pod.shape).or_default() += 1;
    }
    let plans = BTreeMap::new();
    let mut binder = Binder { neighbours, nodes, shapes, plans, waiting, bound: 0, pods, work };
    let mut bound = BTreeMap::new();
    for (id, pod) in in_order {
        if work.is_over() {
            break;
        }
        if let Some(position) = binder.bind(pod) {
            bound.insert(id, position);
        }
    }
    bound
}

/// The pods that kube-scheduler looks at, by priority, then by age (`PrioritySort`).
fn in_order<'p, 'd>(
    base: &Base<'d>,
    pods: &'p IdVec<PodId, PendingPod<'d>>,
) -> Vec<(PodId, &'p PendingPod<'d>)> {
    let mut all: Vec<_> =
        pods.enumerate().filter(|(_, pod)| pod.is_schedulable && is_known(pod.input.pod)).collect();
    all.sort_by_cached_key(|(id, pod)| (Reverse(base.priority(pod.input.pod)), pod.created, *id));
    all
}

/// Whether the node of a pod follows from what is known. `matchFields` name a node, mostly for the pods of a DaemonSet.
fn is_known(pod: Pod<'_>) -> bool {
    let scheduler = pod.spec().scheduler_name().unwrap_or_default();
    let mut terms = pod.spec().required_terms();
    matches!(scheduler, "" | DEFAULT_SCHEDULER)
        && !terms.any(|term| term.match_fields().items().next().is_some())
}

/// State of the binding.
struct Binder<'w, 'd> {
    nodes: Vec<BindingNode<'d>>,
    neighbours: PodTallies<'d>,
    shapes: IdVec<ShapeId, Rc<PodShape<'d>>>,
    /// The plans of the shapes of which pods wait.
    plans: BTreeMap<ShapeId, Plan>,
    /// The number of pods of each shape that wait.
    waiting: BTreeMap<ShapeId, usize>,
    /// The number of bound pods.
    bound: usize,
    /// The number of pods on the nodes at the start.
    pods: usize,
    work: &'w Work,
}

/// The nodes that may take the pods of a shape. Nodes only get fuller, so a node that is too full leaves the list.
struct Plan {
    candidates: Vec<usize>,
    neighbours: TalliesOfPod,
    /// The number of bound pods when no node took a pod of the shape. No node takes one before the next pod is bound.
    failed_at: Option<usize>,
}

impl<'d> Binder<'_, 'd> {
    /// Binds a pod to the best node that passes all filters. Returns the position of the node.
    fn bind(&mut self, pod: &PendingPod<'d>) -> Option<usize> {
        let shape = Rc::clone(self.shapes.get(pod.shape)?);
        if shape.has_resource_claims {
            return None;
        }
        let mut plan = self.plans.remove(&pod.shape).unwrap_or_else(|| self.plan(&shape));
        let fails_again = plan.failed_at == Some(self.bound) && pod.volumes.is_empty();
        let best = if fails_again { None } else { self.best(&mut plan, pod, &shape) };
        if best.is_none() && pod.volumes.is_empty() {
            plan.failed_at = Some(self.bound);
        }
        let waiting = self.waiting.entry(pod.shape).or_default();
        *waiting = waiting.saturating_sub(1);
        if *waiting > 0 {
            self.plans.insert(pod.shape, plan);
        }
        let node = self.nodes.get_mut(best?)?;
        node.add(&shape, &pod.volumes);
        self.neighbours.add(node, &shape);
        self.bound += 1;
        Some(node.position)
    }

    /// The best node for a pod.
    fn best(&self, plan: &mut Plan, pod: &PendingPod<'d>, shape: &PodShape<'d>) -> Option<usize> {
        let nodes = &self.nodes;
        self.work.count(plan.candidates.len() + self.neighbours.len());
        plan.candidates.retain(|at| nodes.get(*at).is_some_and(|node| node.has_room(shape)));
        self.work.count(plan.candidates.len() * STEPS_OF_CANDIDATE);
        self.neighbours.refresh(&mut plan.neighbours, shape);
        let fits = |at: &&usize| {
            nodes.get(**at).is_some_and(|node| {
                node.has_volumes(&pod.volumes) && self.neighbours.allow(&plan.neighbours, node)
            })
        };
        let rated = plan.candidates.iter().filter(fits).filter_map(|at| {
            let node = nodes.get(*at)?;
            Some((*at, node.score(shape, self.neighbours.preference(&plan.neighbours, node))))
        });
        // The first of equal nodes: the nodes are sorted by name.
        let best = rated.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map(|(at, _)| at)
    }

    fn plan(&mut self, shape: &PodShape<'d>) -> Plan {
        let constraints = shape.spreads.len() + usize::from(!shape.affinity.required.is_empty());
        let terms = shape.anti_affinity.required.len() + shape.anti_affinity.preferred.len();
        let terms = terms + shape.affinity.preferred.len();
        self.work.count(self.nodes.len());
        self.work.count((constraints + terms) * (self.nodes.len() + self.pods));
        let candidates = self.nodes.iter().enumerate().filter(|(_, node)| node.accepts(shape));
        let candidates: Vec<usize> = candidates.map(|(at, _)| at).collect();
        Plan { candidates, neighbours: self.neighbours.plan(&self.nodes, shape), failed_at: None }
    }
}

/// The keys that a node must have to count for a spread.
type Keys<'d> = BTreeSet<&'d str>;
