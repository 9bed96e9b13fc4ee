//! A plan for people: the verdict, the changes, the NodePools, the rollouts, the nodes that stay, the cost, the pods.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::Style;
use answers::plan::{PlanAnswer, PlannedChange, PlannedField, PlannedNode, PlannedPool};
use answers::{DateTime, OrEmpty, PricedType};
use drift::{DriftReason, Effect, ObjectChangeKind};
use render::human::printable;
use render::planned::moving;
use values::timestamp::Timestamp;

use crate::disruption::clock::Clock;
use crate::painter::{BAD, BOLD, DIM, GOOD, Painter, WARN};

/// Title of a list of nodes, and whether a node is in it.
type NodeGroup = (&'static str, fn(&PlannedNode) -> bool);

/// Number of nodes and pods that a list names.
const MAX_NAMED: usize = 10;

pub(super) fn write(
    out: &mut dyn Write,
    answer: &PlanAnswer,
    clock: &Clock,
    has_color: bool,
) -> io::Result<()> {
    let painter = Painter { color: has_color };
    let style = style_of(answer.effect);
    writeln!(out, "{}", painter.paint(style, &printable(&answer.verdict)))?;
    let (before, after) = (&answer.karpenter_version_before, &answer.karpenter_version);
    let release = if before == after { after.clone() } else { format!("{before} → {after}") };
    writeln!(out, "{}", painter.paint(DIM, &format!("Karpenter {release}, at {}", time(&answer.at, clock))))?;
    let page = Page { painter, clock };
    page.changes(out, answer)?;
    page.controller(out, answer)?;
    page.pools(out, answer)?;
    page.rollouts(out, answer)?;
    page.nodes(out, answer)?;
    page.pods(out, answer)?;
    page.assumptions(out, answer)
}

fn style_of(effect: Effect) -> Style {
    match effect {
        Effect::ReplacesAll | Effect::ReplacesSome | Effect::RemovesNodes => BAD,
        Effect::Unknown => WARN,
        Effect::None | Effect::NewNodes | Effect::ActsAtOnce => GOOD,
    }
}

/// A time in the time zone of the reader.
fn time(time: &DateTime, clock: &Clock) -> String {
    let parsed = Timestamp::parse(time.as_str());
    parsed.map_or_else(|| time.as_str().to_owned(), |time| format!("{} {}", clock.long(time), clock.name()))
}

struct Page<'p> {
    painter: Painter,
    clock: &'p Clock,
}

