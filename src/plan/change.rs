//! The changed objects with the effect of each field.

use std::collections::BTreeMap;

use answers::OrEmpty;
use answers::plan::{PlannedChange, PlannedField};
use drift::{DriftReason, Effect, FieldChange, HashOptions, ObjectChange, ObjectChangeKind, changes};
use karpenter::kind::Kind;
use manifest::tree::{Node, Value};
use objects::location::Place;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;

use super::scope::{PLANNED, PlaceKey, PlanScope, place_key};

/// Number of characters of a value that are shown.
const MAX_SHOWN: usize = 60;

/// Field whose text is a script, with variables that look like placeholders.
const USER_DATA: &str = "spec.userData";

/// A changed object of one or several scopes.
#[derive(Clone, Debug)]
pub(super) struct PlanChange<'d> {
    pub(super) change: ObjectChange<'d>,
    /// Consequence for the whole object; may be empty.
    pub(super) message: String,
    /// The positions of the scopes that have the object.
    pub(super) scopes: Vec<usize>,
}

/// The changes of all scopes. An object that several scopes share is there once.
pub(super) fn changes_of<'d>(scopes: &[PlanScope<'d>], options: &HashOptions) -> Vec<PlanChange<'d>> {
    let mut found: Vec<PlanChange<'d>> = Vec::new();
    let mut places: BTreeMap<(Option<PlaceKey<'d>>, Option<PlaceKey<'d>>), usize> = BTreeMap::new();
    for (index, scope) in scopes.iter().enumerate() {
        for change in of_scope(scope, options) {
            let key = (change.change.old.map(place_key), change.change.new.map(place_key));
            // Overlays build different objects from one place.
            let same = places.get(&key).and_then(|position| found.get_mut(*position));
            let is_same = |same: &&mut PlanChange<'d>| {
                (same.change.new, same.change.old) == (change.change.new, change.change.old)
            };
            if let Some(same) = same.filter(is_same) {
                same.scopes.push(index);
                same.change.node_pools.extend(change.change.node_pools);
            } else {
                places.insert(key, found.len());
                found.push(PlanChange { scopes: vec![index], ..change });
            }
        }
    }
    drop_moved(&mut found, scopes);
    found
}

/// The changes of one scope.
pub(super) fn of_scope<'d>(scope: &PlanScope<'d>, options: &HashOptions) -> Vec<PlanChange<'d>> {
    let all = changes(&scope.old, &scope.new, options);
    let renamed = renamed(&all);
    let mut found = Vec::new();
    for mut change in all {
        for field in &mut change.fields {
            let is_open = field.path != USER_DATA
                && [field.old, field.new].into_iter().flatten().any(has_placeholder_below);
            if is_open {
                field.effect = Effect::Unknown;
            }
        }
        let object = change.object();
        let uncertain = object.and_then(|object| scope.unresolved.get(&place_key(object)));
        if change.change == ObjectChangeKind::Changed {
            set_effect(&mut change);
            if uncertain.is_some() && !change.fields.is_empty() {
                change.effect = change.effect.max(Effect::Unknown);
            }
        }
        let message = uncertain.map_or_else(
            || message(&change, scope, &renamed),
            |reason| format!("the object is not built for certain: {reason}"),
        );
        found.push(PlanChange { change, message, scopes: Vec::new() });
    }
    found
}

/// Takes the strongest effect of the fields, and its reason.
pub(super) fn set_effect(change: &mut ObjectChange<'_>) {
    change.effect = change.fields.iter().map(|field| field.effect).max().unwrap_or(Effect::None);
    let strongest = change.fields.iter().find(|field| field.effect == change.effect);
    change.reason = strongest.and_then(|field| field.reason);
}

