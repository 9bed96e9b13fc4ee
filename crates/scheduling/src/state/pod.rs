//! Pods of a cluster as the controllers look at them.
//!
//! Source: pkg/utils/pod/scheduling.go and pkg/utils/disruption/disruption.go of kubernetes-sigs/karpenter at v1.14.1.

use ids::ids;
use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Release;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::Pod;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::behaviour::StateBehaviour;
use crate::provisionable::Unprovisionable;
use crate::simulation::namespace_of;
use crate::taints::{PoolTaint, Toleration};

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The taint of nodes that are disrupted.
pub const DISRUPTED: PoolTaint<'static> =
    PoolTaint { key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" };

/// Whether a pod tolerates the taint of disrupted nodes. Karpenter does not evict such a pod, and no PodDisruptionBudget of the pod
/// delays it (`IsDrainable` and `IsEvictable` in pkg/utils/pod/scheduling.go, and `CanEvictPods` in pkg/utils/pdb/pdb.go).
pub fn tolerates_disruption(pod: Pod<'_>) -> bool {
    pod.spec().tolerations().any(|item| Toleration::from_item(item).tolerates(&DISRUPTED))
}

/// Protection of a pod through `karpenter.sh/do-not-disrupt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// There is no annotation, or another value than `true` in releases without durations.
    None,
    /// The value is `true`, or a duration of a pod without a start time.
    Always,
    /// The value is a duration that ends then.
    Until(Timestamp),
    /// The value is a duration that is over.
    Over,
    /// The value is neither `true` nor a positive duration, for this reason.
    Invalid(String),
}

ids! {
    /// Object of a cluster, in the order of the input.
    pub StateObjectId;
}

/// Pod of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClusterPod<'d> {
    pod: Pod<'d>,
    id: StateObjectId,
}

impl<'d> ClusterPod<'d> {
    /// The object as a pod, where it is one.
    pub fn of(object: Object<'d>, id: StateObjectId) -> Option<Self> {
        (object.kind() == "Pod" && object.group().is_empty()).then_some(())?;
        Some(Self { pod: Pod::of(object)?, id })
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.pod.object()
    }

