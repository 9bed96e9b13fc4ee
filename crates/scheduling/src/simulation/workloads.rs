//! The pods of an input: pods as they are, and pods that workloads make.

use std::collections::BTreeSet;

use manifest::tree::Node;
use objects::object::Object;
use objects::pod::Pod;
use objects::workload::Workload;

use super::leaving::leaving_pods;
use super::ownership::{Ownership, WorkloadKey};
use super::scaling::{ScaledWorkload, Scaling, has_replicas, is_active, number};
use super::selector::namespace_of;
use super::settings::SimulationSettings;

/// Pod of an input.
#[derive(Clone, Debug)]
pub(crate) struct InputPod<'d> {
    /// The pod or the template. For an added pod, it may be another pod of the workload.
    pub(crate) pod: Pod<'d>,
    /// The namespace.
    pub(crate) namespace: &'d str,
    /// The name.
    pub(crate) name: String,
    /// Whether a replica count adds the pod, so that it has no state yet.
    pub(crate) is_added: bool,
    /// The `pod-template-hash` of the running pods of its workload.
    pub(crate) template_hash: Option<&'d str>,
    /// The name of the node that the pod leaves, because the node goes.
    pub(crate) leaves: Option<&'d str>,
}

impl<'d> InputPod<'d> {
    /// A pod of the input, or a pod that a workload of the input makes.
    pub(crate) fn new(pod: Pod<'d>, namespace: &'d str, name: String) -> Self {
        Self { pod, namespace, name, is_added: false, template_hash: None, leaves: None }
    }

    /// A pod that a replica count adds.
    pub(super) fn added(pod: Pod<'d>, namespace: &'d str, name: String, hash: Option<&'d str>) -> Self {
        Self { is_added: true, template_hash: hash, ..Self::new(pod, namespace, name) }
    }
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
    /// The workloads with a chosen replica count.
    pub(crate) scaled: Vec<ScaledWorkload>,
    /// Whether pods were left out because there are too many.
    pub(crate) is_truncated: bool,
}

/// Largest number of pods that wait for a node.
pub(super) const MAX_PODS: usize = 50_000;

impl<'d> InputPods<'d> {
    /// Collects the pods of objects, in their order.
    pub(crate) fn of(objects: &[Object<'d>], settings: &SimulationSettings) -> Self {
        let ownership = Ownership::of(objects);
        let owners = ownership.all_owners(objects);
        let mut scaling = Scaling::of(objects, &ownership, &settings.replicas);
        let mut all = Self::default();
        for object in objects {
            match object.kind() {
                "Pod" if scaling.removes(*object) => {}
                "Pod" => all.add_pod(*object),
                "DaemonSet" => all.daemons.extend(expand(*object, 1)),
                _ if settings.whole_state => {}
                _ => {
                    let key = WorkloadKey::of(*object);
                    if let Some(pods) = scaling.take(key) {
                        all.add_pending(pods);
                    } else if !owners.contains(&key) && !is_owned(*object) && !is_idle(*object) {
                        all.add_pending(expand(*object, replicas(*object)));
                    }
                }
            }
        }
        all.add_pending(scaling.further);
        all.add_pending(leaving_pods(objects, &all.running, settings));
        all.scaled = scaling.workloads;
        all
    }

    fn add_pending(&mut self, pods: Vec<InputPod<'d>>) {
        self.pending.extend(pods);
        self.is_truncated |= self.pending.len() > MAX_PODS;
        self.pending.truncate(MAX_PODS);
    }

    fn add_pod(&mut self, object: Object<'d>) {
        let Some(pod) = Pod::of(object) else { return };
        let entry = InputPod::new(pod, namespace_of(object), object.name().to_owned());
        let phase = object.str_at(&["status", "phase"]);
        if matches!(phase, Some("Succeeded" | "Failed")) {
            return;
        }
        let has_node = pod.spec().node_name().and_then(Node::as_str).is_some_and(|name| !name.is_empty());
        let is_going = object.at(&["metadata", "deletionTimestamp"]).is_some();
        if has_node {
            self.running.push(entry);
        } else if !is_going {
            self.add_pending(vec![entry]);
        }
    }
}

fn expand(object: Object<'_>, replicas: usize) -> Vec<InputPod<'_>> {
    let mut all = Vec::new();
    let templates = Pod::all(object);
    for pod in &templates {
        for _ in 0..replicas.min((MAX_PODS + 1).saturating_sub(all.len())) {
            let name = format!("{}-{}", object.name(), all.len());
            all.push(InputPod::new(*pod, namespace_of(object), name));
        }
    }
    all
}

/// The number of pods that a workload makes from a template.
fn replicas(object: Object<'_>) -> usize {
    let written = match object.kind() {
        "Job" => parallel(object.at(&["spec"])),
        "CronJob" => parallel(object.at(&["spec", "jobTemplate", "spec"])),
        _ => number(Workload::of(object).replicas()),
    };
    written.unwrap_or(1).min(MAX_PODS + 1)
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

/// The workloads whose number of pods can be chosen: with a pod template, or with pods that they own.
pub fn scalable_workloads<'d>(objects: &[Object<'d>]) -> BTreeSet<WorkloadKey<'d>> {
    let ownership = Ownership::of(objects);
    let with_template =
        objects.iter().filter(|object| has_replicas(**object)).map(|object| WorkloadKey::of(*object));
    let pods = objects.iter().filter(|object| object.kind() == "Pod" && is_active(**object));
    let with_pods = pods.flat_map(|pod| ownership.owners(*pod));
    with_template.chain(with_pods).filter(|key| !matches!(key.kind, "DaemonSet" | "Node")).collect()
}
