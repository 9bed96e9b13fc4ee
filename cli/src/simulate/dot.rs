//! The result of a simulation as a graph for Graphviz.

use std::collections::BTreeMap;
use std::io::{self, Write};

use scheduling::simulation::{Placement, SimulatedPod};

use karpwarden::simulate::Shown;

/// Writes the result: nodes as clusters with the pods in them.
pub(super) fn write(out: &mut dyn Write, shown: &Shown<'_, '_>) -> io::Result<()> {
    let outcome = shown.outcome;
    writeln!(out, "digraph placement {{\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];")?;
    for (number, claim) in outcome.claims.iter().enumerate() {
        let kind = claim.cheapest.first().map_or("no instance type", |(name, _)| name);
        let label = format!("{}: {kind}", claim.pool.name());
        let pods = claim.pods.iter().filter_map(|index| outcome.pods.get(*index));
        write_cluster(out, &format!("new{number}"), &label, pods)?;
    }
    let mut existing: BTreeMap<&str, Vec<&SimulatedPod<'_>>> = BTreeMap::new();
    let mut elsewhere = Vec::new();
    for pod in &outcome.pods {
        match &pod.placement {
            Placement::Existing(node) => existing.entry(node.name()).or_default().push(pod),
            Placement::Added(node) => existing.entry(node).or_default().push(pod),
            Placement::New(_) => {}
            _ => elsewhere.push(pod),
        }
    }
    for (number, (node, pods)) in existing.into_iter().enumerate() {
        write_cluster(out, &format!("existing{number}"), node, pods.into_iter())?;
    }
    if !elsewhere.is_empty() {
        write_cluster(out, "unplaced", "no node", elsewhere.into_iter())?;
    }
    writeln!(out, "}}")
}

fn write_cluster<'p, 'd: 'p>(
    out: &mut dyn Write,
    id: &str,
    label: &str,
    pods: impl Iterator<Item = &'p SimulatedPod<'d>>,
) -> io::Result<()> {
    writeln!(out, "  subgraph \"cluster_{id}\" {{\n    label={};", quoted(label))?;
    for pod in pods {
        writeln!(out, "    {};", quoted(&format!("{}/{}", pod.namespace, pod.name)))?;
    }
    writeln!(out, "  }}")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
