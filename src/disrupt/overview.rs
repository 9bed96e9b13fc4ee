//! Disruption of the nodes as the page and the report show it: the coming week of each NodePool, and the obstacles of each node.

use answers::page::{
    BudgetRemark, BudgetText, DisruptedNode, DisruptionOverview, MethodDecision, PoolWeeks, WeekInterval,
    WeekOfReasons,
};
use answers::{DateTime, FieldPlace, OrEmpty};
use disruption::allowance::{BudgetId, PoolBudgets};
use disruption::calendar::{Calendar, CalendarInterval, Remark};
use disruption::judgement::JudgedNode;
use objects::location::Place;
use values::timestamp::Timestamp;

use super::{ClusterDisruption, PoolDisruption, story, words};

/// Returns the weeks of the NodePools and the obstacles of the nodes. `most` is the maximum number of nodes and of NodePools.
pub fn overview(answer: &ClusterDisruption<'_>, assumptions: Vec<String>, most: usize) -> DisruptionOverview {
    let nodes = &answer.judgement.nodes;
    let unevaluated = answer.judgement.methods.iter().map(|method| method.unevaluated).max();
    DisruptionOverview {
        karpenter_version: answer.release.to_string(),
        at: answer.at.into(),
        verdict: story::verdict(answer),
        pools: answer.pools.iter().take(most).map(|one| pool(answer, one)).collect(),
        more_pools: answer.pools.len().saturating_sub(most),
        nodes: nodes.iter().take(most).map(|one| node(answer, one)).collect(),
        more_nodes: nodes.len().saturating_sub(most),
        unevaluated: unevaluated.unwrap_or_default(),
        assumptions,
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

fn utc(time: Timestamp) -> String {
    words::moment(time.minute())
}
