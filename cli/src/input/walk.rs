//! Files that the paths of the command line lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;
use rule::settings::CONFIG_FILE;

use super::base::BaseFolder;
use super::confinement::Confinement;
use super::error::InputError;
use super::file::{InputFile, is_same_file};
use super::patterns::Patterns;
use super::pinning;
use super::regular::{read_regular, refusal};
use crate::baseline::is_baseline;

/// Extensions of manifests, and of configurations of Terraform, which make objects.
const EXTENSIONS: [&str; 6] = ["yaml", "yml", "json", "jsonl", "tf", "tofu"];

/// Message about a folder without such files.
pub(crate) const NO_FILES: &str = "found no .yaml, .yml, .json, .jsonl, .tf or .tofu files";

/// Reason why a symbolic link is not followed.
const LINK_OUT: &str = "symbolic link out of the folders that may be read";

/// Files whose patterns a walk through a folder applies.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// Folder of npm's packages, which are not applied. The package of Karpwarden is one, whose texts name releases of Karpenter.
const PACKAGES: &str = "node_modules";

/// Files to take from a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Files with the extension of a manifest, except ignored files.
    Manifests,
    /// All files that are not hidden. Logs have any name, and are often in `.gitignore`.
    Texts,
}

/// Files that paths lead to.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) inputs: Vec<InputFile>,
    /// Names of the files in folders that were not taken because of their extension.
    pub(super) unread: Vec<String>,
    /// Files in folders that are read only for the versions that they pin.
    pub(super) pinning: Vec<PathBuf>,
    /// Whether a folder has more files than the search looks at.
    pub(super) is_cut: bool,
}

/// Files to take from folders, and the base of their names.
pub(super) struct Search<'s> {
    pub(super) base: &'s BaseFolder,
    pub(super) excluded: &'s Patterns,
    /// File name of standard input.
    pub(super) stdin_filename: Option<&'s str>,
    /// Texts in the place of files, by path.
    pub(super) texts: &'s BTreeMap<PathBuf, Arc<[u8]>>,
    pub(super) wanted: Wanted,
    /// Maximum number of files and folders to look at in each folder.
    pub(super) max_walked: usize,
    /// Whether Markdown files are inputs.
    pub(super) include_docs: bool,
    /// The folders outside of which nothing is read.
    pub(super) confinement: Option<&'s Confinement>,
}

impl Search<'_> {
    /// Whether a folder walk takes a file with this path.
    fn takes(&self, path: &Path) -> bool {
        let is_doc = || self.include_docs && path.to_str().is_some_and(manifest::is_markdown);
        self.wanted == Wanted::Texts || is_manifest(path) || is_template(path) || is_doc()
    }
}

/// Returns the inputs in the order of the paths, and sorted by name within a folder. A file is returned once, even if
/// several paths lead to it. `own` are the config file and the baselines, which are inputs only if a path names them.
pub(super) fn gather(paths: &[PathBuf], own: &[&Path], search: &Search<'_>) -> Gathered {
    let base = search.base;
    let mut inputs = Vec::new();
    let (mut unread, mut pinning, mut is_cut) = (BTreeSet::new(), BTreeSet::new(), false);
    let mut seen: BTreeSet<PathBuf> = own.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut has_stdin = false;
    let named: Vec<PathBuf> =
        paths.iter().filter(|path| !path.is_symlink()).filter_map(|path| path.canonicalize().ok()).collect();
    for path in paths {
        if let Some(text) = search.texts.get(path) {
            inputs.push(InputFile::text(path, Arc::clone(text)));
        } else if path.as_os_str() == "-" {
            if !std::mem::replace(&mut has_stdin, true) {
                inputs.push(InputFile::stdin(search.stdin_filename, base));
            }
        } else if path.is_dir() {
            let found = walk(path, search);
            let new = found.inputs.into_iter().filter(|input| is_new(input, &mut seen));
            inputs.extend(new.map(|input| input.held_by(&named)));
            unread.extend(found.unread);
            pinning.extend(found.pinning);
            is_cut |= found.is_cut;
        } else {
            let input = InputFile::named(path.clone(), base);
            if own.iter().any(|own| is_same_file(own, path)) || is_new(&input, &mut seen) {
                inputs.push(input);
            }
        }
    }
    // Another path can name the file.
    for input in &inputs {
        unread.remove(&input.name);
    }
    pinning.retain(|path: &PathBuf| path.canonicalize().is_ok_and(|path| !seen.contains(&path)));
    let (unread, pinning) = (unread.into_iter().collect(), pinning.into_iter().collect());
    Gathered { inputs, unread, pinning, is_cut }
}

