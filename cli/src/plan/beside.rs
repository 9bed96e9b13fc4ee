//! Files of a commit that configurations of Terraform read beside the old files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use manifest::limits::Limits;
use manifest::{File, FileKind, ReadOptions};
use terraform_objects::{FilesBeside, OPTIONS_BEFORE_EVALUATION};

use super::git::Commit;
use crate::error::CommandError;
use crate::input::BaseFolder;

/// The files of a commit.
pub(super) struct BesideInCommit<'c> {
    commit: &'c Commit,
    /// Root of the repository, with symbolic links resolved.
    root: &'c Path,
    base: &'c BaseFolder,
    /// The paths of the input, from the root of the repository.
    below: &'c BTreeSet<PathBuf>,
    /// The files by their names, with the hashes of their texts.
    hashes: BTreeMap<String, String>,
    /// The names of the files by folder.
    by_folder: BTreeMap<String, Vec<String>>,
    /// The names in the folders of the input of files that are no inputs.
    unread: BTreeSet<String>,
    limits: &'c Limits,
}

impl<'c> BesideInCommit<'c> {
    pub(super) fn new(
        commit: &'c Commit,
        root: &'c Path,
        base: &'c BaseFolder,
        below: &'c BTreeSet<PathBuf>,
        inputs: &[File],
        limits: &'c Limits,
    ) -> Result<Self, CommandError> {
        let known: BTreeSet<&str> = inputs.iter().map(|file| file.source.name()).collect();
        let (mut hashes, mut unread) = (BTreeMap::new(), BTreeSet::new());
        let mut by_folder: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, hash) in commit.tree()? {
            let name = base.name(&commit.root.join(&path));
            if !known.contains(name.as_str()) && is_below(&path, below) {
                unread.insert(name.clone());
            }
            let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
            by_folder.entry(folder.to_owned()).or_default().push(name.clone());
            hashes.insert(name, hash);
        }
        Ok(Self { commit, root, base, below, hashes, by_folder, unread, limits })
    }
}

impl FilesBeside for BesideInCommit<'_> {
    fn read(&self, name: &str) -> Option<File> {
        let bytes = self.commit.text(self.hashes.get(name)?)?;
        let options = ReadOptions { limits: *self.limits, ..OPTIONS_BEFORE_EVALUATION };
        let file = File::from_bytes(name.to_owned(), bytes, options);
        Some(if self.unread.contains(name) { file } else { File { kind: FileKind::Referenced, ..file } })
    }

    fn names(&self) -> Vec<String> {
        self.unread.iter().cloned().collect()
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let path = self.base.path(Path::new(folder));
        let path = path.canonicalize().unwrap_or(path);
        let is_input = path.strip_prefix(self.root).is_ok_and(|path| is_below(path, self.below));
        if is_input {
            return Vec::new();
        }
        self.by_folder.get(folder).cloned().unwrap_or_default()
    }
}

/// Whether a path is one of some others, or in one of them.
fn is_below(path: &Path, others: &BTreeSet<PathBuf>) -> bool {
    path.ancestors().any(|folder| others.contains(folder))
}
