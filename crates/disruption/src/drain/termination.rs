//! Passes of the termination controller and the eviction queue.

use std::collections::BTreeMap;

use ids::{IdVec, ids};
use karpenter::release::{Release, Releases};
use manifest::tree::{Node, items_of};
use objects::node_claim::NodeClaim;
use objects::object::Object;
use objects::taint::TaintItem;
use scheduling::taints::PoolTaint;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::eviction::{Allowed, EvictionAnswer};
use super::pod::{DrainPod, Tier, seconds};
use super::step::{DrainEvent, DrainStep};
use super::volumes::AttachedVolumes;
use crate::cluster::{ClusterState, DISRUPTED, PodBudgets, Protection, StateNode};
use crate::event::of_protection;

/// The annotation of a NodeClaim with the end of its termination.
pub(super) const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";

/// A drain lasts at least 5 s (kubernetes-sigs/karpenter#2709).
pub(super) const HAS_MINIMUM: Releases = Releases::since(10);
pub(super) const MINIMUM: Duration = seconds(5);
/// The event of an eviction names the reason of the disruption (cfda355b4).
const EVENT_HAS_REASON: Releases = Releases::since(2);
/// A terminating pod that would outlive its node is deleted again (kubernetes-sigs/karpenter#2316).
const DELETES_AGAIN: Releases = Releases::since(6);
/// A pod always has one second of grace left (kubernetes-sigs/karpenter#3038).
const GRACE_IS_POSITIVE: Releases = Releases::since(13);

/// The number of names in an event about volumes.
const MAX_NAMED_VOLUMES: usize = 5;

/// The annotation with the end of a node is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "parsing annotation, parsing time \"{0}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{0}\" as \"2006\" \
     (annotation={TERMINATION_TIMESTAMP})"
)]
struct InvalidDeadline(String);

/// Answers of the cloud provider during a termination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Whether the instance is gone before the termination.
    pub is_instance_gone: bool,
    /// The number of calls that delete the instance before it is gone.
    pub delete_calls: u32,
}

/// Status and reason of a condition, with the time of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    text: String,
    since: Timestamp,
}

ids! {
    /// Pod of a node that terminates.
    DrainPodId;
}

/// Termination of a node: its state after the passes so far.
#[derive(Clone, Debug)]
pub struct Termination<'c, 'd> {
    node: Object<'d>,
    claim: Option<NodeClaim<'d>>,
    is_ready: bool,
    pod_budgets: &'c PodBudgets<'d>,
    release: Release,
    provider: Provider,
    pods: IdVec<DrainPodId, DrainPod<'d>>,
    allowed: Allowed<'d>,
    volumes: AttachedVolumes<'d>,
    taints: Vec<PoolTaint<'d>>,
    conditions: BTreeMap<&'static str, Condition>,
    reason: Option<&'d str>,
    is_node_gone: bool,
}

/// The result of one part of a pass.
enum Part {
    Done,
    Again(Duration),
}

