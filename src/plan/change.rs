//! The changed objects with the effect of each field.

use std::collections::{BTreeMap, BTreeSet};

use answers::OrEmpty;
use answers::plan::{PlannedChange, PlannedField};
use drift::{
    ConcernedPools, DriftReason, Effect, FieldChange, FieldEffect, HashOptions, ObjectChange,
    ObjectChangeKind, changes,
};
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use values::placeholder::Placeholder;

use super::crossed;
use super::feeds::Feeds;
use super::networks::Networks;
use super::older;
use super::recreated::{self, TerraformObject};
use super::refused;
use super::scope::{PLANNED, PlaceKey, PlanScope, folder_of_root, place_key};
use super::shown::shown;
use super::unnamed::AddedObjects;

/// Field whose text is a script, with variables that look like placeholders.
const USER_DATA: &str = "spec.userData";

/// The consequence for the NodePools of an EC2NodeClass that goes.
const LAUNCHES_NONE: &str = "launches no nodes";

/// The same of several NodePools.
const LAUNCH_NONE: &str = "launch no nodes";

/// Whether a message says that NodePools launch no nodes.
pub(super) fn says_that_none_launch(message: &str) -> bool {
    message.contains(LAUNCHES_NONE) || message.contains(LAUNCH_NONE)
}

/// A changed object of one or several scopes.
#[derive(Clone, Debug)]
pub(super) struct PlanChange<'d> {
    pub(super) change: ObjectChange<'d>,
    /// Consequence for the whole object; may be empty.
    pub(super) message: String,
    /// Whether the object is deleted, and created again.
    pub(super) is_recreated: bool,
    /// The positions of the scopes that have the object.
    pub(super) scopes: Vec<usize>,
}

/// The changes of all scopes. An object that several scopes share is there once.
pub(super) fn changes_of<'d>(
    scopes: &[PlanScope<'d>],
    options: &HashOptions,
    (feeds, networks): (&Feeds<'_>, &Networks<'_>),
    by_terraform: &BTreeSet<TerraformObject>,
) -> Vec<PlanChange<'d>> {
    let names: BTreeSet<&str> = scopes.iter().map(|scope| scope.name.as_str()).collect();
    let modules = scopes.iter().flat_map(|scope| scope.modules.values().flatten());
    let roots = modules.map(|module| folder_of_root(&module.root, feeds.new_folder)).collect();
    let mut found: Vec<PlanChange<'d>> = Vec::new();
    let mut places: BTreeMap<(Option<PlaceKey<'d>>, Option<PlaceKey<'d>>, bool), usize> = BTreeMap::new();
    for (index, scope) in scopes.iter().enumerate() {
        let mut changes = of_scope(scope, options);
        feeds.add(&mut changes, scope, (&names, &roots));
        networks.add(&mut changes, scope, scopes.len() == 1);
        recreated::add(&mut changes, scope, by_terraform);
        if scope.doubtful.is_some() {
            changes.iter_mut().for_each(doubt);
        }
        if scope.parts.is_guessed {
            crossed::doubt_classes(&mut changes, scope);
        }
        for change in changes {
            // Of several clusters, one may build the object in an unknown way.
            let (old, new) = (change.change.old.map(place_key), change.change.new.map(place_key));
            let is_uncertain = [old, new].iter().flatten().any(|place| scope.unresolved.contains_key(place))
                || crossed::is_doubted(&change);
            let key = (old, new, is_uncertain);
            // Overlays build different objects from one place.
            let same = places.get(&key).and_then(|position| found.get_mut(*position));
            let is_same = |same: &&mut PlanChange<'d>| {
                (same.change.new, same.change.old) == (change.change.new, change.change.old)
            };
            if let Some(same) = same.filter(is_same) {
                same.scopes.push(index);
                same.change.node_pools.extend(&change.change.node_pools);
                if change.change.effect > same.change.effect {
                    let node_pools = same.change.node_pools.clone();
                    let scopes = std::mem::take(&mut same.scopes);
                    *same =
                        PlanChange { change: ObjectChange { node_pools, ..change.change }, scopes, ..change };
                }
            } else {
                places.insert(key, found.len());
                found.push(PlanChange { scopes: vec![index], ..change });
            }
        }
    }
    found
}

