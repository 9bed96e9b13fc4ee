//! `--fix` and `--diff`: applies the fixes, and writes or shows the result.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use cluster::Cluster;
use engine::apply::{AppliedFixes, WantedFixes, apply_fixes};
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::Encoding;
use manifest::limits::Limits;
use manifest::source::Source;
use render::human;
use rule::settings::Settings;
use similar::TextDiff;

use super::form::Color;
use super::{output, terminal};

/// Origin of a file's text, in the order of the clusters and their files.
#[derive(Clone, Debug)]
pub(crate) struct TextOrigin {
    pub(crate) path: Option<PathBuf>,
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
    let all = before.into_iter().zip(sources(clusters)).zip(origins);
    let mut fixed = Fixed { result, changes: Vec::new(), stdin: None };
    for ((old, new), origin) in all {
        if origin.is_stdin {
            fixed.stdin = Some((Arc::clone(&new), origin.encoding));
        }
        if old.text() != new.text() {
            fixed.changes.push(Change { old, new, origin: origin.clone() });
        }
    }
    fixed
}

impl Fixed {
    /// Number of findings that are fixed.
    pub(crate) fn applied(&self) -> usize {
        self.result.applied
    }

    /// Writes the changed files, and the text of standard input to standard output. Returns the number of changed files.
    pub(crate) fn write(&self) -> io::Result<usize> {
        for Change { new, origin, .. } in &self.changes {
            if let Some(path) = &origin.path {
                std::fs::write(path, origin.encoding.encode(new.text()))
                    .map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", new.name())))?;
            }
        }
        if let Some((source, encoding)) = &self.stdin {
            output::unless_closed(print(&encoding.encode(source.text())))?;
        }
        Ok(self.changes.len())
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
                let body = line.strip_suffix('\n').unwrap_or(line);
                write!(out, "{style}{body}{style:#}{}", line.strip_prefix(body).unwrap_or_default())?;
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

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(bytes)?;
    out.flush()
}
