//! Sentences about disruption.

use disruption::allowance::{BudgetId, PoolBudgets};
use disruption::blocked_by::BlockedBy;
use disruption::calendar::{Pace, Remark};
use disruption::cluster::ClusterPod;
use disruption::drain::{DrainEstimate, DrainReason};
use disruption::methods::Unfit;
use karpenter::release::Release;
use manifest::source::certain;
use objects::object::Object;
use values::calendar::{Day, Minute};
use values::timestamp::Timestamp;

/// The reason for which it is unknown whether a method disrupts a node.
pub const UNDECIDED: &str = "unknown: the simulation takes too much work";

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// The name of the day of the week in three letters.
pub fn weekday(day: Day) -> &'static str {
    certain(WEEKDAYS.get(usize::from(day.weekday())).copied())
}

/// `Wed 2026-03-11 10:30`.
pub fn moment(minute: Minute) -> String {
    format!("{} {minute}", weekday(minute.day()))
}

/// Prints a time.
pub type PrintTime<'c> = &'c dyn Fn(Timestamp) -> String;

/// A remark on the budgets of a NodePool.
pub fn remark(remark: &Remark, budgets: &PoolBudgets<'_>, nodes: usize, clock: PrintTime<'_>) -> String {
    let name = |id: &BudgetId| budget(budgets, *id);
    match remark {
        Remark::NeverOpens { budget, next: Some(next) } => {
            format!("the window of {} stays closed all week; it opens on {}", name(budget), clock(*next))
        }
        Remark::NeverOpens { budget, next: None } => {
            format!("the window of {} never opens, so the budget limits nothing", name(budget))
        }
        Remark::AlwaysOpen { budget } => {
            format!("the window of {} never closes, so the budget always limits", name(budget))
        }
        Remark::NeverDecides { budget } => {
            format!("{} has no effect this week: a tighter budget is always active beside it", name(budget))
        }
        Remark::Overlap { tighter, looser, start, end } => format!(
            "the windows of {} and {} overlap, first from {} to {}; the tighter one, {}, decides",
            name(looser),
            name(tighter),
            clock(*start),
            clock(*end),
            name(tighter),
        ),
        Remark::Blocked { reason } => format!("no node may be disrupted for the reason {reason} all week"),
        Remark::TooShort { reason, start, end, possible, pace } => format!(
            "the time from {} to {} is too short: {possible} of {nodes} nodes can be disrupted for the reason {reason}, {}",
            clock(*start),
            clock(*end),
            words_of(*pace),
        ),
    }
}

/// The pace that a remark assumes, and its source.
fn words_of(pace: Pace) -> String {
    let per_node = pace.per_node.concise();
    if pace.one_at_a_time {
        format!(
            "if one node goes after the other and each takes {per_node}, the `terminationGracePeriod` of the NodePool; the nodes of a snapshot show a better pace"
        )
    } else {
        format!(
            "if as many nodes go at once as the budgets allow and each takes {per_node}, the longest drain of its nodes that has a limit"
        )
    }
}

/// A budget with its number.
pub fn budget(budgets: &PoolBudgets<'_>, id: BudgetId) -> String {
    if budgets.is_default() {
        return format!("the default budget ({})", budgets.nodes(id));
    }
    format!("budgets[{}] ({})", id.index(), budgets.nodes(id))
}

/// The change that gets past Karpenter's reason against the consolidation of a node; empty for an unknown reason.
pub fn remedy(message: &str) -> &'static str {
    const REMEDIES: [(&str, &str); 7] = [
        (UNDECIDED, "judge fewer pods or NodePools at a time"),
        ("SpotToSpotConsolidation is disabled", "turn on the feature gate SpotToSpotConsolidation"),
        (
            "SpotToSpotConsolidation requires",
            "allow more instance types that cost less than this one; one spot node needs 15 of them",
        ),
        ("minValues requirement is not met", "lower minValues, or allow more instance types"),
        (
            "Can't replace with a cheaper node",
            "no allowed instance type that fits the pods costs less than this node",
        ),
        (
            "Can't remove without creating",
            "the pods need more than one new node; smaller requests or larger types help",
        ),
        (
            "Not all pods would schedule",
            "the other nodes cannot take every pod; `karpwarden simulate` shows why",
        ),
    ];
    let found = REMEDIES.iter().find(|(part, _)| message.contains(part));
    found.map(|(_, remedy)| *remedy).unwrap_or_default()
}

