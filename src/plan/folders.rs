//! The folders that tell clusters apart whose objects have the same names.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{folders_of, parent};

use super::scope::{SideObject, is_planned};

/// Kind and name of an object, and its folders on each side.
type FoldersByName<'o> = BTreeMap<(&'o str, &'o str), [BTreeSet<&'o str>; 2]>;

/// The folder of the cluster of each file with some objects: the outermost one that holds no other of its name on the same side. Parts of a
/// cluster may be in several folders below it, such as `a/pools` and `a/classes` beside `b/pools`.
pub(super) fn apart<'o>(
    sides: [&'o [SideObject<'_>]; 2],
    is_apart: impl Fn(&SideObject<'_>) -> bool,
) -> BTreeMap<&'o str, &'o str> {
    let own = |one: &'o SideObject<'_>| parent(&one.file).unwrap_or_default();
    let found = || {
        sides.into_iter().enumerate().flat_map(|(side, objects)| objects.iter().map(move |one| (side, one)))
    };
    let found = || found().filter(|(_, one)| is_planned(one.object) && is_apart(one));
    let mut by_name: FoldersByName<'o> = BTreeMap::new();
    for (side, one) in found() {
        let folders = by_name.entry((one.object.kind(), one.object.name())).or_default();
        folders.get_mut(side).into_iter().for_each(|folders| folders.extend([own(one)]));
    }
    let clusters: BTreeMap<(&str, &str), [BTreeMap<&'o str, &'o str>; 2]> =
        by_name.into_iter().map(|(name, folders)| (name, clusters(&folders))).collect();
    let mut files: BTreeMap<&'o str, &'o str> = BTreeMap::new();
    for (side, one) in found() {
        let of_name = clusters.get(&(one.object.kind(), one.object.name()));
        let Some(folder) = of_name.and_then(|sides| sides.get(side)?.get(own(one))) else { continue };
        // Several objects of a file, or both sides of it, may need different folders: the innermost tells all of them apart.
        let known = files.entry(&one.file).or_insert(folder);
        if folder.len() > known.len() {
            *known = folder;
        }
    }
    files
}

/// The folders of the clusters for the folders of objects with one name, on each side.
fn clusters<'o>(sides: &[BTreeSet<&'o str>; 2]) -> [BTreeMap<&'o str, &'o str>; 2] {
    let [old, new] = sides.each_ref().map(outermost);
    let known: BTreeSet<&str> = old.values().chain(new.values()).copied().collect();
    sides.each_ref().map(|folders| {
        let several = outermost(folders);
        let cluster = |folder: &&'o str| {
            // A side with one folder tells nothing apart: the clusters of the other side count.
            let single = || within(folder).find(|around| known.contains(around)).unwrap_or(folder);
            (*folder, several.get(folder).copied().unwrap_or_else(single))
        };
        folders.iter().map(cluster).collect()
    })
}

/// For each of several folders, the outermost folder around it that holds none of the others, or the folder itself.
fn outermost<'o>(folders: &BTreeSet<&'o str>) -> BTreeMap<&'o str, &'o str> {
    if folders.len() < 2 {
        return BTreeMap::new();
    }
    let mut holding: BTreeMap<&str, usize> = BTreeMap::new();
    for around in folders.iter().flat_map(|folder| within(folder)) {
        *holding.entry(around).or_default() += 1;
    }
    let outermost = |folder: &&'o str| {
        let alone = within(folder).take_while(|around| holding.get(around) == Some(&1));
        (*folder, alone.last().unwrap_or(folder))
    };
    folders.iter().map(outermost).collect()
}

/// A folder and the folders around it, from the inside out.
fn within(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::once(folder).chain(folders_of(folder).filter(move |_| !folder.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_cluster_holds_no_other_object_of_the_name() {
        for (old, new, expected) in [
            (&["a/pools", "b/pools"][..], &["a/pools", "b/pools"][..], "a b|a b"),
            (&["a/pools", "b/pools"], &["a/other", "b/pools"], "a b|a b"),
            (&["a/pools"], &["a/pools", "b/pools"], "a|a b"),
            (
                &["demo"],
                &["manifests/basic", "manifests/highload"],
                "demo|manifests/basic manifests/highload",
            ),
            (&["prod", "prod/blue"], &[], "prod prod/blue|"),
            (&["", "../dev", ".."], &[], " .. ../dev|"),
            (&["a"], &["b"], "a|b"),
        ] {
            let sides = [old, new].map(|side| side.iter().copied().collect());
            let shown = clusters(&sides).map(|side| side.into_values().collect::<Vec<_>>().join(" "));
            assert_eq!(shown.join("|"), expected, "{old:?} {new:?}");
        }
    }
}
