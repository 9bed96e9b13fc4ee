//! Inputs whose role does not follow from their text: chart values and Kustomize patches.

use std::collections::BTreeSet;
use std::path::Path;

use kustomize::Patches;
use manifest::{File, FileKind, ReadOptions};
use objects::embedded::READ_OPTIONS;

use super::base::BaseFolder;
use super::file::InputFile;
use super::regular::read_regular;
use crate::options::InputOptions;

/// Marks the inputs that read the same file as `values`. Returns whether there are any.
pub(super) fn mark_values<'i>(inputs: impl Iterator<Item = &'i mut InputFile>, values: &InputFile) -> bool {
    let mut is_found = false;
    for input in inputs.filter(|input| input.is_same(values)) {
        input.kind = FileKind::Values;
        is_found = true;
    }
    is_found
}

/// Marks the inputs that a kustomization lists as patches. The kustomization is in the folder of the input or in a parent
/// folder, and need not be an input: editors and hooks name single files.
pub(super) fn mark_patches<'i>(
    inputs: impl Iterator<Item = &'i mut InputFile>,
    base: &BaseFolder,
    options: &InputOptions,
) {
    let mut inputs: Vec<&mut InputFile> = inputs.collect();
    let folders = inputs.iter().flat_map(|input| Path::new(&input.name).ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders.collect();
    let paths = folders
        .iter()
        .flat_map(|folder| ["kustomization.yaml", "kustomization.yml"].map(|name| folder.join(name)));
    let files = paths.filter_map(|path| {
        let in_base = base.path(&path);
        let confinement = options.confinement.as_ref();
        if confinement
            .is_some_and(|confinement| !confinement.holds(&in_base) || !confinement.affords(&in_base))
        {
            return None;
        }
        let bytes = read_regular(&in_base).ok()?;
        Some(File::from_bytes(
            base.name(&in_base),
            bytes,
            ReadOptions { limits: options.limits, ..READ_OPTIONS },
        ))
    });
    let patches = Patches::of(&files.collect::<Vec<_>>());
    for input in inputs.iter_mut().filter(|input| patches.contains(&input.name)) {
        input.kind = FileKind::Patch;
    }
}
