//! Folders whose objects are applied, although a kustomization elsewhere uses them as its base: `production`, which `staging` patches.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::is_karpenter_group;
use kustomize::{BuildOutcome, Builds, BuiltObject, KUSTOMIZATION_FILES, Origin, Overlay, Patches};
use manifest::tree::NodeId;
use manifest::{Document, File, FileNumber};
use objects::object::Object;

use crate::appliers::{AppliedFolder, Appliers, is_within};
use crate::environments::names::{is_environment, is_shared};
use crate::folders::{folders_of, name, parent};

/// The folders with objects of Karpenter that are applied themselves although a kustomization elsewhere uses their objects, each with
/// whether this is certain: Flux or Argo CD applies the folder. Without them, a folder without a kustomization may be applied as it is, and
/// so may an environment. A folder whose name says that it is shared, such as `base`, is not applied.
pub(crate) fn applied_bases(files: &[File]) -> BTreeMap<String, bool> {
    let input = Input::of(files);
    let mut found: BTreeMap<&str, bool> = BTreeMap::new();
    if input.kustomizations.is_empty() {
        return BTreeMap::new();
    }
    let appliers = Appliers::of(files);
    let applied: Vec<&AppliedFolder<'_>> = appliers.all().iter().flat_map(|one| &one.folders).collect();
    for (own, references) in &input.kustomizations {
        for reference in references {
            if let Some((folder, is_certain)) = input.base(own, reference, &applied) {
                *found.entry(folder).or_default() |= is_certain;
            }
        }
    }
    let all = found.clone();
    let is_part = |folder: &str| {
        let around = |other: &str| other != folder && is_within(folder, other);
        all.iter().any(|(other, is_certain)| {
            around(other) || (*is_certain && is_within(other, folder) && *other != folder)
        })
    };
    found.retain(|folder, is_certain| *is_certain || !is_part(folder));
    found.into_iter().map(|(folder, is_certain)| (folder.to_owned(), is_certain)).collect()
}

/// Adds an overlay for a folder without a kustomization: its objects as they are.
pub(crate) fn add_folder(builds: &mut Builds, files: &[File], folder: &str) {
    let kustomized: BTreeSet<&str> = builds
        .kustomizations
        .iter()
        .filter_map(|number| parent(number.within(files)?.source.name()))
        .collect();
    if kustomized.contains(folder) {
        return;
    }
    let is_own = |file: &str| {
        folders_of(file).any(|around| around == folder)
            && !folders_of(file)
                .take_while(|around| *around != folder)
                .any(|around| kustomized.contains(around))
    };
    let mut objects = Vec::new();
    for (number, file) in FileNumber::enumerate(files) {
        let is_patch = builds.patches.contains_key(&number);
        if !file.is_input() || is_patch || !is_own(file.source.name()) {
            continue;
        }
        for (position, document) in file.documents.iter().enumerate() {
            let Document::Read(tree) = document else { continue };
            if tree.root().get("kind").is_some() && tree.root().get("items").is_none() {
                let origin = Origin { document: number.document(position), root: NodeId::ROOT };
                objects.push(BuiltObject { origin, outcome: BuildOutcome::Unchanged, unresolved: None });
            }
        }
    }
    if !objects.is_empty() {
        builds.overlays.push(Overlay { name: folder.to_owned(), objects });
    }
}

/// The kustomizations of an input and the files that they may use.
struct Input<'d> {
    /// The references of the kustomization of each folder.
    kustomizations: BTreeMap<&'d str, Vec<String>>,
    /// The files with objects of Karpenter.
    files: BTreeSet<&'d str>,
}

impl<'d> Input<'d> {
    fn of(files: &'d [File]) -> Self {
        let is_kustomization = |file: &&File| KUSTOMIZATION_FILES.contains(&name(file.source.name()));
        let own =
            |file: &'d File| (parent(file.source.name()).unwrap_or_default(), kustomize::references(file));
        let kustomizations: BTreeMap<&str, Vec<String>> =
            files.iter().filter(is_kustomization).map(own).collect();
        if kustomizations.is_empty() {
            return Self { kustomizations, files: BTreeSet::new() };
        }
        let patches = Patches::of(files);
        let holds = |file: &&File| {
            let trees = file.trees();
            trees.flat_map(Object::all).any(|object| is_karpenter_group(object.group()))
                && !patches.contains(file.source.name())
        };
        let files = files.iter().filter(holds).map(|file| file.source.name()).collect();
        Self { kustomizations, files }
    }

