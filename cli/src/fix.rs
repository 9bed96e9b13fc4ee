//! `--fix` and `--diff`: applies the fixes, and writes or shows the result.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use cluster::Cluster;
use cluster::ids::{ClusterId, FileId};
use engine::apply::{AppliedFixes, WantedFixes, apply_fixes};
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::limits::Limits;
use manifest::source::Source;
use manifest::{Encoding, File, ReadOptions};
use objects::embedded::READ_OPTIONS;
use render::human;
use rule::settings::Settings;
use similar::TextDiff;
use terraform_objects::NoFilesBeside;

use super::form::Color;
use super::status::Status;
use super::whole_file::{FileReplacement, NotReplaced};
use super::{output, terminal};

/// Origin of a file's text, in the order of the clusters and their files.
#[derive(Clone, Debug)]
pub(crate) struct TextOrigin {
    /// The path, and the folder that is checked.
    pub(crate) path: Option<(PathBuf, PathBuf)>,
    pub(crate) is_stdin: bool,
    pub(crate) encoding: Encoding,
}

/// Result of applying the fixes.
pub(crate) struct Fixed {
    result: AppliedFixes,
    changes: Vec<Change>,
    /// Fixed text of standard input, and its encoding.
    stdin: Option<(Arc<Source>, Encoding)>,
}

/// Changed file.
struct Change {
    old: Arc<Source>,
    new: Arc<Source>,
    origin: TextOrigin,
    /// Position among the files of all clusters.
    position: usize,
    id: FileId,
}

/// Result of writing the changed files.
#[derive(Default)]
pub(crate) struct WrittenFixes {
    /// Number of files that were written.
    pub(crate) files: usize,
    /// Files that were left as they are, with their names.
    left: Vec<(String, NotReplaced)>,
}

impl WrittenFixes {
    /// Whether every changed file was written.
    pub(crate) fn is_complete(&self) -> bool {
        self.left.is_empty()
    }

    /// Exit status of a run that could not write every file. `otherwise` is its status without that.
    pub(crate) fn status(&self, otherwise: Status) -> Status {
        let is_refused = self.left.iter().any(|(_, reason)| matches!(reason, NotReplaced::System(_)));
        match otherwise {
            _ if is_refused => Status::System,
            _ if !self.left.is_empty() => Status::Unreadable,
            status => status,
        }
    }

    /// Prints an error for each file that was left as it is.
    pub(crate) fn report(&self, color: Color) {
        for (name, reason) in &self.left {
            let name = human::printable(name);
            terminal::error(color, &format!("`{name}` was not fixed: {reason}"));
        }
    }
}

/// Applies the fixes to the clusters, without writing files.
pub(crate) fn apply(
    clusters: &mut [Cluster],
    origins: &[TextOrigin],
    settings: &Settings,
    limits: &Limits,
    wanted: WantedFixes,
) -> Fixed {
    let sources = |clusters: &[Cluster]| -> Vec<Arc<Source>> {
        clusters.iter().flat_map(|cluster| &cluster.files).map(|file| Arc::clone(&file.source)).collect()
    };
    let before = sources(clusters);
    let result = apply_fixes(&REGISTRY, clusters, settings, limits, wanted);
    let ids: Vec<FileId> =
        ClusterId::enumerate(clusters).flat_map(|(id, one)| id.files(one.files.len())).collect();
    let all = before.into_iter().zip(sources(clusters)).zip(origins).zip(ids);
    let mut fixed = Fixed { result, changes: Vec::new(), stdin: None };
    for (position, (((old, new), origin), id)) in all.enumerate() {
        if origin.is_stdin {
            fixed.stdin = Some((Arc::clone(&new), origin.encoding));
        }
        if old.text() != new.text() {
            fixed.changes.push(Change { old, new, origin: origin.clone(), position, id });
        }
    }
    fixed
}

impl Fixed {
    /// Number of findings that are fixed.
    pub(crate) fn applied(&self) -> usize {
        self.result.applied
    }

