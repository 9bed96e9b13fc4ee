//! Files outside of the input to which kustomizations of the input refer, such as the base of an overlay.
//!
//! They are read, so that objects are checked as `kustomize build` yields them, but nothing is reported about the files themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kustomize::{KUSTOMIZATION_FILES, references};
use manifest::limits::Limits;
use manifest::{File, FileKind, ReadOptions};
use objects::embedded::READ_OPTIONS;

use super::base::BaseFolder;
use super::confinement::Confinement;
use super::file::bounded;

/// Files to which kustomizations refer, and the references that were not followed.
#[derive(Debug, Default)]
pub(crate) struct ReferencedFiles {
    pub(crate) files: Vec<File>,
    pub(crate) not_followed: Vec<NotFollowed>,
}

/// Reference that was not followed, because it is outside of the root. It leads to an existing file or folder, unless the run is
/// confined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotFollowed {
    /// Name of the kustomization.
    pub(crate) from: String,
    /// Name of the file or folder.
    pub(crate) to: String,
}

impl ReferencedFiles {
    fn add_not_followed(&mut self, from: String, to: String) {
        if !self.not_followed.iter().any(|one| one.to == to) {
            self.not_followed.push(NotFollowed { from, to });
        }
    }
}

/// Reads the files to which the kustomizations among some files refer, directly or through other kustomizations. Only files below the
/// root are read: below `root`, or else below the repository that contains the kustomization. A confined run also stays within its folders
/// and its bytes.
pub(crate) fn referenced(
    files: &[File],
    base: &BaseFolder,
    root: Option<&Path>,
    confinement: Option<&Confinement>,
    limits: &Limits,
) -> ReferencedFiles {
    let root = root.and_then(|root| root.canonicalize().ok());
    let mut known: BTreeSet<String> = files.iter().map(|file| file.source.name().to_owned()).collect();
    let mut found = ReferencedFiles::default();
    let mut open: Vec<Reference> = files.iter().flat_map(Reference::all).collect();
    open.reverse();
    while let Some(Reference { from, to }) = open.pop() {
        let to_path = base.path(Path::new(&to));
        if confinement.is_some_and(|confinement| !confinement.may_hold(&to_path)) {
            found.add_not_followed(from, to);
            continue;
        }
        let Some(path) = file_at(&to_path) else { continue };
        let name = base.name(&path);
        if known.contains(&name) {
            continue;
        }
        let is_inside = path.canonicalize().is_ok_and(|path| match &root {
            Some(root) => path.starts_with(root),
            None => repository(&base.path(Path::new(&from))).is_some_and(|root| path.starts_with(root)),
        });
        if !is_inside {
            found.add_not_followed(from, to);
            continue;
        }
        known.insert(name.clone());
        if confinement.is_some_and(|confinement| !confinement.affords(&path)) {
            break;
        }
        let Ok(bytes) = fs::File::open(&path).and_then(|file| bounded(file, limits)) else { continue };
        let file = File::from_bytes(name, bytes, ReadOptions { limits: *limits, ..READ_OPTIONS });
        let file = File { kind: FileKind::Referenced, ..file };
        let next: Vec<Reference> = Reference::all(&file).collect();
        open.extend(next.into_iter().rev());
        found.files.push(file);
    }
    found
}

/// Reference of a kustomization to a file or folder, by name.
struct Reference {
    from: String,
    to: String,
}

impl Reference {
    fn all(file: &File) -> impl Iterator<Item = Self> {
        let from = file.source.name();
        references(file).into_iter().map(|to| Self { from: from.to_owned(), to })
    }
}

/// The file at a path, or the kustomization in the folder at the path. A reference to another machine leads to none.
fn file_at(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return KUSTOMIZATION_FILES.iter().map(|name| path.join(name)).find(|path| path.is_file());
    }
    path.is_file().then(|| path.to_owned())
}

/// The root of the repository that contains a file.
fn repository(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    // A worktree has a file in the place of the folder.
    file.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