    /// The folder with the objects that a kustomization uses, and whether it is certain that the folder is applied itself; `None` if it is not
    /// applied.
    fn base(&self, own: &str, reference: &str, applied: &[&AppliedFolder<'d>]) -> Option<(&'d str, bool)> {
        if let Some((folder, _)) = self.kustomizations.get_key_value(reference) {
            if !self.holds(folder, &mut BTreeSet::new()) {
                return None;
            }
            let is_applied = applied.iter().any(|one| {
                let mut between = std::iter::once(*folder)
                    .chain(folders_of(folder))
                    .take_while(|around| *around != one.folder);
                one.folder == *folder
                    || (one.is_deep
                        && is_within(folder, one.folder)
                        && !self.kustomizations.contains_key(one.folder)
                        && !between
                            .any(|around| around != *folder && self.kustomizations.contains_key(around)))
            });
            let may_be = || is_environment(name(folder)) && !is_within(folder, own);
            return (is_applied || may_be()).then_some((folder, is_applied));
        }
        let file = *self.files.get(reference)?;
        let folder = parent(file)?;
        if is_within(folder, own) {
            return None;
        }
        // The outermost folder around the file that is not around the kustomization too.
        let apart = || folders_of(file).take_while(|around| !is_within(own, around));
        let base = apart().last().unwrap_or(folder);
        if apart().any(|around| self.kustomizations.contains_key(around)) {
            return None;
        }
        let holds = |one: &&&AppliedFolder<'d>| {
            one.folder == folder || (one.is_deep && is_within(folder, one.folder))
        };
        if let Some(applied) = applied.iter().find(holds) {
            return Some((applied.folder, true));
        }
        (!base.is_empty() && !apart().any(|around| is_shared(name(around)))).then_some((base, false))
    }

    /// Whether the kustomization of a folder uses objects of Karpenter.
    fn holds<'s>(&'s self, folder: &'s str, seen: &mut BTreeSet<&'s str>) -> bool {
        let references = self.kustomizations.get(folder).filter(|_| seen.insert(folder));
        references.into_iter().flatten().any(|one| self.files.contains(one.as_str()) || self.holds(one, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {}\n";
    const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./production}\n";
    const ARGO: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: production}}\n";

    fn bases(inputs: &[(&str, &str)]) -> Vec<(String, bool)> {
        let files: Vec<File> =
            inputs.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
        applied_bases(&files).into_iter().collect()
    }

    #[test]
    fn a_folder_that_flux_or_argo_names_is_applied_for_certain() {
        let recursive = ARGO.replace("path: production", "path: production, directory: {recurse: true}");
        let base = ("production/kustomization.yaml", "resources: [pool.yaml]");
        let of_folder = ("staging/kustomization.yaml", "resources: [../production]");
        let of_file = ("staging/kustomization.yaml", "resources: [../production/pool.yaml]");
        let of_deep = ("staging/kustomization.yaml", "resources: [../production/a/pool.yaml]");
        let (pool, deep) = (("production/pool.yaml", POOL), ("production/a/pool.yaml", POOL));
        for (files, is_certain) in [
            (&[base, of_folder, pool, ("x.yaml", FLUX)][..], true),
            (&[base, of_folder, pool, ("x.yaml", ARGO)], true),
            (&[base, of_folder, pool], false),
            (&[of_file, pool, ("x.yaml", FLUX)], true),
            (&[of_file, pool, ("x.yaml", ARGO)], true),
            (&[of_file, pool], false),
            (&[of_deep, deep, ("x.yaml", FLUX)], true),
            (&[of_deep, deep, ("x.yaml", ARGO)], false),
            (&[of_deep, deep, ("x.yaml", &recursive)], true),
        ] {
            assert_eq!(bases(files), [("production".to_owned(), is_certain)], "{files:?}");
        }
    }

    #[test]
    fn a_folder_that_only_other_kustomizations_use_is_not_applied() {
        for files in [
            &[
                ("base/kustomization.yaml", "resources: [pool.yaml]"),
                ("a/kustomization.yaml", "resources: [../base]"),
                ("base/pool.yaml", POOL),
            ][..],
            &[
                ("apps/kustomization.yaml", "resources: [pool.yaml]"),
                ("a/kustomization.yaml", "resources: [../apps]"),
                ("apps/pool.yaml", POOL),
            ],
            &[("a/kustomization.yaml", "resources: [../base/a/pool.yaml]"), ("base/a/pool.yaml", POOL)],
            &[
                ("a/kustomization.yaml", "resources: [pool.yaml, b/pool.yaml]"),
                ("a/pool.yaml", POOL),
                ("a/b/pool.yaml", POOL),
            ],
            &[("a/kustomization.yaml", "patches: [{path: ../b/pool.yaml}]"), ("b/pool.yaml", POOL)],
            &[
                ("a/kustomization.yaml", "resources: [../production/map.yaml]"),
                ("production/map.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
            ],
        ] {
            assert_eq!(bases(files), [], "{files:?}");
        }
    }
}
