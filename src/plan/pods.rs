//! The pods of the input that lose or gain a place, and the pods that hold up a rollout.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedPods;
use engine::check::check_within;
use objects::object::Object;
use rule::settings::Settings;
use scheduling::simulation::{Placement, Simulation, TooManyPods};

use super::PlanSide;
use super::pool::BothSettings;
use super::scope::PlanScope;
use crate::REGISTRY;
use crate::simulate::DeducedSettings;

/// Rules about pods that no drain evicts, each with whether the pods never end by themselves.
const HOLDING: [(&str, bool); 3] = [
    ("pdb-zero-disruption", true),
    ("do-not-disrupt-pins-node-forever", true),
    ("job-protected-unbounded", false),
];

/// Number of pods of a list.
const MAX_LISTED: usize = 1_000;

/// Number of findings that are looked at.
const MAX_FINDINGS: usize = 10_000;

/// Places the pods before and after, and compares.
pub(super) fn compare(
    scope: &PlanScope<'_>,
    settings: BothSettings<'_>,
    pods: &mut PlannedPods,
) -> Result<(), TooManyPods> {
    let (old, new) = (placed(&scope.old, settings.old)?, placed(&scope.new, settings.new)?);
    let name = |(namespace, name): &(String, String)| format!("{namespace}/{name}");
    let (mut added, mut waiting) = (Vec::new(), Vec::new());
    for (pod, is_placed) in &new {
        match old.get(pod) {
            Some(true) if !is_placed => pods.lost.push(name(pod)),
            Some(false) if *is_placed => pods.gained.push(name(pod)),
            _ => {}
        }
        if !is_placed {
            let list = if old.get(pod) == Some(&false) { &mut waiting } else { &mut added };
            list.push(name(pod));
        }
    }
    // Another cluster may have a pod of the name. The pods that lose their place come first, so that no list is cut before them.
    let known: BTreeSet<String> = pods.pending.iter().cloned().collect();
    let again: BTreeSet<&String> = added.iter().collect();
    pods.pending_before.retain(|pod| !again.contains(pod));
    pods.pending_before.extend(waiting.iter().filter(|pod| !known.contains(*pod)).cloned());
    pods.pending.splice(0..0, added);
    pods.pending.extend(waiting);
    for list in [&mut pods.lost, &mut pods.gained, &mut pods.pending, &mut pods.pending_before] {
        // Pods of several clusters may have one name.
        let mut seen = BTreeSet::new();
        list.retain(|pod| seen.insert(pod.clone()));
        list.truncate(MAX_LISTED);
    }
    let listed: BTreeSet<&String> = pods.pending.iter().collect();
    pods.pending_before.retain(|pod| listed.contains(pod));
    Ok(())
}

/// Whether each pod has a place, by namespace and name. Pods that were not tried are left out.
fn placed(
    objects: &[Object<'_>],
    deduced: &DeducedSettings,
) -> Result<BTreeMap<(String, String), bool>, TooManyPods> {
    let simulation = Simulation::new(deduced.settings.clone(), objects)?;
    let result = simulation.run();
    let tried = result.pods.iter().filter_map(|pod| {
        let is_placed = match pod.placement {
            Placement::New(_) | Placement::Existing(_) | Placement::Added(_) => true,
            Placement::Unplaced(_) | Placement::Unreported => false,
            Placement::Untried | Placement::Ignored(_) => return None,
        };
        Some(((pod.namespace.to_owned(), pod.name.clone()), is_placed))
    });
    Ok(tried.collect())
}

/// Pods and PodDisruptionBudgets that hold up the drain of nodes.
#[derive(Debug, Default)]
pub(super) struct HeldDrains {
    /// Sentences about the pods and PodDisruptionBudgets, in the words of the rules.
    pub(super) texts: Vec<String>,
    /// The names of the ones that never let a node go.
    pub(super) keeping: Vec<String>,
}

/// The pods and PodDisruptionBudgets of a side that hold up the drain of a node.
pub(super) fn holding(side: PlanSide<'_>, settings: &Settings) -> HeldDrains {
    let report = check_within(&REGISTRY, std::slice::from_ref(side.cluster), settings, MAX_FINDINGS);
    let mut held = HeldDrains::default();
    let (mut kept, mut told) = (BTreeSet::new(), BTreeSet::new());
    for finding in report.findings {
        let Some((_, is_for_ever)) = HOLDING.iter().find(|(rule, _)| *rule == finding.rule) else { continue };
        let namespace =
            if finding.namespace.is_empty() { String::new() } else { format!("{}/", finding.namespace) };
        let name = format!("{} {namespace}{}", finding.kind, finding.name);
        let text = format!("{name}: {}", finding.message);
        if *is_for_ever && kept.insert(name.clone()) {
            held.keeping.push(name);
        }
        if told.insert(text.clone()) {
            held.texts.push(text);
        }
    }
    held.texts.truncate(MAX_LISTED);
    held
}
