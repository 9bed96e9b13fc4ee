//! The work of a simulation, counted in steps.
//!
//! The scheduler of Karpenter tries each pod, at each step of its relaxation, on each node and each NodePool, and compares its
//! constraints with the constraints of other pods. A count of steps bounds the simulation by its input alone: the same input ends
//! at the same step on every machine, unlike with a bound on time.

use std::cell::Cell;

/// Largest number of steps for each pod that waits for a node, and for each node, in all rounds. A step takes about as long as the comparison of a pod
/// with a taint and a label: about 50 nanoseconds.
pub(super) const MAX_STEPS_PER_PART: u64 = 24_000;

/// Part of the steps that may be spent on reasons, and again on changes that may help, after the pods were placed.
pub(super) const PART_OF_REASONS: u64 = 4;

/// Number of pods and nodes whose steps a simulation of fewer may also take.
pub(super) const MIN_PARTS: usize = 200;

/// The steps that a part of a simulation has taken, of the steps that it may take.
#[derive(Debug)]
pub(crate) struct Work {
    most: u64,
    done: Cell<u64>,
}

impl Work {
    /// The work of a simulation of a number of pods that wait for a node in a cluster with a number of nodes.
    pub(crate) fn of(pods: usize, nodes: usize) -> Self {
        let parts = u64::try_from((pods + nodes).max(MIN_PARTS)).unwrap_or(u64::MAX);
        Self::of_steps(parts.saturating_mul(MAX_STEPS_PER_PART))
    }

    /// Work of at most a number of steps.
    pub(crate) fn of_steps(most: u64) -> Self {
        Self { most, done: Cell::new(0) }
    }

    /// Counts steps.
    pub(crate) fn count(&self, steps: usize) {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.done.set(self.done.get().saturating_add(steps));
    }

    /// The number of steps that were taken.
    pub(crate) fn done(&self) -> u64 {
        self.done.get()
    }

    /// The number of steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.most.saturating_sub(self.done.get())
    }

    /// Whether no step is left.
    pub(crate) fn is_over(&self) -> bool {
        self.left() == 0
    }
}
