//! Disruption of the nodes: the coming week of each NodePool, and the obstacles of each node.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden::answers::page::{DisruptionOverview, ScheduleWeek, WindowOpening};
use karpwarden::answers::{DateTime, FieldPlace};
use karpwarden::disrupt::{self, Question, answer, story, words};
use karpwarden::disruption::allowance::PoolBudgets;
use karpwarden::disruption::calendar::Calendar;
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
    let assumptions = options.assumptions.iter().map(ToString::to_string).collect();
    disrupt::overview::overview(&answer, assumptions, MAX_DESCRIBED)
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
