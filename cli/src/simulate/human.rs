//! The result of a simulation for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use objects::location::Place;
use render::human;
use scheduling::simulation::{Placement, PoolReason, SimulatedClaim, SimulatedPod, SimulationResult};
use values::quantity::Quantity;

use karpwarden::simulate::remedy::{remedy, unmet};
use karpwarden::simulate::summary::SimulationSummary;
use karpwarden::simulate::words::{costs, counted, scaling, verdict};
use karpwarden::simulate::{Shown, ignored};

use crate::painter::{BAD, BOLD, DIM, GOOD, Painter};

/// The number of instance types and pods to name.
const MAX_NAMED: usize = 3;

/// Characters of a bar.
const BAR: usize = 20;

/// The number of workloads in a line.
const MAX_GROUPS: usize = 100;

/// Pods without a place for the same reasons.
struct UnplacedGroup<'s, 'd> {
    message: &'s str,
    reasons: &'s [PoolReason<'d>],
    /// The number of NodePools whose reasons are left out.
    left_out: usize,
    pods: Vec<&'s SimulatedPod<'d>>,
}

/// Number of rounds on a line of 80 characters.
const ROUNDS_ON_A_LINE: usize = 3;

/// Writes the result: the verdict, the nodes, the pods without a place, the assumptions.
pub(super) fn write(out: &mut dyn Write, shown: &Shown<'_, '_>, color: bool) -> io::Result<()> {
    let painter = Painter { color };
    let totals = SimulationSummary::of(shown.outcome);
    let style = if totals.unplaced + totals.ignored + totals.untried == 0 { GOOD } else { BAD };
    let scaled = &shown.outcome.workloads;
    writeln!(out, "{}", painter.paint(style, &human::printable(&verdict(totals, scaled))))?;
    // Without a pod to place, the verdict is about these workloads.
    for workload in scaled.iter().filter(|one| totals.pods > 0 && one.kept + one.removed > 0) {
        writeln!(out, "{}", human::printable(&scaling(workload)))?;
    }
    if totals.claims > 0 {
        for (kind, text) in costs(totals) {
            writeln!(out, "  {kind:<9} {text}")?;
        }
    }
    if shown.outcome.rounds > 1 {
        for line in by_round(shown.outcome) {
            writeln!(out, "  {line}")?;
        }
    }
    for (number, claim) in shown.outcome.claims.iter().enumerate() {
        write_claim(out, painter, shown.outcome, number, claim)?;
    }
    write_existing(out, painter, shown.outcome)?;
    write_unplaced(out, painter, shown)?;
    write_ignored(out, painter, shown)?;
    write_untried(out, painter, shown.outcome)?;
    write_assumptions(out, painter, shown)?;
    write_findings(out, shown)
}

/// The number of pods that each round placed, a few rounds on each line.
fn by_round(outcome: &SimulationResult<'_>) -> Vec<String> {
    let mut rounds: BTreeMap<usize, usize> = BTreeMap::new();
    for round in outcome.pods.iter().filter_map(|pod| pod.round) {
        *rounds.entry(round).or_default() += 1;
    }
    in_lines(&rounds)
}

fn in_lines(rounds: &BTreeMap<usize, usize>) -> Vec<String> {
    let texts =
        rounds.iter().map(|(round, count)| format!("round {round} places {}", counted(*count, "pod")));
    let texts: Vec<String> = texts.collect();
    texts.chunks(ROUNDS_ON_A_LINE).map(|some| some.join(", ")).collect()
}

