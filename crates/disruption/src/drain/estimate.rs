//! Longest time of a node's termination, and the reasons for which a termination never ends.

use karpenter::release::Release;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use values::duration::{Duration, NillableDuration};
use values::timestamp::Timestamp;

use super::eviction::ignores_unready_pods;
use super::pod::{DrainPod, STUCK, Tier};
use super::termination::{HAS_MINIMUM, MINIMUM, TERMINATION_TIMESTAMP};
use super::volumes::AttachedVolumes;
use crate::cluster::{ClusterPod, ClusterState, PodBudgets, Protection, StateNode};

/// Longest time that the termination of a node takes from now, or from the start of its disruption.
///
/// Pods are taken to end within their grace periods. The time in which the instance stops is not included.
#[derive(Clone, Debug)]
pub struct DrainEstimate<'d> {
    /// The longest time; `None` if nothing limits the termination.
    pub longest: Option<Duration>,
    /// The time that the grace periods and protections of limited length take, whatever else delays the termination.
    pub(crate) shortest: Duration,
    /// Whether the termination never ends with the objects as they are.
    pub never: bool,
    /// The reasons for a delay, in the order of evictions, and then the limit.
    pub because: Vec<DrainReason<'d>>,
}

/// Reason for a delay of a termination, or its limit.
#[derive(Clone, Debug)]
pub enum DrainReason<'d> {
    /// `karpenter.sh/do-not-disrupt` on a pod, with its end if the value is a duration. The drain waits for the pod.
    Protected {
        /// The pod.
        pod: ClusterPod<'d>,
        /// The end of the protection.
        until: Option<Timestamp>,
        /// Whether the pod ends by itself, because it is not restarted.
        ends: bool,
    },
    /// A PodDisruptionBudget that allows no eviction even when all its pods are healthy.
    BudgetAllowsNone(ClusterPod<'d>, Object<'d>),
    /// A PodDisruptionBudget that allows no eviction at the moment.
    BudgetAllowsNoneNow(ClusterPod<'d>, Object<'d>),
    /// More than one PodDisruptionBudget on a pod: the eviction API refuses the pod.
    SeveralBudgets(ClusterPod<'d>, Vec<Object<'d>>),
    /// Volume attachments that have to go first, by name.
    Volumes(Vec<&'d str>),
    /// The NodeClaim expires then, whatever is in the way. From then on the cluster pays for two nodes.
    Expires(Timestamp),
    /// `terminationGracePeriod`, or what is left of it, ends the termination.
    GracePeriod(Duration),
}

impl DrainReason<'_> {
    /// Whether nothing but a change of the objects removes the reason.
    fn is_permanent(&self) -> bool {
        match self {
            Self::Protected { until, ends, .. } => until.is_none() && !ends,
            Self::BudgetAllowsNone(pod, _) | Self::SeveralBudgets(pod, _) => !ends_by_itself(pod.object()),
            _ => false,
        }
    }

    /// Whether the reason ends at a known time.
    fn is_limited(&self) -> bool {
        matches!(self, Self::Protected { until: Some(_), .. } | Self::Expires(_) | Self::GracePeriod(_))
    }
}

/// Estimates the termination of every node with a NodeClaim, by name.
pub fn estimate<'d>(
    cluster: &ClusterState<'d>,
    objects: &[Object<'d>],
    now: Timestamp,
    release: Release,
) -> Vec<(&'d str, DrainEstimate<'d>)> {
    let drains = Drains::of(objects);
    let nodes = cluster.nodes.iter().filter(|node| node.node.is_some() && node.claim.is_some());
    nodes.map(|node| (node.name(), drains.estimate(node, cluster, now, release))).collect()
}

/// Terminations of the nodes of a cluster.
pub(crate) struct Drains<'d> {
    volumes: AttachedVolumes<'d>,
}

impl<'d> Drains<'d> {
    /// The terminations among objects.
    pub(crate) fn of(objects: &[Object<'d>]) -> Self {
        Self { volumes: AttachedVolumes::of(objects) }
    }

    /// Estimates the termination of a node.
    pub(crate) fn estimate(
        &self,
        node: &StateNode<'d>,
        cluster: &ClusterState<'d>,
        now: Timestamp,
        release: Release,
    ) -> DrainEstimate<'d> {
        let estimator = Estimator { pod_budgets: &cluster.pod_budgets, volumes: &self.volumes, now, release };
        estimator.estimate(node)
    }
}

struct Estimator<'c, 'd> {
    pod_budgets: &'c PodBudgets<'d>,
    volumes: &'c AttachedVolumes<'d>,
    now: Timestamp,
    release: Release,
}

