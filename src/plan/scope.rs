//! The objects of each cluster before and after a change.
//!
//! Names of NodePools are unique in a cluster. Where a name repeats in the input, the overlay, the environment or the folder of a file tells
//! the clusters apart.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::folder_of_overlay;
use cluster::built_objects::{BuiltObjects, ClusterVariant, ClusterVariants};
use cluster::folders::folders_of;
use cluster::input_object::InputObject;
use karpenter::kind::Kind;
use manifest::tree::ModuleInstance;
use objects::eks_cluster::EksCluster;
use objects::object::{Object, Operation};

use super::crossed::{self, ScopeParts};
use super::folders;
use super::homes::{BothBuilt, Homes};
use super::keyed::{ByKey, ScopeKey};
use super::older::is_older;
use super::renamed;
use super::uncalled;
use super::wrapped;
use super::{PlanPair, PlanSide};

/// Largest number of objects in all scopes together, so that the cost stays linear. Beyond it, scopes have only the objects that
/// can change nodes; if these are too many, the shared objects are a separate scope.
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
    pub(super) unresolved: BTreeMap<PlaceKey<'d>, String>,
    /// The modules of Terraform that make the objects.
    pub(super) modules: ModulesByPlace<'d>,
    /// Whether all objects are here, not only objects that can change nodes.
    pub(super) is_whole: bool,
    /// The folder of the cluster, if the input does not show whether it is applied itself or is only the base of kustomizations.
    pub(super) doubtful: Option<String>,
    /// The name before the change, if the cluster has another name since.
    pub(super) was: Option<String>,
    pub(super) parts: ScopeParts,
}

/// The modules of Terraform that make objects, by the places of the objects.
pub(super) type ModulesByPlace<'d> = BTreeMap<PlaceKey<'d>, BTreeSet<&'d ModuleInstance>>;

/// The place of an object in the text.
pub(super) type PlaceKey<'d> = (&'d str, usize);

/// The place of an object.
pub(super) fn place_key(object: Object<'_>) -> PlaceKey<'_> {
    let root = object.root();
    (root.source().name(), root.span().start)
}

/// An object with the start of the name of its file left out.
#[derive(Clone, Debug)]
pub(super) struct SideObject<'d> {
    pub(super) object: Object<'d>,
    unresolved: Option<String>,
    /// The module of Terraform that makes the object.
    pub(super) module: Option<&'d ModuleInstance>,
    /// The name of the file without the part that tells the sides apart. Several root modules may call one module, each for its own cluster:
    /// an object of Terraform has the folder of its root module, with a folder for each call.
    pub(super) file: String,
}

/// The scopes of a pair, by name, and whether the overlays are one scope because their objects are too many.
pub(super) fn scopes<'d>(pair: PlanPair<'d>, built: &'d BothBuilt) -> (Vec<PlanScope<'d>>, bool) {
    let BothBuilt { old, new, doubtful, dropped } = built;
    let both = [(pair.old, old), (pair.new, new)]
        .map(|(side, built)| built.variants(&side.cluster.files, is_kept_without_pods, MAX_OBJECTS));
    let is_merged = both.iter().any(Option::is_none);
    let is_whole = both.iter().flatten().all(|variants| variants.is_whole);
    let [olds, news] = both;
    let all = |variants: Option<ClusterVariants<'d>>, side: PlanSide<'d>, built: &'d BuiltObjects| {
        let own = variants.filter(|_| !is_merged).map(|variants| variants.all);
        own.unwrap_or_else(|| vec![built.merged(&side.cluster.files)])
    };
    let mut olds = by_name(pair.old, all(olds, pair.old, old), (true, &BTreeSet::new()));
    let mut news = by_name(pair.new, all(news, pair.new, new), (false, dropped));
    uncalled::leave_out(pair, &olds, &mut news);
    let mut folders = wrapped::tell_apart([&mut olds, &mut news]);
    for (side, built) in [(pair.old, old), (pair.new, new)] {
        let found = built.environments(&side.cluster.files);
        folders.extend(found.iter().map(|folder| without_start(folder, side.folder).to_owned()));
    }
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).filter(|name| !name.is_empty()).collect();
    let own = [(pair.old, old), (pair.new, new)].map(|(side, built)| OwnObjects::of(side, built));
    let all: BTreeSet<&str> = names.iter().map(|name| folder_of_overlay(name)).collect();
    let both = |name: &str| {
        let of = |side: &BTreeMap<String, Vec<SideObject<'d>>>, own: &OwnObjects<'d>| {
            let mut objects = side.get(name).or_else(|| side.get("")).cloned()?;
            objects.retain(|one| !own.is_of_other(one, name, &all));
            Some(objects)
        };
        let files = |side: &BTreeMap<String, Vec<SideObject<'d>>>| -> BTreeSet<String> {
            side.values().flatten().map(|one| one.file.clone()).collect()
        };
        match (of(&olds, &own[0]), of(&news, &own[1])) {
            (Some(old), None) => (own[0].only(old, name, &files(&news)), Vec::new()),
            (None, Some(new)) => (Vec::new(), own[1].only(new, name, &files(&olds))),
            (old, new) => (old.unwrap_or_default(), new.unwrap_or_default()),
        }
    };
    let names: Vec<&str> =
        if names.is_empty() { vec![""] } else { names.into_iter().map(String::as_str).collect() };
    let mut scopes = Vec::new();
    for name in names {
        let (old, new) = both(name);
        let doubtful = doubtful.get(name);
        let own = separate(&joined(pair.name, name), &old, &new, &folders).into_iter();
        scopes.extend(own.map(|scope| {
            let parts = ScopeParts { overlay: name.to_owned(), ..scope.parts };
            let is_crossed = parts.is_root && !name.is_empty();
            let both = is_crossed.then(|| format!("{} ({})", joined(pair.name, name), parts.folder));
            let name = both.unwrap_or(scope.name);
            PlanScope { name, doubtful: doubtful.cloned(), parts, ..scope }
        }));
    }
    let mut scopes = renamed::paired(crossed::matched(scopes));
    let total: usize = scopes.iter().map(|scope| scope.old.len() + scope.new.len()).sum();
    if !is_whole || is_merged || scopes.len() > MAX_WHOLE || (scopes.len() > 1 && total > MAX_OBJECTS) {
        for scope in &mut scopes {
            scope.is_whole = false;
            for side in [&mut scope.old, &mut scope.new] {
                side.retain(|object| is_kept_without_pods(*object));
            }
        }
    }
    (scopes, is_merged)
}