    /// Writes the changed files, and the text of standard input to standard output. A file that cannot be written gets its old text
    /// back in its cluster, so that the report describes what is on the disk.
    pub(crate) fn write(&self, clusters: &mut [Cluster], limits: &Limits) -> io::Result<WrittenFixes> {
        let mut written = WrittenFixes::default();
        let prepared: Vec<_> = self.changes.iter().map(|change| (change, change.prepare())).collect();
        let failed = prepared.iter().filter(|(_, prepared)| prepared.is_err()).map(|(change, _)| change.id);
        let left = self.with_companions(failed.collect());
        for (change, prepared) in prepared {
            let result = match prepared {
                Ok(_) if left.contains(&change.id) => Err(NotReplaced::Companion),
                Ok(replacement) => replacement.map_or(Ok(()), FileReplacement::finish),
                Err(reason) => Err(reason),
            };
            match result {
                Ok(()) => written.files += 1,
                Err(reason) => {
                    written.left.push((change.new.name().to_owned(), reason));
                    change.undo(clusters, limits);
                }
            }
        }
        if let Some((source, encoding)) = &self.stdin {
            output::unless_closed(print(&encoding.encode(source.text())))?;
        }
        Ok(written)
    }

    /// Some files, and the files that share a fix with them, directly or through others.
    fn with_companions(&self, mut files: BTreeSet<FileId>) -> BTreeSet<FileId> {
        loop {
            let before = files.len();
            for together in &self.result.together {
                if !together.is_disjoint(&files) {
                    files.extend(together.iter().copied());
                }
            }
            if files.len() == before {
                return files;
            }
        }
    }

    /// Prints the changes as a unified diff.
    pub(crate) fn print_diff(&self, color: Color) -> io::Result<()> {
        let mut out = terminal::stdout(color);
        for Change { old, new, .. } in &self.changes {
            let diff = TextDiff::from_lines(old.text(), new.text());
            let text = diff.unified_diff().context_radius(3).header(old.name(), new.name()).to_string();
            for line in text.split_inclusive('\n') {
                let style = match line.as_bytes().first() {
                    Some(b'+') => anstyle::AnsiColor::Green.on_default(),
                    Some(b'-') => anstyle::AnsiColor::Red.on_default(),
                    Some(b'@') => anstyle::AnsiColor::Cyan.on_default(),
                    _ => anstyle::Style::new(),
                };
                let body = line.trim_end_matches(['\r', '\n']);
                let end = line.strip_prefix(body).unwrap_or_default();
                // The writer lets styles pass, so the styles in the file are escaped here.
                let shown: Vec<String> = body.split('\t').map(human::printable).collect();
                write!(out, "{style}{}{style:#}{end}", shown.join("\t"))?;
            }
        }
        out.flush()
    }

    /// Prints a note for each fix that was skipped, with the reason.
    pub(crate) fn note_skipped(&self, color: Color) {
        for skipped in &self.result.skipped {
            let location = format!("{}:{}", human::printable(&skipped.file), skipped.line);
            let message = format!("{location}: {}: fix skipped: {}", skipped.rule, skipped.reason);
            terminal::note(color, &message);
        }
    }
}

impl Change {
    /// Prepares the replacement of the file; `None` for a text without a path.
    fn prepare(&self) -> Result<Option<FileReplacement>, NotReplaced> {
        let Self { old, new, origin: TextOrigin { path, encoding, .. }, .. } = self;
        let bytes = |source: &Source| encoding.encode(source.text());
        let prepare = |(path, folder): &(PathBuf, PathBuf)| {
            FileReplacement::prepare(path, folder, bytes(old), &bytes(new))
        };
        path.as_ref().map(prepare).transpose()
    }

    fn undo(&self, clusters: &mut [Cluster], limits: &Limits) {
        let mut files = clusters.iter_mut().flat_map(|cluster| &mut cluster.files);
        if let Some(file) = files.nth(self.position) {
            let options = ReadOptions { limits: *limits, ..READ_OPTIONS };
            let read = File::read(self.old.name(), self.old.text().to_owned(), options);
            *file = File { kind: file.kind, is_relevant: file.is_relevant, ..read };
        }
        for cluster in clusters {
            terraform_objects::evaluate(&mut cluster.files, &NoFilesBeside, limits);
        }
    }
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(bytes)?;
    out.flush()
}
