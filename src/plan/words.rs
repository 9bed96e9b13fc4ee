//! Sentences about a plan.

use std::collections::BTreeSet;

use answers::DateTime;
use answers::plan::{PlanAnswer, PlannedChange, PlannedNode, PlannedPool};
use drift::{Effect, ObjectChangeKind};
use karpenter::kind::Kind;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::snapshot::REMOVED;
use crate::disrupt::words::{moment, weekday};
use crate::simulate::words::counted;

/// Number of names and of fields in the verdict.
const MAX_NAMED: usize = 3;

/// The strongest effect of a plan, if the input has no nodes.
pub fn strongest(answer: &PlanAnswer) -> Effect {
    let changes = answer.changes.iter().filter(|change| concerns_nodes(change)).map(|change| {
        // A NodePool that is new or removed has no nodes that another object could replace.
        let own = change.node_pools.iter().filter_map(|name| most_of_pool(answer, name));
        own.max().map_or(change.effect, |most| change.effect.min(most))
    });
    let controller = answer.controller.iter().map(|change| change.effect);
    changes.chain(controller).max().unwrap_or(Effect::None)
}

/// The strongest effect on a NodePool, in any cluster.
fn most_of_pool(answer: &PlanAnswer, name: &str) -> Option<Effect> {
    answer.node_pools.iter().filter(|pool| pool.name == name).map(|pool| pool.effect).max()
}

/// The strongest effect on the nodes of a cluster.
pub fn strongest_on_nodes(answer: &PlanAnswer, NodeFacts { total, surplus, .. }: &NodeFacts) -> Effect {
    let of_node = |node: &PlannedNode| match (node.drifted, node.uncertain) {
        (true, _) => Effect::ReplacesSome,
        (false, true) => Effect::Unknown,
        (false, false) => Effect::RemovesNodes,
    };
    if answer.nodes.len() == *total && answer.nodes.iter().all(|node| node.drifted) && *total > 0 {
        return Effect::ReplacesAll;
    }
    let nodes = answer.nodes.iter().map(of_node);
    let controller = answer.controller.iter().map(|change| change.effect);
    let unread = answer.changes.iter().filter(|change| is_undecided(change)).map(|change| change.effect);
    // A NodePool without nodes has none that could be replaced.
    let others = answer.changes.iter().map(|change| change.effect).filter(|effect| *effect < Effect::Unknown);
    let surplus = (*surplus > 0).then_some(Effect::RemovesNodes);
    nodes.chain(controller).chain(unread).chain(others).chain(surplus).max().unwrap_or(Effect::None)
}

/// Whether a change can concern nodes: a NodeOverlay without NodePools has none. The NodePools that use an EC2NodeClass may be outside of
/// the input.
fn concerns_nodes(change: &PlannedChange) -> bool {
    !change.node_pools.is_empty()
        || change.kind.is_empty()
        || change.kind == Kind::NODE_CLASS.name
        || is_undecided(change)
}

/// The EC2NodeClasses without NodePools in the input whose change may replace nodes.
fn of_classes(answer: &PlanAnswer) -> impl Iterator<Item = String> {
    let alone = answer.changes.iter().filter(|change| {
        change.kind == Kind::NODE_CLASS.name
            && change.node_pools.is_empty()
            && change.effect >= Effect::Unknown
    });
    alone.map(|change| {
        let what = match change.effect {
            Effect::ReplacesAll => "replaces every node that uses",
            Effect::ReplacesSome => "replaces the nodes that no longer fit and use",
            _ => "may replace nodes that use",
        };
        let fields = change.fields.iter().filter(|field| field.effect == change.effect);
        let fields: Vec<&str> = fields.map(|field| field.path.as_str()).collect();
        let causes = if is_undecided(change) {
            format!(": {}", change.message)
        } else if fields.is_empty() {
            String::new()
        } else {
            format!(": {}", listed(&fields))
        };
        format!("{what} EC2NodeClass {} (the input has no NodePool that uses it){causes}", change.name)
    })
}