/// Whether a scope keeps an object if it has too many to place its pods: the object can change nodes.
pub(super) fn is_kept_without_pods(object: Object<'_>) -> bool {
    is_planned(object) || EksCluster::of(object).is_some()
}

/// The objects of each variant of a side, by name, without the ones of dropped files. Of a review, the old side has the old objects.
fn by_name<'d>(
    side: PlanSide<'d>,
    variants: Vec<ClusterVariant<'d>>,
    (is_old, dropped): (bool, &BTreeSet<String>),
) -> BTreeMap<String, Vec<SideObject<'d>>> {
    let files = &side.cluster.files;
    let of_side = |input: &InputObject<'d>| {
        let object = match input.object.operation() {
            Operation::Create if is_old => return Vec::new(),
            Operation::Update if is_old => input.object.stored(),
            Operation::Delete if !is_old => return Vec::new(),
            _ => Some(input.object),
        };
        let file = files.get(input.document.file.index()).map(|file| file.source.name()).unwrap_or_default();
        let Some(object) = object.filter(|_| !dropped.contains(without_start(file, side.folder))) else {
            return Vec::new();
        };
        let of_module = |module: Option<&'d ModuleInstance>| {
            let file = module.map_or_else(|| file.to_owned(), |module| file_of_module(module, file));
            let file = without_start(&file, side.folder).to_owned();
            let unresolved = input.unresolved.map(|reason| without_side(reason, side.folder));
            SideObject { object, unresolved, module, file }
        };
        match object.root().tree().modules() {
            [] => vec![of_module(None)],
            modules => modules.iter().map(|module| of_module(Some(module))).collect(),
        }
    };
    let named = |variant: ClusterVariant<'d>| {
        let name = without_start(&variant.name, side.folder).to_owned();
        (name, variant.objects.iter().flat_map(of_side).collect())
    };
    variants.into_iter().map(named).collect()
}

/// The folder of a root module of Terraform without the start of its side. The outermost folder of a side is the empty text.
pub(super) fn folder_of_root<'n>(root: &'n str, start: &str) -> &'n str {
    let root = if root == "." { "" } else { root };
    if root == start.trim_end_matches('/') { "" } else { without_start(root, start) }
}

/// The name of a file in the folder of a root module of Terraform, with a folder for each call that leads to a module.
pub(super) fn file_of_module(module: &ModuleInstance, file: &str) -> String {
    let root = if module.root == "." { "" } else { &module.root };
    let calls = module.address.replace(".module.", "/module.");
    joined(&joined(root, &calls), cluster::folders::name(file))
}

/// The overlays of the objects of a side.
struct OwnObjects<'d>(BTreeMap<PlaceKey<'d>, BTreeSet<&'d str>>);

