//! The answer about disruption as JSON.

use std::collections::BTreeMap;

use disruption::allowance::{BudgetState, PoolBudgets};
use disruption::calendar::first_change;
use disruption::command::{Command, Replacement};
use disruption::drain::DrainEstimate;
use disruption::judgement::{JudgedMethod, JudgedNode};
use disruption::methods::Method;
use engine::report::{RelatedLocation, ReportedFinding};
use manifest::tree::{Node, Tree};
use manifest::{Document, File};
use objects::location::Place;
use serde_json::{Value, json};
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{Answer, PoolAnswer, rejections_of, words};

/// The number of instance types to name.
const NAMED_TYPES: usize = 5;

/// The answer as one object.
pub fn report(answer: &Answer<'_>, files: &[File], findings: &[ReportedFinding]) -> Value {
    let methods = &answer.judgement.methods;
    let documents = documents(files);
    json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "karpenterVersion": answer.release.to_string(),
        "at": answer.at.to_string(),
        "acts": answer.judgement.acts.map(Method::name).unwrap_or_default(),
        "nodePools": answer.pools.iter().map(|one| pool(answer, one)).collect::<Vec<_>>(),
        "nodes": answer.judgement.nodes.iter().map(|one| node(answer, one, &documents)).collect::<Vec<_>>(),
        "methods": methods.iter().map(method).collect::<Vec<_>>(),
        "drain": answer.drains.iter().map(|(name, estimate)| drain(name, estimate)).collect::<Vec<_>>(),
        "findings": findings,
    })
}

fn until(time: Option<Timestamp>) -> String {
    time.map(|time| time.to_string()).unwrap_or_default()
}

fn pool(answer: &Answer<'_>, pool: &PoolAnswer<'_>) -> Value {
    let rows: Vec<Value> = answer.reasons().iter().map(|reason| budget(answer, pool, reason)).collect();
    json!({"name": pool.name, "nodes": pool.nodes, "budgets": rows})
}

fn budget(answer: &Answer<'_>, pool: &PoolAnswer<'_>, reason: &str) -> Value {
    let budgets = match &pool.budgets {
        Ok(budgets) => budgets,
        Err(error) => {
            return json!({
                "reason": reason, "allowed": 0, "unlimited": false, "active": [], "error": error, "until": "",
            });
        }
    };
    let now = budgets.allowance(answer.at, pool.nodes, reason);
    json!({
        "reason": reason,
        "allowed": pool.left(now.allowed),
        "unlimited": now.is_unlimited(),
        "active": active(budgets, answer.at),
        "error": now.error,
        "until": until(first_change(&pool.week(answer.at, reason))),
    })
}

fn active(budgets: &PoolBudgets<'_>, at: Timestamp) -> Vec<Value> {
    let states = budgets.states(at).into_iter().map(|state| match state {
        BudgetState::Active => true.into(),
        BudgetState::Inactive => false.into(),
        BudgetState::Broken => "error".into(),
    });
    states.collect()
}

fn node(answer: &Answer<'_>, node: &JudgedNode<'_>, documents: &Documents) -> Value {
    let obstacle = answer.obstacle(node);
    json!({
        "name": node.node.name(),
        "nodePool": node.node.pool(),
        "candidate": node.blocker.is_none(),
        "blockedBy": obstacle.name,
        "message": obstacle.message,
        "related": obstacle.places.iter().map(|place| related(place, &obstacle.message, documents)).collect::<Vec<_>>(),
        "until": until(obstacle.until),
    })
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

fn method(method: &JudgedMethod) -> Value {
    let rejected: Vec<Value> =
        rejections_of(method).map(|(node, message)| json!({"node": node, "message": message})).collect();
    json!({
        "method": method.method.name(),
        "candidates": method.candidates,
        "commands": method.commands.iter().map(command).collect::<Vec<_>>(),
        "rejected": rejected,
    })
}

fn command(command: &Command) -> Value {
    json!({
        "decision": command.decision.name(),
        "candidates": command.candidates,
        "savings": rounded(command.savings),
        "replacements": command.replacements.iter().map(replacement).collect::<Vec<_>>(),
    })
}

fn replacement(replacement: &Replacement) -> Value {
    let cheapest = replacement.cheapest.iter().take(NAMED_TYPES);
    let cheapest: Vec<Value> =
        cheapest.map(|(name, price)| json!({"name": name, "price": rounded(*price)})).collect();
    json!({
        "nodePool": replacement.pool,
        "instanceTypes": replacement.instance_types,
        "cheapest": cheapest,
        "capacityTypes": replacement.capacity_types,
    })
}

/// Without the noise of sums of binary fractions.
fn rounded(price: f64) -> f64 {
    (price * 1e6).round() / 1e6
}

fn drain(name: &str, estimate: &DrainEstimate<'_>) -> Value {
    let clock = |time: Timestamp| time.to_string();
    let because: Vec<String> =
        estimate.because.iter().map(|reason| words::drain_reason(reason, &clock)).collect();
    json!({
        "node": name,
        "longestSeconds": estimate.longest.map(Duration::seconds),
        "never": estimate.never,
        "because": because,
    })
}
