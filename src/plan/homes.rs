//! The environments and overlays of each object, and the objects that move from one to another.

use std::collections::{BTreeMap, BTreeSet};

use cluster::RepeatedNames;
use cluster::built::BuildOptions;
use cluster::built_objects::BuiltObjects;
use cluster::folders::folders_of;
use objects::object::Object;

use super::dropped;
use super::scope::{PlaceKey, is_planned, place_key, with_start, without_start};
use super::{PlanPair, PlanSide};

/// Kind and name of an object.
type ObjectKey = (String, String);

/// The environments or the overlays of the objects of a side. Objects outside of any are left out.
#[derive(Debug, Default)]
pub(super) struct Homes(BTreeMap<ObjectKey, BTreeSet<String>>);

impl Homes {
    /// Adds some homes of an object.
    pub(super) fn add(&mut self, object: Object<'_>, homes: impl IntoIterator<Item = String>) {
        let mut homes = homes.into_iter().peekable();
        if homes.peek().is_some() {
            let key = (object.kind().to_owned(), object.name().to_owned());
            self.0.entry(key).or_default().extend(homes);
        }
    }

    /// The objects that leave all their homes for others, with the homes on both sides. If the home before goes, and the home after is new,
    /// the home has another name.
    pub(super) fn moved<'h>(
        &'h self,
        new: &'h Self,
    ) -> impl Iterator<Item = (&'h ObjectKey, BTreeSet<String>)> {
        let stays =
            |homes: &BTreeSet<String>, side: &Self| side.0.values().any(|others| !others.is_disjoint(homes));
        self.0.iter().filter_map(move |(key, before)| {
            let after = new.0.get(key)?;
            let is_moved = before.is_disjoint(after) && (stays(before, new) || stays(after, self));
            is_moved.then(|| (key, before | after))
        })
    }
}

/// Whether the folders of some overlays are all in the folder of one of them: parts of one cluster, of which one is now built by itself.
fn is_nested(overlays: &BTreeSet<String>) -> bool {
    let folder = |overlay: &'_ String| match overlay.split(" (").next().unwrap_or_default() {
        "." => String::new(),
        folder => folder.to_owned(),
    };
    let folders: BTreeSet<String> = overlays.iter().map(folder).collect();
    let outermost = folders.iter().min_by_key(|folder| folder.len());
    let is_around = |outer: &String| {
        folders.iter().all(|one| one == outer || folders_of(one).any(|around| around == outer))
    };
    outermost.is_some_and(is_around)
}

/// The builds of both sides.
#[derive(Debug)]
pub(super) struct BothBuilt {
    pub(super) old: BuiltObjects,
    pub(super) new: BuiltObjects,
    /// The folders of overlays that may be applied themselves or only be bases of others.
    pub(super) doubtful: BTreeSet<String>,
    /// The files that are there, and that no kustomization uses any more.
    pub(super) dropped: BTreeSet<String>,
}

impl BothBuilt {
    /// The places of the objects that overlays have.
    pub(super) fn places<'p>(&'p self, pair: PlanPair<'p>) -> BTreeSet<PlaceKey<'p>> {
        let of = |built: &'p BuiltObjects, side: PlanSide<'p>| built.objects_of_overlays(&side.cluster.files);
        let objects = of(&self.old, pair.old).into_iter().chain(of(&self.new, pair.new));
        objects.map(|(object, _)| place_key(object)).collect()
    }
}

/// The overlays of the old side that other kustomizations of the new side use: before, nothing may have applied them.
fn became_bases(pair: PlanPair<'_>, [old, new]: [&BuiltObjects; 2]) -> BTreeSet<String> {
    let overlays = |side: PlanSide<'_>, built: &BuiltObjects| -> BTreeSet<String> {
        built.overlays().into_iter().map(|name| without_start(name, side.folder).to_owned()).collect()
    };
    let used = pair.new.cluster.files.iter().flat_map(cluster::references);
    let used: BTreeSet<String> =
        used.map(|folder| without_start(&folder, pair.new.folder).to_owned()).collect();
    let now = overlays(pair.new, new);
    overlays(pair.old, old).into_iter().filter(|name| !now.contains(name) && used.contains(name)).collect()
}

/// The builds of both sides. Overlays that share objects on one side, or from one side to the other, are for different clusters on both.
pub(super) fn built(pair: PlanPair<'_>) -> BothBuilt {
    let both = || [pair.old, pair.new].into_iter();
    let mut bases: BTreeMap<String, bool> = BTreeMap::new();
    for side in both() {
        for (folder, is_certain) in BuiltObjects::applied_bases(&side.cluster.files) {
            *bases.entry(without_start(&folder, side.folder).to_owned()).or_default() |= is_certain;
        }
    }
    let mut repeated = RepeatedNames::new();
    for (name, repetition) in both().flat_map(|side| BuiltObjects::repeated_names(&side.cluster.files)) {
        let known = repeated.entry(name).or_insert(repetition);
        *known = repetition.max(*known);
    }
    let mut sides = [pair.old, pair.new].map(|side| {
        let folders = bases.keys().map(|folder| with_start(folder, side.folder)).collect();
        let options = BuildOptions { folders: &folders, repeated: &repeated, start: side.folder };
        BuiltObjects::with_bases(&side.cluster.files, &options)
    });
    let owned = |side: PlanSide<'_>, names: BTreeSet<&str>| -> BTreeSet<String> {
        names.into_iter().map(|name| without_start(name, side.folder).to_owned()).collect()
    };
    let dropped = dropped::files(pair, sides.each_ref());
    let is_dropped =
        |object: Object<'_>| dropped.contains(without_start(object.root().source().name(), pair.new.folder));
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    let mut homes = [Homes::default(), Homes::default()];
    for ((side, built), homes) in both().zip(&sides).zip(&mut homes) {
        groups.extend(built.groups_of_variants().into_iter().map(|group| owned(side, group)));
        for (object, overlays) in built.objects_of_overlays(&side.cluster.files) {
            if is_planned(object) && !is_dropped(object) {
                homes.add(object, owned(side, overlays));
            }
        }
    }
    let [old, new] = &homes;
    let apart = |overlays: &BTreeSet<String>| !is_nested(overlays);
    groups.extend(old.moved(new).map(|(_, overlays)| overlays).filter(apart));
    // A name is unique in a cluster, also of objects of several bases.
    let named: BTreeSet<&BTreeSet<String>> = homes.iter().flat_map(|homes| homes.0.values()).collect();
    groups.extend(named.into_iter().filter(|overlays| overlays.len() > 1 && apart(overlays)).cloned());
    for (side, built) in both().zip(&mut sides) {
        for group in &groups {
            built.add_variants(|name| group.contains(without_start(name, side.folder)));
        }
    }
    let [old, new] = sides;
    let doubtful = bases.into_iter().filter(|(_, is_certain)| !is_certain).map(|(folder, _)| folder);
    let doubtful = doubtful.chain(became_bases(pair, [&old, &new])).collect();
    BothBuilt { old, new, doubtful, dropped }
}
