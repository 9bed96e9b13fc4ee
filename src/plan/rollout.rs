//! The forecast of a rollout: when each drifted node goes, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};

use answers::OrEmpty;
use answers::plan::{PlannedCost, PlannedRollout};
use answers::rounded;
use disruption::blocker::NodeBlocker;
use disruption::drain::DrainReason;
use disruption::forecast::{ForecastSettings, RollReason, RolledNode, RolloutChange, forecast};
use disruption::settings::DisruptionSettings;
use karpenter::kind::Kind;
use karpenter::release::Release;
use objects::object::Object;
use scheduling::simulation::SimulationSettings;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::Plan;
use super::snapshot::DecidedNode;
use crate::disrupt::words;
use crate::simulate::words::counted;

/// Number of reasons of a node.
const MAX_REASONS: usize = 5;

/// Adds the rollout of the drifted nodes to a plan, from the cluster before and after the change, and before with only the NodePools whose
/// EC2NodeClass goes. After the change, the NodeClaims of removed NodePools are being deleted.
pub(super) fn add<'d>(
    plan: &mut Plan,
    nodes: Vec<DecidedNode<'d>>,
    [before, after, stranded]: [&[Object<'d>]; 3],
    settings: SimulationSettings,
    (at, how): (Timestamp, &ForecastSettings),
) {
    let drifted: BTreeMap<&str, Timestamp> =
        nodes.iter().filter_map(|node| Some((node.name, node.since?))).collect();
    let release = settings.release;
    let settings = disruption_settings(settings, at);
    let result = forecast(after, &settings, &drifted, how);
    let is_removed = |node: &DecidedNode<'_>| !node.answer.drifted && !node.answer.uncertain;
    let mut cost = result.cost;
    let is_stranded = stranded.iter().any(|object| object.is(Kind::NODE_POOL));
    if is_stranded || nodes.iter().any(is_removed) {
        // Nodes have no price without their NodePool and its EC2NodeClass.
        let now = ForecastSettings { horizon: Duration::ZERO, ..how.clone() };
        let cost_of = |objects| forecast(objects, &settings, &BTreeMap::new(), &now).cost.before;
        cost.before = cost_of(before);
        let staying = if is_stranded { cost_of(stranded) } else { 0.0 };
        cost.after += staying;
        cost.peak = (cost.peak + staying).max(cost.before);
    }
    let gone: BTreeMap<&str, Timestamp> = result
        .changes
        .iter()
        .filter_map(|change| match &change.change {
            RolloutChange::Gone(name) => Some((name.as_str(), change.at)),
            _ => None,
        })
        .collect();
    let by_name: BTreeMap<&str, &RolledNode<'_>> =
        result.nodes.iter().chain(&result.leaving).map(|node| (node.name, node)).collect();
    // The windows of budgets that leave no gap within a year.
    let closed = plan.answer.node_pools.iter().filter(|pool| pool.never);
    let closed: BTreeSet<String> = closed.map(|pool| pool.name.clone()).collect();
    for node in nodes {
        let is_removed = is_removed(&node);
        let mut answer = node.answer;
        if let Some(rolled) = by_name.get(node.name) {
            // Of a node that waits, the expiry is one of its reasons.
            let expiry = |reason: &RollReason<'_>| match reason {
                RollReason::Expires(time) => Some(*time),
                _ => None,
            };
            answer.start = OrEmpty(rolled.start.map(Into::into));
            answer.end = OrEmpty(rolled.end.map(Into::into));
            answer.never = rolled.never || (rolled.start.is_none() && closed.contains(rolled.node_pool));
            // Budgets do not hold up an expiry.
            let is_of_budgets =
                |reason: &RollReason<'_>| matches!(reason, RollReason::Budget(_) | RollReason::Expires(_));
            let only_budgets = answer.never && rolled.because.iter().all(is_of_budgets);
            let goes =
                |time: &Timestamp| rolled.start.is_some() || (only_budgets && *time <= at.plus(how.horizon));
            plan.nodes.expiring.extend(rolled.because.iter().find_map(expiry).filter(goes));
            if is_removed && answer.end.0.is_none() && !answer.never {
                answer.because.push("its drain does not end in the time of the forecast".to_owned());
            }
            let reasons = rolled.because.iter().take(MAX_REASONS);
            answer.because.extend(reasons.map(|reason| match cause(reason, answer.never) {
                Some(cause) => format!("{cause}: {}", text(reason, release)),
                None => text(reason, release),
            }));
        }
        plan.answer.nodes.push(answer);
    }
    let start = |node: &answers::plan::PlannedNode| {
        let start = node.start.0.as_ref().map(|time| time.as_str().to_owned());
        (start.is_none(), start, node.node_claim.clone())
    };
    plan.answer.nodes.sort_by_cached_key(start);
    plan.answer.rollouts.extend(result.rollouts.iter().map(|rollout| PlannedRollout {
        cluster: String::new(),
        node_pool: rollout.node_pool.clone(),
        nodes: rollout.nodes,
        start: OrEmpty(rollout.start.map(Into::into)),
        end: OrEmpty(rollout.end.map(Into::into)),
        limited_by: rollout.limited_by,
        extra_nodes: rollout.extra_nodes,
    }));
    plan.answer.cost =
        PlannedCost { before: rounded(cost.before), after: rounded(cost.after), peak: rounded(cost.peak) };
    plan.answer.pods.moved = result.moved_pods;
    // The forecast tries a pod that waits already only if it has to move others.
    let tried = result.pending_pods.iter().filter(|pod| !pod.before || !pod.message.is_empty());
    for pod in tried {
        let before =
            if pod.before { &mut plan.answer.pods.pending_before } else { &mut plan.answer.pods.lost };
        before.push(pod.pod.clone());
        plan.answer.pods.pending.push(pod.pod.clone());
    }
    if !drifted.is_empty() || !gone.is_empty() {
        plan.assumptions.extend(disruption::forecast::ASSUMPTIONS.map(super::PlanAssumption::Forecast));
        plan.assumptions.push(super::PlanAssumption::NodeStart(how.node_start));
    }
    if result.is_cut {
        plan.assumptions.push(super::PlanAssumption::ForecastCut);
    }
}