/// A reason for a delay of a termination, or its limit.
pub fn drain_reason(reason: &DrainReason<'_>, clock: PrintTime<'_>) -> String {
    match reason {
        DrainReason::Protected { pod, until: Some(until), .. } => format!(
            "pod {} has karpenter.sh/do-not-disrupt until {}, and Karpenter waits for it",
            pod.full_name(),
            clock(*until)
        ),
        DrainReason::Protected { pod, ends: true, .. } => format!(
            "pod {} has karpenter.sh/do-not-disrupt, and Karpenter waits until it ends by itself",
            pod.full_name()
        ),
        DrainReason::Protected { pod, .. } => {
            format!("pod {} has karpenter.sh/do-not-disrupt, and Karpenter never evicts it", pod.full_name())
        }
        DrainReason::BudgetAllowsNone(pod, budget) => format!(
            "PodDisruptionBudget {} never allows the eviction of pod {}",
            full_name(*budget),
            pod.full_name()
        ),
        DrainReason::BudgetAllowsNoneNow(pod, budget) => format!(
            "PodDisruptionBudget {} allows no eviction now, and pod {} has to wait for more healthy pods",
            full_name(*budget),
            pod.full_name()
        ),
        DrainReason::SeveralBudgets(pod, budgets) => several(pod, budgets),
        DrainReason::Volumes(names) => {
            format!("Karpenter waits until VolumeAttachments are gone: {}", names.join(", "))
        }
        DrainReason::Expires(time) => format!(
            "the NodeClaim expires at {}; from then on Karpenter runs a replacement beside this node",
            clock(*time)
        ),
        DrainReason::GracePeriod(limit) => {
            format!("terminationGracePeriod ends the termination after {}", limit.concise())
        }
    }
}

fn several(pod: &ClusterPod<'_>, budgets: &[Object<'_>]) -> String {
    let names: Vec<String> = budgets.iter().map(|budget| full_name(*budget)).collect();
    format!(
        "the eviction API refuses pod {}, because more than one PodDisruptionBudget selects it: {}",
        pod.full_name(),
        names.join(", ")
    )
}

/// `namespace/name`.
fn full_name(object: Object<'_>) -> String {
    let namespace = if object.namespace().is_empty() { "default" } else { object.namespace() };
    format!("{namespace}/{}", object.name())
}

/// The longest time of a termination in a few words.
pub fn longest(estimate: &DrainEstimate<'_>) -> String {
    match estimate.longest {
        Some(longest) => format!("at most {}", longest.concise()),
        None if estimate.never => "never ends".to_owned(),
        None => "no limit".to_owned(),
    }
}

/// The reason for which a method does not consider a node, in Karpenter's words where it says something.
pub fn unfit(unfit: Unfit<'_>, release: Release) -> String {
    let own = match unfit {
        Unfit::Static => "the NodePool has a fixed number of nodes",
        Unfit::NotStatic => "only for NodePools with a fixed number of nodes",
        Unfit::NotEmpty => "the node is not empty",
        Unfit::Empty => "the node is empty, which Emptiness handles",
        Unfit::NotConsolidatable => "the condition Consolidatable of the NodeClaim is not True",
        Unfit::NotDrifted => "the node has not drifted",
        _ => "",
    };
    unfit.message(release).unwrap_or_else(|| own.to_owned())
}