impl Page<'_> {
    fn title(&self, out: &mut dyn Write, title: &str) -> io::Result<()> {
        writeln!(out, "\n{}", self.painter.paint(BOLD, title))
    }

    fn effect(&self, effect: Effect) -> String {
        self.painter.paint(style_of(effect), effect.words())
    }

    fn changes(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        if answer.changes.is_empty() {
            return Ok(());
        }
        self.title(out, "changes")?;
        for change in &answer.changes {
            writeln!(out, "  {}", self.head(change))?;
            if !change.message.is_empty() {
                writeln!(out, "    {}", printable(&change.message))?;
            }
            for field in &change.fields {
                writeln!(out, "    {}", field_line(field))?;
                let message = printable(&field.message);
                let message = if field.effect == change.effect {
                    message
                } else {
                    format!("{}: {message}", field.effect.words())
                };
                writeln!(out, "      {}", self.painter.paint(DIM, &message))?;
            }
        }
        Ok(())
    }

    /// `NodePool/default in prod  changed, replaces every node (NodePoolDrifted)`.
    fn head(&self, change: &PlannedChange) -> String {
        let what = match change.change {
            ObjectChangeKind::Added => "added",
            ObjectChangeKind::Removed => "removed",
            ObjectChangeKind::Changed => "changed",
        };
        let cluster =
            if change.cluster.is_empty() { String::new() } else { format!(" in {}", change.cluster) };
        let name = if change.kind.is_empty() {
            change.file.clone()
        } else {
            format!("{}/{}", change.kind, change.name)
        };
        let name = self.painter.paint(BOLD, &printable(&format!("{name}{cluster}")));
        // An EC2NodeClass that no NodePool uses has no nodes.
        let is_unused = change.kind == "EC2NodeClass" && change.node_pools.is_empty();
        let effect = match (is_unused, change.change) {
            (true, _) => "no NodePool of the input uses it".to_owned(),
            (false, ObjectChangeKind::Added) => return format!("{name}  {what}"),
            (false, _) => self.effect(change.effect),
        };
        format!("{name}  {what}, {effect}{}", reason(change.reason))
    }

    fn controller(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        if answer.controller.is_empty() {
            return Ok(());
        }
        self.title(out, "controller")?;
        for change in &answer.controller {
            let cluster =
                if change.cluster.is_empty() { String::new() } else { format!(" in {}", change.cluster) };
            let values =
                if change.old == change.new { change.new.clone() } else { arrow(&change.old, &change.new) };
            let subject = self.painter.paint(BOLD, &printable(&format!("{}{cluster}", change.subject)));
            writeln!(out, "  {subject}  {}  {}", printable(&values), self.effect(change.effect))?;
            writeln!(out, "    {}", self.painter.paint(DIM, &printable(&change.message)))?;
        }
        Ok(())
    }

    fn pools(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        if answer.node_pools.is_empty() {
            return Ok(());
        }
        self.title(out, "NodePools")?;
        for pool in &answer.node_pools {
            let cluster =
                if pool.cluster.is_empty() { String::new() } else { format!(" in {}", pool.cluster) };
            let name = self.painter.paint(BOLD, &printable(&format!("{}{cluster}", pool.name)));
            writeln!(out, "  {name}  {}", self.effect(pool.effect))?;
            if let Some(types) = types(pool) {
                writeln!(out, "    {types}")?;
            }
            for reason in &pool.blocked {
                writeln!(out, "    {}", self.painter.paint(WARN, &printable(reason)))?;
            }
        }
        Ok(())
    }

    fn rollouts(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        if answer.nodes.is_empty() {
            return Ok(());
        }
        self.title(out, if answer.rollouts.is_empty() { "cost" } else { "rollout" })?;
        for rollout in &answer.rollouts {
            let nodes =
                if rollout.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", rollout.nodes) };
            let when = match (&rollout.start.0, &rollout.end.0) {
                (Some(start), Some(end)) => {
                    format!("from {} to {}", time(start, self.clock), time(end, self.clock))
                }
                (Some(start), None) => {
                    format!("from {}; some do not go within the forecast", time(start, self.clock))
                }
                (None, _) if rollout.nodes == 1 => "does not go within the forecast".to_owned(),
                (None, _) => "do not go within the forecast".to_owned(),
            };
            let limit = match rollout.limited_by.words() {
                "" => String::new(),
                limit => format!(", limited by {limit}"),
            };
            let extra = if rollout.extra_nodes > 0 {
                format!(", up to {} more than now", rollout.extra_nodes)
            } else {
                String::new()
            };
            writeln!(
                out,
                "  {}  {nodes} {when}{limit}{extra}",
                self.painter.paint(BOLD, &printable(&rollout.node_pool))
            )?;
        }
        let cost = answer.cost;
        writeln!(
            out,
            "  cost per hour: ${:.2} before, ${:.2} after, at most ${:.2} meanwhile; {}",
            cost.before,
            cost.after,
            cost.peak,
            moving(answer.pods.moved)
        )
    }

    fn nodes(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        let groups: [NodeGroup; 5] = [
            ("nodes that are never replaced", |node| node.drifted && node.never),
            ("nodes that wait", |node| !node.never && node.drifted && node.start.0.is_none()),
            ("nodes that may be replaced", |node| node.uncertain),
            ("nodes that are removed", |node| !node.drifted && !node.uncertain),
            ("nodes that are replaced", |node| !node.never && node.drifted && node.start.0.is_some()),
        ];
        for (title, is_in) in groups {
            let nodes: Vec<&PlannedNode> = answer.nodes.iter().filter(|node| is_in(node)).collect();
            if nodes.is_empty() {
                continue;
            }
            self.title(out, &format!("{title}: {}", nodes.len()))?;
            for node in nodes.iter().take(MAX_NAMED) {
                let name = if node.node.is_empty() { &node.node_claim } else { &node.node };
                let when = match (&node.start.0, &node.end.0) {
                    (Some(start), Some(end)) => {
                        format!("  {} to {}", time(start, self.clock), time(end, self.clock))
                    }
                    (Some(start), None) => format!("  from {}", time(start, self.clock)),
                    (None, _) => String::new(),
                };
                writeln!(out, "  {}{}{when}", printable(name), reason(node.reason))?;
                for because in &node.because {
                    writeln!(out, "    {}", self.painter.paint(DIM, &printable(because)))?;
                }
            }
            more(out, nodes.len())?;
        }
        Ok(())
    }

    fn pods(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        let pods = &answer.pods;
        let before: BTreeSet<&String> = pods.pending_before.iter().collect();
        let pending: Vec<String> = pods.pending.iter().filter(|pod| !before.contains(pod)).cloned().collect();
        let lists = [
            ("pods that lose their place", &pods.lost),
            ("pods that gain a place", &pods.gained),
            ("pods without a place after the change", &pending),
            ("pods without a place, before the change as after it", &pods.pending_before),
            ("what holds up the drain of a node", &pods.holding),
        ];
        for (title, list) in lists {
            if list.is_empty() {
                continue;
            }
            self.title(out, &format!("{title}: {}", list.len()))?;
            for one in list.iter().take(MAX_NAMED) {
                writeln!(out, "  {}", printable(one))?;
            }
            more(out, list.len())?;
        }
        Ok(())
    }

    fn assumptions(&self, out: &mut dyn Write, answer: &PlanAnswer) -> io::Result<()> {
        if answer.assumptions.is_empty() {
            return Ok(());
        }
        self.title(out, "assumed")?;
        for assumption in &answer.assumptions {
            writeln!(out, "  {}", printable(assumption))?;
        }
        Ok(())
    }
}

