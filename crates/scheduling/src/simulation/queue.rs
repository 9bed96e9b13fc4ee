//! The order in which pods are tried.
//!
//! Source: pkg/controllers/provisioning/scheduling/queue.go of kubernetes-sigs/karpenter at v1.14.1.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use super::resources::{CPU, MEMORY};
use super::result::PodId;
use super::world::World;

/// Pods that wait. It ends when all of them failed since the last success.
#[derive(Debug)]
pub(crate) struct Queue {
    pods: VecDeque<PodId>,
    /// The length of the queue when a pod was put back.
    lengths: BTreeMap<PodId, usize>,
}

impl Queue {
    /// The pods with the largest requests first.
    pub(crate) fn new(world: &World<'_>) -> Self {
        let all = world.pods.enumerate();
        let mut pods: Vec<PodId> = all.filter(|(_, pod)| pod.ignored.is_none()).map(|(id, _)| id).collect();
        pods.sort_by(|one, other| compare(world, *one, *other).then_with(|| one.cmp(other)));
        Self { pods: pods.into(), lengths: BTreeMap::new() }
    }

    /// The next pod.
    pub(crate) fn pop(&mut self) -> Option<PodId> {
        let first = *self.pods.front()?;
        if self.lengths.get(&first) == Some(&self.pods.len()) {
            return None;
        }
        self.pods.pop_front()
    }

    /// The pods that still wait.
    pub(crate) fn rest(self) -> impl Iterator<Item = PodId> {
        self.pods.into_iter()
    }

    /// Puts back a pod that failed. A relaxed pod starts a new cycle.
    pub(crate) fn push(&mut self, pod: PodId, is_relaxed: bool) {
        self.pods.push_back(pod);
        if is_relaxed {
            self.lengths.clear();
        } else {
            self.lengths.insert(pod, self.pods.len());
        }
    }
}

/// More CPU first, then more memory, then the older pod.
fn compare(world: &World<'_>, one: PodId, other: PodId) -> Ordering {
    let (Some(one), Some(other)) = (world.pods.get(one), world.pods.get(other)) else {
        return Ordering::Equal;
    };
    let (Some(shape), Some(other_shape)) = (world.shapes.get(one.shape), world.shapes.get(other.shape))
    else {
        return Ordering::Equal;
    };
    let by = |id| other_shape.requests.get(id).cmp(&shape.requests.get(id));
    by(CPU).then_with(|| by(MEMORY)).then_with(|| one.created.cmp(other.created))
}
