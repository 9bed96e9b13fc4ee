//! Sentences about a plan.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use answers::DateTime;
use answers::plan::{ControllerChange, PlanAnswer, PlannedChange, PlannedField, PlannedNode, PlannedPool};
use drift::{Effect, ObjectChangeKind};
use karpenter::kind::Kind;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::change::says_that_none_launch;
use super::definitions;
use super::later::LaterRemoval;
use super::recreated;
use super::retained;
use super::snapshot::REMOVED;
use super::wall_clock::WallClock;
use crate::disrupt::words::{moment, weekday};
use crate::simulate::words::counted;

/// Number of names and of fields in the verdict.
const MAX_NAMED: usize = 3;

/// The strongest effect of a plan, if the input has no nodes.
pub fn strongest(answer: &PlanAnswer) -> Effect {
    // The strongest effect on a NodePool, in any cluster.
    let mut of_pools: BTreeMap<&str, Effect> = BTreeMap::new();
    for pool in &answer.node_pools {
        let known = of_pools.entry(&pool.name).or_insert(pool.effect);
        *known = pool.effect.max(*known);
    }
    let changes = answer.changes.iter().filter(|change| concerns_nodes(change)).map(|change| {
        // A NodePool that is new or removed has no nodes that another object could replace.
        let own = change.node_pools.iter().filter_map(|name| of_pools.get(name.as_str()).copied());
        own.max().map_or(change.effect, |most| change.effect.min(most))
    });
    let controller = answer.controller.iter().map(|change| change.effect);
    changes.chain(controller).max().unwrap_or(Effect::None)
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

/// The plan in one sentence, if the input has no nodes. Also takes the names of the objects that never let a node go, and the nodes that go
/// although none drifts.
pub fn verdict(answer: &PlanAnswer, keeping: &[String], later: Option<LaterRemoval>) -> String {
    let mut parts = Vec::new();
    for effect in [Effect::ReplacesAll, Effect::ReplacesSome, Effect::RemovesNodes, Effect::Unknown] {
        let of_effect = answer.node_pools.iter().filter(|pool| pool.effect == effect);
        let (closed, open): (Vec<&PlannedPool>, Vec<&PlannedPool>) = of_effect.partition(|pool| pool.never);
        for (pools, is_closed) in [(open, false), (closed, true)] {
            if !pools.is_empty() {
                let causes = causes(answer, effect, &pools);
                // A field as the cause removes only some nodes.
                let is_partial = effect == Effect::RemovesNodes && has_field(answer, effect, &pools);
                let budgets = match (is_closed, pools.len()) {
                    (false, _) => "",
                    (true, 1) => ", but its budgets let none go",
                    (true, _) => ", but their budgets let none go",
                };
                parts.push(format!("{}{budgets}{causes}", on_pools(effect, &pools, is_partial, is_closed)));
            }
        }
    }
    parts.extend(of_classes(answer));
    let planned: BTreeSet<&str> = answer.node_pools.iter().map(|pool| pool.name.as_str()).collect();
    let is_in_pools = |change: &PlannedChange| {
        change.kind == Kind::NODE_CLASS.name && change.node_pools.is_empty()
            || change.node_pools.iter().any(|name| planned.contains(name.as_str()))
    };
    parts.extend(undecided(answer, |change| !is_in_pools(change)));
    if answer.node_pools.iter().all(|pool| pool.effect < Effect::Unknown) {
        let controller = answer.controller.iter().find(|change| change.effect >= Effect::Unknown);
        parts.extend(controller.map(|change| {
            let what =
                if change.effect == Effect::RemovesNodes { "removes nodes" } else { "may replace nodes" };
            format!("{what}: {}", subject(change))
        }));
    } else if answer.node_pools.iter().all(|pool| pool.effect != Effect::Unknown) {
        let removed = |change: &&ControllerChange| {
            change.effect == Effect::Unknown && change.subject.ends_with(definitions::IS_REMOVED)
        };
        let removed = answer.controller.iter().find(removed);
        parts.extend(removed.map(|change| format!("may remove nodes: {}", change.subject)));
    }
    if parts.is_empty() {
        return nothing(answer, later);
    }
    parts.extend(kept(keeping));
    parts.extend(lost(answer));
    parts.join("; ")
}

/// The objects that let no node with their pods go, in words.
fn kept(keeping: &[String]) -> Option<String> {
    let names: Vec<&str> = keeping.iter().map(String::as_str).collect();
    let listed = listed(&names);
    match names.len() {
        0 => None,
        1 => Some(format!("but {listed} lets no node with its pods go")),
        _ => Some(format!("but {listed} let no node with their pods go")),
    }
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

/// The pods that lose their place, and the new ones that find none.
fn lost(answer: &PlanAnswer) -> Option<String> {
    let pods = &answer.pods;
    let lost = match pods.lost.len() {
        0 => None,
        1 => Some("1 pod loses its place".to_owned()),
        more => Some(format!("{more} pods lose their place")),
    };
    let known: BTreeSet<&String> = pods.pending_before.iter().chain(&pods.lost).collect();
    let new = match pods.pending.iter().filter(|pod| !known.contains(pod)).count() {
        0 => None,
        1 => Some("1 new pod finds no place".to_owned()),
        more => Some(format!("{more} new pods find no place")),
    };
    let all: Vec<String> = lost.into_iter().chain(new).collect();
    (!all.is_empty()).then(|| all.join("; "))
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
    /// The clock of the reader.
    pub clock: WallClock,
}

/// The plan in one sentence, for a cluster with some nodes.
pub fn verdict_of_nodes(answer: &PlanAnswer, facts: &NodeFacts, later: Option<LaterRemoval>) -> String {
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
        let (first, zone) = (short(*first, facts), &facts.clock.name);
        parts.push(format!("{expire} replaced, from {first} {zone}, without a replacement first"));
    }
    if may > 0 {
        parts.push(format!("may replace {}{}", of(may), causes(answer, Effect::Unknown, &[])));
    }
    let controller = answer.controller.iter().find(|change| change.effect >= Effect::Unknown);
    if let Some(change) = controller.filter(|_| may == 0) {
        parts.push(format!("may replace nodes: {}", subject(change)));
    }
    parts.extend(undecided(answer, |_| true));
    if parts.is_empty() {
        return nothing(answer, later);
    }
    let pending = answer.pods.pending.len() - answer.pods.pending_before.len();
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
            let zone = &facts.clock.name;
            format!(" in about {length} ({} to {} {zone})", short(start, facts), short(end, facts))
        }
        (Some(start), _) => {
            let horizon = about(facts.horizon);
            format!(
                " from {} {}, some of them not within the {horizon} of the forecast",
                short(start, facts),
                facts.clock.name
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
fn short(time: Timestamp, facts: &NodeFacts) -> String {
    const DAYS_WITHOUT_DATE: i64 = 6 * 86_400;
    let minute = (facts.clock.minute)(time);
    if time.since(facts.at).seconds() >= DAYS_WITHOUT_DATE {
        return moment(minute);
    }
    format!("{} {:02}:{:02}", weekday(minute.day()), minute.of_day() / 60, minute.of_day() % 60)
}

fn means_the_same(change: &PlannedChange) -> bool {
    change.change == ObjectChangeKind::Changed && change.effect == Effect::None
}

/// The verdict of a plan that replaces nothing.
fn nothing(answer: &PlanAnswer, later: Option<LaterRemoval>) -> String {
    let lost = lost(answer).map(|text| format!("; {text}")).unwrap_or_default();
    let mut acts: Vec<Cow<'_, str>> = answer
        .changes
        .iter()
        .filter(|change| change.effect == Effect::ActsAtOnce)
        .flat_map(|change| {
            let fields = change.fields.iter().filter(|field| field.effect == Effect::ActsAtOnce);
            fields.map(|field| acting(change, field))
        })
        .collect();
    let mut seen = BTreeSet::new();
    acts.retain(|subject| seen.insert(subject.clone()));
    let start = match later {
        Some(later) => format!("no node drifts, but {}", later.text()),
        None => "no node is replaced".to_owned(),
    };
    let is_stopped = |change: &&PlannedChange| {
        change.kind == Kind::NODE_CLASS.name && says_that_none_launch(&change.message)
    };
    let stopped: BTreeSet<&str> = answer
        .changes
        .iter()
        .filter(is_stopped)
        .flat_map(|change| &change.node_pools)
        .map(String::as_str)
        .collect();
    if !stopped.is_empty() {
        let stopped: Vec<&str> = stopped.into_iter().collect();
        let noun = if stopped.len() == 1 { "NodePool" } else { "NodePools" };
        return format!("no node is replaced, but {noun} {} can launch no nodes{lost}", listed(&stopped));
    }
    let rest = if answer.changes.is_empty() && answer.controller.is_empty() {
        "no NodePool, EC2NodeClass or NodeOverlay changes".to_owned()
    } else if answer.controller.is_empty() && answer.changes.iter().all(means_the_same) {
        "the changed objects mean the same".to_owned()
    } else if acts.is_empty() {
        return format!("{start}{lost}");
    } else {
        let verb = if acts.len() == 1 { "acts" } else { "act" };
        let acts: Vec<&str> = acts.iter().map(AsRef::as_ref).collect();
        format!("{} {verb} at once", listed(&acts))
    };
    format!("{start}: {rest}{lost}")
}

/// The subject of a change that acts at once: the field, or the NodeOverlay.
fn acting<'a>(change: &'a PlannedChange, field: &'a PlannedField) -> Cow<'a, str> {
    if change.kind == Kind::NODE_OVERLAY.name {
        return Cow::Owned(format!("{} {}", change.kind, change.name));
    }
    Cow::Borrowed(&field.path)
}

/// An effect on NodePools: on all their nodes or on some, for certain or on the condition that something lets the nodes go.
fn on_pools(effect: Effect, pools: &[&PlannedPool], is_partial: bool, is_conditional: bool) -> String {
    let names: Vec<String> = pools.iter().map(|pool| named(pool)).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let of = format!("{} ({shown}{rest})", counted(pools.len(), "NodePool"));
    match effect {
        Effect::ReplacesAll if is_conditional => format!("would replace every node of {of}"),
        Effect::ReplacesAll => format!("replaces every node of {of}"),
        Effect::ReplacesSome if is_conditional => {
            format!("would replace the nodes of {of} that no longer fit")
        }
        Effect::ReplacesSome => format!("replaces the nodes of {of} that no longer fit"),
        Effect::RemovesNodes if is_partial => format!("removes nodes of {of}"),
        Effect::RemovesNodes => format!("removes the nodes of {of}"),
        _ => format!("may replace nodes of {of}"),
    }
}

fn named(pool: &PlannedPool) -> String {
    if pool.cluster.is_empty() { pool.name.clone() } else { format!("{} in {}", pool.name, pool.cluster) }
}

/// The changes with an effect on some NodePools, or on any if none are named.
fn changes_of<'a>(
    answer: &'a PlanAnswer,
    effect: Effect,
    pools: &[&PlannedPool],
) -> impl Iterator<Item = &'a PlannedChange> {
    let names: BTreeSet<String> = pools.iter().map(|pool| pool.name.clone()).collect();
    let concerns = move |change: &&PlannedChange| {
        names.is_empty() || change.node_pools.iter().any(|name| names.contains(name))
    };
    let is_kept = |change: &&PlannedChange| {
        change.change != ObjectChangeKind::Removed
            || retained::says_that_it_may_stay(&change.message)
            || recreated::says_that_it_may_never_have_been(&change.message)
    };
    answer.changes.iter().filter(move |change| change.effect == effect).filter(is_kept).filter(concerns)
}

/// Whether a field has an effect on some NodePools.
fn has_field(answer: &PlanAnswer, effect: Effect, pools: &[&PlannedPool]) -> bool {
    let mut fields = changes_of(answer, effect, pools).flat_map(|change| &change.fields);
    fields.any(|field| field.effect == effect)
}

/// The causes of an effect on some NodePools, after a colon: fields, or what is to be said about a whole object.
fn causes(answer: &PlanAnswer, effect: Effect, pools: &[&PlannedPool]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for change in changes_of(answer, effect, pools) {
        let fields =
            change.fields.iter().filter(|field| field.effect == effect).map(|field| field.path.as_str());
        let undecided = is_undecided(change).then_some(change.message.as_str());
        all.extend(fields.chain(undecided).chain(recreated::cause(change)));
    }
    let of_controller = answer.controller.iter().filter(|change| change.effect == effect).map(subject);
    let of_controller: Vec<String> = of_controller.collect();
    all.extend(of_controller.iter().map(String::as_str));
    let mut seen = BTreeSet::new();
    let causes: Vec<&str> = all.into_iter().filter(|cause| seen.insert(*cause)).collect();
    if causes.is_empty() { String::new() } else { format!(": {}", listed(&causes)) }
}

/// The changes of the controller in words, such as `Kubernetes 1.33 → 1.34`.
fn subject(change: &ControllerChange) -> String {
    let ControllerChange { subject, old, new, .. } = change;
    if old == new || old.is_empty() || new.is_empty() {
        subject.clone()
    } else {
        format!("{subject} {old} → {new}")
    }
}

/// Up to three texts, and the number of the others.
fn listed(texts: &[&str]) -> String {
    let more = texts.len().saturating_sub(MAX_NAMED);
    let shown = texts.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{shown}{rest}")
}