/// The plan in one sentence, if the input has no nodes. Also takes the names of the objects that never let a node go.
pub fn verdict(answer: &PlanAnswer, keeping: &[String]) -> String {
    let mut parts = Vec::new();
    for effect in [Effect::ReplacesAll, Effect::ReplacesSome, Effect::RemovesNodes, Effect::Unknown] {
        let pools: Vec<&PlannedPool> =
            answer.node_pools.iter().filter(|pool| pool.effect == effect).collect();
        if !pools.is_empty() {
            let causes = causes(answer, effect, &pools);
            parts.push(format!("{}{causes}", on_pools(effect, &pools, !causes.is_empty())));
        }
    }
    parts.extend(of_classes(answer));
    let is_in_pools = |change: &PlannedChange| {
        change.kind == Kind::NODE_CLASS.name && change.node_pools.is_empty()
            || change.node_pools.iter().any(|name| answer.node_pools.iter().any(|pool| pool.name == *name))
    };
    parts.extend(undecided(answer, |change| !is_in_pools(change)));
    if answer.node_pools.iter().all(|pool| pool.effect < Effect::Unknown) {
        let controller = answer.controller.iter().find(|change| change.effect >= Effect::Unknown);
        parts.extend(controller.map(|change| format!("may replace nodes: {}", change.subject)));
    }
    if parts.is_empty() {
        return nothing(answer);
    }
    parts.extend(never(answer, keeping));
    parts.extend(lost(answer));
    parts.join("; ")
}

/// The objects that let no node go, in words.
fn never(answer: &PlanAnswer, keeping: &[String]) -> Option<String> {
    let pools = answer.node_pools.iter().filter(|pool| pool.never);
    let causes: Vec<String> = pools
        .map(|pool| format!("the budgets of NodePool {}", named(pool)))
        .chain(keeping.iter().cloned())
        .collect();
    let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
    (!causes.is_empty()).then(|| format!("nodes are never replaced: {}", listed(&causes)))
}

/// Whether a change may replace nodes, and no field of the object says how: the object or the file could not be compared, or the
/// object cannot be applied.
fn is_undecided(change: &PlannedChange) -> bool {
    change.effect == Effect::Unknown && !change.fields.iter().any(|field| field.effect == Effect::Unknown)
}

/// The first of some objects and files that could not be compared.
fn undecided(answer: &PlanAnswer, concerns: impl Fn(&PlannedChange) -> bool) -> Option<String> {
    let mut all = answer.changes.iter().filter(|change| is_undecided(change) && concerns(change));
    let first = all.next()?;
    let subject =
        if first.kind.is_empty() { String::new() } else { format!("{}/{}: ", first.kind, first.name) };
    let more = match all.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("may replace nodes: {subject}{}{more}", first.message))
}

/// The pods that lose their place.
fn lost(answer: &PlanAnswer) -> Option<String> {
    match answer.pods.lost.len() {
        0 => None,
        1 => Some("1 pod loses its place".to_owned()),
        more => Some(format!("{more} pods lose their place")),
    }
}

/// Facts about the nodes of a cluster that an answer does not hold.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// The number of NodeClaims.
    pub total: usize,
    /// The number of nodes that static NodePools have beyond `replicas`.
    pub surplus: usize,
    /// The times at which drifted nodes expire before they are replaced.
    pub expiring: Vec<Timestamp>,
    /// The time of the change.
    pub at: Timestamp,
    /// The length of the forecast.
    pub horizon: Duration,
}

