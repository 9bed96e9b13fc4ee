//! The objects of a cluster after files are applied to it.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::joined;
use cluster::input_object::InputObject;
use drift::ObjectChangeKind;
use karpenter::kind::Kind;
use karpenter::labels;
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::Node;
use objects::chart_values;
use objects::object::{Form, Object, Operation};
use objects::pod_disruption_budget::PodDisruptionBudget;
use serde_json::{Map, Value, json};
use values::timestamp::Timestamp;

use super::PlanError;
use super::crossed::ScopeParts;
use super::retained;
use super::scope::{PLANNED, PlanScope, place_key};

/// Kinds that show what runs. Files do not replace them.
const STATE: [&str; 3] = ["Pod", "Node", "NodeClaim"];

/// Whether an object is a NodePool, an EC2NodeClass or a NodeOverlay.
pub(super) fn is_applied(object: Object<'_>) -> bool {
    PLANNED.into_iter().any(|kind| object.is(kind))
}

/// Kind, namespace and name of an object.
type ObjectName<'d> = (&'d str, &'d str, &'d str);

fn name_of(object: Object<'_>) -> ObjectName<'_> {
    (object.kind(), object.namespace(), object.name())
}

/// Refuses two objects of one name that the files would both apply: of two files, or of two calls of a module of Terraform, which may be for
/// two clusters. Of two in one file otherwise, the last one counts.
pub(super) fn check_names(files: &[InputObject<'_>]) -> Result<(), PlanError> {
    let mut known: BTreeMap<ObjectName<'_>, Object<'_>> = BTreeMap::new();
    for object in files.iter().map(|input| input.object).filter(|object| is_applied(*object)) {
        let Some(other) = known.insert(name_of(object), object) else { continue };
        let file = |object: Object<'_>| object.root().source().name().to_owned();
        let modules = [other, object].map(|one| one.root().tree().modules());
        let is_shared = || modules[0].iter().any(|module| modules[1].contains(module));
        let places = if file(other) != file(object) {
            [other, object].map(file)
        } else if let ([one, ..], [other, ..]) = (modules[0], modules[1])
            && !is_shared()
        {
            [one, other].map(|module| joined(&module.root, &module.address))
        } else {
            continue;
        };
        let (kind, name) = (object.kind().to_owned(), object.name().to_owned());
        let [one, other] = places;
        return Err(PlanError::SameName { kind, name, one, other });
    }
    Ok(())
}

/// The objects of files that replace objects of a cluster, the new ones, and the ones that an AdmissionReview deletes.
struct Wanted<'d> {
    deleted: BTreeSet<ObjectName<'d>>,
    by_name: BTreeMap<ObjectName<'d>, Object<'d>>,
    further: Vec<Object<'d>>,
}

impl<'d> Wanted<'d> {
    /// Besides the planned kinds, these are objects that the cluster has, PodDisruptionBudgets, and the values of Karpenter's chart. A
    /// manifest without a namespace is the object of the cluster that alone has its kind and name.
    fn of(files: &[InputObject<'d>], cluster: &[Object<'d>]) -> Self {
        let key = |object: &Object<'d>| (object.kind(), object.name());
        let mut places: BTreeMap<(&str, &str), Vec<&'d str>> =
            files.iter().map(|input| (key(&input.object), Vec::new())).collect();
        for object in cluster {
            places.get_mut(&key(object)).into_iter().for_each(|places| places.push(object.namespace()));
        }
        let mut wanted = Self { deleted: BTreeSet::new(), by_name: BTreeMap::new(), further: Vec::new() };
        for object in files.iter().map(|input| input.object) {
            let name = name_of(object);
            if object.operation() == Operation::Delete {
                wanted.deleted.extend((!STATE.contains(&name.0)).then_some(name));
                continue;
            }
            let known = places.get(&(name.0, name.2)).map(Vec::as_slice).unwrap_or_default();
            if chart_values::of(object).is_some() {
                wanted.further.push(object);
            } else if object.form() == Form::Api && !STATE.contains(&name.0) {
                if is_applied(object) || known.contains(&name.1) || is_budget_with_namespace(object) {
                    wanted.by_name.insert(name, object);
                } else if let ("", [namespace]) = (name.1, known) {
                    wanted.by_name.insert((name.0, namespace, name.2), object);
                }
            }
        }
        wanted
    }
}

fn is_budget_with_namespace(object: Object<'_>) -> bool {
    PodDisruptionBudget::of(object).is_some() && !object.namespace().is_empty()
}

/// An object of a cluster that the files may remove or change, or not, with the reason.
pub(super) struct OpenObject<'d> {
    pub(super) object: Object<'d>,
    pub(super) change: ObjectChangeKind,
    pub(super) reason: String,
}