fn disruption_settings(simulation: SimulationSettings, at: Timestamp) -> DisruptionSettings {
    let mut settings = DisruptionSettings::new(simulation.release, at);
    settings.simulation = SimulationSettings {
        whole_state: settings.simulation.whole_state,
        reservation_fallback: settings.simulation.reservation_fallback,
        ..simulation
    };
    settings
}

/// The object that holds a node, in a few words, if it is a pod, a PodDisruptionBudget or a NodePool.
fn cause(reason: &RollReason<'_>, never: bool) -> Option<String> {
    let budget = |budget: &Object<'_>| {
        let namespace = if budget.namespace().is_empty() { "default" } else { budget.namespace() };
        format!("PodDisruptionBudget {namespace}/{}", budget.name())
    };
    match reason {
        RollReason::Blocked(blocker) if blocker.ends_with_its_pod() => {
            let pod = blocker.pod()?;
            Some(format!("pod {} has to end by itself first", pod.full_name()))
        }
        RollReason::Blocked(NodeBlocker::PodBudget(_, one)) if !never => {
            Some(format!("{} allows no eviction at the moment", budget(one)))
        }
        RollReason::Blocked(NodeBlocker::PodBudget(_, one))
        | RollReason::Drain(DrainReason::BudgetAllowsNone(_, one)) => Some(budget(one)),
        RollReason::Blocked(NodeBlocker::NoPool(_, pool)) => {
            Some(format!("NodePool {pool} has no EC2NodeClass"))
        }
        RollReason::Blocked(NodeBlocker::PodDoNotDisrupt(pod, _)) => {
            Some(format!("pod {} with karpenter.sh/do-not-disrupt", pod.full_name()))
        }
        _ => None,
    }
}

/// The source of room: pods that end by themselves, or nodes.
fn ends(pods: &[String]) -> String {
    match pods {
        [] => "other nodes have started or are gone".to_owned(),
        [pod] => format!("pod {pod} ends"),
        [pod, others @ ..] => format!("pod {pod} and {} end", counted(others.len(), "other")),
    }
}

/// A reason why a node waits, or is never replaced.
fn text(reason: &RollReason<'_>, release: Release) -> String {
    let clock = |time: Timestamp| time.to_string();
    match reason {
        RollReason::Blocked(blocker) => blocker.message(release),
        RollReason::Drain(reason) => words::drain_reason(reason, &clock),
        RollReason::Budget(0) => "the budgets of the NodePool allow no disruption".to_owned(),
        RollReason::Budget(1) => {
            "a node that is not ready or is being deleted uses up the budgets of the NodePool".to_owned()
        }
        RollReason::Budget(count) => {
            format!(
                "{count} nodes that are not ready or are being deleted use up the budgets of the NodePool"
            )
        }
        RollReason::NoPlace(message) if message.is_empty() => "pods of the node find no place".to_owned(),
        RollReason::NoPlace(message) => format!("pods of the node find no place: {message}"),
        RollReason::NoPlaceYet { message, ending } => {
            format!("pods of the node find no place until {}: {message}", ends(ending))
        }
        RollReason::NotYetDrifted(time) => format!("Karpenter marks the node as drifted only at {time}"),
        RollReason::NodeLimit => {
            "`limits.nodes` of the static NodePool leaves no room for a replacement".to_owned()
        }
        RollReason::TooManyNodes => {
            "the static NodePool has more nodes than `replicas`, and shrinks first".to_owned()
        }
        RollReason::Empty => "this release replaces no empty nodes: consolidation removes them".to_owned(),
        RollReason::NoUsedPool => "no NodePool is ready to launch nodes for pods".to_owned(),
        RollReason::Untried => "the forecast ended before the turn of the node, because the cluster takes too much work to simulate".to_owned(),
        RollReason::Expires(time) => {
            format!("the NodeClaim expires at {time}, and then goes without a replacement first")
        }
    }
}