impl<'d> OwnObjects<'d> {
    fn of(side: PlanSide<'d>, built: &'d BuiltObjects) -> Self {
        let mut found = BTreeMap::<PlaceKey<'d>, BTreeSet<&'d str>>::new();
        for (object, overlays) in built.objects_of_overlays(&side.cluster.files) {
            let names = overlays.into_iter().map(|name| without_start(name, side.folder));
            found.entry(place_key(object)).or_default().extend(names);
        }
        Self(found)
    }

    /// The objects of an overlay that only one side has: what it builds, and the files of its folder that come or go with it. Other objects of the
    /// input do not, such as an element of an `ApplicationSet` that applies something else. `others` are the files of the other side.
    fn only(
        &self,
        mut objects: Vec<SideObject<'d>>,
        overlay: &str,
        others: &BTreeSet<String>,
    ) -> Vec<SideObject<'d>> {
        let is_built = |object: Object<'d>| {
            let overlays = self.0.get(&place_key(object));
            overlays.is_some_and(|overlays| overlays.contains(overlay))
        };
        let folder = folder_of_overlay(overlay);
        let is_beside = |file: &str| {
            !folder.is_empty() && !others.contains(file) && folders_of(file).any(|around| around == folder)
        };
        objects.retain(|one| !is_planned(one.object) || is_built(one.object) || is_beside(&one.file));
        objects
    }

    /// Whether no overlay builds an object, and the nearest overlay around its file is another one.
    fn is_of_other(&self, one: &SideObject<'d>, overlay: &str, all: &BTreeSet<&str>) -> bool {
        let own = folder_of_overlay(overlay);
        let is_around = |home: &str| home == own || folders_of(own).any(|around| around == home);
        let home = folders_of(&one.file).find(|folder| all.contains(folder));
        is_planned(one.object)
            && !self.0.contains_key(&place_key(one.object))
            && home.is_some_and(|home| !home.is_empty() && !is_around(home))
    }
}

/// A name without the part that tells the sides apart.
pub(super) fn without_start<'n>(name: &'n str, folder: &str) -> &'n str {
    name.strip_prefix(folder).map_or(name, |rest| rest.trim_start_matches('/'))
}

/// The reason why an object is not known for certain, whose names of folders lack the part that tells the sides apart.
fn without_side(reason: &str, folder: &str) -> String {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return reason.to_owned();
    }
    reason.replace(&format!("`{folder}/"), "`").replace(&format!("`{folder}`"), "`.`")
}

/// A name with the part that tells the sides apart.
pub(super) fn with_start(name: &str, folder: &str) -> String {
    joined(folder.trim_end_matches('/'), name)
}

pub(super) fn joined(one: &str, other: &str) -> String {
    match (one, other) {
        ("", name) | (name, "") => name.to_owned(),
        _ => format!("{one}/{other}"),
    }
}

/// Whether a plan shows the changes of an object.
pub(super) fn is_planned(object: Object<'_>) -> bool {
    PLANNED.into_iter().any(|kind| object.is_in_any_version(kind)) || is_older(object)
}

/// The names that tell clusters apart whose objects have the same names.
#[derive(Clone, Copy, Debug)]
enum ScopeWay {
    Environment,
    Folder,
    File,
}

