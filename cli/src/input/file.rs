//! One input: a file or standard input.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cluster::evidence::mentions_karpenter;
use manifest::limits::Limits;
use manifest::source::Span;
use manifest::{Document, Encoding, File, FileKind, ReadOptions, is_markdown};
use terraform_objects::{OPTIONS_BEFORE_EVALUATION, keep_manifests};

use super::base::BaseFolder;
use super::error::InputError;
use super::json_with_comments;
use super::regular::open_finite;
use super::walk::is_template;

/// Input to read.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// Name in the report, which [`BaseFolder`] makes from the path; `-` for standard input.
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    /// Whether the command line names the input itself, not only a folder that contains it.
    pub(crate) is_named: bool,
    from: From,
}

#[derive(Clone, Debug)]
enum From {
    /// The path of a file, and the folder that the command line names: the parent of a file that it names itself.
    Path(PathBuf, PathBuf),
    /// Standard input, and the path that `--stdin-filename` gives it.
    Stdin(Option<PathBuf>),
    /// The walk already found that the path cannot be read.
    Unreadable(String),
    /// The text in the place of a file.
    Text(Arc<[u8]>),
    /// The path is not read, for a reason that is no error.
    Skipped(&'static str),
}

/// Parsed input.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) file: File,
    /// Path to write fixes to, and the folder that is checked; absent for standard input and for texts that cannot be written back.
    pub(crate) path: Option<(PathBuf, PathBuf)>,
    /// Whether the text comes from standard input; the name may be any.
    pub(crate) is_stdin: bool,
    /// Encoding of the file. Offsets count from the start of the text, after a byte order mark.
    pub(crate) encoding: Encoding,
}

impl InputFile {
    /// A file in a folder that the command line names.
    pub(crate) fn file(path: PathBuf, folder: &Path, base: &BaseFolder) -> Self {
        let name = base.name(&path);
        Self { name, kind: FileKind::Unknown, is_named: false, from: From::Path(path, folder.to_owned()) }
    }

