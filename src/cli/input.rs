//! Paths in, files read: folders are walked, each file is taken once, and the order is the same on every run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;

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
    except: Option<&Path>,
    excluded: &Patterns,
    stdin_name: &str,
    taken: Taken,
) -> Vec<Input> {
    let mut inputs = Vec::new();
    // Which files are there already; the config file is no manifest.
    let mut seen: BTreeSet<PathBuf> = except.and_then(|path| path.canonicalize().ok()).into_iter().collect();
    let mut stdin = false;
    for path in paths {
        if path.as_os_str() == "-" {
            if !std::mem::replace(&mut stdin, true) {
                inputs.push(Input { name: stdin_name.to_owned(), from: From::Stdin });
            }
        } else if path.is_dir() {
            inputs.extend(walk(path, excluded, taken).into_iter().filter(|input| input.is_new(&mut seen)));
        } else {
            let input = Input { name: name(path), from: From::Path(path.clone()) };
            // Named outright, a file is read even where it is the config file.
            let is_config = except.is_some_and(|except| same(except, path));
            if is_config || input.is_new(&mut seen) {
                inputs.push(input);
            }
        }
    }
    inputs
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
                    inputs.push(Input { name: name(&path), from: From::Path(path) });
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
    Input { name: name(&path), from: From::Nowhere(reason) }
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
    /// The path as it was given or found; absent for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let From::Path(path) = &self.from { Some(path) } else { None }
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
                Loaded { file: File::from_bytes(self.name.clone(), bytes, limits), path, is_stdin, has_mark }
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
