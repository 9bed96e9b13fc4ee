//! The objects of each cluster before and after a change.
//!
//! Names of NodePools are unique in a cluster. Where a name repeats in the input, the overlay, the environment or the folder of a file tells
//! the clusters apart.

use std::collections::{BTreeMap, BTreeSet};

use cluster::built_objects::{BuiltObjects, ClusterVariant};
use cluster::folders::folders_of;
use cluster::input_object::InputObject;
use karpenter::kind::Kind;
use objects::object::{Object, Operation};

use super::older::is_older;
use super::{PlanPair, PlanSide};

/// Largest number of objects in all scopes together, so that the cost stays linear. Beyond it, scopes have only the objects that
/// can change nodes; if these are too many, the shared objects are a scope of their own.
const MAX_OBJECTS: usize = 200_000;

/// Largest number of scopes whose pods are placed and whose instance types are counted.
const MAX_WHOLE: usize = 200;

/// The kinds whose changes a plan shows.
pub(super) const PLANNED: [Kind; 3] = [Kind::NODE_POOL, Kind::NODE_CLASS, Kind::NODE_OVERLAY];

/// The objects of one cluster before and after a change.
#[derive(Debug)]
pub(super) struct PlanScope<'d> {
    /// Name of the cluster, the overlay or the environment; empty if there is one.
    pub(super) name: String,
    pub(super) old: Vec<Object<'d>>,
    pub(super) new: Vec<Object<'d>>,
    /// The reasons why a built object is not known for certain, by its place.
    pub(super) unresolved: BTreeMap<PlaceKey<'d>, &'d str>,
    /// Whether all objects are here, not only those that can change nodes.
    pub(super) is_whole: bool,
}

/// The place of an object in the text.
pub(super) type PlaceKey<'d> = (&'d str, usize);

/// The place of an object.
pub(super) fn place_key(object: Object<'_>) -> PlaceKey<'_> {
    let root = object.root();
    (root.source().name(), root.span().start)
}

/// An object with the start of the name of its file left out.
#[derive(Clone, Debug)]
struct SideObject<'d> {
    object: Object<'d>,
    unresolved: Option<&'d str>,
    file: String,
}

/// The scopes of a pair, by name.
pub(super) fn scopes<'d>(
    pair: PlanPair<'d>,
    old: &'d BuiltObjects,
    new: &'d BuiltObjects,
) -> Vec<PlanScope<'d>> {
    let (olds, news) = (variants(pair.old, old, true), variants(pair.new, new, false));
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (side, built) in [(pair.old, old), (pair.new, new)] {
        let found = built.environments(&side.cluster.files);
        folders.extend(found.iter().map(|folder| without_start(folder, side.folder).to_owned()));
    }
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).filter(|name| !name.is_empty()).collect();
    let both = |name: &str| {
        let of = |side: &BTreeMap<String, Vec<SideObject<'d>>>| {
            side.get(name).or_else(|| side.get("")).cloned().unwrap_or_default()
        };
        (of(&olds), of(&news))
    };
    let names: Vec<&str> =
        if names.is_empty() { vec![""] } else { names.into_iter().map(String::as_str).collect() };
    let mut scopes = Vec::new();
    for name in names {
        let (old, new) = both(name);
        scopes.extend(separate(&joined(pair.name, name), &old, &new, &folders));
    }
    let total: usize = scopes.iter().map(|scope| scope.old.len() + scope.new.len()).sum();
    if scopes.len() > MAX_WHOLE || (scopes.len() > 1 && total > MAX_OBJECTS) {
        for scope in &mut scopes {
            scope.is_whole = false;
            for side in [&mut scope.old, &mut scope.new] {
                side.retain(|object| is_planned(*object));
            }
        }
    }
    scopes
}

/// The objects of each variant of a side, by name. Of a review, the old side has the old objects.
fn variants<'d>(
    side: PlanSide<'d>,
    built: &'d BuiltObjects,
    is_old: bool,
) -> BTreeMap<String, Vec<SideObject<'d>>> {
    let files = &side.cluster.files;
    let of_side = |input: &InputObject<'d>| {
        let object = match input.object.operation() {
            Operation::Create if is_old => return None,
            Operation::Update if is_old => input.object.stored()?,
            Operation::Delete if !is_old => return None,
            _ => input.object,
        };
        let file = files.get(input.document.file.index()).map(|file| file.source.name()).unwrap_or_default();
        Some(SideObject {
            object,
            unresolved: input.unresolved,
            file: without_start(file, side.folder).to_owned(),
        })
    };
    let named = |variant: ClusterVariant<'d>| {
        let name = without_start(&variant.name, side.folder).to_owned();
        (name, variant.objects.iter().filter_map(of_side).collect())
    };
    built.variants(files).into_iter().map(named).collect()
}

/// A name without the part that tells the sides apart.
pub(super) fn without_start<'n>(name: &'n str, folder: &str) -> &'n str {
    name.strip_prefix(folder).map_or(name, |rest| rest.trim_start_matches('/'))
}

fn joined(one: &str, other: &str) -> String {
    match (one, other) {
        ("", name) | (name, "") => name.to_owned(),
        _ => format!("{one}/{other}"),
    }
}

fn is_planned(object: Object<'_>) -> bool {
    PLANNED.into_iter().any(|kind| object.is_in_any_version(kind)) || is_older(object)
}