/// The meaning of an obstacle, and its remedy.
pub const fn advice(blocked_by: BlockedBy) -> &'static str {
    match blocked_by {
        BlockedBy::Unmanaged => "Karpenter disrupts only nodes that have a NodeClaim",
        BlockedBy::NoNode => "the instance has not joined the cluster yet",
        BlockedBy::NotInitialized => {
            "the node has not started completely: it is not Ready, lacks a resource, or keeps a startup taint"
        }
        BlockedBy::Deleting => "the node is already going; its drain decides when",
        BlockedBy::Nominated => "Karpenter expects a pending pod on the node; the nomination ends by itself",
        BlockedBy::DoNotDisrupt => {
            "remove the annotation from the node to allow disruption; expiry ignores it"
        }
        BlockedBy::PodDoNotDisrupt => {
            "remove the annotation from the pod, or set terminationGracePeriod, which lets drift ignore it"
        }
        BlockedBy::Pdb => {
            "let the PodDisruptionBudget allow an eviction: more replicas, or a smaller minAvailable"
        }
        BlockedBy::SeveralPdbs => {
            "let only one PodDisruptionBudget select the pod; the eviction API refuses more"
        }
        BlockedBy::NoPool => {
            "without its NodePool and node class, Karpenter does not know what may replace the node"
        }
        BlockedBy::NoInstanceType => {
            "Karpenter compares prices only for instance types and zones that it knows"
        }
        BlockedBy::Static => "the NodePool has a fixed number of nodes and is never consolidated",
        BlockedBy::ConsolidateAfter => "the node waits until no pod has come or gone for consolidateAfter",
        BlockedBy::Policy => "consolidationPolicy of the NodePool allows the disruption of empty nodes only",
        BlockedBy::Condition => "the node keeps capacity free for a buffer",
        BlockedBy::Budget => "the budgets of the NodePool allow no further disruption now",
        BlockedBy::InProgress => "Karpenter already replaces the node",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disruption::allowance::DisruptionReason;
    use ids::Id;
    use manifest::{Document, File};
    use objects::embedded::READ_OPTIONS;
    use objects::node_pool::NodePool;
    use values::duration::Duration;

    #[test]
    fn names_the_budgets_and_the_times_of_a_remark() {
        let text = "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {budgets: [{nodes: 10%}, {nodes: '2'}]}}}";
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let pool = NodePool::of(Object::all(tree)[0]).unwrap();
        let budgets = PoolBudgets::parse(pool, Release::NEWEST).unwrap();
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let (start, end) = (time("2026-03-14T01:00:00Z"), time("2026-03-14T02:00:00Z"));
        let [first, second] = [0, 1].map(BudgetId::from_position);
        let told = |one: Remark| remark(&one, &budgets, 7, &|time| time.to_string());
        let pace = |one_at_a_time| Pace { per_node: Duration::from_minutes(60), one_at_a_time };
        let short =
            |pace| Remark::TooShort { reason: DisruptionReason::Drifted, start, end, possible: 6, pace };
        assert_eq!(
            told(short(pace(true))),
            "the time from 2026-03-14T01:00:00Z to 2026-03-14T02:00:00Z is too short: 6 of 7 nodes can be disrupted for the \
             reason Drifted, if one node goes after the other and each takes 1h, the `terminationGracePeriod` of the \
             NodePool; the nodes of a snapshot show a better pace"
        );
        assert!(
            told(short(pace(false)))
                .ends_with("each takes 1h, the longest drain of its nodes that has a limit")
        );
        assert_eq!(
            told(Remark::NeverDecides { budget: first }),
            "budgets[0] (10%) has no effect this week: a tighter budget is always active beside it"
        );
        assert_eq!(
            told(Remark::Overlap { tighter: second, looser: first, start, end }),
            "the windows of budgets[0] (10%) and budgets[1] (2) overlap, first from 2026-03-14T01:00:00Z to \
             2026-03-14T02:00:00Z; the tighter one, budgets[1] (2), decides"
        );
    }

    #[test]
    fn says_what_helps_against_a_rejection() {
        assert_eq!(
            remedy("SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"),
            "turn on the feature gate SpotToSpotConsolidation"
        );
        assert_eq!(remedy("something new"), "");
    }
}