/// The removed and the added name of each object that has another name and the same content.
fn renamed<'d>(changes: &[ObjectChange<'d>]) -> Vec<(&'d str, &'d str)> {
    let of = |kind: ObjectChangeKind| changes.iter().filter(move |change| change.change == kind);
    let mut pairs = Vec::new();
    for (old, new) in of(ObjectChangeKind::Removed)
        .filter_map(|change| change.old)
        .flat_map(|old| of(ObjectChangeKind::Added).filter_map(move |change| Some((old, change.new?))))
    {
        if old.kind() == new.kind() && has_same_content(old, new) {
            pairs.push((old.name(), new.name()));
        }
    }
    pairs
}

fn has_same_content(one: Object<'_>, other: Object<'_>) -> bool {
    let spec = |object: Object<'_>| object.at(&["spec"]).map(Node::to_json);
    spec(one).is_some() && spec(one) == spec(other)
}

/// Drops the objects that only moved, because the whole scope has another name. An object that moves from one scope to another is removed
/// in a cluster.
fn drop_moved(changes: &mut Vec<PlanChange<'_>>, scopes: &[PlanScope<'_>]) {
    let is_empty = |objects: &[Object<'_>]| {
        !objects.iter().any(|object| PLANNED.into_iter().any(|kind| object.is(kind)))
    };
    let has_moved = |one: &PlanChange<'_>| {
        let mut scopes = one.scopes.iter().filter_map(|index| scopes.get(*index));
        scopes.all(|scope| is_empty(&scope.old) || is_empty(&scope.new))
    };
    let of = |kind: ObjectChangeKind| -> Vec<(usize, Object<'_>)> {
        let all = changes.iter().enumerate().filter(|(_, one)| one.change.change == kind && has_moved(one));
        all.filter_map(|(index, one)| Some((index, one.change.object()?))).collect()
    };
    let (removed, mut added) = (of(ObjectChangeKind::Removed), of(ObjectChangeKind::Added));
    let mut dropped = Vec::new();
    for (index, old) in removed {
        let is_same = |(_, new): &(usize, Object<'_>)| {
            new.kind() == old.kind() && new.name() == old.name() && has_same_content(old, *new)
        };
        if let Some(position) = added.iter().position(is_same) {
            dropped.extend([index, added.remove(position).0]);
        }
    }
    let mut index = 0;
    changes.retain(|_| {
        index += 1;
        !dropped.contains(&(index - 1))
    });
}

/// The consequence for the whole object.
fn message(change: &ObjectChange<'_>, scope: &PlanScope<'_>, renamed: &[(&str, &str)]) -> String {
    let Some(object) = change.object() else { return String::new() };
    let (kind, name) = (object.kind(), object.name());
    let is_pool = object.is(Kind::NODE_POOL);
    match change.change {
        ObjectChangeKind::Removed if is_pool => {
            let new_name = renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
            let removal =
                "Karpenter drains its nodes at once, without budgets, and makes no replacement first";
            match new_name {
                Some(new) => format!("renamed to {new}, which is a removal and an addition: {removal}"),
                None => removal.to_owned(),
            }
        }
        ObjectChangeKind::Removed if object.is(Kind::NODE_CLASS) => {
            let users = users(&scope.new, name);
            if users.is_empty() {
                "it stays until the last NodeClaim that uses it is gone: its finalizer waits for them"
                    .to_owned()
            } else {
                format!(
                    "it stays until the last NodeClaim that uses it is gone, and NodePool {} launches no nodes from now on",
                    users.join(", ")
                )
            }
        }
        ObjectChangeKind::Removed => {
            "Karpenter launches and consolidates with the prices and resources of EC2 again".to_owned()
        }
        ObjectChangeKind::Added => match renamed.iter().find(|(_, new)| *new == name) {
            Some((old, _)) if is_pool => format!("{old} under another name; its new nodes wait for pods"),
            _ if is_pool => "it launches nodes when pods need them".to_owned(),
            _ => String::new(),
        },
        ObjectChangeKind::Changed if change.fields.is_empty() => {
            format!("the {kind} means the same: no node is replaced")
        }
        ObjectChangeKind::Changed => String::new(),
    }
}

