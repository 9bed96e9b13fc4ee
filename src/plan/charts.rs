//! The charts of the input and their dependencies: which charts give values to which.
//!
//! Sources: "Managing Dependencies with the `dependencies` field" and "Scope, Dependencies, and Values" in docs/topics/charts.mdx of
//! helm/helm-www: a chart gives the values below the name or the alias of a dependency to it, and `global` to all.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{joined, name, parent};
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

/// Values that a chart gives to all its dependencies.
const FOR_ALL: &str = "global";

/// Values of a dependency that a chart imports by their name.
const EXPORTS: &str = "exports";

/// The file with the definition of a chart.
const DEFINITION: &str = "Chart.yaml";

/// Values that switch dependencies on.
const TAGS: &str = "tags";

/// The file with the default values of a chart.
const DEFAULTS: &str = "values.yaml";

/// The folders of charts outside of which nothing is nested.
const NESTED: &str = "charts";

/// The charts of both sides.
#[derive(Debug, Default)]
pub(super) struct Charts<'p> {
    /// By folder, without the start of a side.
    by_folder: BTreeMap<&'p str, Chart<'p>>,
    /// The folders of the charts that give values to each chart, the chart included.
    around: BTreeMap<&'p str, BTreeSet<String>>,
    /// The charts on which another chart depends no longer, or in another way: for each folder, the definition of the other chart.
    lost: BTreeMap<String, &'p str>,
}

#[derive(Debug, Default)]
struct Chart<'p> {
    names: BTreeSet<&'p str>,
    dependencies: Vec<Dependency<'p>>,
}

#[derive(Debug)]
struct Dependency<'p> {
    name: &'p str,
    /// The folder, if the dependency says one.
    folder: Option<String>,
    keys: BTreeSet<&'p str>,
    imports: Vec<Import<'p>>,
}

/// Values of a dependency that the chart around it takes over as its own.
///
/// Source: "Importing Child Values via dependencies" in docs/topics/charts.mdx of helm/helm-www.
#[derive(Debug)]
struct Import<'p> {
    /// The first key of the values of the dependency.
    child: &'p str,
    /// The first key of the values of the chart; `None` if only the dependency says it.
    parent: Option<&'p str>,
}

/// A chart that gives values to another one.
#[derive(Debug)]
pub(super) struct GivingChart<'p> {
    /// The folder.
    pub(super) folder: String,
    /// The keys of its values that reach the other chart; `None` for the chart itself.
    pub(super) keys: Option<BTreeSet<&'p str>>,
}