/// The plan in one sentence, for a cluster with some nodes.
pub fn verdict_of_nodes(answer: &PlanAnswer, facts: &NodeFacts) -> String {
    let all = |is_in: fn(&PlannedNode) -> bool| -> Vec<&PlannedNode> {
        answer.nodes.iter().filter(|node| is_in(node)).collect()
    };
    let replaced = all(is_replaced);
    let waiting = all(|node| node.drifted && !node.never && node.start.0.is_none());
    let never = all(|node| node.drifted && node.never);
    let may = all(|node| node.uncertain).len();
    let removed = all(|node| is_removed(node) && !node.never).len();
    let stuck = all(|node| is_removed(node) && node.never);
    let of = |count: usize| format!("{count} of {}", counted(facts.total, "node"));
    let are = |count: usize, one: &str, several: &str| match count {
        1 => format!("1 node {one}"),
        _ => format!("{count} nodes {several}"),
    };
    let mut parts = Vec::new();
    if !replaced.is_empty() {
        parts.push(format!("replaces {}{}", of(replaced.len()), period(&replaced, facts)));
    }
    if removed > 0 {
        parts.push(format!("removes {} at once", of(removed)));
    }
    if facts.surplus > 0 {
        parts.push(format!("removes {}: spec.replicas", of(facts.surplus)));
    }
    if !waiting.is_empty() {
        let horizon = about(facts.horizon);
        let nodes = counted(waiting.len(), "node");
        let obstacles = obstacles(&waiting);
        parts.push(format!(
            "the replacement of {nodes} does not start within the {horizon} of the forecast{obstacles}"
        ));
    }
    if !never.is_empty() {
        let are = are(never.len(), "is", "are");
        parts.push(format!("{are} never replaced{}", obstacles(&never)));
    }
    if !stuck.is_empty() {
        let nodes = counted(stuck.len(), "node");
        parts.push(format!("the drain of {nodes} never ends{}", obstacles(&stuck)));
    }
    if let Some(first) = facts.expiring.iter().min() {
        let expire = are(facts.expiring.len(), "expires before it is", "expire before they are");
        let first = short(*first, facts.at);
        parts.push(format!("{expire} replaced, from {first} UTC, without a replacement first"));
    }
    if may > 0 {
        parts.push(format!("may replace {}{}", of(may), causes(answer, Effect::Unknown, &[])));
    }
    let controller = answer.controller.iter().find(|change| change.effect >= Effect::Unknown);
    if let Some(change) = controller.filter(|_| may == 0) {
        parts.push(format!("may replace nodes: {}", change.subject));
    }
    parts.extend(undecided(answer, |_| true));
    if parts.is_empty() {
        return nothing(answer);
    }
    let pending = answer.pods.pending.len();
    if pending > 0 {
        parts.push(format!(
            "{} without a node",
            if pending == 1 { "1 pod ends".to_owned() } else { format!("{pending} pods end") }
        ));
    }
    parts.join("; ")
}

/// Whether the replacement of a node starts.
fn is_replaced(node: &PlannedNode) -> bool {
    node.drifted && !node.never && node.start.0.is_some()
}

/// Whether a node goes with its NodePool.
const fn is_removed(node: &PlannedNode) -> bool {
    !node.drifted && !node.uncertain
}

/// The obstacles to the replacement or the drain of some nodes, after a colon.
fn obstacles(nodes: &[&PlannedNode]) -> String {
    let first = |node: &&PlannedNode| {
        let own = node.because.iter().find(|text| !text.starts_with(REMOVED));
        own.map(|text| text.split(": ").next().unwrap_or_default().to_owned())
    };
    let found: BTreeSet<String> = nodes.iter().filter_map(first).collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    if found.is_empty() { String::new() } else { format!(": {}", listed(&found)) }
}

/// The time of the rollouts, such as ` in about 5 h (Sat 22:00 to Sun 03:10 UTC)`.
fn period(replaced: &[&PlannedNode], facts: &NodeFacts) -> String {
    let time = |time: &Option<DateTime>| Timestamp::parse(time.as_ref()?.as_str());
    let start = replaced.iter().filter_map(|node| time(&node.start.0)).min();
    let end = replaced.iter().filter_map(|node| time(&node.end.0)).max();
    let is_open = replaced.iter().any(|node| node.end.0.is_none());
    match (start, end) {
        (Some(start), Some(end)) if !is_open => {
            let length = about(end.since(start));
            format!(" in about {length} ({} to {} UTC)", short(start, facts.at), short(end, facts.at))
        }
        (Some(start), _) => {
            let horizon = about(facts.horizon);
            format!(
                " from {} UTC, some of them not within the {horizon} of the forecast",
                short(start, facts.at)
            )
        }
        (None, _) => String::new(),
    }
}

/// A length in its largest unit.
fn about(length: Duration) -> String {
    let minutes = (length.seconds() + 30) / 60;
    match minutes {
        ..90 => format!("{} min", minutes.max(1)),
        90..2_880 => format!("{} h", (minutes + 30) / 60),
        _ => format!("{} days", (minutes + 720) / 1_440),
    }
}

