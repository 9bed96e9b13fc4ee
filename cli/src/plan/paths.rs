//! The paths of a commit that a plan reads, under the names that both sides have.
//!
//! A walk reads each file under one name, although symbolic links give it others. Where the commit has two files and the working tree a file
//! and a link to it, or the other way round, both names count on both sides: otherwise, the change of one of them would not show.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cluster::appliers::Appliers;
use cluster::evidence::mentions_karpenter;
use cluster::references;
use manifest::limits::Limits;
use manifest::{File, FileKind};

use super::charts::{self, ImportedTexts, TextReaders};
use super::git::Commit;
use super::links::TreeFile;
use crate::error::CommandError;
use crate::input::{BaseFolder, ClusterInputs, InputFile, Patterns, is_manifest, normalised, resolved};

/// The kinds of the inputs of the working tree, by name.
pub(super) type KindsByName<'n> = BTreeMap<&'n str, FileKind>;

/// The paths of a commit.
pub(super) struct CommitPaths<'c> {
    commit: &'c Commit,
    /// Root of the repository, with symbolic links resolved.
    pub(super) root: PathBuf,
    base: &'c BaseFolder,
    excluded: &'c Patterns,
    /// The paths that the command line names, from the root of the repository.
    pub(super) below: BTreeSet<PathBuf>,
    /// All files of the commit by their paths from the root of the repository.
    files: BTreeMap<PathBuf, TreeFile>,
}

impl<'c> CommitPaths<'c> {
    pub(super) fn new(
        commit: &'c Commit,
        base: &'c BaseFolder,
        excluded: &'c Patterns,
        paths: &[PathBuf],
    ) -> Result<Self, CommandError> {
        let root = commit.root.canonicalize().unwrap_or_else(|_| commit.root.clone());
        let below = named_in(&root, base, paths)?;
        let files = commit.files()?;
        Ok(Self { commit, root, base, excluded, below, files })
    }

    /// The name of a path.
    fn name(&self, path: &Path) -> String {
        self.base.name(&self.root.join(path))
    }

    /// Whether a walk through the paths of the command line comes to a path.
    fn is_walked(&self, path: &Path) -> bool {
        let folder = path.ancestors().find(|folder| self.below.contains(*folder));
        let rest = folder.and_then(|folder| path.strip_prefix(folder).ok());
        rest.is_some_and(|rest| {
            !rest.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
        })
    }

    fn is_input(&self, path: &Path) -> bool {
        self.is_walked(path) && is_manifest(path) && !self.excluded.matches(&self.root.join(path), false)
    }

    /// The inputs that the walk has not taken because it took their files under other names, although the commit has different files under
    /// both names.
    pub(super) fn further_inputs(&self, inputs: &[ClusterInputs]) -> Vec<InputFile> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        // The file of the commit that has the name of an input, by the file of the input.
        let mut taken: BTreeMap<PathBuf, Option<&Path>> = BTreeMap::new();
        for input in inputs.iter().flat_map(|one| &one.inputs) {
            names.insert(&input.name);
            if let Some(real) = input.path().and_then(|path| path.canonicalize().ok()) {
                taken.insert(real, self.real(&input.name));
            }
        }
        let is_other = |path: &Path, file: &TreeFile| {
            let full = self.root.join(path);
            let real = full.canonicalize().ok().filter(|_| !names.contains(self.base.name(&full).as_str()));
            let old = real.and_then(|real| taken.get(&real));
            old.is_some_and(|old| *old != Some(file.real.as_path())) && self.is_input(path)
        };
        let further = self.files.iter().filter(|(path, file)| is_other(path, file));
        further.map(|(path, _)| self.input(self.root.join(path)).if_regular()).collect()
    }

    fn input(&self, path: PathBuf) -> InputFile {
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        InputFile::file(path, &folder, self.base)
    }

    /// The path without links of the file that has a name.
    fn real(&self, name: &str) -> Option<&Path> {
        let path = normalised(&self.base.path(Path::new(name)));
        Some(self.files.get(path.strip_prefix(&self.root).ok()?)?.real.as_path())
    }

    /// The manifests of the commit: under every name that the working tree has, else under the first.
    pub(super) fn manifests(
        &self,
        kinds: &KindsByName<'_>,
        limits: &Limits,
    ) -> Result<Vec<File>, CommandError> {
        let is_known = |path: &Path| kinds.contains_key(self.name(path).as_str());
        // A file that is still there and no input is ignored.
        let is_gone = |path: &Path| self.is_input(path) && !self.root.join(path).exists();
        let is_read = |path: &Path| is_known(path) || self.below.contains(path) || is_gone(path);
        let mut by_file: BTreeMap<&Path, Vec<(&PathBuf, &TreeFile)>> = BTreeMap::new();
        for (path, file) in self.files.iter().filter(|(path, _)| is_read(path)) {
            by_file.entry(&file.real).or_default().push((path, file));
        }
        let mut wanted = Vec::new();
        for paths in by_file.values() {
            let known: Vec<_> = paths.iter().filter(|(path, _)| is_known(path)).collect();
            let read = if known.is_empty() { paths.iter().take(1).collect() } else { known };
            wanted.extend(read.into_iter().map(|(path, file)| ((*path).clone(), file.hash.clone())));
        }
        wanted.sort();
        let read = self.commit.contents(wanted)?.into_iter().map(|committed| {
            let input = self.input(committed.path);
            let kind = kinds.get(input.name.as_str()).copied();
            let file = input.parsed(committed.bytes, limits).file;
            File { kind: kind.unwrap_or(file.kind), ..file }
        });
        Ok(read.collect())
    }

    /// The files of the commit that are no manifests and that a plan reads, also for the charts among some files.
    pub(super) fn texts_beside(&self, files: &[File]) -> Result<Vec<File>, CommandError> {
        let known: BTreeSet<&str> = files.iter().map(|file| file.source.name()).collect();
        let readers = TextReaders::of(files);
        let is_text = |path: &Path| {
            self.is_walked(path) && !is_manifest(path) && !known.contains(self.name(path).as_str())
        };
        let (read, others): (Vec<_>, Vec<_>) = self
            .files
            .iter()
            .filter(|(path, _)| is_text(path))
            .partition(|(path, _)| readers.is_read(&self.name(path)));
        let contents = |wanted: Vec<(&PathBuf, &TreeFile)>| {
            let wanted = wanted.into_iter().map(|(path, file)| (path.clone(), file.hash.clone()));
            self.commit.contents(wanted.collect())
        };
        let named = |path: &Path| self.base.name(path);
        let read = contents(read)?.into_iter();
        let mut found: Vec<File> =
            read.filter_map(|text| charts::text(named(&text.path), text.bytes)).collect();
        let imports = ImportedTexts::of(&found);
        let imported = others.into_iter().filter(|(path, _)| imports.is_read(&self.name(path)));
        let imported = contents(imported.collect())?.into_iter();
        found.extend(imported.filter_map(|text| ImportedTexts::text(named(&text.path), text.bytes)));
        Ok(found)
    }

    /// Drops the names that no kustomization uses from both sides.
    pub(super) fn drop_unused(&self, old: &mut Vec<File>, new: &mut Vec<File>) {
        let of_commit = |name: &str| self.real(name).map(Path::to_owned);
        let of_tree = |name: &str| self.base.path(Path::new(name)).canonicalize().ok();
        drop_unused([
            NamedFiles { files: old, folder: "", real: &of_commit },
            NamedFiles { files: new, folder: "", real: &of_tree },
        ]);
    }
}