impl<'p> Charts<'p> {
    /// Finds the charts among the files of both sides.
    pub(super) fn of(sides: [&BTreeMap<&'p str, &'p File>; 2]) -> Self {
        let mut found = Self::default();
        let files = sides.into_iter().flatten().filter(|(file, _)| name(file) == DEFINITION);
        for (file, definition) in files {
            let [Document::Read(tree)] = definition.documents.as_slice() else { continue };
            let folder = parent(file).unwrap_or_default();
            let chart = found.by_folder.entry(folder).or_default();
            chart.names.extend([name(folder)].into_iter().chain(tree.root().str_at(&["name"])));
            let dependencies = items_of(tree.root().get("dependencies"));
            chart.dependencies.extend(dependencies.filter_map(|item| Dependency::of(item, folder)));
        }
        let around = |folder: &&'p str| {
            (*folder, found.giving_to(folder).into_iter().map(|chart| chart.folder).collect())
        };
        found.around = found.by_folder.keys().map(around).collect();
        found.lost = found.changed_dependencies(sides);
        found
    }

    /// The dependencies of the charts of both sides that only the old side has in this way.
    fn changed_dependencies(
        &self,
        [olds, news]: [&BTreeMap<&'p str, &'p File>; 2],
    ) -> BTreeMap<String, &'p str> {
        let mut found = BTreeMap::new();
        for (file, old) in olds.iter().filter(|(file, _)| name(file) == DEFINITION) {
            let Some(new) = news.get(file) else { continue };
            let kept: BTreeSet<BTreeSet<String>> = dependencies_in(new).map(without_version).collect();
            let outer = parent(file).unwrap_or_default();
            for item in dependencies_in(old).filter(|item| !kept.contains(&without_version(*item))) {
                let Some(dependency) = Dependency::of(item, outer) else { continue };
                let inner = self.by_folder.keys().filter(|inner| self.is_meant(&dependency, outer, inner));
                found.extend(inner.map(|inner| ((*inner).to_owned(), *file)));
            }
        }
        found
    }

    /// The definition of a chart that no longer depends on the chart in a folder, or in another way.
    pub(super) fn lost(&self, folder: &str) -> Option<&'p str> {
        self.around.get(folder)?.iter().find_map(|around| self.lost.get(around).copied())
    }

    /// Whether a folder has a chart.
    pub(super) fn has(&self, folder: &str) -> bool {
        self.by_folder.contains_key(folder)
    }

    /// A chart, and the charts around it that give it values, from the inside out.
    pub(super) fn giving_to(&self, folder: &str) -> Vec<GivingChart<'p>> {
        let mut found = vec![GivingChart { folder: folder.to_owned(), keys: None }];
        let mut next = 0;
        while let Some(inner) = found.get(next).map(|chart| chart.folder.clone()) {
            for (outer, chart) in &self.by_folder {
                let own = chart.dependencies.iter().filter(|one| self.is_meant(one, outer, &inner));
                let mut keys: BTreeSet<&'p str> = own.flat_map(|one| one.keys.iter().copied()).collect();
                if is_nested(&inner, outer) {
                    keys.extend(self.by_folder.get(inner.as_str()).into_iter().flat_map(|one| &one.names));
                }
                if !keys.is_empty() && !found.iter().any(|known| known.folder == *outer) {
                    keys.extend([FOR_ALL]);
                    found.push(GivingChart { folder: (*outer).to_owned(), keys: Some(keys) });
                }
            }
            next += 1;
        }
        for importing in 0..found.len() {
            self.add_imports(&mut found, importing);
        }
        found
    }

    /// Adds the charts from which one of some charts imports values that it gives on.
    fn add_imports(&self, found: &mut Vec<GivingChart<'p>>, importing: usize) {
        let Some(outer) = found.get(importing) else { return };
        let Some(chart) = self.by_folder.get(outer.folder.as_str()) else { return };
        let is_given = |import: &&Import<'p>| match (&outer.keys, import.parent) {
            (Some(keys), Some(parent)) => keys.contains(parent),
            _ => true,
        };
        let mut imported = BTreeMap::<&'p str, BTreeSet<&'p str>>::new();
        for dependency in &chart.dependencies {
            let keys: BTreeSet<&'p str> =
                dependency.imports.iter().filter(is_given).map(|import| import.child).collect();
            if keys.is_empty() {
                continue;
            }
            let inner = self.by_folder.keys().filter(|inner| self.is_meant(dependency, &outer.folder, inner));
            for inner in inner {
                imported.entry(inner).or_default().extend(&keys);
            }
        }
        for (folder, keys) in imported {
            if let Some(known) = found.iter_mut().find(|known| known.folder == folder) {
                if let Some(known) = &mut known.keys {
                    known.extend(&keys);
                }
            } else {
                found.push(GivingChart { folder: folder.to_owned(), keys: Some(keys) });
            }
        }
    }

    /// The folder of the chart whose default values a file has.
    pub(super) fn of_defaults(&self, file: &str) -> Option<&'p str> {
        let folder = parent(file).filter(|_| name(file) == DEFAULTS)?;
        self.by_folder.get_key_value(folder).map(|(folder, _)| *folder)
    }

    fn is_meant(&self, dependency: &Dependency<'_>, outer: &str, folder: &str) -> bool {
        if let Some(named) = &dependency.folder {
            return named == folder;
        }
        let names = self.by_folder.get(folder).map(|chart| &chart.names);
        outer != folder && names.is_some_and(|names| names.contains(dependency.name))
    }

    /// Whether the named templates of two charts, given by the starts of the names of their files, have one scope.
    pub(super) fn share_names(&self, one: &str, other: &str) -> bool {
        // A chart around both has the templates of all its dependencies.
        let around = |chart: &str| self.around.get(chart.trim_end_matches('/'));
        let has_both = || around(one).zip(around(other)).is_some_and(|(one, other)| !one.is_disjoint(other));
        one.starts_with(other) || other.starts_with(one) || has_both()
    }
}