/// The cluster before, and after the files are applied, with the objects for which the input does not say whether they change. `unused` are
/// the names of files that no kustomization beside them uses, and `differs` says whether two objects mean something else.
pub(super) fn scope<'d>(
    cluster: Vec<Object<'d>>,
    files: &[InputObject<'d>],
    (unused, differs): (&BTreeSet<&str>, impl Fn(Object<'d>, Object<'d>) -> bool),
    is_complete: bool,
) -> (PlanScope<'d>, Vec<OpenObject<'d>>) {
    let file_of = |object: Object<'d>| object.root().source().name();
    let known: BTreeSet<ObjectName<'_>> = cluster.iter().map(|object| name_of(*object)).collect();
    let is_unused = |input: &&InputObject<'d>| {
        let object = input.object;
        is_applied(object) && unused.contains(file_of(object)) && known.contains(&name_of(object))
    };
    let (beside, files): (Vec<&InputObject<'d>>, Vec<&InputObject<'d>>) = files.iter().partition(is_unused);
    let beside: BTreeMap<ObjectName<'d>, Object<'d>> =
        beside.into_iter().map(|input| (name_of(input.object), input.object)).collect();
    let files: Vec<InputObject<'d>> = files.into_iter().copied().collect();
    let open_reason = |object: Object<'d>| {
        let of_beside =
            || Some(format!("no kustomization lists {}", file_of(*beside.get(&name_of(object))?)));
        if is_complete {
            return Some((ObjectChangeKind::Removed, retained::of_object(object).or_else(of_beside)?));
        }
        let is_changed = differs(object, *beside.get(&name_of(object))?);
        of_beside().filter(|_| is_changed).map(|reason| (ObjectChangeKind::Changed, reason))
    };
    let mut seen = BTreeSet::new();
    let cluster: Vec<Object<'d>> =
        cluster.into_iter().filter(|object| !is_applied(*object) || seen.insert(name_of(*object))).collect();
    let Wanted { deleted, by_name: mut wanted, further } = Wanted::of(&files, &cluster);
    let (mut new, mut open) = (Vec::new(), Vec::new());
    for object in &cluster {
        match wanted.remove(&name_of(*object)) {
            Some(file) => new.push(file),
            None if deleted.contains(&name_of(*object)) => {}
            None if is_applied(*object) => {
                let reason = open_reason(*object);
                if reason.is_some() || !is_complete {
                    new.push(*object);
                }
                let object = *object;
                open.extend(reason.map(|(change, reason)| OpenObject { object, change, reason }));
            }
            None => new.push(*object),
        }
    }
    new.extend(wanted.into_values());
    new.extend(further);
    let unresolved =
        files.iter().filter_map(|input| Some((place_key(input.object), input.unresolved?.to_owned())));
    let scope = PlanScope {
        name: String::new(),
        old: cluster,
        new,
        unresolved: unresolved.collect(),
        modules: BTreeMap::new(),
        is_whole: true,
        doubtful: None,
        was: None,
        parts: ScopeParts::default(),
    };
    (scope, open)
}

