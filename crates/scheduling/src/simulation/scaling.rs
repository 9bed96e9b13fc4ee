//! Replica counts that the caller chooses, for workloads whose pods may be in the input: running pods stay, the missing pods are
//! added, and the surplus goes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::Pod;

use super::ownership::{Ownership, TEMPLATE_HASH, WorkloadKey};
use super::selector::namespace_of;
use super::settings::ReplicaCount;
use super::workloads::{InputPod, MAX_PODS};
use crate::scalar::text;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Workload with a chosen replica count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledWorkload {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Pods of the input that stay.
    pub kept: usize,
    /// Pods that are added.
    pub added: usize,
    /// Pods of the input that go.
    pub removed: usize,
}

/// The pods that replica counts add and remove.
#[derive(Debug, Default)]
pub(super) struct Scaling<'d> {
    /// Pods of the input that go, by namespace and name.
    removed: BTreeSet<(&'d str, &'d str)>,
    /// The added pods of the workloads among the objects.
    added: BTreeMap<WorkloadKey<'d>, Vec<InputPod<'d>>>,
    /// The added pods of workloads that only the pods of the input name.
    pub(super) further: Vec<InputPod<'d>>,
    /// The workloads, by namespace, kind and name.
    pub(super) workloads: Vec<ScaledWorkload>,
}

impl<'d> Scaling<'d> {
    /// Applies replica counts to objects.
    pub(super) fn of(objects: &[Object<'d>], ownership: &Ownership<'d>, counts: &[ReplicaCount]) -> Self {
        let mut scaling = Self::default();
        if counts.is_empty() {
            return scaling;
        }
        for (key, found) in found(objects, ownership, counts) {
            let active = found.pods.len();
            let (removed, names) =
                if key.kind == "StatefulSet" { by_ordinal(key, &found) } else { by_rank(key, &found) };
            let pods = added(key, &found, &names);
            scaling.workloads.push(ScaledWorkload {
                kind: key.kind.to_owned(),
                namespace: key.namespace.to_owned(),
                name: key.name.to_owned(),
                kept: active.saturating_sub(removed.len()),
                added: pods.len(),
                removed: removed.len(),
            });
            scaling.removed.extend(removed.iter().map(|pod| (namespace_of(*pod), pod.name())));
            if found.object.is_some() {
                scaling.added.insert(key, pods);
            } else {
                scaling.further.extend(pods);
            }
        }
        scaling
    }

    /// Whether a pod of the input goes.
    pub(super) fn removes(&self, pod: Object<'d>) -> bool {
        self.removed.contains(&(namespace_of(pod), pod.name()))
    }

    /// The pods to add for a workload object; `None` if no replica count is about the workload.
    pub(super) fn take(&mut self, workload: WorkloadKey<'d>) -> Option<Vec<InputPod<'d>>> {
        self.added.remove(&workload)
    }
}

/// Workload that a replica count names, with the count.
struct Found<'d> {
    count: usize,
    object: Option<Object<'d>>,
    /// The active pods, in the order of the input.
    pods: Vec<Object<'d>>,
}

/// The workloads that the replica counts name: with objects, or with pods that they own.
fn found<'d>(
    objects: &[Object<'d>],
    ownership: &Ownership<'d>,
    counts: &[ReplicaCount],
) -> BTreeMap<WorkloadKey<'d>, Found<'d>> {
    let mut by_name: BTreeMap<&str, Vec<&ReplicaCount>> = BTreeMap::new();
    for count in counts {
        by_name.entry(&count.name).or_default().push(count);
    }
    let chosen = |key: &WorkloadKey<'d>| {
        let counts = by_name.get(key.name)?;
        let matching = counts.iter().rev().find(|count| count.names(*key))?;
        Some(matching.count.min(MAX_PODS + 1))
    };
    let mut all: BTreeMap<WorkloadKey<'d>, Found<'d>> = BTreeMap::new();
    let mut entry = |key: WorkloadKey<'d>, object: Option<Object<'d>>, pod: Option<Object<'d>>| {
        let Some(count) = chosen(&key) else { return };
        let found = all.entry(key).or_insert(Found { count, object: None, pods: Vec::new() });
        found.object = found.object.or(object);
        found.pods.extend(pod);
    };
    for object in objects {
        if object.kind() != "Pod" {
            if has_replicas(*object) {
                entry(WorkloadKey::of(*object), Some(*object), None);
            }
        } else if is_active(*object) {
            for owner in ownership.owners(*object) {
                entry(owner, None, Some(*object));
            }
        }
    }
    all
}

/// Whether an object makes a number of pods: neither a pod nor a DaemonSet.
pub(super) fn has_replicas(object: Object<'_>) -> bool {
    !matches!(object.kind(), "Pod" | "DaemonSet") && Pod::of(object).is_some()
}

/// Whether a controller counts a pod (`IsPodActive` in `pkg/controller/controller_utils.go` of kubernetes/kubernetes at v1.33.0).
pub(super) fn is_active(pod: Object<'_>) -> bool {
    !matches!(pod.str_at(&["status", "phase"]), Some("Succeeded" | "Failed"))
        && pod.at(&["metadata", "deletionTimestamp"]).is_none()
}

