//! Pods of a node that terminates.

use manifest::tree::Node;
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::cluster::ClusterPod;

/// Time after its deletion timestamp after which a pod is no longer waited for (`IsStuckTerminating` in
/// pkg/utils/pod/scheduling.go).
pub(super) const STUCK: Duration = Duration::from_minutes(1);

/// Grace period that the API server writes where a pod has none (`DefaultTerminationGracePeriodSeconds` in
/// k8s.io/api/core/v1/types.go).
const DEFAULT_GRACE: i64 = 30;

/// Place of a pod in the order of evictions (`groupPodsByPriority` in terminator.go). Only the names of two priority
/// classes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Plain,
    Daemon,
    Critical,
    CriticalDaemon,
}

impl Tier {
    pub(super) const ALL: [Self; 4] = [Self::Plain, Self::Daemon, Self::Critical, Self::CriticalDaemon];
}

/// Pod of a node that terminates.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrainPod<'d> {
    pub(super) pod: ClusterPod<'d>,
    /// `metadata.deletionTimestamp`, also of a deletion during the termination.
    pub(super) deleted_at: Option<Timestamp>,
    /// Whether the pod is no longer in the cluster.
    pub(super) is_gone: bool,
    /// Whether the pod is in the eviction queue.
    pub(super) is_queued: bool,
}

impl<'d> DrainPod<'d> {
    pub(super) fn new(pod: &ClusterPod<'d>) -> Self {
        let deleted_at = pod.object().str_at(&["metadata", "deletionTimestamp"]).and_then(Timestamp::parse);
        Self { pod: *pod, deleted_at, is_gone: false, is_queued: false }
    }

    /// `terminationGracePeriodSeconds`.
    pub(super) fn grace_seconds(&self) -> i64 {
        let written = self.pod.object().at(&["spec", "terminationGracePeriodSeconds"]);
        written.and_then(Node::as_int).unwrap_or(DEFAULT_GRACE)
    }

    /// `terminationGracePeriodSeconds` as a duration.
    pub(super) fn grace(&self) -> Duration {
        seconds(self.grace_seconds())
    }

    /// Whether the pod counts for a drain, whatever its phase (`IsDrainable`).
    pub(super) fn is_drainable(&self, now: Timestamp) -> bool {
        let is_stuck = self.deleted_at.is_some_and(|deleted| now.since(deleted) > STUCK);
        !self.pod.tolerates_disruption() && !is_stuck && !self.pod.is_mirror()
    }

    /// Whether the drain waits for the pod (`IsWaitingEviction`).
    pub(super) fn is_waited_for(&self, now: Timestamp) -> bool {
        !self.is_gone && !self.pod.is_terminal() && self.is_drainable(now)
    }

    /// Whether the eviction API would be called for the pod, apart from its annotation (`IsEvictable`).
    pub(super) fn may_be_evicted(&self) -> bool {
        let is_active = self.deleted_at.is_none() && !self.pod.is_terminal();
        is_active && !self.pod.tolerates_disruption() && !self.pod.is_mirror()
    }

    pub(super) fn tier(&self) -> Tier {
        let class = self.pod.object().str_at(&["spec", "priorityClassName"]).unwrap_or_default();
        match (matches!(class, "system-cluster-critical" | "system-node-critical"), self.pod.is_daemon()) {
            (false, false) => Tier::Plain,
            (false, true) => Tier::Daemon,
            (true, false) => Tier::Critical,
            (true, true) => Tier::CriticalDaemon,
        }
    }

    /// Deletes the pod. A finalizer keeps it in the cluster.
    pub(super) fn delete(&mut self, now: Timestamp, grace: Duration) {
        let has_finalizer = self
            .pod
            .object()
            .at(&["metadata", "finalizers"])
            .is_some_and(|list| list.items().next().is_some());
        if has_finalizer {
            self.deleted_at = self.deleted_at.or(Some(now.plus(grace)));
        } else {
            self.is_gone = true;
        }
    }
}

/// A number of seconds as a duration.
pub(super) const fn seconds(seconds: i64) -> Duration {
    Duration::from_nanoseconds(seconds.saturating_mul(1_000_000_000))
}