/// The changed objects with the metadata and the status that they have in the cluster, and the NodeClaims of removed NodePools as they
/// are deleted, as files.
pub(super) fn merged(scope: &PlanScope<'_>, files: &[InputObject<'_>], at: Timestamp) -> Vec<File> {
    let written: BTreeSet<(&str, &str)> =
        files.iter().map(|input| (input.object.kind(), input.object.name())).collect();
    let is_written = |object: &Object<'_>| written.contains(&(object.kind(), object.name()));
    // Each document is also read as values of a chart, which have no name.
    let is_named = |object: &&Object<'_>| object.form() == Form::Api && is_written(object);
    let old: BTreeMap<ObjectName<'_>, Object<'_>> =
        scope.old.iter().filter(is_named).map(|object| (name_of(*object), *object)).collect();
    let is_pool = |object: &&Object<'_>| object.is(Kind::NODE_POOL);
    let kept: BTreeSet<&str> = scope.new.iter().filter(is_pool).map(|object| object.name()).collect();
    let removed: BTreeSet<&str> = scope.old.iter().filter(is_pool).map(|object| object.name()).collect();
    let goes = |object: &Object<'_>| {
        let pool = || object.metadata().label(labels::NODEPOOL).and_then(Node::as_str);
        object.kind() == "NodeClaim"
            && pool().is_some_and(|pool| removed.contains(pool) && !kept.contains(pool))
    };
    let by_place: BTreeMap<(&str, &str), &str> = scope
        .old
        .iter()
        .filter(|object| is_written(object))
        .map(|object| ((object.kind(), object.name()), object.namespace()))
        .collect();
    let changed = scope.new.iter().filter_map(|new| {
        if new.form() == Form::Api && goes(new) {
            let mut text = new.root().to_json();
            *text
                .pointer_mut("/metadata")?
                .as_object_mut()?
                .entry("deletionTimestamp")
                .or_insert(Value::Null) = json!(at.to_string());
            return Some(text);
        }
        if !is_named(&new) {
            return None;
        }
        let (kind, namespace, name) = name_of(*new);
        let namespace = if namespace.is_empty() { by_place.get(&(kind, name)).copied()? } else { namespace };
        let old = old.get(&(kind, namespace, name)).filter(|old| *old != new)?;
        let mut text: Map<String, Value> =
            new.root().members().map(|(key, value)| (key.to_owned(), value.to_json())).collect();
        let part = |key: &str| old.at(&[key]).map(Node::to_json);
        text.insert("metadata".to_owned(), part("metadata").unwrap_or_default());
        let status = status_of(*old, *new).or_else(|| part("status"));
        text.insert("status".to_owned(), status.unwrap_or_else(|| json!({})));
        Some(Value::Object(text))
    });
    changed.map(|text| File::read("merged.json", text.to_string(), &Limits::DEFAULT)).collect()
}

/// The status that the disruption controller of Kubernetes gives a PodDisruptionBudget with a new spec.
///
/// Source: `getExpectedPodCount` and `updatePdbStatus` in pkg/controller/disruption/disruption.go of kubernetes/kubernetes at v1.33.0.
fn status_of(old: Object<'_>, new: Object<'_>) -> Option<Value> {
    let budget = PodDisruptionBudget::of(new)?;
    let mut status = old.at(&["status"])?.to_json();
    let number = |key: &str| old.at(&["status", key]).and_then(Node::as_int);
    let (expected, healthy) = (number("expectedPods")?, number("currentHealthy")?);
    let scaled = |node: Node<'_>| match node.as_str().and_then(|text| text.strip_suffix('%')) {
        Some(percent) => Some(percent.parse::<i64>().ok()?.saturating_mul(expected).saturating_add(99) / 100),
        None => node.as_int(),
    };
    let desired = match (budget.max_unavailable(), budget.min_available()) {
        (Some(most), _) => expected.saturating_sub(scaled(most)?).max(0),
        (None, Some(least)) => scaled(least)?,
        (None, None) => return None,
    };
    let entries = status.as_object_mut()?;
    entries.insert("desiredHealthy".to_owned(), json!(desired));
    entries.insert("disruptionsAllowed".to_owned(), json!(healthy.saturating_sub(desired).max(0)));
    Some(status)
}

/// The objects of the cluster after the change, with the metadata and the status that they have.
pub(super) fn after<'d>(scope: &PlanScope<'d>, merged: &'d [File]) -> Vec<Object<'d>> {
    let trees = merged.iter().flat_map(File::trees);
    let merged: BTreeMap<(&'d str, &'d str), Vec<Object<'d>>> =
        trees.flat_map(Object::all).fold(BTreeMap::new(), |mut all, object| {
            all.entry((object.kind(), object.name())).or_default().push(object);
            all
        });
    let latest = |object: &Object<'d>| {
        let known = merged.get(&(object.kind(), object.name())).map(Vec::as_slice).unwrap_or_default();
        let same = |one: &&Object<'d>| object.namespace().is_empty() || one.namespace() == object.namespace();
        known.iter().find(same).copied().unwrap_or(*object)
    };
    scope.new.iter().map(latest).collect()
}
