//! The answer about disruption as a program reads it.

use std::collections::BTreeMap;

use answers::disruption::{
    BrokenBudget, BudgetActivity, CommandAnswer, DisruptionAnswer, LimitedPool, MethodAnswer, NodeDrain,
    NodeObstacle, ReasonBudget, RejectedNode, ReplacementNode,
};
use answers::page::MethodDecision;
use answers::report::{RelatedLocation, ReportedFinding};
use answers::why::ExplainedNode;
use answers::{DateTime, OrEmpty, PricedType, SCHEMA, VERSION, rounded};
use disruption::allowance::{BudgetState, DisruptionReason, PoolBudgets};
use disruption::calendar::first_change;
use disruption::command::{Command, Replacement};
use disruption::drain::{DrainEstimate, expires_at};
use disruption::judgement::{JudgedMethod, JudgedNode};
use manifest::tree::{Node, Tree};
use manifest::{Document, File};
use objects::location::Place;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{ClusterDisruption, PoolDisruption, rejections_of, story, words};

/// The answer as one object.
pub fn answer(
    answer: &ClusterDisruption<'_>,
    files: &[File],
    findings: &[ReportedFinding],
) -> DisruptionAnswer {
    let documents = documents(files);
    DisruptionAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version: answer.release.to_string(),
        at: answer.at.into(),
        acts: OrEmpty(answer.judgement.acts),
        node_pools: answer.pools.iter().map(|one| pool(answer, one)).collect(),
        nodes: answer.judgement.nodes.iter().map(|one| node(answer, one, &documents)).collect(),
        methods: answer.judgement.methods.iter().map(method).collect(),
        drain: answer.drains.iter().map(|(name, estimate)| drain(name, estimate)).collect(),
        findings: findings.to_vec(),
    }
}

/// Leaves only what is about one node in an answer.
pub fn keep_node(answer: &mut DisruptionAnswer, name: &str) {
    answer.nodes.retain(|node| node.name == name);
    let pools: Vec<&str> = answer.nodes.iter().map(|node| node.node_pool.as_str()).collect();
    answer.node_pools.retain(|pool| pools.contains(&pool.name.as_str()));
    answer.drain.retain(|drain| drain.node == name);
    for method in &mut answer.methods {
        method.candidates.retain(|candidate| candidate == name);
        method.commands.retain(|command| command.candidates.iter().any(|candidate| candidate == name));
        method.rejected.retain(|rejected| rejected.node == name);
        method.undecided.retain(|undecided| undecided == name);
    }
}

/// Everything about one node.
pub fn explained(answer: &ClusterDisruption<'_>, one: &JudgedNode<'_>, files: &[File]) -> ExplainedNode {
    let clock = |time: Timestamp| time.to_string();
    let name = one.node.name();
    let decisions = story::decisions(answer, one).into_iter();
    ExplainedNode {
        name: name.to_owned(),
        node_pool: one.node.pool().to_owned(),
        pods: one.node.pods.len(),
        at: answer.at.into(),
        conditions: story::conditions(one, &clock),
        expires: until(expires_at(&one.node)),
        obstacle: node(answer, one, &documents(files)),
        advice: answer.obstacle(one).advice().to_owned(),
        ignored_by_drift: story::is_ignored_by_drift(one),
        decisions: decisions.map(|(method, text)| MethodDecision { method, text }).collect(),
        alone: story::alone(one).unwrap_or_default(),
        drain: answer.drain(name).map(|estimate| drain(name, estimate)),
    }
}

fn until(time: Option<Timestamp>) -> OrEmpty<DateTime> {
    OrEmpty(time.map(DateTime::from))
}

fn pool(answer: &ClusterDisruption<'_>, pool: &PoolDisruption<'_>) -> LimitedPool {
    LimitedPool {
        name: pool.name.to_owned(),
        nodes: pool.nodes,
        budgets: answer.reasons().into_iter().map(|reason| budget(answer, pool, reason)).collect(),
    }
}

