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
        let files = sides.into_iter().flatten().filter(|(file, _)| name(file) == "Chart.yaml");
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
        found
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
        found
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
        let is_around = |outer: &str, inner: &str| {
            let (outer, inner) = (outer.trim_end_matches('/'), inner.trim_end_matches('/'));
            self.around.get(inner).is_some_and(|all| all.contains(outer))
        };
        one.starts_with(other) || other.starts_with(one) || is_around(one, other) || is_around(other, one)
    }
}

impl<'p> Dependency<'p> {
    fn of(item: Node<'p>, outer: &str) -> Option<Self> {
        let name = item.str_at(&["name"])?;
        let folder = item.str_at(&["repository"]).and_then(|address| address.strip_prefix("file://"));
        let folder = folder.map(|path| joined(outer, path));
        Some(Self { name, folder, keys: keys_of_dependency(item) })
    }
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