/// Weakens a change, such as one of a folder that may not be applied itself.
pub(super) fn doubt(change: &mut PlanChange<'_>) {
    for field in &mut change.change.fields {
        field.effect = field.effect.min(Effect::Unknown);
    }
    change.change.effect = change.change.effect.min(Effect::Unknown);
}

/// The changes of one scope.
pub(super) fn of_scope<'d>(scope: &PlanScope<'d>, options: &HashOptions) -> Vec<PlanChange<'d>> {
    let mut all = changes(&scope.old, &scope.new, options);
    older::add(&mut all, scope);
    let renamed = renamed(&all);
    let added = AddedObjects::of(&all);
    let left = ConcernedPools::of(&scope.new);
    let mut found = Vec::new();
    for mut change in all {
        for field in &mut change.fields {
            if is_open(field) {
                field.effect = Effect::Unknown;
            }
        }
        let object = change.object();
        let uncertain = object.and_then(|object| scope.unresolved.get(&place_key(object)));
        let older = older::reason(&change);
        if change.change == ObjectChangeKind::Changed && older.is_none() {
            set_effect(&mut change);
            if uncertain.is_some() && !change.fields.is_empty() {
                change.effect = change.effect.max(Effect::Unknown);
            }
        }
        let is_compared =
            change.change == ObjectChangeKind::Changed && uncertain.is_none() && older.is_none();
        let refused = if is_compared { refused::reason(&change, options) } else { None };
        if refused.is_some() {
            refused::set_unknown(&mut change);
        }
        let unnamed = added.reason(&change);
        if unnamed.is_some() {
            change.effect = change.effect.min(Effect::Unknown);
        }
        let message = match (uncertain, older) {
            _ if unnamed.is_some() => unnamed.unwrap_or_default(),
            (Some(reason), _) => format!("the object is not built for certain: {reason}"),
            (None, Some(reason)) if change.change == ObjectChangeKind::Changed => reason,
            (None, _) => refused.unwrap_or_else(|| message(&change, &left, &renamed)),
        };
        found.push(PlanChange { change, message, is_recreated: false, scopes: Vec::new() });
    }
    found
}

/// A change of an object whose text does not change.
pub(super) fn unchanged<'d>(old: Object<'d>, new: Object<'d>, pools: &ConcernedPools<'d>) -> PlanChange<'d> {
    let kind = PLANNED.into_iter().find(|kind| new.is_in_any_version(*kind)).unwrap_or(PLANNED[0]);
    let change = ObjectChange {
        change: ObjectChangeKind::Changed,
        old: Some(old),
        new: Some(new),
        effect: Effect::None,
        reason: None,
        node_pools: pools.of_object(kind, new.name()),
        fields: Vec::new(),
    };
    PlanChange { change, message: String::new(), is_recreated: false, scopes: Vec::new() }
}

/// Takes the strongest effect of the fields, and its reason.
pub(super) fn set_effect(change: &mut ObjectChange<'_>) {
    change.effect = change.fields.iter().map(|field| field.effect).max().unwrap_or(Effect::None);
    let strongest = change.fields.iter().find(|field| field.effect == change.effect);
    change.reason = strongest.and_then(|field| field.reason);
}

/// Objects that were removed and added under another name.
#[derive(Debug, Default)]
struct RenamedObjects<'d> {
    /// The new name of an object, by kind and old name.
    new: BTreeMap<(&'d str, &'d str), &'d str>,
    /// The old name of an object, by kind and new name.
    old: BTreeMap<(&'d str, &'d str), &'d str>,
}

