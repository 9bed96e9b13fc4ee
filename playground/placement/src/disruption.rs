//! Disruption of the nodes: the coming week of each NodePool, and the obstacles of each node.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden::answers::page::{
    BudgetRemark, BudgetText, DisruptedNode, DisruptionOverview, MethodDecision, PoolWeeks, ScheduleWeek,
    WeekInterval, WeekOfReasons, WindowOpening,
};
use karpwarden::answers::{DateTime, FieldPlace, OrEmpty};
use karpwarden::disrupt::{ClusterDisruption, PoolDisruption, Question, answer, story, words};
use karpwarden::disruption::allowance::{BudgetId, PoolBudgets};
use karpwarden::disruption::calendar::{Calendar, CalendarInterval, Remark};
use karpwarden::disruption::judgement::JudgedNode;
use karpwarden::manifest::tree::Node;
use karpwarden::objects::location::Place;
use karpwarden::objects::node_pool::NodePool;
use karpwarden::objects::object::Object;
use karpwarden::simulate::DeducedSettings;
use karpwarden::values::timestamp::Timestamp;

/// Maximum number of nodes and NodePools to describe. The page shows no more.
const MAX_DESCRIBED: usize = 100;

/// Returns the weeks of the NodePools and the obstacles of the nodes.
pub(crate) fn overview(
    objects: &[Object<'_>],
    options: DeducedSettings,
    at: Timestamp,
) -> DisruptionOverview {
    let answer = answer(&question(at, None), options.settings, objects);
    let nodes = &answer.judgement.nodes;
    let unevaluated = answer.judgement.methods.iter().map(|method| method.unevaluated).max();
    DisruptionOverview {
        karpenter_version: answer.release.to_string(),
        at: at.into(),
        verdict: story::verdict(&answer),
        pools: answer.pools.iter().take(MAX_DESCRIBED).map(|one| pool(&answer, one)).collect(),
        more_pools: answer.pools.len().saturating_sub(MAX_DESCRIBED),
        nodes: nodes.iter().take(MAX_DESCRIBED).map(|one| node(&answer, one)).collect(),
        more_nodes: nodes.len().saturating_sub(MAX_DESCRIBED),
        unevaluated: unevaluated.unwrap_or_default(),
        assumptions: options.assumptions.iter().map(ToString::to_string).collect(),
    }
}

/// Returns the result of consolidation if Karpenter looked at a node first; `None` if something is in the way.
pub(crate) fn alone(
    objects: &[Object<'_>],
    options: DeducedSettings,
    at: Timestamp,
    node: &str,
) -> Option<String> {
    let answer = answer(&question(at, Some(node.to_owned())), options.settings, objects);
    answer.node(node).and_then(story::alone)
}

fn question(at: Timestamp, alone: Option<String>) -> Question {
    Question {
        at,
        node_counts: BTreeMap::new(),
        nominated: BTreeSet::new(),
        marked_for_deletion: BTreeSet::new(),
        feature_gates: BTreeMap::new(),
        alone,
    }
}

fn pool(answer: &ClusterDisruption<'_>, pool: &PoolDisruption<'_>) -> PoolWeeks {
    let (error, budgets, remarks) = match &pool.budgets {
        Ok(own) => (String::new(), budgets(pool, own), remarks(answer, pool, own)),
        Err(error) => (error.to_string(), Vec::new(), Vec::new()),
    };
    let weeks = answer.weeks(pool).into_iter().map(|week| {
        let allowed = week.intervals.first().map(|first| first.allowance.allowed).unwrap_or_default();
        WeekOfReasons {
            reasons: week.reasons,
            left: pool.left(allowed),
            intervals: week.intervals.into_iter().map(interval).collect(),
        }
    });
    PoolWeeks {
        name: pool.name.to_owned(),
        nodes: pool.nodes,
        unavailable: pool.unavailable,
        assumed: pool.is_assumed,
        error,
        budgets,
        weeks: weeks.collect(),
        remarks,
    }
}

/// The budgets of a NodePool with their places. The default that the API server writes has no place.
fn budgets(pool: &PoolDisruption<'_>, budgets: &PoolBudgets<'_>) -> Vec<BudgetText> {
    let mut written = pool.pool.budgets().map(|item| FieldPlace::from(&Place::value(item.node())));
    let all = budgets.ids().map(|id| BudgetText { text: words::budget(budgets, id), place: written.next() });
    all.collect()
}

fn interval(interval: CalendarInterval) -> WeekInterval {
    let allowance = interval.allowance;
    WeekInterval {
        start: interval.start.into(),
        end: interval.end.into(),
        allowed: allowance.allowed,
        unlimited: allowance.is_unlimited(),
        budget: allowance.decided_by.map(BudgetId::index),
        error: allowance.error,
    }
}

/// The remarks on the budgets, each with the index of the budget to change.
fn remarks(
    answer: &ClusterDisruption<'_>,
    pool: &PoolDisruption<'_>,
    budgets: &PoolBudgets<'_>,
) -> Vec<BudgetRemark> {
    let calendar = Calendar::of_week(budgets, answer.at);
    let remarks = calendar.remarks(&answer.reasons(), pool.nodes, pool.pace);
    let values = remarks.iter().map(|remark| {
        let budget = match remark {
            Remark::NeverOpens { budget, .. }
            | Remark::AlwaysOpen { budget }
            | Remark::NeverDecides { budget }
            | Remark::Overlap { tighter: budget, .. } => Some(budget.index()),
            Remark::Blocked { .. } | Remark::TooShort { .. } => None,
        };
        BudgetRemark { text: words::remark(remark, budgets, pool.nodes, &utc), budget }
    });
    values.collect()
}

fn node(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>) -> DisruptedNode {
    let name = node.node.name();
    let obstacle = answer.obstacle(node);
    let drain = answer.drain(name);
    let because = drain.into_iter().flat_map(|estimate| &estimate.because);
    let methods = story::decisions(answer, node);
    DisruptedNode {
        name: name.to_owned(),
        node_pool: node.node.pool().to_owned(),
        blocked_by: OrEmpty(obstacle.kind),
        disrupted: answer.disrupted_by(name).is_some(),
        state: story::state(answer, node),
        advice: obstacle.advice().to_owned(),
        until: OrEmpty(obstacle.until.map(DateTime::from)),
        places: obstacle.places.iter().map(FieldPlace::from).collect(),
        conditions: story::conditions(node, &utc),
        methods: methods.into_iter().map(|(method, text)| MethodDecision { method, text }).collect(),
        drain: drain.map(words::longest).unwrap_or_default(),
        drain_reasons: because.map(|reason| words::drain_reason(reason, &utc)).collect(),
    }
}

/// Returns the coming week of each budget with a schedule, whatever the other budgets do.
pub(crate) fn schedules(
    objects: &[Object<'_>],
    options: &DeducedSettings,
    at: Timestamp,
) -> Vec<ScheduleWeek> {
    let pools = objects.iter().filter_map(|object| NodePool::of(*object));
    pools.flat_map(|pool| schedules_of(pool, options, at)).collect()
}

fn schedules_of(pool: NodePool<'_>, options: &DeducedSettings, at: Timestamp) -> Vec<ScheduleWeek> {
    let Ok(budgets) = PoolBudgets::parse(pool, options.settings.release) else { return Vec::new() };
    let calendar = Calendar::of_week(&budgets, at);
    let items = budgets.ids().zip(pool.budgets()).filter_map(|(id, item)| {
        let schedule = item.schedule().filter(|node| !node.is_null())?;
        let is_broken = budgets.is_broken(id);
        let openings = budgets.openings(id, at, calendar.end());
        let openings = openings.iter().filter(|_| !is_broken);
        let openings = openings.map(|one| WindowOpening { start: one.start.into(), end: one.end.into() });
        let names = item.reasons().map(|list| list.items().filter_map(Node::as_str));
        Some(ScheduleWeek {
            place: FieldPlace::from(&Place::value(schedule)),
            node_pool: pool.object().name().to_owned(),
            budget: words::budget(&budgets, id),
            nodes: budgets.nodes(id).to_owned(),
            reasons: names.map(|names| names.map(str::to_owned).collect()),
            broken: is_broken,
            start: at.into(),
            end: calendar.end().into(),
            openings: openings.collect(),
            next: budgets.next_run(id, calendar.end()).map(DateTime::from),
        })
    });
    items.collect()
}

fn utc(time: Timestamp) -> String {
    words::moment(time.minute())
}