/// Whether no other path has led to the file of an input.
fn is_new(input: &InputFile, seen: &mut BTreeSet<PathBuf>) -> bool {
    let path = input.path().and_then(|path| path.canonicalize().ok());
    path.is_none_or(|path| seen.insert(path))
}

/// Folders that a walk leaves out.
#[derive(Debug)]
struct Folders {
    /// The folder of the walk, as given and with symbolic links resolved.
    start: (PathBuf, PathBuf),
    /// The folders that the walk has entered, with symbolic links resolved. Several links may lead to one.
    entered: BTreeSet<PathBuf>,
    /// Ignore files that cannot be read, with the reasons. Their folders are not walked.
    refused: Vec<(PathBuf, String)>,
    /// The folders outside of which nothing is read.
    confinement: Option<Confinement>,
    /// Symbolic links that lead out of these folders.
    links_out: Vec<PathBuf>,
}

impl Folders {
    fn new(start: &Path, confinement: Option<&Confinement>) -> Self {
        let resolved = start.canonicalize().unwrap_or_else(|_| start.to_owned());
        Self {
            start: (start.to_owned(), resolved),
            entered: BTreeSet::new(),
            refused: Vec::new(),
            confinement: confinement.cloned(),
            links_out: Vec::new(),
        }
    }

    /// Whether a symbolic link leads out of the folders of a confined run.
    fn leaves(&mut self, link: &Path) -> bool {
        let leaves = self.confinement.as_ref().is_some_and(|confinement| confinement.is_outside(link));
        self.links_out.extend(leaves.then(|| link.to_owned()));
        leaves
    }

    /// Whether the walk enters a folder: by its own path, or by the first link that leads to it. Files are taken once.
    fn enter(&mut self, folder: &Path, applies_ignore_files: bool) -> bool {
        let (start, resolved) = &self.start;
        let own = resolved.join(folder.strip_prefix(start).unwrap_or(folder));
        let is_new = folder.canonicalize().map_or(true, |real| real == own || !self.entered.contains(&real));
        self.entered.extend(folder.canonicalize());
        let refused = refused_ignore_file(folder, self.confinement.as_ref());
        let refused = refused.filter(|_| applies_ignore_files && is_new);
        let is_refused = refused.is_some();
        let text = |reason| format!("the folder is not checked: its ignore file is {reason}");
        self.refused.extend(refused.map(|(path, reason)| (path, text(reason))));
        is_new && !is_refused
    }
}

/// An ignore file in a folder that is not regular, is too large or is elsewhere, with the reason.
fn refused_ignore_file(folder: &Path, confinement: Option<&Confinement>) -> Option<(PathBuf, &'static str)> {
    let is_elsewhere = |path: &Path| confinement.is_some_and(|confinement| confinement.is_outside(path));
    let mut paths = IGNORE_FILES.iter().map(|name| folder.join(name));
    paths.find_map(|path| {
        let reason = if is_elsewhere(&path) { Some(LINK_OUT) } else { refusal(&path) };
        reason.map(|reason| (path, reason))
    })
}

fn walk(folder: &Path, search: &Search<'_>) -> Gathered {
    let Search { base, excluded, wanted, confinement, .. } = *search;
    let mut builder = WalkBuilder::new(folder);
    builder.follow_links(true).require_git(false).sort_by_file_path(Ord::cmp);
    let applies_ignore_files = wanted == Wanted::Manifests;
    let folders = Arc::new(Mutex::new(Folders::new(folder, confinement)));
    if confinement.is_some() {
        // These ignore files are outside of the folders.
        builder.parents(false).git_global(false).git_exclude(false);
    } else if applies_ignore_files {
        let above = folder.canonicalize().unwrap_or_default();
        let refused = above.ancestors().skip(1).find_map(|folder| refused_ignore_file(folder, None));
        builder.parents(refused.is_none());
        let text = |reason| format!("not applied: it is {reason}");
        lock(&folders).refused.extend(refused.map(|(path, reason)| (path, text(reason))));
    }
    if !applies_ignore_files {
        builder.standard_filters(false).hidden(true);
    }
    let mut gathered = Gathered::default();
    if lock(&folders).enter(folder, applies_ignore_files) {
        let (excluded, folders) = (excluded.clone(), Arc::clone(&folders));
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_excluded = || {
                let is_of_npm = is_folder && applies_ignore_files && entry.file_name() == PACKAGES;
                is_of_npm || excluded.matches(entry.path(), is_folder)
            };
            let is_entered = || !is_folder || lock(&folders).enter(entry.path(), applies_ignore_files);
            let leaves = || entry.path_is_symlink() && lock(&folders).leaves(entry.path());
            entry.depth() == 0 || (!is_excluded() && !leaves() && is_entered())
        });
        gathered = walk_entries(&builder, folder, search);
    }
    let found = lock(&folders);
    gathered.inputs.extend(found.links_out.iter().map(|path| InputFile::skipped(path, LINK_OUT, base)));
    for (path, reason) in &found.refused {
        gathered.inputs.push(InputFile::unreadable(path, reason.clone(), base));
    }
    drop(found);
    gathered
}

