//! Changed files on which fields of kustomizations depend that a build does not execute, such as `transformers`.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{folders_of, parent};
use manifest::File;
use objects::object::Object;

use super::PlanPair;
use super::outside::is_kustomization;
use super::scope::without_start;

/// A file that changes what a kustomization builds.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildFeed<'p> {
    /// The folder of the kustomization, without the start of its side.
    pub(super) folder: &'p str,
    /// The file, without the start of its side.
    pub(super) file: &'p str,
}

impl<'p> BuildFeed<'p> {
    /// A kustomization that has changed itself.
    pub(super) fn of_kustomization(file: &'p str) -> Self {
        Self { folder: parent(file).unwrap_or_default(), file }
    }
}

/// The kustomizations with other such fields, the changed files that the fields name, and the ones with the objects from which variables take
/// their values.
pub(super) fn changed<'p>(
    pair: PlanPair<'p>,
    sides: [&BTreeMap<&'p str, &'p File>; 2],
) -> Vec<BuildFeed<'p>> {
    let mut differing: Option<BTreeSet<&'p str>> = None;
    let mut found = Vec::new();
    for (side, files) in [pair.old, pair.new].into_iter().zip(sides) {
        for (name, kustomization) in files.iter().filter(|(_, file)| is_kustomization(file)) {
            let find = |name: &str| files.get(without_start(name, side.folder)).copied();
            let named = cluster::unexecuted_files(kustomization, find);
            let variables = cluster::sources_of_variables(kustomization);
            if named.is_empty() && variables.is_empty() {
                continue;
            }
            let differing = differing.get_or_insert_with(|| differing_files(sides));
            let is_named = |file: &str| {
                let is_it = |name: &String| {
                    let name = without_start(name, side.folder);
                    file == name || folders_of(file).any(|folder| folder == name)
                };
                named.iter().any(is_it)
            };
            let gives = |file: &str| {
                let sides = sides.iter().filter_map(|side| side.get(file)).filter(|_| !variables.is_empty());
                sides
                    .flat_map(|file| objects_of(file))
                    .any(|one| variables.contains(&(one.kind(), one.name())))
            };
            let texts = sides.map(|side| side.get(name).map(|file| cluster::unexecuted_fields(file)));
            if texts[0] != texts[1] {
                found.push(BuildFeed::of_kustomization(name));
            }
            let folder = parent(name).unwrap_or_default();
            let own = differing.iter().filter(|file| is_named(file) || gives(file));
            found.extend(own.map(|file| BuildFeed { folder, file }));
        }
    }
    found
}

/// The names of the files that only one side has, or with another text.
fn differing_files<'p>([olds, news]: [&BTreeMap<&'p str, &'p File>; 2]) -> BTreeSet<&'p str> {
    let text = |file: Option<&&'p File>| file.map(|file| file.source.text());
    let all = olds.keys().chain(news.keys()).copied();
    all.filter(|name| text(olds.get(name)) != text(news.get(name))).collect()
}

fn objects_of(file: &File) -> impl Iterator<Item = Object<'_>> {
    let trees = file.trees();
    trees.flat_map(Object::all)
}