    /// A file that the command line names.
    pub(super) fn named(path: PathBuf, base: &BaseFolder) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
        let folder = folder.unwrap_or_else(|| PathBuf::from("."));
        Self { is_named: true, ..Self::file(path, &folder, base) }
    }

    /// Standard input, with the file name that the command line gives it.
    pub(super) fn stdin(assumed: Option<&str>, base: &BaseFolder) -> Self {
        let assumed = assumed.filter(|name| *name != "-").map(PathBuf::from);
        let name = assumed.as_deref().map_or("-".to_owned(), |path| base.name(path));
        Self { name, kind: FileKind::Unknown, is_named: true, from: From::Stdin(assumed) }
    }

    /// A text in the place of a file with this name.
    pub(super) fn text(name: &Path, text: Arc<[u8]>) -> Self {
        let name = name.to_string_lossy().into_owned();
        Self { name, kind: FileKind::Unknown, is_named: true, from: From::Text(text) }
    }

    /// The same input, found in a folder that leads to it by a symbolic link although one of the `named` paths, which have no links,
    /// holds it.
    pub(super) fn held_by(mut self, named: &[PathBuf]) -> Self {
        if let From::Path(path, folder) = &mut self.from
            && let Ok(real) = path.canonicalize()
            && let Some(holder) = named.iter().find(|holder| real.starts_with(holder))
        {
            folder.clone_from(holder);
        }
        self
    }

    pub(super) fn unreadable(path: &Path, reason: String, base: &BaseFolder) -> Self {
        let name = base.name(path);
        Self { name, kind: FileKind::Unknown, is_named: false, from: From::Unreadable(reason) }
    }

    /// A path of a folder that is not read, for a reason that is no error.
    pub(super) fn skipped(path: &Path, reason: &'static str, base: &BaseFolder) -> Self {
        let name = base.name(path);
        Self { name, kind: FileKind::Unknown, is_named: false, from: From::Skipped(reason) }
    }

    /// The reason why there is nothing to read, which is no error.
    pub(crate) fn skip_reason(&self) -> Option<&'static str> {
        if let From::Skipped(reason) = self.from { Some(reason) } else { None }
    }

    /// The same input as chart values.
    pub(super) fn into_values(self) -> Self {
        Self { kind: FileKind::Values, ..self }
    }

    /// Path as given or found; absent for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let From::Path(path, _) = &self.from { Some(path) } else { None }
    }

    /// Whether the input is a file of a few documents.
    pub(super) fn is_short(&self) -> bool {
        /// Documents of this size together take about as long to check as a thread takes to start.
        const SHORT: u64 = 8 << 10;
        self.path().and_then(|path| fs::metadata(path).ok()).is_some_and(|file| file.len() <= SHORT)
    }

    /// Path that patterns and the settings of some paths apply to: the path of the file, or the name that
    /// `--stdin-filename` gives standard input.
    pub(crate) fn assumed_path(&self) -> Option<&Path> {
        match &self.from {
            From::Path(path, _) => Some(path),
            From::Stdin(assumed) => assumed.as_deref(),
            From::Unreadable(_) | From::Text(_) | From::Skipped(_) => None,
        }
    }

    /// Whether two inputs read the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.from, &other.from) {
            (From::Stdin(_), From::Stdin(_)) => true,
            (From::Path(one, _), From::Path(other, _)) => is_same_file(one, other),
            _ => false,
        }
    }

    /// Size in bytes; 0 if unknown.
    pub(crate) fn len(&self) -> usize {
        if let From::Text(text) = &self.from {
            return text.len();
        }
        let bytes = self.path().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Opens the input.
    pub(crate) fn open(&self) -> Result<Box<dyn io::Read>, InputError> {
        match &self.from {
            From::Stdin(_) => Ok(Box::new(io::stdin().lock())),
            From::Path(path, _) => Ok(Box::new(open_finite(path)?)),
            From::Unreadable(reason) => Err(InputError::Walk(reason.clone())),
            From::Text(text) => Ok(Box::new(io::Cursor::new(Arc::clone(text)))),
            From::Skipped(_) => Err(InputError::NotFound),
        }
    }

    /// The same input, or one that cannot be read if its path leads to something other than a file: opening a pipe may block forever.
    pub(crate) fn if_regular(self) -> Self {
        let is_other = self.path().is_some_and(|path| path.exists() && !path.is_file());
        if is_other { Self { from: From::Unreadable("not a regular file".to_owned()), ..self } } else { self }
    }

    /// Reads and parses the input. On failure, its only document is unreadable.
    pub(crate) fn read(&self, limits: &Limits) -> Loaded {
        let without_text =
            |file| Loaded { file, path: None, is_stdin: self.is_stdin(), encoding: Encoding::default() };
        if let Some(reason) = self.skip_reason() {
            return without_text(File::skipped(self.name.clone(), reason));
        }
        match self.open().and_then(|from| Ok(bounded(from, limits)?)) {
            Ok(bytes) => self.parsed(bytes, limits),
            Err(reason) => without_text(File::unreadable(self.name.clone(), reason.to_string())),
        }
    }

    /// Parses bytes as the content of the input. The caller evaluates configurations of Terraform next, which reads their here-documents.
    pub(crate) fn parsed(&self, bytes: Vec<u8>, limits: &Limits) -> Loaded {
        let encoding = Encoding::detect(&bytes);
        let is_relevant = self.is_relevant(&bytes, limits);
        let options = ReadOptions { limits: *limits, ..OPTIONS_BEFORE_EVALUATION };
        let file = File::from_bytes(self.name.clone(), bytes, options);
        let path = match &self.from {
            From::Path(path, folder) => Some((path.clone(), folder.clone())),
            _ => None,
        };
        let without_comments = path.as_ref().and_then(|_| json_with_comments::read(&file, limits));
        // The text without comments must not replace the text of the file.
        let path = path.filter(|_| without_comments.is_none());
        let mut file = File { kind: self.kind, is_relevant, ..without_comments.unwrap_or(file) };
        if !self.is_named && self.path().is_some_and(is_template) {
            keep_manifests(&mut file);
        }
        if self.is_named && file.documents.is_empty() && is_markdown(&self.name) {
            let reason = "Markdown, not checked: no manifest in a code block".to_owned();
            file.documents.push(Document::Absent { span: Span::whole(file.source.text()), reason });
        }
        Loaded { file, path, is_stdin: self.is_stdin(), encoding }
    }

    /// Whether the input matters if it cannot be parsed, if that does not follow from its text: a named file always does, and
    /// a file that is not text does if its bytes contain the word `karpenter`.
    fn is_relevant(&self, bytes: &[u8], limits: &Limits) -> Option<bool> {
        if self.is_named {
            return Some(true);
        }
        let is_text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        (!is_text && bytes.len() <= limits.file_bytes).then(|| mentions_karpenter(bytes))
    }

    /// Whether the input is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        matches!(self.from, From::Stdin(_))
    }
}

/// Whether two paths lead to the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Reads at most one byte more than the bound, so that the parser notices a file that is too large.
pub(super) fn bounded(from: impl io::Read, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limits.file_bytes as u64 + 1).read_to_end(&mut bytes)?;
    // The buffer becomes the text of the file, and a half of it may be free.
    bytes.shrink_to_fit();
    Ok(bytes)
}