impl<'p> Dependency<'p> {
    fn of(item: Node<'p>, outer: &str) -> Option<Self> {
        let name = item.str_at(&["name"])?;
        let folder = item.str_at(&["repository"]).and_then(|address| address.strip_prefix("file://"));
        let folder = folder.map(|path| joined(outer, path));
        let imports = items_of(item.get("import-values")).filter_map(|import| {
            if import.as_str().is_some() {
                return Some(Import { child: EXPORTS, parent: None });
            }
            let key = |key| import.str_at(&[key])?.split('.').next();
            Some(Import { child: key("child")?, parent: key("parent") })
        });
        Some(Self { name, folder, keys: keys_of_dependency(item), imports: imports.collect() })
    }
}

/// The dependencies in the definition of a chart.
fn dependencies_in(definition: &File) -> impl Iterator<Item = Node<'_>> {
    let root = match definition.documents.as_slice() {
        [Document::Read(tree)] => Some(tree.root()),
        _ => None,
    };
    items_of(root.and_then(|root| root.get("dependencies")))
}

/// The fields of a dependency without its version: the chart in the input is compared by itself.
fn without_version(dependency: Node<'_>) -> BTreeSet<String> {
    let members = dependency.members().filter(|(key, _)| *key != "version");
    members.map(|(key, value)| format!("{key}: {}", value.to_json())).collect()
}

/// The keys of the values of a chart that reach a dependency or switch it on.
pub(super) fn keys_of_dependency(item: Node<'_>) -> BTreeSet<&str> {
    let own = item.str_at(&["alias"]).or(item.str_at(&["name"]));
    let conditions = item.str_at(&["condition"]).into_iter().flat_map(|text| text.split(','));
    let conditions = conditions.filter_map(|path| path.trim().split('.').next());
    let tags = item.get(TAGS).map(|_| TAGS);
    own.into_iter().chain(conditions).chain([FOR_ALL]).chain(tags).collect()
}

/// Whether a chart is in the folder `charts` of another one.
fn is_nested(inner: &str, outer: &str) -> bool {
    let rest = if outer.is_empty() { Some(inner) } else { inner.strip_prefix(outer) };
    let rest = rest.map(|rest| rest.trim_start_matches('/'));
    rest.and_then(parent) == Some(NESTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    #[test]
    fn charts_give_values_to_their_dependencies_under_the_alias() {
        let files = [
            (
                "a/Chart.yaml",
                "name: a\ndependencies:\n- {name: pools, alias: p, repository: 'file://../pools'}\n",
            ),
            (
                "b/Chart.yaml",
                "name: b\ndependencies:\n- {name: a, repository: 'https://example.com', condition: 'x.on'}\n",
            ),
            ("c/Chart.yaml", "name: c\n"),
            ("c/charts/pools/Chart.yaml", "name: named\n"),
            ("pools/Chart.yaml", "name: pools\n"),
        ];
        let files = files.map(|(name, text)| File::read(name, text, READ_OPTIONS));
        let by_name: BTreeMap<&str, &File> = files.iter().map(|file| (file.source.name(), file)).collect();
        let charts = Charts::of([&by_name, &BTreeMap::new()]);
        let shown = |folder: &str| -> Vec<String> {
            let all = charts.giving_to(folder).into_iter();
            all.map(|one| {
                let keys = one.keys.into_iter().flatten().collect::<Vec<_>>().join(" ");
                format!("{} {keys}", one.folder)
            })
            .collect()
        };
        assert_eq!(shown("pools"), ["pools ", "a global p", "b a global x"]);
        assert_eq!(shown("c/charts/pools"), ["c/charts/pools ", "c global named pools"]);
        assert_eq!((joined("a/b", "../c/./d"), joined("", "../a")), ("a/c/d".into(), "../a".into()));
        assert!(charts.share_names("a/", "pools/") && !charts.share_names("c/", "pools/"));
    }
}