fn write_claim(
    out: &mut dyn Write,
    painter: Painter,
    outcome: &SimulationResult<'_>,
    number: usize,
    claim: &SimulatedClaim<'_>,
) -> io::Result<()> {
    let round = if claim.round > 1 { format!(", opened in round {}", claim.round) } else { String::new() };
    let title = format!("node {} of NodePool {}{round}", number + 1, human::printable(claim.pool.name()));
    writeln!(out, "\n{}", painter.paint(BOLD, &title))?;
    let cheapest = claim.cheapest.iter().take(MAX_NAMED);
    let names: Vec<String> = cheapest.map(|(name, price)| format!("{name} ${price:.4}")).collect();
    let more = claim.cheapest.len().saturating_sub(MAX_NAMED);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    writeln!(out, "  types     {}{others}", names.join(", "))?;
    writeln!(out, "  zones     {}", claim.zones.join(", "))?;
    writeln!(out, "  capacity  {}", claim.capacity_types.join(", "))?;
    for name in ["cpu", "memory", "pods"] {
        write_bar(out, painter, claim, name)?;
    }
    let pods: Vec<&SimulatedPod<'_>> =
        claim.pods.iter().filter_map(|index| outcome.pods.get(*index)).collect();
    writeln!(out, "  runs      {}", grouped(&pods))
}

/// A bar for the requests of a resource on the cheapest type.
fn write_bar(
    out: &mut dyn Write,
    painter: Painter,
    claim: &SimulatedClaim<'_>,
    name: &str,
) -> io::Result<()> {
    let find = |list: &[(&str, Quantity)]| list.iter().find(|(of, _)| *of == name).map(|(_, amount)| *amount);
    let Some(has) = find(&claim.allocatable) else { return Ok(()) };
    let asked = find(&claim.requests).unwrap_or(Quantity::ZERO);
    let cells = filled(asked, has);
    let bar = format!("{}{}", "█".repeat(cells), "░".repeat(BAR - cells));
    writeln!(out, "  {name:<9} {} {asked} of {has}", painter.paint(DIM, &bar))
}

/// The number of filled cells of a bar.
fn filled(asked: Quantity, has: Quantity) -> usize {
    let width = i128::try_from(BAR).unwrap_or_default();
    let cells = asked.nano().saturating_mul(width).checked_div(has.nano()).unwrap_or(width);
    usize::try_from(cells.clamp(0, width)).unwrap_or_default()
}

