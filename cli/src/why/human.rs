//! The explanation of a pod without a node, for people.

use std::io::{self, Write};

use answers::simulation::{Placed, ReportedNode};
use answers::why::{PodPlacement, WhyAnswer};
use render::human::printable;

use crate::form::Color;
use crate::{output, plugin, terminal};

/// Number of instance types to name.
const MAX_TYPES: usize = 3;

pub(super) fn print(answer: &WhyAnswer, color: Color) -> io::Result<()> {
    let mut out = terminal::stdout(color);
    let written = write(&mut out, answer);
    output::unless_closed(written.and_then(|()| out.flush()))
}

fn write(out: &mut dyn Write, answer: &WhyAnswer) -> io::Result<()> {
    writeln!(out, "{}", printable(&answer.verdict))?;
    let Some((pod, placement)) = answer.pod.as_ref().and_then(|pod| Some((pod, pod.placement.as_ref()?)))
    else {
        return Ok(());
    };
    match (placement.placed, &placement.new_node) {
        (Placed::New, Some(node)) => write_node(out, node)?,
        (Placed::Ignored, _) => write_ignored(out, placement)?,
        (Placed::No, _) => write_reasons(out, placement)?,
        _ => {}
    }
    // `FailedToSchedule` in pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.1.
    if !pod.scheduler.is_empty() {
        writeln!(
            out,
            "the scheduler `{}` places this pod; Karpenter launches a node once its condition PodScheduled has the reason Unschedulable",
            printable(&pod.scheduler)
        )?;
    }
    for assumption in &answer.assumptions {
        writeln!(out, "assumed: {}", printable(assumption))?;
    }
    Ok(())
}

fn write_node(out: &mut dyn Write, node: &ReportedNode) -> io::Result<()> {
    let types: Vec<&str> = node.cheapest.iter().take(MAX_TYPES).map(|one| one.name.as_str()).collect();
    let more = node.instance_types.saturating_sub(types.len());
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    writeln!(out, "  types     {}{others}", types.join(", "))?;
    writeln!(out, "  zones     {}", node.zones.join(", "))?;
    writeln!(out, "  capacity  {}", node.capacity_types.join(", "))?;
    writeln!(
        out,
        "  if it waits all the same, `{0} collect` and `{0} diagnose` show why the node does not come",
        plugin::program()
    )
}

fn write_ignored(out: &mut dyn Write, placement: &PodPlacement) -> io::Result<()> {
    match &placement.ignored {
        Some(field) => writeln!(
            out,
            "  {}: {}\n  to fix: {}",
            field.path,
            printable(&field.message),
            printable(&field.remedy)
        ),
        None => writeln!(out, "  {}", printable(&placement.message)),
    }
}

fn write_reasons(out: &mut dyn Write, placement: &PodPlacement) -> io::Result<()> {
    for reason in &placement.reasons {
        writeln!(out, "  NodePool {}: {}", printable(&reason.node_pool), printable(&reason.message))?;
        for (label, text) in [("nearest", &reason.nearest), ("to fit", &reason.remedy)] {
            if !text.is_empty() {
                writeln!(out, "    {label}: {}", printable(text))?;
            }
        }
    }
    Ok(())
}
