//! The objects of a side by the clusters to which their files belong.

use std::collections::{BTreeMap, BTreeSet};

use super::scope::{SideObject, is_kept_without_pods, is_planned};

/// Key of the files of one cluster: an environment, a folder or a file. The outermost folder is the empty text. Files without a key are
/// visible to every cluster.
pub(super) type ScopeKey = Option<String>;

/// The objects of a side by the keys of their files.
pub(super) struct ByKey<'o, 'd> {
    pub(super) keyed: BTreeMap<&'o str, Vec<&'o SideObject<'d>>>,
    /// The objects without a key.
    shared: Vec<&'o SideObject<'d>>,
    /// Whether the objects without a key are visible to no other key.
    pub(super) is_apart: bool,
    /// The largest number of parent folders at the start of a key.
    parents: usize,
}

impl<'o, 'd> ByKey<'o, 'd> {
    pub(super) fn of(side: &'o [SideObject<'d>], keys: &'o BTreeMap<&str, ScopeKey>) -> Self {
        let mut keyed: BTreeMap<&'o str, Vec<&'o SideObject<'d>>> = BTreeMap::new();
        let mut shared = Vec::new();
        for object in side {
            match keys.get(object.file.as_str()).and_then(Option::as_deref) {
                Some(key) => keyed.entry(key).or_default().push(object),
                None => shared.push(object),
            }
        }
        let parents = keyed.keys().map(|key| parents(key)).max().unwrap_or_default();
        Self { keyed, shared, is_apart: false, parents }
    }

    /// A key and the folders around it, from the nearest.
    fn chain(&self, key: &str) -> impl Iterator<Item = String> {
        let folders = around(key).take_while(|folder| parents(folder) <= self.parents);
        std::iter::once(key.to_owned()).chain(folders)
    }

    /// The objects of a key and of the folders around it, from the nearest.
    fn near(&self, key: &str) -> Vec<&[&'o SideObject<'d>]> {
        let own = |folder: String| self.keyed.get(folder.as_str()).map(Vec::as_slice).unwrap_or_default();
        self.chain(key).map(own).collect()
    }

    /// The number of objects that several keys see.
    pub(super) fn repeated_by(&self, keys: &BTreeSet<Option<&str>>) -> usize {
        if keys.len() <= 1 {
            return 0;
        }
        let outer = |key: &str| self.near(key).iter().skip(1).map(|objects| objects.len()).sum::<usize>();
        keys.iter().flatten().map(|key| outer(key)).sum::<usize>() + keys.len() * self.shared.len()
    }

    /// Whether an object without a key is visible to none of some keys, because each has a nearer object of its name.
    pub(super) fn hides_shared(&self, keys: &BTreeSet<Option<&str>>) -> bool {
        let shared = self.shared.iter().filter(|one| is_planned(one.object));
        let mut folders: BTreeMap<(&str, &str), BTreeSet<&str>> =
            shared.map(|one| (name_of(one), BTreeSet::new())).collect();
        for (folder, objects) in &self.keyed {
            for one in objects {
                if let Some(folders) = folders.get_mut(&name_of(one)) {
                    folders.insert(folder);
                }
            }
        }
        // The number of keys that see the objects of each folder.
        let mut seeing: BTreeMap<&str, usize> = BTreeMap::new();
        for folder in keys.iter().flatten().flat_map(|key| self.chain(key)) {
            if let Some((folder, _)) = self.keyed.get_key_value(folder.as_str()) {
                *seeing.entry(folder).or_default() += 1;
            }
        }
        let all = keys.iter().flatten().count();
        folders.values().any(|folders| {
            let is_outermost =
                |folder: &&&str| !self.chain(folder).skip(1).any(|outer| folders.contains(outer.as_str()));
            let outermost = folders.iter().filter(is_outermost);
            outermost.filter_map(|folder| seeing.get(folder)).sum::<usize>() == all
        })
    }

    /// The objects that can change nodes.
    pub(super) fn planned(mut self) -> Self {
        for objects in self.keyed.values_mut().chain([&mut self.shared]) {
            objects.retain(|one| is_kept_without_pods(one.object));
        }
        self
    }

    /// The objects that a key sees: its own, and the objects of the folders around it. Of a name that repeats there, the nearest object
    /// counts, and of several in one file the last, which `kubectl apply` applies last.
    pub(super) fn visible_to(&self, key: Option<&str>) -> Vec<&'o SideObject<'d>> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let near = key.map(|key| self.near(key)).unwrap_or_default();
        let shared = (key.is_none() || !self.is_apart).then_some(self.shared.as_slice());
        for own in near.into_iter().chain(shared) {
            let counts = |one: &&SideObject<'d>| !is_planned(one.object) || seen.insert(name_of(one));
            let start = found.len();
            found.extend(own.iter().rev().copied().filter(counts));
            found.get_mut(start..).into_iter().for_each(<[_]>::reverse);
        }
        found
    }
}

/// The folders around a folder, from the nearest: without end for a folder that is not absolute.
fn around(key: &str) -> impl Iterator<Item = String> {
    let outer = |folder: &str| match folder.rsplit_once('/') {
        None if folder.is_empty() => Some("..".to_owned()),
        _ if folder == ".." || folder.ends_with("/..") => Some(format!("{folder}/..")),
        Some(("", _)) => None,
        Some((outer, _)) => Some(outer.to_owned()),
        None => Some(String::new()),
    };
    std::iter::successors(outer(key), move |folder| outer(folder))
}

/// The number of parent folders at the start of a name.
fn parents(name: &str) -> usize {
    name.split('/').take_while(|part| *part == "..").count()
}

fn name_of<'d>(one: &SideObject<'d>) -> (&'d str, &'d str) {
    (one.object.kind(), one.object.name())
}