/// Separates the clusters whose objects have the same names.
fn separate<'d>(
    name: &str,
    old: &[SideObject<'d>],
    new: &[SideObject<'d>],
    environments: &BTreeSet<String>,
) -> Vec<PlanScope<'d>> {
    let environment =
        |file: &str| folders_of(file).find(|folder| environments.contains(*folder)).unwrap_or("").to_owned();
    let folder = |file: &str| folders_of(file).next().unwrap_or("").to_owned();
    let file = |file: &str| file.to_owned();
    // Each way tells more clusters apart than the one before.
    let ways: [&dyn Fn(&str) -> String; 3] = [&environment, &folder, &file];
    let mut keys: BTreeMap<&str, String> =
        old.iter().chain(new).map(|object| (object.file.as_str(), String::new())).collect();
    for way in ways {
        let repeated = repeated(old, &keys).chain(repeated(new, &keys)).collect::<BTreeSet<_>>();
        if repeated.is_empty() {
            break;
        }
        for object in old.iter().chain(new) {
            // An object with a unique name stays visible to all.
            let is_repeated = repeated.contains(&identity(object, &keys));
            if let Some(key) = keys.get_mut(object.file.as_str()).filter(|_| is_repeated) {
                *key = way(&object.file);
            }
        }
        spread(&mut keys, environments);
    }
    let mut found: BTreeSet<&str> = keys.values().map(String::as_str).filter(|key| !key.is_empty()).collect();
    let (mut old, mut new) = (ByKey::of(old, &keys), ByKey::of(new, &keys));
    let mut is_whole = true;
    if found.is_empty() {
        found.insert("");
    } else if old.repeated_by(&found) + new.repeated_by(&found) > MAX_OBJECTS {
        is_whole = false;
        (old, new) = (old.planned(), new.planned());
        if old.repeated_by(&found) + new.repeated_by(&found) > MAX_OBJECTS {
            found.insert("");
            (old.is_apart, new.is_apart) = (true, true);
        }
    }
    let scope = |key: &str| {
        let (old, new) = (old.visible_to(key), new.visible_to(key));
        let unresolved =
            old.iter().chain(&new).filter_map(|one| Some((place_key(one.object), one.unresolved?)));
        let objects = |side: &[&SideObject<'d>]| side.iter().map(|one| one.object).collect();
        PlanScope {
            name: joined(name, key),
            unresolved: unresolved.collect(),
            old: objects(&old),
            new: objects(&new),
            is_whole,
        }
    };
    found.into_iter().map(scope).collect()
}

/// The objects of a side by the keys of their files.
struct ByKey<'o, 'd> {
    by_key: BTreeMap<&'o str, Vec<&'o SideObject<'d>>>,
    /// Whether the objects without a key are visible to no other key.
    is_apart: bool,
}

impl<'o, 'd> ByKey<'o, 'd> {
    fn of(side: &'o [SideObject<'d>], keys: &'o BTreeMap<&str, String>) -> Self {
        let mut by_key: BTreeMap<&'o str, Vec<&'o SideObject<'d>>> = BTreeMap::new();
        for object in side {
            let key = keys.get(object.file.as_str()).map(String::as_str).unwrap_or_default();
            by_key.entry(key).or_default().push(object);
        }
        Self { by_key, is_apart: false }
    }

    /// The number of objects that several keys see.
    fn repeated_by(&self, keys: &BTreeSet<&str>) -> usize {
        let count = |key: &str| self.by_key.get(key).map_or(0, Vec::len);
        keys.iter().flat_map(|key| around(key)).map(count).sum::<usize>() + keys.len() * count("")
    }

    /// The objects that can change nodes.
    fn planned(mut self) -> Self {
        for objects in self.by_key.values_mut() {
            objects.retain(|one| is_planned(one.object));
        }
        self
    }

    /// The objects that a key sees: its own, and those of the folders around it. Of a name that repeats there, the nearest object
    /// counts, and of several in one file the first.
    fn visible_to(&self, key: &str) -> Vec<&'o SideObject<'d>> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let shared = (!self.is_apart && !key.is_empty()).then_some("");
        for folder in [key].into_iter().chain(around(key)).chain(shared) {
            let own = self.by_key.get(folder).into_iter().flatten().copied();
            let counts = |one: &&SideObject<'d>| {
                !is_planned(one.object) || seen.insert((one.object.kind(), one.object.name()))
            };
            found.extend(own.filter(counts));
        }
        found
    }
}

/// The folders around a folder, from the nearest.
fn around(key: &str) -> impl Iterator<Item = &str> {
    key.rmatch_indices('/').filter_map(|(at, _)| key.get(..at))
}

/// Kind, name and key of an object.
type ObjectIdentity = (String, String, String);

fn identity(object: &SideObject<'_>, keys: &BTreeMap<&str, String>) -> ObjectIdentity {
    let key = keys.get(object.file.as_str()).cloned().unwrap_or_default();
    (object.object.kind().to_owned(), object.object.name().to_owned(), key)
}

/// The identities that several objects of a side have.
fn repeated(side: &[SideObject<'_>], keys: &BTreeMap<&str, String>) -> impl Iterator<Item = ObjectIdentity> {
    let mut seen = BTreeSet::new();
    let planned = side.iter().filter(|object| is_planned(object.object)).map(|object| identity(object, keys));
    let repeated: Vec<ObjectIdentity> = planned.filter(|identity| !seen.insert(identity.clone())).collect();
    repeated.into_iter()
}

/// Gives the other files of an environment its key.
fn spread(keys: &mut BTreeMap<&str, String>, environments: &BTreeSet<String>) {
    let used: BTreeSet<String> = keys.values().filter(|key| environments.contains(*key)).cloned().collect();
    for (file, key) in keys.iter_mut().filter(|(_, key)| key.is_empty()) {
        if let Some(folder) = folders_of(file).find(|folder| used.contains(*folder)) {
            folder.clone_into(key);
        }
    }
}
