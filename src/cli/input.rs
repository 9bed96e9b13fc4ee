//! Paths in, files read: folders are walked, each file is taken once, and the order is the same on every run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use objects::kustomize::Patches;
use manifest::limits::Limits;
use manifest::{File, FileKind};

use super::json_with_comments;
use super::patterns::Patterns;

/// The extensions of the files that a walk takes.
const EXTENSIONS: [&str; 4] = ["yaml", "yml", "json", "jsonl"];

/// Which files of a folder are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Those with the extension of a manifest that no ignore file names.
    Manifests,
    /// All that are not hidden: a log may be called anything, and is often ignored.
    Texts,
}

/// A file to read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its name as it is reported: as given, with forward slashes; `-` for standard input.
    pub(crate) name: String,
    /// What it is said to hold.
    pub(crate) kind: FileKind,
    from: From,
}

#[derive(Clone, Debug)]
enum From {
    Path(PathBuf),
    Stdin,
    /// It cannot be read, for a reason that is known already.
    Nowhere(String),
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) file: File,
    /// Where to write it back to; absent for standard input.
    pub(crate) path: Option<PathBuf>,
    /// It came from standard input, whatever it is called.
    pub(crate) is_stdin: bool,
    /// The text starts with a byte order mark, which the engine does not count.
    pub(crate) has_mark: bool,
}

/// The files that paths lead to: in the order of the paths, within a folder by name.
/// Standard input is called by the name that is given for it.
pub(crate) fn gather(
    paths: &[PathBuf],
    except: &[&Path],
    excluded: &Patterns,
    stdin_name: &str,
    taken: Taken,
) -> Vec<Input> {
    let mut inputs = Vec::new();
    // Which files are there already; a config file and a baseline are no manifests.
    let mut seen: BTreeSet<PathBuf> = except.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut stdin = false;
    for path in paths {
        if path.as_os_str() == "-" {
            if !std::mem::replace(&mut stdin, true) {
                inputs.push(Input::new(stdin_name.to_owned(), From::Stdin));
            }
        } else if path.is_dir() {
            inputs.extend(walk(path, excluded, taken).into_iter().filter(|input| input.is_new(&mut seen)));
        } else {
            let input = Input::new(name(path), From::Path(path.clone()));
            // Named outright, a file is read even where it is one of those.
            if except.iter().any(|except| same(except, path)) || input.is_new(&mut seen) {
                inputs.push(input);
            }
        }
    }
    inputs
}

/// Marks the inputs that hold values of Karpenter's chart, and adds to the first cluster those that are not there yet.
pub(crate) fn mark_values(groups: &mut Vec<(String, Vec<Input>)>, values: &[PathBuf], stdin_name: &str) {
    for wanted in gather(values, &[], &Patterns::none(), stdin_name, Taken::Manifests) {
        let is_it = |input: &&mut Input| match (&input.from, &wanted.from) {
            (From::Stdin, From::Stdin) => true,
            (From::Path(one), From::Path(other)) => same(one, other),
            _ => false,
        };
        let mut found = false;
        for input in groups.iter_mut().flat_map(|(_, inputs)| inputs).filter(is_it) {
            input.kind = FileKind::Values;
            found = true;
        }
        if !found {
            let input = Input { kind: FileKind::Values, ..wanted };
            match groups.iter_mut().find(|(name, _)| name.is_empty()) {
                Some((_, inputs)) => inputs.push(input),
                None => groups.insert(0, (String::new(), vec![input])),
            }
        }
    }
}

/// Marks the inputs that a kustomization in their folder, or in one above it, lists as patches, also where it is no input:
/// an editor and a hook name single files.
pub(crate) fn mark_patches(groups: &mut [(String, Vec<Input>)], limits: &Limits) {
    let inputs = || groups.iter().flat_map(|(_, inputs)| inputs);
    let folders = inputs().flat_map(|input| Path::new(&input.name).ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders.collect();
    let files = folders.iter().flat_map(|folder| {
        ["kustomization.yaml", "kustomization.yml"].map(|name| folder.join(name)).into_iter().filter_map(
            |path| {
                let bytes = bounded(fs::File::open(&path).ok()?, limits).ok()?;
                Some(File::from_bytes(name(&path), bytes, limits))
            },
        )
    });
    let patches = Patches::of(&files.collect::<Vec<_>>());
    for input in
        groups.iter_mut().flat_map(|(_, inputs)| inputs).filter(|input| patches.contains(&input.name))
    {
        input.kind = FileKind::Patch;
    }
}

fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn walk(folder: &Path, excluded: &Patterns, taken: Taken) -> Vec<Input> {
    let mut builder = WalkBuilder::new(folder);
    builder.follow_links(true).require_git(false).sort_by_file_path(Ord::cmp);
    if taken == Taken::Texts {
        builder.standard_filters(false).hidden(true);
    }
    let excluded = excluded.clone();
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !excluded.fit(entry.path(), is_folder)
    });
    let mut inputs = Vec::new();
    for entry in builder.build() {
        match entry {
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if is_file && (taken == Taken::Texts || has_extension(entry.path())) {
                    let path = entry.into_path();
                    inputs.push(Input::new(name(&path), From::Path(path)));
                }
            }
            Err(error) => inputs.push(refusal(folder, &error)),
        }
    }
    inputs
}