/// The objects that have another name and the same content.
fn renamed<'d>(changes: &[ObjectChange<'d>]) -> RenamedObjects<'d> {
    let of = |kind: ObjectChangeKind| changes.iter().filter(move |change| change.change == kind);
    let mut removed: BTreeMap<ContentKey<'d>, &'d str> = BTreeMap::new();
    for object in of(ObjectChangeKind::Removed).filter_map(|change| change.old) {
        if let Some(key) = content_key(object) {
            removed.entry(key).or_insert(object.name());
        }
    }
    let mut renamed = RenamedObjects::default();
    if removed.is_empty() {
        return renamed;
    }
    for object in of(ObjectChangeKind::Added).filter_map(|change| change.new) {
        let old = content_key(object).and_then(|key| removed.remove(&key));
        if let Some(old) = old {
            renamed.new.insert((object.kind(), old), object.name());
            renamed.old.insert((object.kind(), object.name()), old);
        }
    }
    renamed
}

/// Kind, version and content of an object.
type ContentKey<'d> = (&'d str, &'d str, String);

fn content_key(object: Object<'_>) -> Option<ContentKey<'_>> {
    Some((object.kind(), object.api_version(), object.at(&["spec"])?.to_json().to_string()))
}

/// The consequence for the whole object.
fn message<'d>(change: &ObjectChange<'d>, left: &ConcernedPools<'d>, renamed: &RenamedObjects<'_>) -> String {
    let Some(object) = change.object() else { return String::new() };
    let (kind, name) = (object.kind(), object.name());
    let is_pool = object.is_in_any_version(Kind::NODE_POOL);
    match change.change {
        ObjectChangeKind::Removed if is_pool => {
            let removal =
                "Karpenter drains its nodes at once, without budgets, and makes no replacement first";
            match renamed.new.get(&(kind, name)) {
                Some(new) => format!("renamed to {new}, which is a removal and an addition: {removal}"),
                None => removal.to_owned(),
            }
        }
        ObjectChangeKind::Removed
            if older::is_older(object) && !object.is_in_any_version(Kind::NODE_CLASS) =>
        {
            format!("a plan does not compare the objects of {}", object.api_version())
        }
        ObjectChangeKind::Removed if object.is_in_any_version(Kind::NODE_CLASS) => {
            match stranded(left, name) {
                Some(pools) => {
                    format!("it stays until the last NodeClaim that uses it is gone, and {pools} from now on")
                }
                None => {
                    "it stays until the last NodeClaim that uses it is gone: its finalizer waits for them"
                        .to_owned()
                }
            }
        }
        ObjectChangeKind::Removed => {
            "Karpenter launches and consolidates with the prices and resources of EC2 again".to_owned()
        }
        ObjectChangeKind::Added => match renamed.old.get(&(kind, name)) {
            Some(old) if is_pool => format!("{old} under another name; its new nodes wait for pods"),
            _ if is_pool => match NodePool::of(object).and_then(|pool| pool.replicas()?.as_int()) {
                Some(replicas) => format!("it launches its nodes at once: spec.replicas is {replicas}"),
                None => "it launches nodes when pods need them".to_owned(),
            },
            _ if object.is(Kind::NODE_OVERLAY) => {
                FieldEffect::of(Kind::NODE_OVERLAY, "spec").map_or("", |field| field.sentence).to_owned()
            }
            _ => String::new(),
        },
        ObjectChangeKind::Changed if change.fields.is_empty() => {
            format!("the {kind} means the same: no node is replaced")
        }
        ObjectChangeKind::Changed => String::new(),
    }
}

/// The NodePools that use an EC2NodeClass, with the words that they launch no nodes without it; `None` without such NodePools.
pub(super) fn stranded<'d>(pools: &ConcernedPools<'d>, class: &'d str) -> Option<String> {
    let names: Vec<&str> = pools.of_object(Kind::NODE_CLASS, class).into_iter().collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("NodePool {name} {LAUNCHES_NONE}")),
        names => Some(format!("NodePools {} {LAUNCH_NONE}", names.join(", "))),
    }
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
        let old_place = self.change.old.map(|object| place_in(object, field.old, field.field.path));
        let (old_file, old_line) = old_place.map(|place| file_and_line(&place)).unwrap_or_default();
        let (old, new) = shown(&field.path, field.old, field.new);
        PlannedField {
            path: field.path.clone(),
            effect: field.effect,
            reason: OrEmpty(field.reason),
            old,
            new,
            message: sentence(field),
            file,
            line,
            old_file,
            old_line,
        }
    }

    /// The place of a changed field: the new value, else the nearest field around it in the new object.
    pub(super) fn place<'c>(&'c self, field: &FieldChange<'c>) -> Option<Place<'c>> {
        let object = self.change.new.or(self.change.old)?;
        Some(place_in(object, field.new, field.field.path))
    }
}