/// The NodePools that use an EC2NodeClass.
fn users<'d>(objects: &[Object<'d>], class: &str) -> Vec<&'d str> {
    let pools = objects.iter().filter_map(|object| NodePool::of(*object));
    let uses =
        |pool: &NodePool<'_>| pool.node_class_ref().and_then(|one| one.name()?.as_str()) == Some(class);
    pools.filter(uses).map(|pool| pool.object().name()).collect()
}

impl PlanChange<'_> {
    /// The change as an answer.
    pub(super) fn answer(&self, cluster: String) -> PlannedChange {
        let change = &self.change;
        let object = change.object();
        let place = object.map(|object| Place::value(object.name_node()));
        let (file, line) = place.map(|place| file_and_line(&place)).unwrap_or_default();
        PlannedChange {
            cluster,
            kind: object.map(|object| object.kind().to_owned()).unwrap_or_default(),
            name: object.map(|object| object.name().to_owned()).unwrap_or_default(),
            change: change.change,
            effect: change.effect,
            reason: OrEmpty(change.reason),
            node_pools: change.node_pools.iter().map(|name| (*name).to_owned()).collect(),
            message: self.message.clone(),
            file,
            line,
            fields: change.fields.iter().map(|field| self.field(field)).collect(),
        }
    }

    fn field(&self, field: &FieldChange<'_>) -> PlannedField {
        let (file, line) = self.place(field).map(|place| file_and_line(&place)).unwrap_or_default();
        PlannedField {
            path: field.path.clone(),
            effect: field.effect,
            reason: OrEmpty(field.reason),
            old: field.old.map(shown).unwrap_or_default(),
            new: field.new.map(shown).unwrap_or_default(),
            message: sentence(field),
            file,
            line,
        }
    }

    /// The place of a changed field: the new value, else the nearest field around it in the new object.
    pub(super) fn place<'c>(&'c self, field: &FieldChange<'c>) -> Option<Place<'c>> {
        if let Some(new) = field.new {
            return Some(Place::value(new));
        }
        let object = self.change.new.or(self.change.old)?;
        let mut node = object.root();
        for key in field.field.path.split('.') {
            match node.get(key) {
                Some(child) => node = child,
                None => break,
            }
        }
        Some(Place::value(if node == object.root() { object.name_node() } else { node }))
    }
}

/// The effect of a changed field in a sentence.
pub(super) fn sentence(field: &FieldChange<'_>) -> String {
    let is_open =
        field.path != USER_DATA && [field.old, field.new].into_iter().flatten().any(has_placeholder_below);
    if is_open {
        return format!("{}, and the value has a placeholder", field.field.sentence);
    }
    match (field.effect, field.reason) {
        (Effect::NewNodes, _) if field.field.effect > Effect::NewNodes => {
            "the requirements are wider, so only new nodes are affected".to_owned()
        }
        (Effect::ReplacesAll, Some(DriftReason::AmiDrift)) => {
            "another version has other images: every node of the NodePools that use this EC2NodeClass is replaced".to_owned()
        }
        _ => field.field.sentence.to_owned(),
    }
}

/// Name of the file and line of a place.
fn file_and_line(place: &Place<'_>) -> (String, usize) {
    let source = place.source();
    (source.name().to_owned(), source.position(place.span().start).line)
}

/// A value in one short line.
fn shown(node: Node<'_>) -> String {
    let text = match node.value() {
        Value::String(text) => text.to_owned(),
        _ => node.to_json().to_string(),
    };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let is_cut = lines.next().is_some() || first.chars().count() > MAX_SHOWN;
    let start: String = first.chars().take(MAX_SHOWN).collect();
    match (is_cut, text.is_empty()) {
        (_, true) => "\"\"".to_owned(),
        (true, _) => format!("{start}…"),
        (false, _) => start,
    }
}
