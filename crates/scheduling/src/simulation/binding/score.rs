//! Choice among the nodes that take a pod.
//!
//! kube-scheduler adds weighted scores of its plugins, and chooses at random among equal nodes. The order here has the same
//! preferences one after the other: soft taints, preferred node affinity, preferences about the pods of other nodes, and
//! then the node with the smallest part of its CPU and memory requested (`LeastAllocated`, the default strategy of
//! `NodeResourcesFit`). Source: `pkg/scheduler/framework/plugins/noderesources/least_allocated.go` and
//! `pkg/scheduler/util/pod_resources.go` of kubernetes/kubernetes at v1.33.0, and kubernetes.io/docs/reference/scheduling/config.

use std::cmp::Reverse;
use std::iter::Sum;

use values::quantity::{Notation, Quantity};

use super::super::resources::{CPU, MEMORY, ResourceId, mebibytes};
use super::super::shape::PodShape;
use super::node::BindingNode;

/// The largest score of a resource.
const MAX_SCORE: i128 = 100;

/// Rating of a node for a pod. A greater rating is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeRating {
    soft_taints: Reverse<usize>,
    node_preference: i64,
    pod_preference: i64,
    free: i128,
}

/// Resources that the score counts for pods without requests: 100m CPU and 200 MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    cpu: Quantity,
    memory: Quantity,
}

impl Extra {
    /// The resources of a pod.
    pub(super) fn of(shape: &PodShape<'_>) -> Self {
        let or_none =
            |id, amount: Quantity| if shape.requests.get(id).is_zero() { amount } else { Quantity::ZERO };
        Self {
            cpu: or_none(CPU, Quantity::from_nano(100_000_000, Notation::Decimal)),
            memory: or_none(MEMORY, mebibytes(200)),
        }
    }

    /// The sum of both.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { cpu: self.cpu.plus(other.cpu), memory: self.memory.plus(other.memory) }
    }
}

impl Sum for Extra {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self { cpu: Quantity::ZERO, memory: Quantity::ZERO }, Self::plus)
    }
}

impl<'d> BindingNode<'d> {
    /// The rating of the node for a pod. `pod_preference` is about the pods of other nodes.
    pub(super) fn score(&self, shape: &PodShape<'d>, pod_preference: i64) -> NodeRating {
        let soft = self.soft_taints.iter();
        let soft = soft.filter(|taint| !shape.demand.tolerations.iter().any(|one| one.tolerates(taint)));
        let preferred = shape.demand.preferred_terms.iter();
        let met = preferred.filter(|(_, term)| term.iter().all(|(key, asked)| self.meets(key, asked)));
        let extra = self.extra.plus(Extra::of(shape));
        NodeRating {
            soft_taints: Reverse(soft.count()),
            node_preference: met.map(|(weight, _)| weight).sum(),
            pod_preference,
            free: self.free(CPU, shape, extra.cpu).midpoint(self.free(MEMORY, shape, extra.memory)),
        }
    }

    /// The free part of a resource with a pod, from 0 to 100.
    fn free(&self, id: ResourceId, shape: &PodShape<'d>, extra: Quantity) -> i128 {
        let left = self.available.get(id).minus(shape.requests.get(id)).minus(extra).nano();
        let part = left.max(0).saturating_mul(MAX_SCORE).checked_div(self.allocatable.get(id).nano());
        part.unwrap_or_default()
    }
}
