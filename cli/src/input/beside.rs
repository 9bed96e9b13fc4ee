//! Files that configurations of Terraform read beside the inputs: templates, files of variables, and modules outside of the input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use manifest::limits::Limits;
use manifest::{File, FileKind, ReadOptions};
use terraform_objects::{FilesBeside, ManagedObjects, NamedVariables, OPTIONS_BEFORE_EVALUATION};

use super::base::BaseFolder;
use super::confinement::Confinement;
use super::regular::read_regular;
use crate::options::InputOptions;

/// Maximum number of files of a folder outside of the input.
const MAX_LISTED: usize = 1_000;

/// Replaces the documents of configurations among the files of a cluster by the objects that they make. `unread` are the names of the files
/// in the folders of the input that are no inputs. Files outside of the input are read below `root`, or else
/// below the repository of the input.
pub(crate) fn evaluate_terraform(
    files: &mut Vec<File>,
    unread: &[String],
    base: &BaseFolder,
    input: &InputOptions,
    root: Option<&Path>,
) {
    let beside = BesideOnDisk::new(base, unread, input, root);
    terraform_objects::evaluate(files, &beside, &input.limits);
}

/// Does the same as [`evaluate_terraform`] with the texts that an editor has in the place of some files, by name.
pub(crate) fn evaluate_unsaved(
    files: &mut Vec<File>,
    unread: &[String],
    base: &BaseFolder,
    input: &InputOptions,
    unsaved: &BTreeMap<String, &str>,
) {
    let beside = BesideOnDisk { unsaved: Some(unsaved), ..BesideOnDisk::new(base, unread, input, None) };
    terraform_objects::evaluate(files, &beside, &input.limits);
}

/// Does the same as [`evaluate_terraform`] below the root of the input, and returns the objects whose resources may be created again when they
/// change.
pub(crate) fn evaluate_managed(
    files: &mut Vec<File>,
    unread: &[String],
    base: &BaseFolder,
    input: &InputOptions,
    named: NamedVariables,
) -> ManagedObjects {
    let beside = BesideOnDisk::new(base, unread, input, input.root());
    terraform_objects::evaluate_managed(files, &beside, &input.limits, named)
}

/// Adds texts whose names are not known yet.
pub(crate) fn add_unknown(files: &mut Vec<File>, texts: impl IntoIterator<Item = File>) {
    let known: BTreeSet<String> = files.iter().map(|file| file.source.name().to_owned()).collect();
    files.extend(texts.into_iter().filter(|text| !known.contains(text.source.name())));
}

/// Files on disk beside the inputs of a run.
struct BesideOnDisk<'b> {
    base: &'b BaseFolder,
    limits: &'b Limits,
    /// Names of the files in the folders of the input that are no inputs.
    unread: &'b [String],
    /// The folders of the input, whose files are known.
    walked: Vec<PathBuf>,
    /// The folder below which files outside of the input are read; none are read without one.
    root: Option<PathBuf>,
    /// The texts of an editor in the place of files, by name.
    unsaved: Option<&'b BTreeMap<String, &'b str>>,
    /// The bounds of a run that another program asks for.
    confinement: Option<&'b Confinement>,
}

impl<'b> BesideOnDisk<'b> {
    /// Files outside of the input are read below `root`, or else below the repository of the input. A confined run reads none.
    fn new(base: &'b BaseFolder, unread: &'b [String], input: &'b InputOptions, root: Option<&Path>) -> Self {
        let paths: Vec<&PathBuf> = input.paths.iter().chain(&input.clusters).collect();
        let root = match root {
            None if input.confinement.is_none() => paths.first().and_then(|path| repository(path)),
            root => root.and_then(|root| root.canonicalize().ok()),
        };
        let folders: BTreeSet<PathBuf> =
            paths.iter().filter(|path| path.is_dir()).filter_map(|path| path.canonicalize().ok()).collect();
        Self {
            base,
            limits: &input.limits,
            unread,
            walked: folders.into_iter().collect(),
            root,
            unsaved: None,
            confinement: input.confinement.as_ref(),
        }
    }

    fn is_walked(&self, path: &Path) -> bool {
        self.walked.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether a file or folder outside of the input is read.
    fn is_allowed(&self, path: &Path) -> bool {
        self.root.as_ref().is_some_and(|root| path.starts_with(root))
    }
}

impl FilesBeside for BesideOnDisk<'_> {
    fn read(&self, name: &str) -> Option<File> {
        let options = ReadOptions { limits: *self.limits, ..OPTIONS_BEFORE_EVALUATION };
        if let Some(text) = self.unsaved.and_then(|unsaved| unsaved.get(name)) {
            return Some(File::read(name, *text, options));
        }
        let path = self.base.path(Path::new(name)).canonicalize().ok()?;
        let is_known = self.unread.iter().any(|known| known == name);
        if !is_known && (self.is_walked(&path) || !self.is_allowed(&path)) {
            return None;
        }
        if self.confinement.is_some_and(|confinement| !confinement.affords(&path)) {
            return None;
        }
        let bytes = read_regular(&path).ok()?;
        let file = File::from_bytes(name.to_owned(), bytes, options);
        Some(if is_known { file } else { File { kind: FileKind::Referenced, ..file } })
    }

    fn names(&self) -> Vec<String> {
        let unsaved = self.unsaved.into_iter().flat_map(BTreeMap::keys);
        let names: BTreeSet<&String> = self.unread.iter().chain(unsaved).collect();
        names.into_iter().cloned().collect()
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let Ok(path) = self.base.path(Path::new(folder)).canonicalize() else { return Vec::new() };
        if self.is_walked(&path) || !self.is_allowed(&path) {
            return Vec::new();
        }
        let entries = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok).take(MAX_LISTED);
        let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
        files.map(|file| self.base.name(&file)).collect()
    }
}

/// The root of the repository that contains a file or folder.
fn repository(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    // A worktree has a file in the place of the folder.
    path.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