/// `Sat 22:00`, with the date if it is about a week or more after the change.
fn short(time: Timestamp, at: Timestamp) -> String {
    const DAYS_WITHOUT_DATE: i64 = 6 * 86_400;
    let minute = time.minute();
    if time.since(at).seconds() >= DAYS_WITHOUT_DATE {
        return moment(minute);
    }
    format!("{} {:02}:{:02}", weekday(minute.day()), minute.of_day() / 60, minute.of_day() % 60)
}

fn means_the_same(change: &PlannedChange) -> bool {
    change.change == ObjectChangeKind::Changed && change.effect == Effect::None
}

/// The verdict of a plan that replaces nothing.
fn nothing(answer: &PlanAnswer) -> String {
    let lost = lost(answer).map(|text| format!("; {text}")).unwrap_or_default();
    let mut acts: Vec<&str> = answer
        .changes
        .iter()
        .filter(|change| change.effect == Effect::ActsAtOnce)
        .flat_map(|change| change.fields.iter().filter(|field| field.effect == Effect::ActsAtOnce))
        .map(|field| field.path.as_str())
        .collect();
    let mut seen = BTreeSet::new();
    acts.retain(|path| seen.insert(*path));
    let rest = if answer.changes.is_empty() && answer.controller.is_empty() {
        "no NodePool, EC2NodeClass or NodeOverlay changes".to_owned()
    } else if answer.controller.is_empty() && answer.changes.iter().all(means_the_same) {
        "the changed objects mean the same".to_owned()
    } else if acts.is_empty() {
        return format!("no node is replaced{lost}");
    } else {
        let verb = if acts.len() == 1 { "acts" } else { "act" };
        format!("{} {verb} at once", listed(&acts))
    };
    format!("no node is replaced: {rest}{lost}")
}

/// An effect on NodePools. A field as the cause removes only some nodes.
fn on_pools(effect: Effect, pools: &[&PlannedPool], has_cause: bool) -> String {
    let names: Vec<String> = pools.iter().map(|pool| named(pool)).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let of = format!("{} ({shown}{rest})", counted(pools.len(), "NodePool"));
    match effect {
        Effect::ReplacesAll => format!("replaces every node of {of}"),
        Effect::ReplacesSome => format!("replaces the nodes of {of} that no longer fit"),
        Effect::RemovesNodes if has_cause => format!("removes nodes of {of}"),
        Effect::RemovesNodes => format!("removes the nodes of {of}"),
        _ => format!("may replace nodes of {of}"),
    }
}

fn named(pool: &PlannedPool) -> String {
    if pool.cluster.is_empty() { pool.name.clone() } else { format!("{} in {}", pool.name, pool.cluster) }
}

/// The fields with an effect on some NodePools, after a colon.
fn causes(answer: &PlanAnswer, effect: Effect, pools: &[&PlannedPool]) -> String {
    let concerns = |change: &&PlannedChange| {
        pools.is_empty() || change.node_pools.iter().any(|name| pools.iter().any(|pool| pool.name == *name))
    };
    let changes = answer.changes.iter().filter(concerns);
    let mut causes: Vec<&str> = Vec::new();
    for change in changes.filter(|change| change.effect == effect) {
        if change.change == ObjectChangeKind::Removed {
            continue;
        }
        let fields =
            change.fields.iter().filter(|field| field.effect == effect).map(|field| field.path.as_str());
        let undecided = is_undecided(change).then_some(change.message.as_str());
        for path in fields.chain(undecided) {
            if !causes.contains(&path) {
                causes.push(path);
            }
        }
    }
    let controller = answer.controller.iter().filter(|change| change.effect == effect);
    for subject in controller.map(|change| change.subject.as_str()) {
        if !causes.contains(&subject) {
            causes.push(subject);
        }
    }
    if causes.is_empty() { String::new() } else { format!(": {}", listed(&causes)) }
}

/// Up to three texts, and the number of the others.
fn listed(texts: &[&str]) -> String {
    let more = texts.len().saturating_sub(MAX_NAMED);
    let shown = texts.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{shown}{rest}")
}