/// The pods by the workload that they come from: `default/web ×12`, at most [`MAX_GROUPS`] workloads.
fn grouped(pods: &[&SimulatedPod<'_>]) -> String {
    let mut groups: Vec<(String, usize)> = Vec::new();
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods {
        // The simulation names the pods that it adds for a workload.
        let object = pod.pod.object();
        let name = if object.kind() == "Pod" { &pod.name } else { object.name() };
        let name = format!("{}/{name}", pod.namespace);
        let at = *positions.entry(name.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => groups.push((name, 1)),
        }
    }
    let more = groups.len().saturating_sub(MAX_GROUPS);
    let texts = groups.iter().take(MAX_GROUPS).map(|(name, count)| {
        let name = human::printable(name);
        if *count == 1 { name } else { format!("{name} ×{count}") }
    });
    let texts = texts.collect::<Vec<_>>().join(", ");
    if more == 0 { texts } else { format!("{texts} and {more} more") }
}

fn write_existing(out: &mut dyn Write, painter: Painter, outcome: &SimulationResult<'_>) -> io::Result<()> {
    let mut nodes: BTreeMap<&str, Vec<&SimulatedPod<'_>>> = BTreeMap::new();
    for pod in &outcome.pods {
        if let Placement::Existing(node) = &pod.placement {
            nodes.entry(node.name()).or_default().push(pod);
        }
    }
    for (name, pods) in nodes {
        writeln!(out, "\n{}", painter.paint(BOLD, &format!("existing node {}", human::printable(name))))?;
        writeln!(out, "  runs      {}", grouped(&pods))?;
    }
    Ok(())
}

/// The pods without a place, those with the same message together.
fn write_unplaced(out: &mut dyn Write, painter: Painter, shown: &Shown<'_, '_>) -> io::Result<()> {
    let mut groups: Vec<UnplacedGroup<'_, '_>> = Vec::new();
    let mut positions = BTreeMap::new();
    for pod in &shown.outcome.pods {
        let (message, reasons, left_out) = match &pod.placement {
            Placement::Unplaced(unplaced) => {
                (unplaced.message.as_str(), unplaced.reasons.as_slice(), unplaced.left_out)
            }
            Placement::Unreported => ("this release reports no reason", [].as_slice(), 0),
            _ => continue,
        };
        // Reasons point at the lines of the pod.
        let place = Place::value(pod.pod.object().root());
        let place = (!reasons.is_empty()).then(|| (place.source().name(), place.span().start));
        let at = *positions.entry((message, place)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.pods.push(pod),
            None => groups.push(UnplacedGroup { message, reasons, left_out, pods: vec![pod] }),
        }
    }
    for UnplacedGroup { message, reasons, left_out, pods } in groups {
        let Some(first) = pods.first() else { continue };
        writeln!(out, "\n{} {}", painter.paint(BAD, "no node for"), grouped(&pods))?;
        if reasons.is_empty() {
            writeln!(out, "  {}", human::printable(message))?;
            if let Some(hint) = hint(shown, message) {
                writeln!(out, "  {hint}")?;
            }
        }
        for reason in reasons {
            write_reason(out, painter, first, reason)?;
        }
        if left_out > 0 {
            writeln!(out, "  and {} more", counted(left_out, "NodePool"))?;
        }
    }
    Ok(())
}

/// The pods that were not tried.
fn write_untried(out: &mut dyn Write, painter: Painter, outcome: &SimulationResult<'_>) -> io::Result<()> {
    let pods = outcome.pods.iter().filter(|pod| matches!(pod.placement, Placement::Untried));
    let pods: Vec<&SimulatedPod<'_>> = pods.collect();
    if pods.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{} {}", painter.paint(BAD, "not tried"), grouped(&pods))?;
    writeln!(
        out,
        "  the input takes more than {} steps of work; simulate fewer workloads or NodePools at a time",
        outcome.steps
    )
}

fn write_reason(
    out: &mut dyn Write,
    painter: Painter,
    pod: &SimulatedPod<'_>,
    reason: &PoolReason<'_>,
) -> io::Result<()> {
    let title = format!("NodePool {} ({})", human::printable(reason.pool.name()), reason.kind.name());
    writeln!(out, "  {}: {}", painter.paint(BOLD, &title), human::printable(short(&reason.message)))?;
    let unmet = unmet(reason);
    if !unmet.is_empty() {
        writeln!(out, "    {}", human::printable(&unmet))?;
    }
    write_place(out, "pod", reason.place_in_pod(pod.pod), pod.pod.object())?;
    write_place(out, "NodePool", reason.place_in_pool(), reason.pool)?;
    match remedy(reason) {
        Some(remedy) => writeln!(out, "    to fit: {}", human::printable(&remedy)),
        None => Ok(()),
    }
}

/// Karpenter's message without the list of requirements and requests, which the lines below it point at.
fn short(message: &str) -> &str {
    message.split_once(", requirements=").map_or(message, |(first, _)| first)
}

/// Advice about the input if Karpenter's message is about an object that the input lacks.
fn hint(shown: &Shown<'_, '_>, message: &str) -> Option<String> {
    let release = shown.simulation.settings().release;
    if message.ends_with("nodepools found") {
        Some(format!(
            "the input has no NodePool of `karpenter.sh/v1` that Karpenter {release} launches nodes for: add one, or run \
             `karpwarden check` to see why it is not used"
        ))
    } else if message.contains("not found") {
        Some("the input lacks this object: add it if the cluster has it".to_owned())
    } else if message.contains("must be bound") {
        Some(
            "only until the claim is bound: the output of `kubectl get pvc,pv -o yaml` shows whether it is"
                .to_owned(),
        )
    } else {
        None
    }
}

/// The line of a field, with carets under it.
fn write_place(
    out: &mut dyn Write,
    of: &str,
    place: Option<Place<'_>>,
    object: objects::object::Object<'_>,
) -> io::Result<()> {
    let Some(place) = place else { return Ok(()) };
    let (source, span) = (place.source(), place.span());
    let start = source.before(span.start).rfind('\n').map_or(0, |at| at + 1);
    let line = source.after(start).lines().next().unwrap_or_default();
    let number = source.before(start).matches('\n').count() + 1;
    let path = place.path(object.root());
    writeln!(out, "    {of} {}:{number} {}", human::printable(source.name()), human::printable(&path))?;
    let before = line.get(..span.start.saturating_sub(start)).unwrap_or_default().chars().count();
    let marked = line.get(span.start.saturating_sub(start)..).unwrap_or_default();
    let width = marked.get(..span.end.saturating_sub(span.start)).unwrap_or(marked).chars().count().max(1);
    if line.len() <= 120 {
        writeln!(out, "      {}", human::printable(line))?;
        writeln!(out, "      {}{}", " ".repeat(before), "^".repeat(width))?;
    }
    Ok(())
}

/// The pods that Karpenter ignores, grouped by workload and message.
fn write_ignored(out: &mut dyn Write, painter: Painter, shown: &Shown<'_, '_>) -> io::Result<()> {
    let mut groups: BTreeMap<_, Vec<&SimulatedPod<'_>>> = BTreeMap::new();
    for pod in &shown.outcome.pods {
        if let Placement::Ignored(message) = &pod.placement {
            let place = pod.ignored_field.as_ref().map(|field| &field.place);
            let place = place.map(|place| (place.source().name(), place.span().start));
            groups.entry((place, message.as_str())).or_default().push(pod);
        }
    }
    for ((_, message), pods) in groups {
        let Some(first) = pods.first() else { continue };
        writeln!(out, "\n{} {}", painter.paint(BAD, "Karpenter ignores"), grouped(&pods))?;
        let Some(field) = &first.ignored_field else {
            writeln!(out, "  {}", human::printable(message))?;
            if let Some(hint) = hint(shown, message) {
                writeln!(out, "  {hint}")?;
            }
            continue;
        };
        writeln!(out, "  {}", human::printable(&ignored::problem(field)))?;
        write_place(out, "pod", Some(field.place.clone()), first.pod.object())?;
        writeln!(out, "    to fix: {}", human::printable(&ignored::remedy(field)))?;
    }
    Ok(())
}

fn write_findings(out: &mut dyn Write, shown: &Shown<'_, '_>) -> io::Result<()> {
    match shown.findings.len() {
        0 => Ok(()),
        1 => writeln!(out, "\n1 finding about this input: `karpwarden check` shows it"),
        count => writeln!(out, "\n{count} findings about this input: `karpwarden check` shows them"),
    }
}

fn write_assumptions(out: &mut dyn Write, painter: Painter, shown: &Shown<'_, '_>) -> io::Result<()> {
    writeln!(out, "\n{}", painter.paint(BOLD, "assumed"))?;
    for assumption in shown.assumptions {
        writeln!(out, "  {}", human::printable(assumption))?;
    }
    if shown.skipped > 0 {
        writeln!(out, "  {} without effect: not readable", counted(shown.skipped, "document"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_bars_in_proportion() {
        let quantity = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(filled(quantity("500m"), quantity("1")), BAR / 2);
        assert_eq!(filled(quantity("2"), quantity("1")), BAR);
        assert_eq!(filled(quantity("1"), quantity("0")), BAR);
    }

    #[test]
    fn names_a_few_rounds_on_each_line() {
        let rounds = (1..=4).map(|round| (round, 10_usize.pow(4) / round)).collect();
        insta::assert_snapshot!(in_lines(&rounds).join("\n"), @"
        round 1 places 10000 pods, round 2 places 5000 pods, round 3 places 3333 pods
        round 4 places 2500 pods
        ");
    }
}