/// The place of a value, else of the nearest field around the path in an object.
fn place_in<'d>(object: Object<'d>, value: Option<Node<'d>>, path: &str) -> Place<'d> {
    if let Some(value) = value {
        return Place::value(value);
    }
    let mut node = object.root();
    for key in path.split('.') {
        match node.get(key) {
            Some(child) => node = child,
            None => break,
        }
    }
    Place::value(if node == object.root() { object.name_node() } else { node })
}

/// Whether a placeholder leaves open whether a field changes. The text around placeholders in user data is known.
fn is_open(field: &FieldChange<'_>) -> bool {
    let mut values = [field.old, field.new].into_iter().flatten();
    if field.path == USER_DATA {
        // A directive of Terraform has a placeholder of this form.
        let is_open = |text: &str| is_placeholder(text) || text.contains("${unknown ");
        let written = |value: Option<Node<'_>>| Some(without_fingerprints(value?.as_str()?));
        let differs_in_unknown = || field.old.is_some() && written(field.old) == written(field.new);
        return values.any(|value| value.as_str().is_some_and(is_open)) || differs_in_unknown();
    }
    values.any(has_placeholder_below)
}

/// A text without the fingerprints of values in its placeholders, such as `${base64encode(local.script) 0a1b2c3d4e5f}`.
fn without_fingerprints(text: &str) -> String {
    const LENGTH: usize = " 0a1b2c3d4e5f".len();
    let has_fingerprint = |part: &str| {
        let start = part.len().checked_sub(LENGTH)?;
        let digits = part.get(start..)?.strip_prefix(' ')?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(start)
    };
    let parts = text.split('}').map(|part| part.get(..has_fingerprint(part).unwrap_or(part.len())));
    parts.map(Option::unwrap_or_default).collect::<Vec<_>>().join("}")
}

/// Whether a text is one expression of Terraform.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("${") && Placeholder::find(text).is_some_and(|found| found.range == (0..text.len()))
}

/// The effect of a changed field in a sentence.
pub(super) fn sentence(field: &FieldChange<'_>) -> String {
    if is_open(field) {
        return format!("{}, and the value has a placeholder", field.field.sentence);
    }
    match (field.effect, field.reason) {
        (Effect::NewNodes, _) if field.field.effect > Effect::NewNodes => {
            format!("{}, so only new nodes are affected", field.field.kept)
        }
        (Effect::ReplacesAll, Some(DriftReason::SecurityGroupDrift)) => {
            "other security groups are selected: every node of the NodePools that use this EC2NodeClass is replaced".to_owned()
        }
        (Effect::ReplacesAll, Some(DriftReason::AmiDrift)) if names_ids(field.new) => {
            "other images are selected: every node of the NodePools that use this EC2NodeClass is replaced".to_owned()
        }
        (Effect::ReplacesAll, Some(DriftReason::AmiDrift)) => {
            "another version has other images: every node of the NodePools that use this EC2NodeClass is replaced".to_owned()
        }
        _ => field.field.sentence.to_owned(),
    }
}

/// Whether selector terms name IDs.
fn names_ids(terms: Option<Node<'_>>) -> bool {
    items_of(terms).any(|term| term.get("id").is_some())
}

/// Name of the file and line of a place.
fn file_and_line(place: &Place<'_>) -> (String, usize) {
    let source = place.source();
    (source.name().to_owned(), source.position(place.span().start).line)
}