/// `pool.yaml:9  spec.template.metadata.labels.team  a → b`.
fn field_line(field: &PlannedField) -> String {
    printable(&format!("{}:{}  {}  {}", field.file, field.line, field.path, arrow(&field.old, &field.new)))
}

fn arrow(old: &str, new: &str) -> String {
    if old == new {
        return new.to_owned();
    }
    let shown = |text: &str| if text.is_empty() { "(not set)".to_owned() } else { text.to_owned() };
    format!("{} → {}", shown(old), shown(new))
}

fn reason(reason: OrEmpty<DriftReason>) -> String {
    reason.0.map(|reason| format!(" ({})", reason.name())).unwrap_or_default()
}

/// The instance types before and after, with the cheapest.
fn types(pool: &PlannedPool) -> Option<String> {
    let side = |count: Option<usize>, cheapest: &[PricedType]| {
        let cheapest =
            cheapest.first().map(|one| format!(", from {} for ${:.4} per hour", one.name, one.price));
        let types = |count: usize| {
            if count == 1 { "1 instance type".to_owned() } else { format!("{count} instance types") }
        };
        count.map(|count| format!("{}{}", types(count), cheapest.unwrap_or_default()))
    };
    let before = side(pool.instance_types_before, &pool.cheapest_before);
    let after = side(pool.instance_types_after, &pool.cheapest_after);
    match (before, after) {
        (Some(before), Some(after)) if before != after => Some(format!("{before} → {after}")),
        (_, Some(after)) => Some(after),
        (Some(before), None) => Some(format!("before: {before}")),
        (None, None) => None,
    }
}

fn more(out: &mut dyn Write, count: usize) -> io::Result<()> {
    if count > MAX_NAMED { writeln!(out, "  and {} more", count - MAX_NAMED) } else { Ok(()) }
}