fn has_extension(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// What could not be walked, under its own name where it is known.
fn refusal(folder: &Path, error: &ignore::Error) -> Input {
    let (path, reason) = reason(error);
    let path = path.unwrap_or_else(|| folder.to_owned());
    Input::new(name(&path), From::Nowhere(reason))
}

fn reason(error: &ignore::Error) -> (Option<PathBuf>, String) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (inner, reason) = reason(err);
            (inner.or_else(|| Some(path.clone())), reason)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => reason(err),
        ignore::Error::Loop { ancestor, child } => {
            let ancestor = name(ancestor);
            (Some(child.clone()), format!("a symbolic link that leads back to `{ancestor}`, not followed"))
        }
        ignore::Error::Io(error) => (None, unread(error)),
        other => (None, other.to_string()),
    }
}

/// A path as it is printed.
fn name(path: &Path) -> String {
    let shown = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    // What lies in the folder `.` needs no word for it.
    match shown.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => shown,
    }
}

/// Why something cannot be read.
pub(crate) fn unread(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "not readable: permission denied".to_owned(),
        _ => format!("not readable: {error}"),
    }
}

impl Input {
    fn new(name: String, from: From) -> Self {
        Self { name, kind: FileKind::Unknown, from }
    }

    /// The path as it was given or found; absent for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let From::Path(path) = &self.from { Some(path) } else { None }
    }

    /// The path that settings and patterns are about: that of the file, or the one standard input is said to come from.
    pub(crate) fn place(&self) -> Option<&Path> {
        match &self.from {
            From::Path(path) => Some(path),
            From::Stdin => Some(Path::new(&self.name)).filter(|name| name.as_os_str() != "-"),
            From::Nowhere(_) => None,
        }
    }

    /// Whether the file was not there before, whatever way led to it.
    fn is_new(&self, seen: &mut BTreeSet<PathBuf>) -> bool {
        let From::Path(path) = &self.from else { return true };
        path.canonicalize().map_or(true, |path| seen.insert(path))
    }

    /// How many bytes it has; 0 where that cannot be told.
    pub(crate) fn len(&self) -> usize {
        let bytes = self.path().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// What to read it from, or why it cannot be read.
    pub(crate) fn open(&self) -> Result<Box<dyn io::Read>, String> {
        match &self.from {
            From::Stdin => Ok(Box::new(io::stdin().lock())),
            From::Path(path) => match fs::File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(unread(&error)),
            },
            From::Nowhere(reason) => Err(reason.clone()),
        }
    }

    /// Reads and parses the file. What goes wrong becomes its only document.
    pub(crate) fn read(&self, limits: &Limits) -> Loaded {
        let bytes = match &self.from {
            From::Stdin => bounded(io::stdin().lock(), limits),
            From::Path(path) => fs::File::open(path).and_then(|file| bounded(file, limits)),
            From::Nowhere(reason) => return self.failed(reason),
        };
        match bytes {
            Ok(bytes) => {
                let has_mark = bytes.starts_with(b"\xef\xbb\xbf");
                let path = if let From::Path(path) = &self.from { Some(path.clone()) } else { None };
                let is_stdin = matches!(self.from, From::Stdin);
                let file = File::from_bytes(self.name.clone(), bytes, limits);
                // Its text is another then, and is never written back.
                let other = path.as_ref().and_then(|_| json_with_comments::read(&file, limits));
                let path = path.filter(|_| other.is_none());
                let file = File { kind: self.kind, ..other.unwrap_or(file) };
                Loaded { file, path, is_stdin, has_mark }
            }
            Err(error) => self.failed(&unread(&error)),
        }
    }

    fn failed(&self, reason: &str) -> Loaded {
        let is_stdin = matches!(self.from, From::Stdin);
        Loaded { file: File::unreadable(self.name.clone(), reason), path: None, is_stdin, has_mark: false }
    }
}

/// Reads one byte more than the bound at most, so that what is too large is known to be.
fn bounded(from: impl io::Read, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limits.file_bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