impl<'d> Estimator<'_, 'd> {
    fn estimate(&self, node: &StateNode<'d>) -> DrainEstimate<'d> {
        let pods: Vec<DrainPod<'d>> = node.pods.iter().map(DrainPod::new).collect();
        let waiting: Vec<&DrainPod<'d>> = pods.iter().filter(|pod| pod.is_waited_for(self.now)).collect();
        let mut because: Vec<DrainReason<'d>> = Vec::new();
        let mut end = Duration::ZERO;
        for tier in Tier::ALL {
            let start = end;
            for pod in waiting.iter().filter(|pod| pod.tier() == tier) {
                let reason = self.reason(pod);
                end = end.max(self.end_of(pod, reason.as_ref(), start));
                because.extend(reason);
            }
        }
        if HAS_MINIMUM.contains(self.release) {
            end = end.max(MINIMUM);
        }
        let left_alone = pods.iter().filter(|pod| !pod.is_drainable(self.now));
        let attached = self.volumes.pending(node.name(), left_alone);
        if !attached.is_empty() {
            because.push(DrainReason::Volumes(attached));
        }
        self.limit(node, end, because)
    }

    /// Applies `terminationGracePeriod`.
    fn limit(
        &self,
        node: &StateNode<'d>,
        end: Duration,
        mut because: Vec<DrainReason<'d>>,
    ) -> DrainEstimate<'d> {
        let is_limited = because.iter().all(DrainReason::is_limited);
        let Some(grace) = self.grace_period(node) else {
            let never = because.iter().any(DrainReason::is_permanent);
            because.extend(expires_at(node).filter(|_| never).map(DrainReason::Expires));
            return DrainEstimate { longest: is_limited.then_some(end), shortest: end, never, because };
        };
        if !is_limited || end > grace {
            because.push(DrainReason::GracePeriod(grace));
        }
        let longest = if is_limited { end.min(grace) } else { grace };
        DrainEstimate { longest: Some(longest), shortest: end.min(grace), never: false, because }
    }

    /// `terminationGracePeriod` of the NodeClaim, or what is left of it.
    fn grace_period(&self, node: &StateNode<'d>) -> Option<Duration> {
        let claim = node.claim?.object();
        if let Some(end) = claim.annotation(TERMINATION_TIMESTAMP).and_then(Node::as_str) {
            return Some(Timestamp::parse(end)?.since(self.now).max(Duration::ZERO));
        }
        let written = node.claim_spec()?.termination_grace_period()?.as_str()?;
        Duration::parse(written).ok()
    }

    /// The reason that delays the end of a pod.
    fn reason(&self, pod: &DrainPod<'d>) -> Option<DrainReason<'d>> {
        if !pod.may_be_evicted() {
            return None;
        }
        let ends = ends_by_itself(pod.pod.object());
        match pod.pod.protection(self.now, self.release) {
            Protection::Always => return Some(DrainReason::Protected { pod: pod.pod, until: None, ends }),
            // Whatever the budgets say then is unknown now.
            Protection::Until(end) => {
                return Some(DrainReason::Protected { pod: pod.pod, until: Some(end), ends });
            }
            _ => {}
        }
        let matching = self.pod_budgets.matching(&pod.pod);
        let phase = pod.pod.object().str_at(&["status", "phase"]);
        match matching.as_slice() {
            _ if phase == Some("Pending") => None,
            [] => None,
            [budget] if pod.pod.is_unhealthy() && ignores_unready_pods(*budget) => None,
            [budget] => budget_reason(&pod.pod, *budget),
            _ => Some(DrainReason::SeveralBudgets(pod.pod, matching)),
        }
    }

    /// The time at which a pod is gone, if its tier starts at a time and its reason ends.
    fn end_of(&self, pod: &DrainPod<'d>, reason: Option<&DrainReason<'d>>, start: Duration) -> Duration {
        if let Some(deleted) = pod.deleted_at {
            let left = deleted.since(self.now);
            let end = if left > Duration::ZERO { left } else { deleted.plus(STUCK).since(self.now) };
            return start.max(end);
        }
        let free = match reason {
            Some(DrainReason::Protected { until: Some(until), .. }) => until.since(self.now),
            _ => Duration::ZERO,
        };
        let start = start.max(free);
        Duration::from_nanoseconds(start.nanoseconds().saturating_add(pod.grace().nanoseconds()))
    }
}

/// The time at which the NodeClaim expires; `None` if it is already going.
pub fn expires_at(node: &StateNode<'_>) -> Option<Timestamp> {
    let written = node.claim_spec()?.expire_after()?.as_str()?;
    let NillableDuration::After(lifetime) = NillableDuration::parse(written).ok()? else { return None };
    let created = node.claim?.object().str_at(&["metadata", "creationTimestamp"])?;
    Some(Timestamp::parse(created)?.plus(lifetime)).filter(|_| !node.is_going())
}

/// Whether a pod is not restarted when it ends.
pub(crate) fn ends_by_itself(pod: Object<'_>) -> bool {
    matches!(pod.str_at(&["spec", "restartPolicy"]), Some("Never" | "OnFailure"))
}

/// The reason for which a budget refuses the eviction of a pod.
pub(crate) fn budget_reason<'d>(pod: &ClusterPod<'d>, budget: Object<'d>) -> Option<DrainReason<'d>> {
    let view = PodDisruptionBudget::of(budget)?;
    let is = |node: Option<Node<'_>>, text: &str| node.and_then(Node::as_str) == Some(text);
    let number = |field: &str| budget.at(&["status", field]).and_then(Node::as_int);
    let nothing_unavailable = view.max_unavailable().and_then(Node::as_int) == Some(0)
        || is(view.max_unavailable(), "0%")
        || is(view.min_available(), "100%");
    let expected = number("expectedPods").unwrap_or_default();
    let needs_all = expected > 0 && number("desiredHealthy").is_some_and(|desired| desired >= expected);
    if nothing_unavailable || needs_all {
        return Some(DrainReason::BudgetAllowsNone(*pod, budget));
    }
    let allowed = view.disruptions_allowed().and_then(Node::as_int).unwrap_or_default();
    (allowed <= 0).then_some(DrainReason::BudgetAllowsNoneNow(*pod, budget))
}
