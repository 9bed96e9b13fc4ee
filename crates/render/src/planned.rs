//! A plan as Markdown, for the description of a pull request or the summary of a job.

use core::fmt::Write as _;

use answers::DateTime;
use answers::plan::{PlanAnswer, PlannedChange, PlannedField, PlannedNode};
use drift::{Effect, ObjectChangeKind};

use crate::human::printable;
use crate::markdown::inline;

/// Number of nodes and pods that a list names.
const MAX_NAMED: usize = 20;

/// Renders a plan: the verdict, a table of the changed fields, the rollouts, what stays.
pub fn markdown(answer: &PlanAnswer) -> String {
    let mut text = format!("## Plan for the nodes\n\n**{}**\n", inline(&answer.verdict));
    changes(&mut text, answer);
    for change in &answer.controller {
        let subject = inline(&format!("`{}`", code(&change.subject)));
        let _ = writeln!(
            text,
            "- {subject} {}: {}",
            inline(&if change.old == change.new {
                format!("`{}`", code(&change.new))
            } else {
                arrow(&change.old, &change.new)
            }),
            inline(&change.message)
        );
    }
    if !answer.rollouts.is_empty() {
        text.push_str(
            "\n| NodePool | nodes | start | end | limited by | extra nodes |\n|---|---|---|---|---|---|\n",
        );
        for rollout in &answer.rollouts {
            let time = |time: &Option<DateTime>| {
                time.as_ref().map_or("not within the forecast", DateTime::as_str).to_owned()
            };
            let limit = rollout.limited_by.words();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {limit} | {} |",
                cell(&rollout.node_pool),
                rollout.nodes,
                time(&rollout.start.0),
                time(&rollout.end.0),
                rollout.extra_nodes
            );
        }
    }
    if !answer.nodes.is_empty() {
        let cost = answer.cost;
        let _ = writeln!(
            text,
            "\nCost per hour: ${:.2} before, ${:.2} after, at most ${:.2} meanwhile; {}.",
            cost.before,
            cost.after,
            cost.peak,
            moving(answer.pods.moved)
        );
    }
    let blocked = answer.node_pools.iter().flat_map(|pool| pool.blocked.iter().map(move |text| (pool, text)));
    let blocked: Vec<String> =
        blocked.map(|(pool, text)| format!("NodePool {}: {text}", pool.name)).collect();
    list(&mut text, "NodePools that cannot roll out now", &blocked);
    nodes(&mut text, answer, "Nodes that are never replaced", |node| node.drifted && node.never);
    let waits = |node: &PlannedNode| node.drifted && !node.never && node.start.0.is_none();
    nodes(&mut text, answer, "Nodes that wait", waits);
    nodes(&mut text, answer, "Nodes whose drain never ends", |node| !node.drifted && node.never);
    list(&mut text, "Pods that lose their place", &answer.pods.lost);
    list(&mut text, "Pods that gain a place", &answer.pods.gained);
    list(&mut text, "What holds up the drain of a node", &answer.pods.holding);
    if !answer.assumptions.is_empty() {
        let _ = writeln!(text, "\n<details><summary>Assumed</summary>\n");
        for assumption in &answer.assumptions {
            let _ = writeln!(text, "- {}", inline(assumption));
        }
        text.push_str("\n</details>\n");
    }
    text
}

/// The number of pods that move, as a sentence.
pub fn moving(pods: usize) -> String {
    match pods {
        0 => "no pod moves".to_owned(),
        1 => "1 pod moves".to_owned(),
        _ => format!("{pods} pods move"),
    }
}

fn changes(text: &mut String, answer: &PlanAnswer) {
    if answer.changes.is_empty() {
        return;
    }
    text.push_str("\n| object | field | change | effect |\n|---|---|---|---|\n");
    for change in &answer.changes {
        let object = object(change);
        if change.fields.is_empty() {
            let what = match change.change {
                ObjectChangeKind::Added => "added",
                ObjectChangeKind::Removed => "removed",
                ObjectChangeKind::Changed if change.effect == Effect::None => "written differently",
                ObjectChangeKind::Changed => "changed",
            };
            let effect = if change.change == ObjectChangeKind::Added { "" } else { change.effect.words() };
            let parts = [effect, &cell(&change.message)].map(str::to_owned);
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let _ = writeln!(text, "| {object} | | {what} | {} |", parts.join(": "));
        } else if !change.message.is_empty() {
            let _ = writeln!(text, "| {object} | | changed | {} |", cell(&change.message));
        }
        for field in &change.fields {
            let _ = writeln!(
                text,
                "| {object} | {} | {} | {} |",
                place(field),
                cell(&arrow(&field.old, &field.new)),
                effect(field)
            );
        }
    }
    text.push('\n');
}

fn object(change: &PlannedChange) -> String {
    let cluster =
        if change.cluster.is_empty() { String::new() } else { format!(" in {}", cell(&change.cluster)) };
    if change.kind.is_empty() {
        return format!("`{}`{cluster}", code(&change.file));
    }
    format!("`{}/{}`{cluster}", code(&change.kind), code(&change.name))
}

fn place(field: &PlannedField) -> String {
    format!("`{}` (`{}:{}`)", code(&field.path), code(&field.file), field.line)
}

fn effect(field: &PlannedField) -> String {
    let reason = field.reason.0.map(|reason| format!(" ({})", reason.name())).unwrap_or_default();
    format!("{}{reason}", field.effect.words())
}

fn arrow(old: &str, new: &str) -> String {
    let shown = |text: &str| if text.is_empty() { "not set".to_owned() } else { format!("`{}`", code(text)) };
    if old == new {
        return shown(new);
    }
    format!("{} → {}", shown(old), shown(new))
}

/// A text between back-ticks in a cell of a table.
fn code(text: &str) -> String {
    printable(text).replace('`', "'").replace('|', "\\|")
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|").replace("\\\\|", "\\|")
}

/// Nodes with the reasons that hold them.
fn nodes(text: &mut String, answer: &PlanAnswer, title: &str, is_in: impl Fn(&PlannedNode) -> bool) {
    let reasons = |node: &PlannedNode| {
        let name = if node.node.is_empty() { &node.node_claim } else { &node.node };
        format!("{name}: {}", node.because.join("; "))
    };
    let found: Vec<String> = answer.nodes.iter().filter(|node| is_in(node)).map(reasons).collect();
    list(text, title, &found);
}

fn list(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n### {title}\n");
    for item in items.iter().take(MAX_NAMED) {
        let _ = writeln!(text, "- {}", inline(item));
    }
    if items.len() > MAX_NAMED {
        let _ = writeln!(text, "- and {} more", items.len() - MAX_NAMED);
    }
}
