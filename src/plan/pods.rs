//! The pods of the input that lose or gain a place, and the pods that hold up a rollout.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedPods;
use engine::check::check_within;
use karpenter::labels;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use rule::settings::Settings;
use scheduling::simulation::{Placement, Simulation, TooManyPods};

use super::pool::BothSettings;
use super::scope::PlanScope;
use super::{Plan, PlanAssumption, PlanOptions, PlanSide};
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

/// Kinds whose objects have pods.
const WORKLOADS: [&str; 8] = [
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "ReplicationController",
];

/// The pods of one cluster whose place differs, or that have none.
#[derive(Debug, Default)]
pub(super) struct ComparedPods {
    lost: Vec<String>,
    gained: Vec<String>,
    /// The pods without a place that had one before or are new.
    added: Vec<String>,
    /// The pods without a place that had none before.
    waiting: Vec<String>,
}

impl ComparedPods {
    /// Places the pods before and after, and compares.
    pub(super) fn of(scope: &PlanScope<'_>, settings: BothSettings<'_>) -> Result<Self, TooManyPods> {
        let (old, new) = (placed(&scope.old, settings.old)?, placed(&scope.new, settings.new)?);
        let name = |(namespace, name): &(String, String)| format!("{namespace}/{name}");
        let mut found = Self::default();
        for (pod, is_placed) in &new {
            match old.get(pod) {
                Some(true) if !is_placed => found.lost.push(name(pod)),
                Some(false) if *is_placed => found.gained.push(name(pod)),
                _ => {}
            }
            if !is_placed {
                let waits = old.get(pod) == Some(&false);
                let list = if waits { &mut found.waiting } else { &mut found.added };
                list.push(name(pod));
            }
        }
        Ok(found)
    }

    /// Whether a pod has no place although it had one before or is new.
    const fn is_worse(&self) -> bool {
        !self.added.is_empty()
    }

    /// Adds the pods to the ones of other clusters.
    pub(super) fn add_to(self, pods: &mut PlannedPods) {
        pods.lost.extend(self.lost);
        pods.gained.extend(self.gained);
        // Another cluster may have a pod of the name. The pods that lose their place come first, so that no list is cut before them.
        let known: BTreeSet<String> = pods.pending.iter().cloned().collect();
        let again: BTreeSet<&String> = self.added.iter().collect();
        pods.pending_before.retain(|pod| !again.contains(pod));
        pods.pending_before.extend(self.waiting.iter().filter(|pod| !known.contains(*pod)).cloned());
        pods.pending.splice(0..0, self.added);
        pods.pending.extend(self.waiting);
        for list in [&mut pods.lost, &mut pods.gained, &mut pods.pending, &mut pods.pending_before] {
            // Pods of several clusters may have one name.
            let mut seen = BTreeSet::new();
            list.retain(|pod| seen.insert(pod.clone()));
            list.truncate(MAX_LISTED);
        }
        let listed: BTreeSet<&String> = pods.pending.iter().collect();
        pods.pending_before.retain(|pod| listed.contains(pod));
    }
}

/// Whether a cluster has a NodePool, and a workload that is new or changes. If such a workload selects nodes of others, such as the ones of a
/// managed node group, its pods may find a place there.
fn has_new_workload(scope: &PlanScope<'_>) -> bool {
    let is_workload = |object: &&Object<'_>| WORKLOADS.contains(&object.kind());
    let name = |object: &Object<'_>| [object.kind(), object.namespace(), object.name()].map(str::to_owned);
    let text = |object: &Object<'_>| object.at(&["spec"]).map(|spec| spec.to_json().to_string());
    let olds: BTreeMap<[String; 3], Option<String>> =
        scope.old.iter().filter(is_workload).map(|object| (name(object), text(object))).collect();
    let is_new = |object: &Object<'_>| olds.get(&name(object)) != Some(&text(object));
    let pools: Vec<NodePool<'_>> = scope.new.iter().filter_map(|object| NodePool::of(*object)).collect();
    let changed: Vec<&Object<'_>> =
        scope.new.iter().filter(is_workload).filter(|object| is_new(object)).collect();
    !pools.is_empty() && !changed.is_empty() && !changed.iter().any(|object| selects_others(**object, &pools))
}

/// Whether the pods of a workload select a label that neither Karpenter nor a NodePool sets.
fn selects_others(object: Object<'_>, pools: &[NodePool<'_>]) -> bool {
    let is_of_karpenter = |key: &str| {
        let mut required = pools.iter().flat_map(|pool| pool.requirements().items());
        labels::all_well_known().any(|known| known == labels::normalised(key))
            || pools.iter().any(|pool| pool.node_labels().any(|(own, _)| own == key))
            || required.any(|requirement| requirement.key() == Some(key))
    };
    let keys = Pod::of(object).into_iter().flat_map(Pod::expressions);
    keys.map(|expression| expression.key).any(|key| !is_of_karpenter(key))
}

/// Whether a cluster has NodePools of EKS Auto Mode, whose nodes a simulation does not know.
pub(super) fn has_auto_mode(scope: &PlanScope<'_>) -> bool {
    let is_of_auto_mode = |object: &Object<'_>| NodePool::of(*object).is_some_and(NodePool::is_of_auto_mode);
    scope.old.iter().chain(&scope.new).any(is_of_auto_mode)
}

/// Adds the pods of new workloads that find no place, if no NodePool is concerned.
pub(super) fn add_new(
    plan: &mut Plan,
    scope: &PlanScope<'_>,
    settings: BothSettings<'_>,
    options: &PlanOptions,
) {
    let is_tried = !options.is_snapshot && scope.is_whole && !has_auto_mode(scope);
    if !is_tried || !has_new_workload(scope) {
        return;
    }
    if let Some(compared) = ComparedPods::of(scope, settings).ok().filter(ComparedPods::is_worse) {
        compared.add_to(&mut plan.answer.pods);
        let assumed = settings.new.assumptions.iter().cloned();
        plan.assumptions.extend(assumed.map(PlanAssumption::Simulation));
    }
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
