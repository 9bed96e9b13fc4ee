//! The files that texts of Jsonnet import, directly or through others.
//!
//! A path is relative to the folder of the text, or else to a folder of libraries, which the input does not show.
//!
//! Sources: "Imports" in doc/learning/tutorial.md of google/jsonnet; "Using a library" in docs/docs/jsonnet/libraries.mdx of grafana/tanka.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{joined, name, parent};
use manifest::File;

use super::other_templates::may_have_nodes;

const EXTENSIONS: [&str; 2] = [".jsonnet", ".libsonnet"];

/// Whether a file is a text of Jsonnet.
pub(super) fn is_jsonnet(file: &str) -> bool {
    EXTENSIONS.iter().any(|extension| file.ends_with(extension))
}

/// The imports of both sides of a plan.
pub(super) struct Imports<'s, 'p> {
    olds: &'s BTreeMap<&'p str, &'p File>,
    news: &'s BTreeMap<&'p str, &'p File>,
    /// The names of the files of both sides by their last part.
    by_base: BTreeMap<&'p str, BTreeSet<&'p str>>,
}

/// A text of Jsonnet that imports a template with NodePools.
pub(super) struct Importer<'p> {
    pub(super) file: &'p str,
    pub(super) template: &'p str,
    /// The changed file: the text itself, or values that it imports.
    pub(super) changed: &'p str,
}

impl<'s, 'p> Imports<'s, 'p> {
    pub(super) fn of([olds, news]: [&'s BTreeMap<&'p str, &'p File>; 2]) -> Self {
        let mut by_base: BTreeMap<&'p str, BTreeSet<&'p str>> = BTreeMap::new();
        for file in olds.keys().chain(news.keys()) {
            by_base.entry(name(file)).or_default().insert(file);
        }
        Self { olds, news, by_base }
    }

    /// The texts of a file before and after.
    fn texts(&self, file: &str) -> [Option<&'p str>; 2] {
        [self.olds, self.news].map(|side| side.get(file).map(|file| file.source.text()))
    }

    fn is_changed(&self, file: &str) -> bool {
        let [old, new] = self.texts(file);
        old != new
    }

    /// The files that a text imports itself. In folders of libraries, each file with the path counts.
    fn read_by(&self, file: &str) -> BTreeSet<&'p str> {
        let folder = parent(file).unwrap_or_default();
        let [old, new] = self.texts(file);
        let mut found = BTreeSet::new();
        for path in paths(new.or(old).unwrap_or_default()) {
            let own = joined(folder, path);
            let path = path.trim_start_matches("./");
            let end = format!("/{path}");
            let named = || self.by_base.get(name(path)).into_iter().flatten().copied();
            match named().find(|one| *one == own) {
                Some(own) => found.extend([own]),
                None => found.extend(named().filter(|one| one.ends_with(&end) || **one == *path)),
            }
        }
        found
    }

    /// The first changed file among the ones that a template reads, directly or through others.
    pub(super) fn changed_below(&self, template: &'p str) -> Option<&'p str> {
        let mut seen = BTreeSet::from([template]);
        let mut open = vec![template];
        while let Some(file) = open.pop() {
            if self.is_changed(file) {
                return Some(file);
            }
            open.extend(self.read_by(file).into_iter().filter(|read| seen.insert(read)));
        }
        None
    }

    /// The texts that import templates with NodePools, directly or through others, and that change, or import changed values themselves: they give the
    /// templates arguments and fields. A new text makes only new objects.
    pub(super) fn changed_importers(&self) -> Vec<Importer<'p>> {
        let all: BTreeSet<&'p str> = self.by_base.values().flatten().copied().collect();
        let texts: Vec<&'p str> = all.into_iter().filter(|file| is_jsonnet(file)).collect();
        let has_nodes = |file: &str| self.texts(file).into_iter().flatten().any(may_have_nodes);
        let templates: Vec<&'p str> = texts.iter().copied().filter(|file| has_nodes(file)).collect();
        if templates.is_empty() {
            return Vec::new();
        }
        let mut read_by: BTreeMap<&'p str, Vec<&'p str>> = BTreeMap::new();
        for file in &texts {
            for read in self.read_by(file) {
                read_by.entry(read).or_default().push(file);
            }
        }
        let mut found: BTreeMap<&'p str, &'p str> = templates.iter().map(|file| (*file, *file)).collect();
        let mut open = templates;
        while let Some(file) = open.pop() {
            let Some(template) = found.get(file).copied() else { continue };
            for importer in read_by.get(file).into_iter().flatten() {
                found.entry(importer).or_insert_with(|| {
                    open.push(importer);
                    template
                });
            }
        }
        let is_value =
            |read: &&str| !found.contains_key(*read) && self.is_changed(read) && self.has_values(read);
        let importers =
            found.iter().filter(|(file, template)| file != template && self.olds.contains_key(*file));
        let changed = importers.filter_map(|(file, template)| {
            let values = || self.read_by(file).into_iter().find(is_value);
            let changed = if self.is_changed(file) { Some(*file) } else { values() };
            Some(Importer { file, template, changed: changed? })
        });
        changed.collect()
    }

    /// Whether a file has only values, and no objects of other kinds.
    fn has_values(&self, file: &str) -> bool {
        let is_one = |text: &str| !text.contains("kind") && paths(text).next().is_none();
        self.texts(file).into_iter().flatten().all(is_one)
    }
}

/// The paths that a text of Jsonnet imports.
pub fn paths(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(['#', '/']));
    lines.flat_map(|line| line.split("import").skip(1)).filter_map(|rest| {
        let rest = rest.strip_prefix("str").or_else(|| rest.strip_prefix("bin")).unwrap_or(rest).trim_start();
        let quote = rest.chars().next().filter(|char| ['\'', '"'].contains(char))?;
        rest.get(1..)?.split_once(quote).map(|(path, _)| path)
    })
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn imports_are_the_texts_behind_the_word() {
        let text = "local a = import 'a.libsonnet';\n// import 'b.libsonnet'\n{x: importstr \"c/d.txt\", y: (import 'e.jsonnet') + {important: 'f'}}\n";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["a.libsonnet", "c/d.txt", "e.jsonnet"]);
    }
}