fn lock(folders: &Mutex<Folders>) -> std::sync::MutexGuard<'_, Folders> {
    folders.lock().unwrap_or_else(PoisonError::into_inner)
}

fn walk_entries(builder: &WalkBuilder, folder: &Path, search: &Search<'_>) -> Gathered {
    let Search { base, wanted, confinement, .. } = *search;
    let is_outside = |path: &Path| confinement.is_some_and(|confinement| confinement.is_outside(path));
    let Gathered { mut inputs, mut unread, mut pinning, mut is_cut } = Gathered::default();
    for (walked, entry) in builder.build().enumerate() {
        if walked >= search.max_walked {
            is_cut = true;
            break;
        }
        match entry {
            Ok(entry) => {
                let path = entry.path();
                if wanted == Wanted::Manifests && path.is_dir() {
                    let hidden = pinning::hidden_in(path);
                    let is_read = |path: &PathBuf| !search.excluded.matches(path, false) && !is_outside(path);
                    pinning.extend(hidden.into_iter().filter(is_read));
                }
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if !is_file || is_of_karpwarden(path) {
                    continue;
                }
                if search.takes(path) {
                    inputs.push(InputFile::file(entry.into_path(), folder, base));
                } else {
                    unread.push(base.name(path));
                    pinning.extend(pinning::may_pin(path).then(|| path.to_owned()));
                }
            }
            // The walk reads the files behind such a link by their own paths.
            Err(error) if is_loop(&error) => {}
            Err(error) => {
                let (path, reason) = walk_error(error);
                let path = path.as_deref().unwrap_or(folder);
                if !is_dangling_link(path) {
                    inputs.push(InputFile::unreadable(path, reason, base));
                } else if search.takes(path) && !search.excluded.matches(path, false) {
                    inputs.push(InputFile::skipped(
                        path,
                        "symbolic link to a file that does not exist",
                        base,
                    ));
                }
            }
        }
    }
    Gathered { inputs, unread, pinning, is_cut }
}

/// Whether a file is a config file or a baseline, of this run or of another one, and not a manifest.
fn is_of_karpwarden(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name == CONFIG_FILE {
        // A policy of Karpwarden can have the same name.
        let text = read_regular(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        return text.is_ok_and(|text| !text.contains("apiVersion"));
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension == Some("json") && is_baseline(path)
}

/// Whether a symbolic link leads back to a parent folder.
fn is_loop(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => is_loop(err),
        _ => false,
    }
}

fn is_dangling_link(path: &Path) -> bool {
    path.is_symlink() && !path.exists()
}

/// Whether a folder walk takes a file with this path.
pub(crate) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a file is a template of Terraform or another program.
pub(crate) fn is_template(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(terraform_objects::is_template)
}

/// Glob patterns of the files that a folder walk takes.
pub(crate) fn manifest_patterns() -> Vec<String> {
    vec![format!("**/*.{{{}}}", EXTENSIONS.join(",")), "**/*.{tftpl,tpl}".to_owned()]
}

/// Path, if known, and message of an error of the walk.
fn walk_error(error: ignore::Error) -> (Option<PathBuf>, String) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (inner, reason) = walk_error(*err);
            (inner.or(Some(path)), reason)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => walk_error(*err),
        ignore::Error::Io(error) => (None, InputError::from(error).to_string()),
        other => (None, other.to_string()),
    }
}
