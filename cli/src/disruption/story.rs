//! The story of one node.

use std::io::{self, Write};

use disruption::cluster::ClusterPod;
use disruption::drain::expires_at;
use disruption::judgement::JudgedNode;
use karpwarden::disrupt::{ClusterDisruption, story, words};
use objects::location::Place;
use render::human::printable;

use super::clock::Clock;
use crate::painter::{BAD, BOLD, GOOD, Painter};

/// Writes the story of a node.
pub(super) fn write(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
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

fn write_conditions(out: &mut dyn Write, node: &JudgedNode<'_>, clock: &Clock) -> io::Result<()> {
    let print = |time| clock.long(time);
    for condition in story::conditions(node, &print) {
        writeln!(out, "  condition  {}", printable(&condition))?;
    }
    match expires_at(&node.node) {
        Some(time) => writeln!(out, "  expires    {}, whatever is in the way", clock.long(time)),
        None => Ok(()),
    }
}

fn write_obstacle(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
    node: &JudgedNode<'_>,
    clock: &Clock,
    painter: Painter,
) -> io::Result<()> {
    let obstacle = answer.obstacle(node);
    if obstacle.kind.is_none() && obstacle.message.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{} {}", painter.paint(BAD, "in the way:"), printable(&obstacle.message))?;
    let advice = obstacle.advice();
    if !advice.is_empty() {
        writeln!(out, "  {advice}")?;
    }
    if let Some(until) = obstacle.until {
        writeln!(out, "  until {}", clock.long(until))?;
    }
    for place in &obstacle.places {
        write_place(out, place)?;
    }
    if story::is_ignored_by_drift(node) {
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
fn write_methods(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
    node: &JudgedNode<'_>,
) -> io::Result<()> {
    writeln!(out)?;
    for (method, text) in story::decisions(answer, node) {
        writeln!(out, "  {:<24} {}", method.name(), printable(&text))?;
    }
    Ok(())
}

fn write_alone(out: &mut dyn Write, node: &JudgedNode<'_>) -> io::Result<()> {
    match story::alone(node) {
        Some(text) => writeln!(out, "  {:<24} {}", "this node alone", printable(&text)),
        None => Ok(()),
    }
}

fn write_drain(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
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
    answer: &ClusterDisruption<'_>,
    pod: &ClusterPod<'_>,
    clock: &Clock,
) -> io::Result<()> {
    let text = story::protection(answer, pod, &|time| clock.long(time));
    writeln!(out, "pod {}: {}\n", printable(&pod.full_name()), printable(&text))
}
