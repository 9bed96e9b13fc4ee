//! Disruption of the nodes: the coming week of each NodePool, and the obstacles of each node.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden::answers::OrEmpty;
use karpwarden::disrupt::{ClusterDisruption, PoolDisruption, Question, answer, story, words};
use karpwarden::disruption::allowance::PoolBudgets;
use karpwarden::disruption::calendar::{Calendar, CalendarInterval, Remark};
use karpwarden::disruption::judgement::JudgedNode;
use karpwarden::manifest::tree::Node;
use karpwarden::objects::location::Place;
use karpwarden::objects::node_pool::NodePool;
use karpwarden::objects::object::Object;
use karpwarden::simulate::DeducedSettings;
use karpwarden::values::timestamp::Timestamp;
use serde_json::{Value, json};

/// The number of nodes and NodePools to describe. The page shows no more.
const MOST: usize = 100;

/// Returns the weeks of the NodePools and the obstacles of the nodes.
pub(crate) fn report(objects: &[Object<'_>], options: DeducedSettings, at: Timestamp) -> Value {
    let answer = answer(&question(at, None), options.settings, objects);
    let nodes = &answer.judgement.nodes;
    json!({
        "karpenterVersion": answer.release.to_string(),
        "at": at.to_string(),
        "verdict": story::verdict(&answer),
        "pools": answer.pools.iter().take(MOST).map(|one| pool(&answer, one)).collect::<Vec<_>>(),
        "morePools": answer.pools.len().saturating_sub(MOST),
        "nodes": nodes.iter().take(MOST).map(|one| node(&answer, one)).collect::<Vec<_>>(),
        "moreNodes": nodes.len().saturating_sub(MOST),
        "unevaluated": answer.judgement.methods.iter().map(|method| method.unevaluated).max(),
        "assumptions": options.assumptions,
    })
}

/// Returns the result of consolidation if Karpenter looked at a node first; null if something is in the way.
pub(crate) fn alone(objects: &[Object<'_>], options: DeducedSettings, at: Timestamp, node: &str) -> Value {
    let answer = answer(&question(at, Some(node.to_owned())), options.settings, objects);
    answer.node(node).and_then(story::alone).into()
}

fn question(at: Timestamp, alone: Option<String>) -> Question {
    Question {
        at,
        node_counts: BTreeMap::new(),
        nominated: BTreeSet::new(),
        marked_for_deletion: BTreeSet::new(),
        feature_gates: Vec::new(),
        alone,
    }
}

fn pool(answer: &ClusterDisruption<'_>, pool: &PoolDisruption<'_>) -> Value {
    let (error, budgets, remarks) = match &pool.budgets {
        Ok(own) => ("", budgets(pool, own), remarks(answer, pool, own)),
        Err(error) => (error.as_str(), Vec::new(), Vec::new()),
    };
    let weeks = answer.weeks(pool).into_iter().map(|week| {
        let allowed = week.intervals.first().map(|first| first.allowance.allowed).unwrap_or_default();
        json!({
            "reasons": week.reasons,
            "left": pool.left(allowed),
            "intervals": week.intervals.iter().map(interval).collect::<Vec<_>>(),
        })
    });
    json!({
        "name": pool.name,
        "nodes": pool.nodes,
        "unavailable": pool.unavailable,
        "assumed": pool.is_assumed,
        "error": error,
        "budgets": budgets,
        "weeks": weeks.collect::<Vec<_>>(),
        "remarks": remarks,
    })
}

/// The budgets of a NodePool with their places. The default that the API server writes has no place.
fn budgets(pool: &PoolDisruption<'_>, budgets: &PoolBudgets<'_>) -> Vec<Value> {
    let written: Vec<Value> = pool.pool.budgets().map(|item| place(&Place::value(item.node()))).collect();
    let all = (0..budgets.len())
        .map(|index| json!({"text": words::budget(budgets, index), "place": written.get(index)}));
    all.collect()
}

fn interval(interval: &CalendarInterval) -> Value {
    let allowance = &interval.allowance;
    json!({
        "start": interval.start.to_string(),
        "end": interval.end.to_string(),
        "allowed": allowance.allowed,
        "unlimited": allowance.is_unlimited(),
        "error": allowance.error,
        "budget": allowance.decided_by,
    })
}

/// The remarks on the budgets, each with the index of the budget to change.
fn remarks(
    answer: &ClusterDisruption<'_>,
    pool: &PoolDisruption<'_>,
    budgets: &PoolBudgets<'_>,
) -> Vec<Value> {
    let calendar = Calendar::of_week(budgets, answer.at);
    let remarks = calendar.remarks(&answer.reasons(), pool.nodes, pool.pace);
    let values = remarks.iter().map(|remark| {
        let budget = match remark {
            Remark::NeverOpens { budget, .. }
            | Remark::AlwaysOpen { budget }
            | Remark::NeverDecides { budget }
            | Remark::Overlap { tighter: budget, .. } => Some(budget),
            Remark::Blocked { .. } | Remark::TooShort { .. } => None,
        };
        json!({"text": words::remark(remark, budgets, pool.nodes, &utc), "budget": budget})
    });
    values.collect()
}

fn node(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>) -> Value {
    let name = node.node.name();
    let obstacle = answer.obstacle(node);
    let drain = answer.drain(name);
    let because = drain.into_iter().flat_map(|estimate| &estimate.because);
    let methods = story::decisions(answer, node);
    let methods = methods.into_iter().map(|(method, text)| json!({"method": method.name(), "text": text}));
    json!({
        "name": name,
        "nodePool": node.node.pool(),
        "blockedBy": OrEmpty(obstacle.kind),
        "disrupted": answer.disrupted_by(name).is_some(),
        "state": story::state(answer, node),
        "advice": obstacle.advice(),
        "until": obstacle.until.map(|until| until.to_string()).unwrap_or_default(),
        "places": obstacle.places.iter().map(place).collect::<Vec<_>>(),
        "conditions": story::conditions(node, &utc),
        "methods": methods.collect::<Vec<_>>(),
        "drain": drain.map(words::longest).unwrap_or_default(),
        "drainReasons": because.map(|reason| words::drain_reason(reason, &utc)).collect::<Vec<_>>(),
    })
}

/// Returns the coming week of each budget with a schedule, whatever the other budgets do.
pub(crate) fn schedules(objects: &[Object<'_>], options: &DeducedSettings, at: Timestamp) -> Value {
    let pools = objects.iter().filter_map(|object| NodePool::of(*object));
    pools.flat_map(|pool| schedules_of(pool, options, at)).collect()
}

fn schedules_of(pool: NodePool<'_>, options: &DeducedSettings, at: Timestamp) -> Vec<Value> {
    let Ok(budgets) = PoolBudgets::of(pool, options.settings.release) else { return Vec::new() };
    let calendar = Calendar::of_week(&budgets, at);
    let items = pool.budgets().enumerate().filter_map(|(index, item)| {
        let schedule = item.schedule().filter(|node| !node.is_null())?;
        let is_broken = budgets.is_broken(index);
        let openings = budgets.openings(index, at, calendar.end());
        let openings = openings.iter().filter(|_| !is_broken);
        let openings =
            openings.map(|one| json!({"start": one.start.to_string(), "end": one.end.to_string()}));
        let next = budgets.next_run(index, calendar.end()).map(|next| next.to_string());
        let reasons = item.reasons().map(|list| list.items().filter_map(Node::as_str).collect::<Vec<_>>());
        Some(json!({
            "place": place(&Place::value(schedule)),
            "nodePool": pool.object().name(),
            "budget": words::budget(&budgets, index),
            "nodes": budgets.nodes(index),
            "reasons": reasons,
            "broken": is_broken,
            "start": at.to_string(),
            "end": calendar.end().to_string(),
            "openings": openings.collect::<Vec<_>>(),
            "next": next,
        }))
    });
    items.collect()
}

fn utc(time: Timestamp) -> String {
    words::moment(time.minute())
}

fn place(place: &Place<'_>) -> Value {
    let (source, span) = (place.source(), place.span());
    let start = source.position(span.start);
    json!({
        "file": source.name(),
        "line": start.line,
        "column": start.column,
        "offset": start.offset,
        "endOffset": source.position(span.end).offset,
    })
}