    /// The name.
    pub fn name(self) -> &'d str {
        self.object().name()
    }

    /// The namespace.
    pub fn namespace(self) -> &'d str {
        namespace_of(self.object())
    }

    /// `namespace/name`.
    pub fn full_name(self) -> String {
        format!("{}/{}", self.namespace(), self.name())
    }

    /// The UID; empty where the object has none.
    pub fn uid(self) -> &'d str {
        self.object().str_at(&["metadata", "uid"]).unwrap_or_default()
    }

    /// The object among the objects of the cluster.
    pub fn id(self) -> StateObjectId {
        self.id
    }

    /// The name of its node; empty without a node.
    pub fn node_name(self) -> &'d str {
        self.pod.spec().node_name().and_then(Node::as_str).unwrap_or_default()
    }

    /// `status.phase`.
    fn phase(self) -> Option<&'d str> {
        self.object().str_at(&["status", "phase"])
    }

    /// Whether the pod has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self.phase(), Some("Succeeded" | "Failed"))
    }

    /// Whether the pod is being deleted.
    pub fn is_terminating(self) -> bool {
        self.object().at(&["metadata", "deletionTimestamp"]).is_some()
    }

    /// Whether the pod runs and is not being deleted.
    pub fn is_active(self) -> bool {
        !self.is_terminal() && !self.is_terminating()
    }

    /// Whether the phase is `Pending`.
    pub fn is_pending(self) -> bool {
        self.phase() == Some("Pending")
    }

    fn is_owned_by(self, api_version: &str, kind: &str) -> bool {
        items_of(self.object().metadata().owner_references()).any(|owner| {
            owner.str_at(&["apiVersion"]) == Some(api_version) && owner.str_at(&["kind"]) == Some(kind)
        })
    }

    /// Whether a DaemonSet makes the pod.
    pub fn is_daemon(self) -> bool {
        self.is_owned_by("apps/v1", "DaemonSet")
    }

    /// Whether the pod is the mirror of a static pod.
    pub fn is_mirror(self) -> bool {
        self.is_owned_by("v1", "Node")
    }

    /// Whether the pod needs a place elsewhere when its node goes (`IsReschedulable`).
    pub fn is_reschedulable(self) -> bool {
        let goes_back = self.is_terminating() && self.is_owned_by("apps/v1", "StatefulSet");
        (self.is_active() || goes_back) && !self.is_daemon() && !self.is_mirror()
    }

    /// Whether Karpenter would launch a node for the pod (`IsProvisionable`).
    pub fn is_provisionable(self) -> bool {
        self.node_name().is_empty() && Unprovisionable::of(self.object()).is_none() && self.is_active()
    }

    /// Whether the pod tolerates the taint of disrupted nodes.
    pub fn tolerates_disruption(self) -> bool {
        tolerates_disruption(self.pod)
    }

    /// Whether the eviction API would be called for the pod, apart from its protection (`IsEvictable`).
    fn may_be_evicted(self) -> bool {
        self.is_active() && !self.tolerates_disruption() && !self.is_mirror()
    }

    /// Whether the eviction API would be called for the pod (`IsEvictable`).
    pub fn is_evictable(self, now: Timestamp, release: Release) -> bool {
        self.may_be_evicted() && !self.protection(now, release).is_active()
    }

    /// Whether the pod's annotation does not protect it now (`IsDisruptable`).
    pub fn is_disruptable(self, now: Timestamp, release: Release) -> bool {
        !self.is_active() || !self.protection(now, release).is_active()
    }

    /// Protection through `karpenter.sh/do-not-disrupt` (`IsDoNotDisruptActive`).
    pub fn protection(self, now: Timestamp, release: Release) -> Protection {
        let Some(value) = self.object().annotation(DO_NOT_DISRUPT).and_then(Node::as_str) else {
            return Protection::None;
        };
        if value == "true" {
            return Protection::Always;
        }
        if !StateBehaviour::DO_NOT_DISRUPT_DURATION.holds_in(release) {
            return Protection::None;
        }
        match Duration::parse(value) {
            Err(error) => {
                Protection::Invalid(format!("failed to parse \"{value}\" as a duration: {}", error.go_text()))
            }
            Ok(duration) if duration <= Duration::ZERO => {
                Protection::Invalid(format!("duration \"{value}\" must be positive"))
            }
            Ok(duration) => {
                let started = self.object().str_at(&["status", "startTime"]).and_then(Timestamp::parse);
                let end = started.map(|started| started.plus(duration));
                end.map_or(Protection::Always, |end| {
                    if now < end { Protection::Until(end) } else { Protection::Over }
                })
            }
        }
    }

    /// Whether the condition Ready is False.
    pub fn is_unhealthy(self) -> bool {
        let mut conditions = items_of(self.object().at(&["status", "conditions"]));
        conditions.any(|condition| {
            condition.str_at(&["type"]) == Some("Ready") && condition.str_at(&["status"]) == Some("False")
        })
    }

    /// Cost of an eviction, from -10 to 10 (`EvictionCost`).
    pub fn eviction_cost(self) -> f64 {
        let written = self.object().annotation(DELETION_COST).and_then(Node::as_str);
        let deletion = written.and_then(|text| text.parse::<f64>().ok()).filter(|cost| !cost.is_nan());
        let priority = self.pod.spec().node().get("priority").and_then(Node::as_int);
        let priority = priority.and_then(|priority| i32::try_from(priority).ok()).map_or(0.0, f64::from);
        let cost = 1.0 + deletion.unwrap_or_default() / f64::from(1 << 27) + priority / f64::from(1 << 25);
        cost.clamp(-10.0, 10.0)
    }
}

impl Protection {
    /// Whether the pod is protected now.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Always | Self::Until(_))
    }
}
