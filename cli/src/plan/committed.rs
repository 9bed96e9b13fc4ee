//! Files outside of the paths to which files of a commit refer, such as the base of an overlay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cluster::{KUSTOMIZATION_FILES, references};
use manifest::{File, FileKind};

use super::git::Commit;
use crate::error::CommandError;
use crate::input::{BaseFolder, InputFile, normalised, resolved};
use crate::options::InputOptions;

/// Adds the files of a commit to which some of its files refer, directly or through others. The working tree may have no such reference
/// any more.
pub(super) fn add_referenced(
    files: &mut Vec<File>,
    commit: &Commit,
    (root, base): (&Path, &BaseFolder),
    options: &InputOptions,
) -> Result<(), CommandError> {
    let mut open: Vec<String> = files.iter().flat_map(references).collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut known: BTreeSet<String> = files.iter().map(|file| file.source.name().to_owned()).collect();
    let tree = commit.tree()?;
    let may_hold = |path: &Path| options.confinement.as_ref().is_none_or(|one| one.may_hold(path));
    while !open.is_empty() {
        let mut wanted = BTreeMap::new();
        for reference in open.drain(..) {
            let path = normalised(&base.path(Path::new(&reference)));
            if !may_hold(&path) {
                continue;
            }
            let Some((file, hash)) = file_at(&tree, root, &path) else { continue };
            if known.insert(base.name(&root.join(file))) {
                wanted.insert(file.clone(), hash.clone());
            }
        }
        for committed in commit.contents(wanted.into_iter().collect())? {
            let folder = committed.path.parent().unwrap_or(root).to_owned();
            let input = InputFile::file(committed.path, &folder, base);
            let file = input.parsed(committed.bytes, &options.limits).file;
            open.extend(references(&file));
            files.push(File { kind: FileKind::Referenced, ..file });
        }
    }
    Ok(())
}

/// The file at a path of a commit, or the kustomization in the folder at the path.
fn file_at<'t>(
    tree: &'t BTreeMap<PathBuf, String>,
    root: &Path,
    path: &Path,
) -> Option<(&'t PathBuf, &'t String)> {
    let find = |path: &Path| {
        let path = path.strip_prefix(root).ok()?;
        let in_folder = || KUSTOMIZATION_FILES.iter().find_map(|name| tree.get_key_value(&path.join(name)));
        tree.get_key_value(path).or_else(in_folder)
    };
    find(path).or_else(|| find(&resolved(path)?))
}
