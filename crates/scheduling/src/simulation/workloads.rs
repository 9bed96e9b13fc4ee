//! The pods of an input: pods as they are, and pods that workloads make.

use std::collections::BTreeSet;

use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::Pod;
use objects::workload::Workload;

use super::selector::namespace_of;
use super::settings::SimulationSettings;
use crate::scalar::text_or_empty;

/// Pod of an input.
#[derive(Clone, Debug)]
pub(crate) struct InputPod<'d> {
    /// The pod or the template.
    pub(crate) pod: Pod<'d>,
    /// The namespace.
    pub(crate) namespace: &'d str,
    /// The name.
    pub(crate) name: String,
}

/// The pods of an input by their state.
#[derive(Debug, Default)]
pub(crate) struct InputPods<'d> {
    /// Pods that wait for a node.
    pub(crate) pending: Vec<InputPod<'d>>,
    /// Pods that are bound to a node.
    pub(crate) running: Vec<InputPod<'d>>,
    /// The templates of `DaemonSets`.
    pub(crate) daemons: Vec<InputPod<'d>>,
    /// Whether pods were left out because there are too many.
    pub(crate) is_truncated: bool,
}

/// Largest number of pods that wait for a node.
pub(super) const MAX_PODS: usize = 50_000;

impl<'d> InputPods<'d> {
    /// Collects the pods of objects, in their order.
    pub(crate) fn of(objects: &[Object<'d>], settings: &SimulationSettings) -> Self {
        let owners = owners(objects);
        let mut all = Self::default();
        for object in objects {
            let key = (namespace_of(*object), object.kind().to_owned(), object.name().to_owned());
            match object.kind() {
                "Pod" => all.add_pod(*object),
                "DaemonSet" => all.daemons.extend(expand(*object, 1)),
                _ if settings.whole_state => {}
                _ if owners.contains(&key) || is_owned(*object) || is_idle(*object) => {}
                _ => all.pending.extend(expand(*object, replicas(*object, settings))),
            }
            all.is_truncated |= all.pending.len() > MAX_PODS;
            all.pending.truncate(MAX_PODS);
        }
        all
    }

    fn add_pod(&mut self, object: Object<'d>) {
        let Some(pod) = Pod::of(object) else { return };
        let name = object.name().to_owned();
        let entry = InputPod { pod, namespace: namespace_of(object), name };
        let phase = object.str_at(&["status", "phase"]);
        if matches!(phase, Some("Succeeded" | "Failed")) {
            return;
        }
        let has_node = pod.spec().node_name().and_then(Node::as_str).is_some_and(|name| !name.is_empty());
        let is_going = object.at(&["metadata", "deletionTimestamp"]).is_some();
        if has_node {
            self.running.push(entry);
        } else if !is_going {
            self.pending.push(entry);
        }
    }
}

fn expand(object: Object<'_>, replicas: usize) -> Vec<InputPod<'_>> {
    let mut all = Vec::new();
    let templates = Pod::all(object);
    for pod in &templates {
        for _ in 0..replicas.min((MAX_PODS + 1).saturating_sub(all.len())) {
            let name = format!("{}-{}", object.name(), all.len());
            all.push(InputPod { pod: *pod, namespace: namespace_of(object), name });
        }
    }
    all
}

/// The number of pods that a workload makes from a template.
fn replicas(object: Object<'_>, settings: &SimulationSettings) -> usize {
    let number = |node: Option<Node<'_>>| {
        node.and_then(Node::as_int).map(|number| usize::try_from(number).unwrap_or_default())
    };
    let chosen = settings
        .replicas
        .iter()
        .find(|chosen| chosen.kind.eq_ignore_ascii_case(object.kind()) && chosen.name == object.name());
    let written = match object.kind() {
        "Job" => parallel(object.at(&["spec"])),
        "CronJob" => parallel(object.at(&["spec", "jobTemplate", "spec"])),
        _ => number(Workload::of(object).replicas()),
    };
    chosen.map(|chosen| chosen.count).or(written).unwrap_or(1).min(MAX_PODS + 1)
}

/// The pods of a Job that run at the same time.
fn parallel(spec: Option<Node<'_>>) -> Option<usize> {
    let number = |field: &str| {
        let node = spec.and_then(|spec| spec.get(field)).and_then(Node::as_int)?;
        usize::try_from(node).ok()
    };
    let completions = number("completions").unwrap_or(usize::MAX);
    number("parallelism").map(|parallelism| parallelism.min(completions))
}

fn is_owned(object: Object<'_>) -> bool {
    object.metadata().owner_kinds().next().is_some()
}

/// Whether a Job or CronJob makes no pods: it is suspended, or the Job has finished, as most Jobs of a live cluster.
/// Source: `JobComplete`, `JobFailed` and `Suspend` in staging/src/k8s.io/api/batch/v1/types.go of kubernetes/kubernetes at
/// v1.33.0.
fn is_idle(object: Object<'_>) -> bool {
    if !matches!(object.kind(), "Job" | "CronJob") {
        return false;
    }
    let conditions = object.at(&["status", "conditions"]).into_iter().flat_map(Node::items);
    let mut ended = conditions.filter(|condition| {
        matches!(condition.str_at(&["type"]), Some("Complete" | "Failed"))
            && condition.str_at(&["status"]) == Some("True")
    });
    object.at(&["spec", "suspend"]).and_then(Node::as_bool) == Some(true) || ended.next().is_some()
}

/// The workloads whose pods are in the input, by namespace, kind and name.
fn owners<'d>(objects: &[Object<'d>]) -> BTreeSet<(&'d str, String, String)> {
    let mut all = BTreeSet::new();
    for object in objects.iter().filter(|object| matches!(object.kind(), "Pod" | "ReplicaSet" | "Job")) {
        for owner in items_of(object.metadata().owner_references()) {
            let (kind, name) = (text_or_empty(owner.get("kind")), text_or_empty(owner.get("name")));
            let namespace = namespace_of(*object);
            all.insert((namespace, kind.to_owned(), name.to_owned()));
            // A ReplicaSet has the name of its Deployment and a hash.
            if let (true, Some((deployment, _))) = (kind == "ReplicaSet", name.rsplit_once('-')) {
                all.insert((namespace, "Deployment".to_owned(), deployment.to_owned()));
            }
        }
    }
    all
}