/// The pods of a StatefulSet that go, and the names of the missing ones: the ordinals from `spec.ordinals.start` on stay.
///
/// Source: `UpdateStatefulSet` in `pkg/controller/statefulset/stateful_set_control.go` of kubernetes/kubernetes at v1.33.0.
fn by_ordinal<'d>(key: WorkloadKey<'d>, found: &Found<'d>) -> (Vec<Object<'d>>, Vec<String>) {
    let start = found.object.and_then(|object| object.at(&["spec", "ordinals", "start"])?.as_int());
    let start = start.and_then(|start| usize::try_from(start).ok()).unwrap_or_default();
    let wanted = start..start.saturating_add(found.count);
    let ordinal = |pod: &Object<'d>| {
        let number = pod.name().strip_prefix(key.name)?.strip_prefix('-')?;
        number.parse::<usize>().ok().filter(|number| wanted.contains(number))
    };
    let present: BTreeSet<usize> = found.pods.iter().filter_map(ordinal).collect();
    let removed = found.pods.iter().filter(|pod| ordinal(pod).is_none()).copied().collect();
    let missing = wanted.clone().filter(|number| !present.contains(number));
    (removed, missing.map(|number| format!("{}-{number}", key.name)).collect())
}

/// The surplus pods of another workload in the order in which the `ReplicaSet` controller deletes them, and the names of the missing
/// pods. The Job controller has the same order without the number of pods on a node.
fn by_rank<'d>(key: WorkloadKey<'d>, found: &Found<'d>) -> (Vec<Object<'d>>, Vec<String>) {
    let active = found.pods.len();
    if active > found.count {
        let mut on_node: BTreeMap<&str, usize> = BTreeMap::new();
        for pod in &found.pods {
            *on_node.entry(node_of(*pod)).or_default() += 1;
        }
        let mut ranked = found.pods.clone();
        ranked.sort_by_cached_key(|pod| {
            (DeletionRank::of(*pod, on_node.get(node_of(*pod)).copied().unwrap_or_default()), pod.name())
        });
        ranked.truncate(active - found.count);
        return (ranked, Vec::new());
    }
    let taken: BTreeSet<&str> = found.pods.iter().map(|pod| pod.name()).collect();
    let names = (active..).map(|number| format!("{}-{number}", key.name));
    let free = names.filter(|name| !taken.contains(name.as_str()));
    (Vec::new(), free.take(found.count - active).collect())
}

fn node_of(pod: Object<'_>) -> &str {
    pod.str_at(&["spec", "nodeName"]).unwrap_or_default()
}

/// Order in which the `ReplicaSet` controller deletes surplus pods, the first pod first.
///
/// Source: `getPodsToDelete` in `pkg/controller/replicaset/replica_set.go` and `ActivePodsWithRanks` in
/// `pkg/controller/controller_utils.go` of kubernetes/kubernetes at v1.33.0. The controller compares ages by their magnitude and
/// chooses at random among equal ones; here the youngest goes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DeletionRank<'d> {
    is_assigned: bool,
    phase: u8,
    is_ready: bool,
    cost: i64,
    on_node: Reverse<usize>,
    ready_since: Youngest<'d>,
    restarts: Reverse<i64>,
    created: Youngest<'d>,
}

/// Key that sorts a missing time first and then the youngest (`afterOrZero` in the same file).
type Youngest<'d> = (bool, Reverse<&'d str>);

fn youngest(time: &str) -> Youngest<'_> {
    (!time.is_empty(), Reverse(time))
}

impl<'d> DeletionRank<'d> {
    fn of(pod: Object<'d>, on_node: usize) -> Self {
        let is_assigned = !node_of(pod).is_empty();
        let phase = match pod.str_at(&["status", "phase"]) {
            Some("Pending") => 0,
            Some("Unknown") => 1,
            Some(_) => 2,
            None => {
                if is_assigned {
                    2
                } else {
                    0
                }
            }
        };
        let mut conditions = items_of(pod.at(&["status", "conditions"]));
        let ready = conditions.find(|condition| {
            condition.str_at(&["type"]) == Some("Ready") && condition.str_at(&["status"]) == Some("True")
        });
        let containers = items_of(pod.at(&["status", "containerStatuses"]));
        let restarts = containers.filter_map(|container| container.get("restartCount")?.as_int()).max();
        Self {
            is_assigned,
            phase,
            is_ready: ready.is_some(),
            cost: pod.annotation(DELETION_COST).and_then(|cost| text(cost).parse().ok()).unwrap_or_default(),
            on_node: Reverse(on_node),
            ready_since: youngest(
                ready.and_then(|ready| ready.str_at(&["lastTransitionTime"])).unwrap_or_default(),
            ),
            restarts: Reverse(restarts.unwrap_or_default()),
            created: youngest(created(pod)),
        }
    }
}

fn created(pod: Object<'_>) -> &str {
    pod.at(&["metadata", "creationTimestamp"]).map(text).unwrap_or_default()
}

/// The pods to add, from the template of the workload, or else from its youngest pod.
fn added<'d>(key: WorkloadKey<'d>, found: &Found<'d>, names: &[String]) -> Vec<InputPod<'d>> {
    let youngest = found.pods.iter().copied().max_by_key(|pod| created(*pod));
    let hash = youngest.and_then(|pod| pod.metadata().label(TEMPLATE_HASH)).map(text);
    let templates = match (found.object, youngest) {
        // The input does not show from which template of a custom resource a pod comes.
        (Some(object), Some(_)) => Pod::of(object).into_iter().collect(),
        (Some(object), None) => Pod::all(object),
        (None, youngest) => youngest.and_then(Pod::of).into_iter().collect(),
    };
    let mut all = Vec::new();
    for template in &templates {
        for name in names {
            let number = all.len();
            let name = if templates.len() > 1 { format!("{}-{number}", key.name) } else { name.clone() };
            all.push(InputPod::added(*template, key.namespace, name, hash));
        }
    }
    all.truncate(MAX_PODS + 1);
    all
}

/// A number in an object. Negative numbers count as zero.
pub(super) fn number(node: Option<Node<'_>>) -> Option<usize> {
    node.and_then(Node::as_int).map(|number| usize::try_from(number).unwrap_or_default())
}