/// Separates the clusters whose objects have the same names.
fn separate<'d>(
    name: &str,
    old: &[SideObject<'d>],
    new: &[SideObject<'d>],
    environments: &BTreeSet<String>,
) -> Vec<PlanScope<'d>> {
    let environment =
        |file: &str| folders_of(file).find(|folder| environments.contains(*folder)).map(str::to_owned);
    let mut keys: BTreeMap<&str, ScopeKey> =
        old.iter().chain(new).map(|object| (object.file.as_str(), None)).collect();
    let mut apart = moved(old, new, &environment);
    // Each way tells more clusters apart than the one before.
    for way in [ScopeWay::Environment, ScopeWay::Folder, ScopeWay::File] {
        apart.extend(repeated(old, &keys).chain(repeated(new, &keys)));
        if apart.is_empty() {
            break;
        }
        let folders = match way {
            ScopeWay::Folder => folders::apart([old, new], |one| apart.contains(&identity(one, &keys))),
            ScopeWay::Environment | ScopeWay::File => BTreeMap::new(),
        };
        for object in old.iter().chain(new) {
            let file = object.file.as_str();
            let is_apart = apart.contains(&identity(object, &keys));
            if let Some(key) = keys.get_mut(file).filter(|_| is_apart) {
                *key = match way {
                    ScopeWay::Environment => environment(file),
                    ScopeWay::Folder => folders.get(file).map(|folder| (*folder).to_owned()),
                    ScopeWay::File => Some(file.to_owned()),
                };
            }
        }
        spread(&mut keys);
        apart.clear();
    }
    let mut found: BTreeSet<Option<&str>> = keys.values().flatten().map(|key| Some(key.as_str())).collect();
    let (mut old, mut new) = (ByKey::of(old, &keys), ByKey::of(new, &keys));
    let mut is_whole = true;
    if found.is_empty() || old.hides_shared(&found) || new.hides_shared(&found) {
        found.insert(None);
    }
    if old.repeated_by(&found) + new.repeated_by(&found) > MAX_OBJECTS {
        is_whole = false;
        (old, new) = (old.planned(), new.planned());
        if old.repeated_by(&found) + new.repeated_by(&found) > MAX_OBJECTS {
            found.insert(None);
            (old.is_apart, new.is_apart) = (true, true);
        }
    }
    let is_alone = found.len() == 1;
    let is_root = |key: &str| {
        let mut own = [&old, &new].into_iter().filter_map(|side| side.keyed.get(key)).flatten().peekable();
        own.peek().is_some() && own.all(|one| one.module.is_some() || !is_planned(one.object))
    };
    let scope = |key: Option<&str>| {
        let (old, new) = (old.visible_to(key), new.visible_to(key));
        let unresolved =
            old.iter().chain(&new).filter_map(|one| Some((place_key(one.object), one.unresolved.clone()?)));
        let mut modules: ModulesByPlace<'d> = BTreeMap::new();
        for one in old.iter().chain(&new) {
            if let Some(module) = one.module {
                modules.entry(place_key(one.object)).or_default().insert(module);
            }
        }
        let objects = |side: &[&SideObject<'d>]| {
            let mut objects: Vec<Object<'d>> = side.iter().map(|one| one.object).collect();
            // An object that several modules make follows itself.
            objects.dedup();
            objects
        };
        let outermost = if is_alone || !name.is_empty() { "" } else { "." };
        PlanScope {
            name: joined(name, key.filter(|key| !key.is_empty()).unwrap_or(outermost)),
            unresolved: unresolved.collect(),
            modules,
            old: objects(&old),
            new: objects(&new),
            is_whole,
            doubtful: None,
            was: None,
            parts: ScopeParts {
                overlay: String::new(),
                folder: key.unwrap_or_default().to_owned(),
                is_root: key.is_some_and(is_root),
                is_guessed: false,
            },
        }
    };
    found.into_iter().map(scope).collect()
}

/// Kind, name and key of an object.
type ObjectIdentity = (String, String, ScopeKey);

fn identity(object: &SideObject<'_>, keys: &BTreeMap<&str, ScopeKey>) -> ObjectIdentity {
    let key = keys.get(object.file.as_str()).cloned().unwrap_or_default();
    (object.object.kind().to_owned(), object.object.name().to_owned(), key)
}

/// The identities that objects in several files of a side have.
fn repeated<'s>(
    side: &'s [SideObject<'_>],
    keys: &'s BTreeMap<&str, ScopeKey>,
) -> impl Iterator<Item = ObjectIdentity> {
    let mut seen: BTreeMap<ObjectIdentity, &str> = BTreeMap::new();
    let planned = side.iter().filter(|object| is_planned(object.object));
    let repeated: Vec<ObjectIdentity> = planned
        .filter_map(|object| {
            let identity = identity(object, keys);
            let first = *seen.entry(identity.clone()).or_insert(&object.file);
            (first != object.file).then_some(identity)
        })
        .collect();
    repeated.into_iter()
}

/// The identities of the objects that move from one environment to another.
fn moved(
    old: &[SideObject<'_>],
    new: &[SideObject<'_>],
    environment: &dyn Fn(&str) -> ScopeKey,
) -> BTreeSet<ObjectIdentity> {
    let homes = |side: &[SideObject<'_>]| {
        let mut homes = Homes::default();
        for object in side.iter().filter(|object| is_planned(object.object)) {
            homes.add(object.object, environment(&object.file));
        }
        homes
    };
    let (old, new) = (homes(old), homes(new));
    old.moved(&new).map(|((kind, name), _)| (kind.clone(), name.clone(), None)).collect()
}

/// Gives the other files of a folder that is a cluster its key. An object with a unique name stays visible to all clusters only if it is
/// outside of their folders.
fn spread(keys: &mut BTreeMap<&str, ScopeKey>) {
    let used: BTreeSet<String> = keys.values().flatten().filter(|key| !key.is_empty()).cloned().collect();
    for (file, key) in keys.iter_mut().filter(|(_, key)| key.is_none()) {
        *key = folders_of(file).find(|folder| used.contains(*folder)).map(str::to_owned);
    }
}
