//! The story of one node.

use std::io::{self, Write};

use disruption::cluster::{ClusterPod, DO_NOT_DISRUPT, Protection};
use disruption::command::Command;
use disruption::drain::expires_at;
use disruption::judgement::JudgedNode;
use disruption::methods::Alone;
use karpwarden::disrupt::{Answer, words};
use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_claim::NodeClaim;
use report::human::printable;
use values::timestamp::Timestamp;

use super::clock::Clock;
use super::painter::{BAD, BOLD, GOOD, Painter};

/// Writes the story of a node.
pub(super) fn write(
    out: &mut dyn Write,
    answer: &Answer<'_>,
    node: &JudgedNode<'_>,
    clock: &Clock,
    color: bool,
) -> io::Result<()> {
    let painter = Painter { color };
    let name = node.node.name();
    let pool = if node.node.pool().is_empty() {
        "no NodePool".into()
    } else {
        format!("NodePool {}", node.node.pool())
    };
    let count = node.node.pods.len();
    let pods = if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") };
    let title =
        format!("node {} of {}, {pods}, at {}", printable(name), printable(&pool), clock.long(answer.at));
    writeln!(out, "{}", painter.paint(BOLD, &title))?;
    write_conditions(out, node, clock)?;
    write_obstacle(out, answer, node, clock, painter)?;
    write_methods(out, answer, node)?;
    write_alone(out, node)?;
    write_drain(out, answer, name, clock, painter)
}

/// The conditions of the NodeClaim, with their times.
fn write_conditions(out: &mut dyn Write, node: &JudgedNode<'_>, clock: &Clock) -> io::Result<()> {
    let claim = node.node.claim.map(NodeClaim::object);
    let conditions = items_of(claim.and_then(|claim| claim.at(&["status", "conditions"])));
    for condition in conditions {
        let text = |key: &str| condition.str_at(&[key]).unwrap_or_default();
        let since = Timestamp::parse(text("lastTransitionTime"));
        let since = since.map(|since| format!(" since {}", clock.long(since))).unwrap_or_default();
        let reason = match text("reason") {
            reason if reason == text("type") || reason.is_empty() => String::new(),
            reason => format!(" ({reason})"),
        };
        let line = format!("{} is {}{reason}{since}", text("type"), text("status"));
        writeln!(out, "  condition  {}", printable(&line))?;
    }
    match expires_at(&node.node) {
        Some(time) => writeln!(out, "  expires    {}, whatever is in the way", clock.long(time)),
        None => Ok(()),
    }
}

fn write_obstacle(
    out: &mut dyn Write,
    answer: &Answer<'_>,
    node: &JudgedNode<'_>,
    clock: &Clock,
    painter: Painter,
) -> io::Result<()> {
    let obstacle = answer.obstacle(node);
    if obstacle.name.is_empty() && obstacle.message.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{} {}", painter.paint(BAD, "in the way:"), printable(&obstacle.message))?;
    let own = words::advice(obstacle.name);
    let advice = if own.is_empty() { words::remedy(&obstacle.message) } else { own };
    if !advice.is_empty() {
        writeln!(out, "  {advice}")?;
    }
    if let Some(until) = obstacle.until {
        writeln!(out, "  until {}", clock.long(until))?;
    }
    for place in &obstacle.places {
        write_place(out, place)?;
    }
    if node.blocker.is_some() && node.eventual_blocker.is_none() {
        writeln!(out, "  drift ignores this, because the NodeClaim has terminationGracePeriod")?;
    }
    Ok(())
}

fn write_place(out: &mut dyn Write, place: &Place<'_>) -> io::Result<()> {
    let source = place.source();
    let line = source.position(place.span().start).line;
    writeln!(out, "  {}:{line}", printable(source.name()))
}

/// The decision of each method about the node.
fn write_methods(out: &mut dyn Write, answer: &Answer<'_>, node: &JudgedNode<'_>) -> io::Result<()> {
    let name = node.node.name();
    writeln!(out)?;
    for judged in &answer.judgement.methods {
        let unfit = node.methods.iter().find(|(method, _)| *method == judged.method);
        let command = judged.commands.iter().find(|command| command.candidates.iter().any(|one| one == name));
        let rejection = answer.rejections(name).iter().find(|(method, _)| *method == judged.method);
        let text = match (command, rejection, unfit) {
            (Some(command), ..) => command_text(command),
            (None, Some((_, message)), _) => message.clone(),
            (None, None, Some((_, None))) => "considers the node, and does nothing now".to_owned(),
            (None, None, Some((_, Some(unfit)))) => words::unfit(*unfit, answer.release),
            (None, None, None) => "stopped by what is in the way".to_owned(),
        };
        writeln!(out, "  {:<24} {}", judged.method.name(), printable(&text))?;
    }
    Ok(())
}

/// The result of consolidation if Karpenter looked at this node first.
fn write_alone(out: &mut dyn Write, node: &JudgedNode<'_>) -> io::Result<()> {
    let text = match &node.alone {
        None => return Ok(()),
        Some(Alone::Possible(command)) => command_text(command),
        Some(Alone::TooLittle(command, score)) => {
            format!(
                "{}, but the policy Balanced rejects its score of {:.2}",
                command_text(command),
                score.value()
            )
        }
        Some(Alone::Impossible(Some(message))) => {
            let remedy = words::remedy(message);
            let separator = if remedy.is_empty() { "" } else { "; " };
            format!("{message}{separator}{remedy}")
        }
        Some(Alone::Impossible(None)) => "nothing".to_owned(),
    };
    writeln!(out, "  {:<24} {}", "this node alone", printable(&text))
}

/// A command in one line.
fn command_text(command: &Command) -> String {
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

fn write_drain(
    out: &mut dyn Write,
    answer: &Answer<'_>,
    name: &str,
    clock: &Clock,
    painter: Painter,
) -> io::Result<()> {
    let Some(estimate) = answer.drain(name) else { return Ok(()) };
    let style = if estimate.longest.is_some() { GOOD } else { BAD };
    writeln!(out, "\ndrain: {}", painter.paint(style, &words::longest(estimate)))?;
    let print = |time| clock.long(time);
    for reason in &estimate.because {
        writeln!(out, "  {}", printable(&words::drain_reason(reason, &print)))?;
    }
    Ok(())
}

/// Writes the protection of a pod.
pub(super) fn write_pod(
    out: &mut dyn Write,
    answer: &Answer<'_>,
    pod: &ClusterPod<'_>,
    clock: &Clock,
) -> io::Result<()> {
    let annotation = pod.object().annotation(DO_NOT_DISRUPT).and_then(Node::as_str);
    let protection = pod.protection(answer.at, answer.release);
    let text = match (&protection, annotation) {
        (Protection::Until(end), Some(value)) => {
            format!("karpenter.sh/do-not-disrupt is `{value}`: protected until {}", clock.long(*end))
        }
        (_, None) => "no karpenter.sh/do-not-disrupt".to_owned(),
        (protection, Some(value)) => {
            let effect = if protection.is_active() { "protected" } else { "not protected" };
            format!("karpenter.sh/do-not-disrupt is `{value}`: {effect}")
        }
    };
    writeln!(out, "pod {}: {}\n", printable(&pod.full_name()), printable(&text))
}