impl<'c, 'd> Termination<'c, 'd> {
    /// The termination of a node; `None` if there is no Node.
    pub fn new(
        cluster: &'c ClusterState<'d>,
        objects: &[Object<'d>],
        node: &StateNode<'d>,
        release: Release,
        provider: Provider,
    ) -> Option<Self> {
        let object = node.node?;
        let reason = node.condition("DisruptionReason").filter(|condition| condition.is_true);
        Some(Self {
            node: object,
            claim: node.claim,
            is_ready: node.is_ready(),
            pod_budgets: &cluster.pod_budgets,
            release,
            provider,
            pods: node.pods.iter().map(DrainPod::new).collect(),
            allowed: Allowed::default(),
            volumes: AttachedVolumes::of(objects),
            taints: items_of(object.at(&["spec", "taints"]))
                .map(|item| PoolTaint::from_item(TaintItem::new(item)))
                .collect(),
            conditions: ["Drained", "VolumesDetached", "InstanceTerminating"]
                .into_iter()
                .filter_map(|kind| Some((kind, condition(node, kind)?)))
                .collect(),
            reason: reason.map(|condition| condition.reason),
            is_node_gone: false,
        })
    }

    /// The conditions of the NodeClaim about the termination, as `status/reason`.
    pub fn conditions(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.conditions.iter().map(|(kind, condition)| (*kind, condition.text.as_str()))
    }

    /// Whether the node has a NodeClaim. The first pass deletes it.
    pub fn has_claim(&self) -> bool {
        self.claim.is_some()
    }

    /// The taints of the Node.
    pub fn taints(&self) -> impl Iterator<Item = String> {
        self.taints.iter().map(ToString::to_string)
    }

    /// The pods that are still on the node, by namespace and name.
    pub fn pods_left(&self) -> impl Iterator<Item = String> {
        self.pods.iter().filter(|pod| !pod.is_gone).map(|pod| pod.pod.full_name())
    }

    /// One pass of the controller, and then of the eviction queue for each pod in the queue.
    pub fn step(&mut self, now: Timestamp) -> DrainStep {
        let mut step = DrainStep::default();
        if !self.is_node_gone {
            self.finalize(now, &mut step);
            self.evict_queued(now, &mut step);
        }
        step.is_node_gone = self.is_node_gone;
        step
    }

    fn node_name(&self) -> String {
        format!("Node/{}", self.node.name())
    }

    fn finalize(&mut self, now: Timestamp, step: &mut DrainStep) {
        if !self.is_ready && self.provider.is_instance_gone {
            self.is_node_gone = true;
            return;
        }
        let deadline = match self.deadline(step) {
            Ok(deadline) => deadline,
            Err(error) => {
                step.error = Some(error.to_string());
                return;
            }
        };
        self.taint();
        let parts = [Self::await_drain, Self::await_volumes, Self::await_instance];
        for part in parts {
            if let Part::Again(after) = part(self, now, deadline, step) {
                step.requeue_after = Some(after);
                return;
            }
        }
        self.is_node_gone = true;
    }

    /// The time at which the node has to be gone.
    fn deadline(&self, step: &mut DrainStep) -> Result<Option<Timestamp>, InvalidDeadline> {
        let written = self.claim.and_then(|claim| claim.object().annotation(TERMINATION_TIMESTAMP));
        let Some(text) = written.and_then(Node::as_str) else { return Ok(None) };
        let message = format!("All pods will be deleted by {text}");
        step.warning(self.node_name(), "TerminationGracePeriodExpiring", message);
        Timestamp::parse(text).map(Some).ok_or_else(|| InvalidDeadline(text.to_owned()))
    }

    /// Adds the taint of disruption. An equal taint with another value stays, one with another effect is replaced.
    fn taint(&mut self) {
        let is_same = |taint: &PoolTaint<'_>| (taint.key, taint.effect) == (DISRUPTED.key, DISRUPTED.effect);
        if !self.taints.iter().any(is_same) {
            self.taints.retain(|taint| taint.key != DISRUPTED.key);
            self.taints.push(DISRUPTED);
        }
    }

    fn set(&mut self, kind: &'static str, text: &str, now: Timestamp) {
        let changes = self.conditions.get(kind).is_none_or(|condition| condition.text != text);
        if changes && self.claim.is_some() {
            self.conditions.insert(kind, Condition { text: text.to_owned(), since: now });
        }
    }

    fn await_drain(&mut self, now: Timestamp, deadline: Option<Timestamp>, step: &mut DrainStep) -> Part {
        if !self.conditions.contains_key("Drained") {
            self.set("Drained", "Unknown/Draining", now);
        }
        if let Some(waiting) = self.drain(now, deadline, step) {
            let message = format!("Failed to drain node, {waiting} pods are waiting to be evicted");
            step.warning(self.node_name(), "FailedDraining", message);
            return Part::Again(seconds(1));
        }
        let drained = self.conditions.get("Drained").filter(|_| HAS_MINIMUM.contains(self.release));
        let is_early = drained
            .is_some_and(|drained| drained.text.starts_with("Unknown") && now.since(drained.since) < MINIMUM);
        if is_early {
            return Part::Again(seconds(1));
        }
        self.set("Drained", "True/Drained", now);
        Part::Done
    }

    /// Deletes the pods that would outlive the node, and queues the evictable pods of the first tier that has pods. Returns
    /// the number of pods to wait for; `None` without such a pod.
    fn drain(&mut self, now: Timestamp, deadline: Option<Timestamp>, step: &mut DrainStep) -> Option<usize> {
        let waiting = self.pods.enumerate().filter(|(_, pod)| pod.is_waited_for(now));
        let waiting: Vec<(DrainPodId, Tier)> = waiting.map(|(id, pod)| (id, pod.tier())).collect();
        let first = waiting.iter().map(|(_, tier)| *tier).min()?;
        if let Some(deadline) = deadline {
            for (id, _) in &waiting {
                self.delete_expiring(*id, now, deadline, step);
            }
        }
        for (id, _) in waiting.iter().filter(|(_, tier)| *tier == first) {
            self.queue(*id, now, step);
        }
        Some(waiting.len())
    }

    /// Deletes a pod whose grace period would end after the node.
    fn delete_expiring(&mut self, id: DrainPodId, now: Timestamp, deadline: Timestamp, step: &mut DrainStep) {
        let release = self.release;
        let Some(pod) = self.pods.get_mut(id) else { return };
        let is_due = match pod.deleted_at {
            Some(deleted) => DELETES_AGAIN.contains(release) && deleted > deadline,
            None => true,
        };
        if !is_due || now <= deadline.minus(pod.grace()) {
            return;
        }
        let left = deadline.since(now).seconds();
        let granted = if GRACE_IS_POSITIVE.contains(release) { left.max(1) } else { left };
        let name = pod.pod.full_name();
        let message = format!(
            "Deleting the pod to accommodate the terminationTime {} of the node. The pod was granted {granted} seconds of \
             grace-period of its {} terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt \
             annotation.",
            go_time(deadline),
            pod.grace_seconds(),
        );
        pod.delete(now, seconds(granted));
        step.event(format!("Pod/{name}"), "Disrupted", message);
        step.deletes.push((name, granted));
    }

    /// Queues a pod for eviction, unless it is protected.
    fn queue(&mut self, id: DrainPodId, now: Timestamp, step: &mut DrainStep) {
        let Some(pod) = self.pods.get_mut(id).filter(|pod| pod.may_be_evicted()) else { return };
        let on = format!("Pod/{}", pod.pod.full_name());
        let protection = pod.pod.protection(now, self.release);
        if let Some((reason, message)) = of_protection(&protection) {
            let is_warning = matches!(protection, Protection::Invalid(_));
            step.events.push(DrainEvent { on, reason, message, is_warning });
        }
        pod.is_queued |= !protection.is_active();
    }

    fn evict_queued(&mut self, now: Timestamp, step: &mut DrainStep) {
        let node = self.node_name();
        let reason = match (self.claim, self.reason) {
            _ if !EVENT_HAS_REASON.contains(self.release) => None,
            (None, _) => Some(""),
            (Some(_), reason) => Some(reason.unwrap_or("Forceful Termination")),
        };
        for pod in self.pods.iter_mut().filter(|pod| pod.is_queued && !pod.is_gone) {
            let name = pod.pod.full_name();
            let answer = self.allowed.evict(pod, self.pod_budgets);
            step.evictions.push((name.clone(), answer.status()));
            let problem = match answer {
                EvictionAnswer::Evicted => {
                    let message =
                        reason.map_or("Evicted pod".to_owned(), |reason| format!("Evicted pod: {reason}"));
                    step.event(format!("Pod/{name}"), "Evicted", message);
                    let grace = pod.grace();
                    pod.delete(now, grace);
                    pod.is_queued = false;
                    continue;
                }
                EvictionAnswer::Refused => "evicting pod violates a PDB",
                EvictionAnswer::SeveralBudgets => "eviction does not support multiple PDBs",
            };
            let message = format!("Failed to drain node, {problem} (Pod={name})");
            step.warning(node.clone(), "FailedDraining", message);
        }
    }

    fn await_volumes(&mut self, now: Timestamp, deadline: Option<Timestamp>, step: &mut DrainStep) -> Part {
        let left_alone = self.pods.iter().filter(|pod| !pod.is_gone && !pod.is_drainable(now));
        let pending = self.volumes.pending(self.node.name(), left_alone);
        if pending.is_empty() {
            self.set("VolumesDetached", "True/VolumesDetached", now);
            return Part::Done;
        }
        if deadline.is_none_or(|deadline| now <= deadline) {
            let message = format!("Awaiting deletion of bound volumeattachments ({})", first_names(&pending));
            step.event(self.node_name(), "AwaitingVolumeDetachment", message);
            self.set("VolumesDetached", "Unknown/AwaitingVolumeDetachment", now);
            return Part::Again(seconds(1));
        }
        self.set("VolumesDetached", "False/TerminationGracePeriodElapsed", now);
        Part::Done
    }

    fn await_instance(&mut self, now: Timestamp, _: Option<Timestamp>, step: &mut DrainStep) -> Part {
        if self.claim.is_none() {
            return Part::Done;
        }
        step.provider_delete_calls += 1;
        self.set("InstanceTerminating", "True/InstanceTerminating", now);
        if self.provider.delete_calls == 0 || self.provider.is_instance_gone {
            return Part::Done;
        }
        self.provider.delete_calls -= 1;
        Part::Again(seconds(5))
    }
}

fn condition(node: &StateNode<'_>, kind: &str) -> Option<Condition> {
    let condition = node.condition(kind)?;
    let status = condition.node.str_at(&["status"]).unwrap_or_default();
    Some(Condition {
        text: format!("{status}/{}", condition.reason),
        since: condition.since.unwrap_or(Timestamp::from_seconds(0)),
    })
}

/// The first names, and the number of the others (`pretty.Slice`).
fn first_names(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().take(MAX_NAMED_VOLUMES).copied().collect();
    let more = names.len().saturating_sub(MAX_NAMED_VOLUMES);
    let others = if more == 0 { String::new() } else { format!(" and {more} other(s)") };
    format!("{}{others}", first.join(", "))
}

/// A time as Go's `Time.String` prints it.
fn go_time(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{} +0000 UTC", text.replace('T', " ").trim_end_matches('Z'))
}
