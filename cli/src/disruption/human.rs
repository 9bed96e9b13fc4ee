//! The answer for people: what acts, the calendars, a table of nodes, what is assumed.

use std::io::{self, Write};

use disruption::judgement::JudgedNode;
use karpwarden::disrupt::{ClusterDisruption, story, words};
use render::human::printable;

use super::clock::Clock;
use super::{ShownDisruption, week};
use crate::painter::{BAD, BOLD, GOOD, Painter};

/// Writes the answer.
pub(super) fn write(
    out: &mut dyn Write,
    shown: &ShownDisruption<'_, '_>,
    clock: &Clock,
    color: bool,
) -> io::Result<()> {
    let painter = Painter { color };
    let answer = shown.answer;
    writeln!(
        out,
        "Karpenter {} at {} {}: {}",
        answer.release,
        clock.long(answer.at),
        clock.name(),
        painter.paint(BOLD, &printable(&story::verdict(answer)))
    )?;
    week::write(out, answer, clock, painter, shown.all)?;
    write_nodes(out, answer, painter)?;
    write_bound(out, answer)?;
    write_assumptions(out, shown, painter)
}

fn write_nodes(out: &mut dyn Write, answer: &ClusterDisruption<'_>, painter: Painter) -> io::Result<()> {
    if answer.judgement.nodes.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 4]> = answer.judgement.nodes.iter().map(|node| row(answer, node)).collect();
    let header = ["node", "NodePool", "drain", "disruption"].map(str::to_owned);
    let width = |column: usize| {
        let cells = std::iter::once(&header).chain(&rows).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2)];
    let line = |[node, pool, drain, text]: &[String; 4]| {
        let [first, second, third] = widths;
        format!("  {node:<first$}  {pool:<second$}  {drain:<third$}  {text}")
    };
    writeln!(out, "\n{}", painter.paint(BOLD, &line(&header)))?;
    for (cells, node) in rows.iter().zip(&answer.judgement.nodes) {
        let style = if node.blocker.is_some() { BAD } else { GOOD };
        let text = line(cells);
        let is_told = node.blocker.is_some() || answer.disrupted_by(node.node.name()).is_some();
        writeln!(out, "{}", if is_told { painter.paint(style, &text) } else { text })?;
    }
    Ok(())
}

/// The cells of a node.
fn row(answer: &ClusterDisruption<'_>, node: &JudgedNode<'_>) -> [String; 4] {
    let name = node.node.name();
    let drain = answer.drain(name).map(words::longest).unwrap_or_default();
    [printable(name), printable(node.node.pool()), drain, printable(&story::state(answer, node))]
}

/// Says that the search for cheaper nodes has a bound.
fn write_bound(out: &mut dyn Write, answer: &ClusterDisruption<'_>) -> io::Result<()> {
    let unevaluated = answer.judgement.methods.iter().map(|method| method.unevaluated).max();
    match unevaluated.filter(|count| *count > 0) {
        Some(count) => writeln!(
            out,
            "  {count} nodes were not looked at one by one, as Karpenter stops after three minutes; ask with --node NAME"
        ),
        None => Ok(()),
    }
}

fn write_assumptions(
    out: &mut dyn Write,
    shown: &ShownDisruption<'_, '_>,
    painter: Painter,
) -> io::Result<()> {
    // Without nodes nothing depends on zones and prices.
    let assumptions: &[String] =
        if shown.answer.judgement.nodes.is_empty() { &[] } else { shown.assumptions };
    if assumptions.is_empty() && shown.skipped == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}", painter.paint(BOLD, "assumed"))?;
    for assumption in assumptions {
        writeln!(out, "  {}", printable(assumption))?;
    }
    if shown.skipped > 0 {
        let unit = if shown.skipped == 1 { "document" } else { "documents" };
        writeln!(out, "  {} {unit} without effect: not readable", shown.skipped)?;
    }
    Ok(())
}
