//! `ConfigMaps` and Secrets that kustomizations generate, and that other texts feed than before.

use std::collections::{BTreeMap, BTreeSet};

use cluster::{generators, text_of};
use manifest::File;

use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// A generated object with other entries.
#[derive(Debug)]
pub(super) struct ChangedMap<'p> {
    pub(super) name: &'p str,
    /// The kustomization, without the start of its side.
    pub(super) kustomization: &'p str,
    /// The keys whose texts differ, each with the file that has the text.
    pub(super) keys: BTreeMap<&'p str, &'p str>,
}

/// Kustomization, kind and name of a generated object.
type MapName<'p> = (&'p str, &'static str, &'p str);

/// The entries of a generated object by key: the text, and the file that has it.
type Entries<'p> = BTreeMap<&'p str, (&'p str, &'p str)>;

/// The generated objects that both sides have, with other entries.
pub(super) fn changed(pair: PlanPair<'_>) -> Vec<ChangedMap<'_>> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    let mut found = Vec::new();
    for ((kustomization, kind, name), new) in &news {
        let Some(old) = olds.get(&(*kustomization, *kind, *name)) else { continue };
        let known: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        let text = |side: &Entries<'_>, key: &str| side.get(key).map(|(text, _)| (*text).to_owned());
        let differs = known.into_iter().filter(|key| text(old, key) != text(new, key));
        let keys: BTreeMap<&str, &str> =
            differs.filter_map(|key| Some((key, new.get(key).or(old.get(key))?.1))).collect();
        if !keys.is_empty() {
            found.push(ChangedMap { name, kustomization, keys });
        }
    }
    found
}

fn of_side(side: PlanSide<'_>) -> BTreeMap<MapName<'_>, Entries<'_>> {
    let files = &side.cluster.files;
    let mut by_name: BTreeMap<&str, &File> = BTreeMap::new();
    let mut found = BTreeMap::<_, Entries<'_>>::new();
    for file in files {
        let own = generators(file);
        if own.is_empty() {
            continue;
        }
        if by_name.is_empty() {
            by_name = files.iter().map(|file| (file.source.name(), file)).collect();
        }
        let kustomization = without_start(file.source.name(), side.folder);
        for generator in own {
            let (entries, _) = generator.entries(|name| text_of(by_name.get(name).copied()?));
            let entries = entries.into_iter().map(|entry| {
                let place = entry.file.map_or(kustomization, |file| without_start(file, side.folder));
                (entry.key, (entry.text, place))
            });
            found.entry((kustomization, generator.kind, generator.name())).or_default().extend(entries);
        }
    }
    found
}