/// Some paths from the root of a repository.
fn named_in(root: &Path, base: &BaseFolder, paths: &[PathBuf]) -> Result<BTreeSet<PathBuf>, CommandError> {
    let mut found = BTreeSet::new();
    for path in paths {
        let resolved = resolved(path);
        let Some(inside) = resolved.as_deref().and_then(|path| path.strip_prefix(root).ok()) else {
            let text =
                format!("`--base`: `{}` is not in the repository `{}`", path.display(), root.display());
            return Err(CommandError::Usage(text));
        };
        // Behind a link, the files have the names that the link gives them.
        let written = normalised(&base.path(Path::new(&base.name(path))));
        found.insert(written.strip_prefix(root).unwrap_or(inside).to_owned());
    }
    Ok(found)
}

/// The files of a side of a plan.
pub(super) struct NamedFiles<'f> {
    pub(super) files: &'f mut Vec<File>,
    /// The start of the names that tells the sides apart.
    pub(super) folder: &'f str,
    /// The file that a name leads to.
    pub(super) real: &'f dyn Fn(&str) -> Option<PathBuf>,
}

impl NamedFiles<'_> {
    /// A name without the start of the side.
    fn plain<'n>(&self, name: &'n str) -> &'n str {
        without_folder(name, self.folder)
    }

    fn names(&self) -> BTreeSet<String> {
        self.files.iter().map(|file| self.plain(file.source.name()).to_owned()).collect()
    }

    /// The names to which kustomizations refer.
    fn used(&self) -> BTreeSet<String> {
        self.files.iter().flat_map(references).map(|name| self.plain(&name).to_owned()).collect()
    }
}

fn without_folder<'n>(name: &'n str, folder: &str) -> &'n str {
    name.strip_prefix(folder).map_or(name, |rest| rest.trim_start_matches('/'))
}

/// Drops the names that no kustomization uses of files that kustomizations use under other names: an overlay `prod` with a link to
/// `base/pool.yaml` has the objects of the file, and nothing applies the folder `base` itself.
pub(super) fn drop_unused(sides: [NamedFiles<'_>; 2]) {
    let used: BTreeSet<String> = sides.iter().flat_map(NamedFiles::used).collect();
    let unused = sides.each_ref().map(|side| unused_names(side, &used));
    let known = sides.each_ref().map(NamedFiles::names);
    for side in sides {
        let NamedFiles { files, folder, .. } = side;
        files.retain(|file| {
            let name = without_folder(file.source.name(), folder);
            let is_unused = |(known, unused): (&BTreeSet<String>, &BTreeSet<String>)| {
                !known.contains(name) || unused.contains(name)
            };
            !known.iter().zip(&unused).all(is_unused)
        });
    }
}

/// The names of files of a side that nothing uses, without the start of the side.
fn unused_names(side: &NamedFiles<'_>, used: &BTreeSet<String>) -> BTreeSet<String> {
    let mut by_file: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for file in side.files.iter().filter(|file| mentions_karpenter(file.source.text().as_bytes())) {
        let name = file.source.name();
        if let Some(real) = (side.real)(name) {
            by_file.entry(real).or_default().push(name);
        }
    }
    let several = by_file.into_values().filter(|names| names.len() > 1);
    let (is_used, mut appliers) = (|name: &&str| used.contains(side.plain(name)), None);
    let none = BTreeSet::new();
    let mut found = BTreeSet::new();
    for names in several.filter(|names| names.iter().any(is_used)) {
        let appliers = appliers.get_or_insert_with(|| Appliers::of(side.files));
        let is_applied =
            |name: &str| appliers.all().iter().any(|applier| appliers.reaches(applier, name, &none));
        let unused = names.into_iter().filter(|name| !is_used(name) && !is_applied(name));
        found.extend(unused.map(|name| side.plain(name).to_owned()));
    }
    found
}
