//! Sentences about the nodes of an answer: what happens to them now, their conditions, and the decision of each method.

use disruption::cluster::{ClusterPod, Protection};
use disruption::command::Command;
use disruption::judgement::JudgedNode;
use disruption::methods::{Alone, Method};
use karpenter::labels::DO_NOT_DISRUPT;
use manifest::tree::{Children, Node, items_of};
use objects::node_claim::NodeClaim;
use objects::object::Object;
use values::timestamp::Timestamp;

use super::ClusterDisruption;
use super::words::{self, PrintTime};

/// The number of nodes to name in a verdict.
const MAX_NAMED: usize = 5;

/// The commands of the method that acts.
pub fn verdict(answer: &ClusterDisruption<'_>) -> String {
    let Some(acts) = answer.judgement.acts else {
        let text = if answer.judgement.nodes.is_empty() {
            "the input has no nodes"
        } else if answer.is_undecided() {
            "no node is disrupted, as far as the simulations ended"
        } else {
            "no node is disrupted"
        };
        return text.to_owned();
    };
    let commands = answer.judgement.methods.iter().filter(|method| method.method == acts);
    let texts = commands.flat_map(|method| &method.commands).map(|command| {
        let nodes = first_names(&command.candidates);
        match command.replacements.len() {
            0 => format!("deletes {nodes}"),
            1 => format!("replaces {nodes} by a new node"),
            count => format!("replaces {nodes} by {count} new nodes"),
        }
    });
    format!("{} {}", acts.name(), texts.collect::<Vec<_>>().join("; "))
}

/// The first names, and the number of the others.
fn first_names(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{others}", first.join(", "))
}

/// The method that disrupts a node, or the first obstacle.
pub fn state(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>) -> String {
    let name = node.node.name();
    if let Some(method) = answer.disrupted_by(name) {
        let acts = answer.judgement.acts == Some(method);
        return if acts { method.name().to_owned() } else { format!("{} later", method.name()) };
    }
    let obstacle = answer.obstacle(node);
    match (obstacle.kind, obstacle.message.as_str()) {
        (None, "") if node.methods.iter().any(|(_, unfit)| unfit.is_none()) => "candidate".to_owned(),
        (None, "") => "nothing to do".to_owned(),
        (None, message) => message.to_owned(),
        (Some(kind), message) => format!("{}: {message}", kind.name()),
    }
}

/// The condition `Ready` of a Node, and the conditions of its NodeClaim, with their times. `Ready` of a NodeClaim says only
/// that the node was ready when it started.
pub fn conditions(node: &JudgedNode<'_>, clock: PrintTime<'_>) -> Vec<String> {
    let is_ready = |condition: &Node<'_>| condition.str_at(&["type"]) == Some("Ready");
    let of_node = conditions_of(node.node.node).find(is_ready);
    let others = conditions_of(node.node.claim.map(NodeClaim::object))
        .filter(|condition| of_node.is_none() || !is_ready(condition));
    let own = of_node.into_iter().map(|ready| {
        let message = ready.str_at(&["message"]).unwrap_or_default().trim_end_matches('.');
        let is_told = ready.str_at(&["status"]) != Some("True") && !message.is_empty();
        let message = if is_told { format!(": {message}") } else { String::new() };
        format!("the Node's {}{message}", condition_text(ready, clock))
    });
    own.chain(others.map(|condition| condition_text(condition, clock))).collect()
}

fn conditions_of(object: Option<Object<'_>>) -> Children<'_> {
    items_of(object.and_then(|object| object.at(&["status", "conditions"])))
}

fn condition_text(condition: Node<'_>, clock: PrintTime<'_>) -> String {
    let text = |key: &str| condition.str_at(&[key]).unwrap_or_default();
    let since = Timestamp::parse(text("lastTransitionTime"));
    let since = since.map(|since| format!(" since {}", clock(since))).unwrap_or_default();
    let reason = match text("reason") {
        reason if reason == text("type") || reason.is_empty() => String::new(),
        reason => format!(" ({reason})"),
    };
    format!("{} is {}{reason}{since}", text("type"), text("status"))
}

/// The decision of each method about a node.
pub fn decisions(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>) -> Vec<(Method, String)> {
    let name = node.node.name();
    let texts = answer.judgement.methods.iter().map(|judged| {
        let unfit = node.methods.iter().find(|(method, _)| *method == judged.method);
        let own = judged.commands.iter().find(|command| command.candidates.iter().any(|one| one == name));
        let rejection = answer.rejections(name).iter().find(|(method, _)| *method == judged.method);
        let text = match (own, rejection, unfit) {
            (Some(own), ..) => command(own),
            (None, Some((_, message)), _) => message.clone(),
            (None, None, Some((_, None))) => "considers the node, and does nothing now".to_owned(),
            (None, None, Some((_, Some(unfit)))) => words::unfit(*unfit, answer.release),
            (None, None, None) => "stopped by what is in the way".to_owned(),
        };
        (judged.method, text)
    });
    texts.collect()
}

/// The result of consolidation if Karpenter looked at this node first. `None` if the question did not ask for the node, or
/// if something is in the way of its consolidation.
pub fn alone(node: &JudgedNode<'_>) -> Option<String> {
    let text = match node.alone.as_ref()? {
        Alone::Possible(own) => command(own),
        Alone::TooLittle(own, score) => {
            format!("{}, but the policy Balanced rejects its score of {:.2}", command(own), score.value())
        }
        Alone::Impossible(Some(message)) => {
            let remedy = words::remedy(message);
            let separator = if remedy.is_empty() { "" } else { "; " };
            format!("{message}{separator}{remedy}")
        }
        Alone::Impossible(None) => "nothing".to_owned(),
        Alone::Undecided => format!("{}; {}", words::UNDECIDED, words::remedy(words::UNDECIDED)),
    };
    Some(text)
}

/// Whether drift ignores what is in the way of other methods, because the NodeClaim has a `terminationGracePeriod`.
pub fn is_ignored_by_drift(node: &JudgedNode<'_>) -> bool {
    node.blocker.is_some() && node.eventual_blocker.is_none()
}

/// The effect of the annotation that protects a pod.
pub fn protection(answer: &ClusterDisruption<'_>, pod: &ClusterPod<'_>, clock: PrintTime<'_>) -> String {
    let annotation = pod.object().annotation(DO_NOT_DISRUPT).and_then(Node::as_str);
    match (pod.protection(answer.at, answer.release), annotation) {
        (Protection::Until(end), Some(value)) => {
            format!("karpenter.sh/do-not-disrupt is `{value}`: protected until {}", clock(end))
        }
        (_, None) => "no karpenter.sh/do-not-disrupt".to_owned(),
        (protection, Some(value)) => {
            let effect = if protection.is_active() { "protected" } else { "not protected" };
            format!("karpenter.sh/do-not-disrupt is `{value}`: {effect}")
        }
    }
}

/// A command in one line.
pub fn command(command: &Command) -> String {
    let others = command.candidates.len().saturating_sub(1);
    let with = if others == 0 { String::new() } else { format!(", together with {others} more") };
    let by = command.replacements.first().map(|replacement| {
        let price = replacement.cheapest.first();
        let price = price.map(|(kind, price)| format!(", such as {kind} for ${price:.4}"));
        format!(" by one of {} types{}", replacement.instance_types, price.unwrap_or_default())
    });
    format!(
        "would {} the node{}{with}; saves ${:.4} per hour",
        command.decision.name(),
        by.unwrap_or_default(),
        command.savings
    )
}