fn budget(
    answer: &ClusterDisruption<'_>,
    pool: &PoolDisruption<'_>,
    reason: DisruptionReason,
) -> ReasonBudget {
    let budgets = match &pool.budgets {
        Ok(budgets) => budgets,
        Err(error) => {
            return ReasonBudget {
                reason,
                allowed: 0,
                unlimited: false,
                active: Vec::new(),
                error: error.to_string(),
                until: OrEmpty(None),
            };
        }
    };
    let now = budgets.allowance(answer.at, pool.nodes, reason);
    ReasonBudget {
        reason,
        allowed: pool.left(now.allowed),
        unlimited: now.is_unlimited(),
        active: active(budgets, answer.at),
        error: now.error,
        until: until(first_change(&pool.week(answer.at, reason))),
    }
}

fn active(budgets: &PoolBudgets<'_>, at: Timestamp) -> Vec<BudgetActivity> {
    let states = budgets.states(at).into_iter().map(|state| match state {
        BudgetState::Active => BudgetActivity::Known(true),
        BudgetState::Inactive => BudgetActivity::Known(false),
        BudgetState::Broken => BudgetActivity::Unknown(BrokenBudget::Error),
    });
    states.collect()
}

fn node(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>, documents: &Documents) -> NodeObstacle {
    let obstacle = answer.obstacle(node);
    let related = obstacle.places.iter().map(|place| related(place, &obstacle.message, documents)).collect();
    NodeObstacle {
        name: node.node.name().to_owned(),
        node_pool: node.node.pool().to_owned(),
        candidate: node.blocker.is_none(),
        blocked_by: OrEmpty(obstacle.kind),
        message: obstacle.message,
        related,
        until: until(obstacle.until),
    }
}

/// A place with its file, in the form of the related places of a finding.
fn related(place: &Place<'_>, message: &str, documents: &Documents) -> RelatedLocation {
    let (source, span) = (place.source(), place.span());
    let (start, end) = (source.position(span.start), source.position(span.end));
    RelatedLocation {
        file: source.name().to_owned(),
        document: documents.get(&std::ptr::from_ref(place.node().tree())).copied().unwrap_or_default(),
        path: place.path(object_of(place.node())),
        line: Some(start.line),
        column: Some(start.column),
        offset: Some(start.offset),
        end_offset: Some(end.offset),
        message: message.to_owned(),
    }
}

/// The index of each document in its file.
type Documents = BTreeMap<*const Tree, usize>;

fn documents(files: &[File]) -> Documents {
    let documents = files.iter().flat_map(|file| file.documents.iter().enumerate());
    let read = documents.filter_map(|(index, document)| match document {
        Document::Read(tree) => Some((std::ptr::from_ref(tree), index)),
        _ => None,
    });
    read.collect()
}

/// The root of the object that has a node. An item of a list is an object.
fn object_of(node: Node<'_>) -> Node<'_> {
    let mut object = node;
    while object.get("apiVersion").is_none()
        || object.get("kind").is_none()
        || object.get("metadata").is_none()
    {
        match object.parent() {
            Some(parent) => object = parent,
            None => break,
        }
    }
    object
}

fn method(method: &JudgedMethod) -> MethodAnswer {
    let rejected = rejections_of(method)
        .map(|(node, message)| RejectedNode { node: node.to_owned(), message: message.to_owned() });
    MethodAnswer {
        method: method.method,
        candidates: method.candidates.clone(),
        commands: method.commands.iter().map(command).collect(),
        rejected: rejected.collect(),
        undecided: method.undecided.iter().cloned().collect(),
    }
}

fn command(command: &Command) -> CommandAnswer {
    CommandAnswer {
        decision: command.decision,
        candidates: command.candidates.clone(),
        savings: rounded(command.savings),
        replacements: command.replacements.iter().map(replacement).collect(),
    }
}

fn replacement(replacement: &Replacement) -> ReplacementNode {
    ReplacementNode {
        node_pool: replacement.pool.clone(),
        instance_types: replacement.instance_types,
        cheapest: PricedType::cheapest(&replacement.cheapest),
        capacity_types: replacement.capacity_types.clone(),
    }
}

fn drain(name: &str, estimate: &DrainEstimate<'_>) -> NodeDrain {
    let clock = |time: Timestamp| time.to_string();
    NodeDrain {
        node: name.to_owned(),
        longest_seconds: estimate.longest.map(Duration::seconds),
        never: estimate.never,
        because: estimate.because.iter().map(|reason| words::drain_reason(reason, &clock)).collect(),
    }
}
