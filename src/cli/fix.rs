//! `--fix` and `--diff`: the safe fixes, written back or shown.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use lint::check::Cluster;
use manifest::limits::Limits;
use manifest::source::Source;
use lint::mend::{Mended, mend};
use report::human;
use lint::settings::Settings;
use similar::TextDiff;

use super::arguments::Color;
use super::terminal;

/// Where a file came from, in the order of the clusters and their files.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) path: Option<PathBuf>,
    pub(crate) is_stdin: bool,
    pub(crate) has_mark: bool,
}

/// What the fixes make of the files.
pub(crate) struct Fixed {
    pub(crate) mended: Mended,
    /// The files that change: their old and new text, and where they came from.
    changes: Vec<Change>,
    /// The fixed text of standard input, where it was read.
    stdin: Option<(Arc<Source>, bool)>,
}

struct Change {
    old: Arc<Source>,
    new: Arc<Source>,
    origin: Origin,
}

/// Makes the fixes in the clusters; nothing is written yet.
pub(crate) fn make(
    clusters: &mut [Cluster],
    origins: &[Origin],
    settings: &Settings,
    limits: &Limits,
) -> Fixed {
    let sources = |clusters: &[Cluster]| -> Vec<Arc<Source>> {
        clusters.iter().flat_map(|cluster| &cluster.files).map(|file| Arc::clone(&file.source)).collect()
    };
    let before = sources(clusters);
    let mended = mend(&REGISTRY, clusters, settings, limits);
    let all = before.into_iter().zip(sources(clusters)).zip(origins);
    let mut fixed = Fixed { mended, changes: Vec::new(), stdin: None };
    for ((old, new), origin) in all {
        if origin.is_stdin {
            fixed.stdin = Some((Arc::clone(&new), origin.has_mark));
        }
        if old.text() != new.text() {
            fixed.changes.push(Change { old, new, origin: origin.clone() });
        }
    }
    fixed
}

impl Fixed {
    /// Writes the changed files back, and what was standard input to standard output. Gives how many files changed.
    pub(crate) fn write(&self) -> io::Result<usize> {
        for Change { new, origin, .. } in &self.changes {
            if let Some(path) = &origin.path {
                std::fs::write(path, bytes(new, origin.has_mark))
                    .map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", new.name())))?;
            }
        }
        if let Some((source, has_mark)) = &self.stdin {
            let mut out = io::stdout();
            out.write_all(&bytes(source, *has_mark))?;
            out.flush()?;
        }
        Ok(self.changes.len())
    }

    /// Prints what would change as a unified diff.
    pub(crate) fn diff(&self, color: Color) -> io::Result<()> {
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

    /// Says which fixes were not made.
    pub(crate) fn tell(&self, color: Color) {
        for refused in &self.mended.refused {
            let place = format!("{}:{}", human::printable(&refused.file), refused.line);
            let message = format!("{place}: the fix of `{}` was not made: {}", refused.rule, refused.reason);
            terminal::note(color, &message);
        }
    }
}

fn bytes(source: &Source, has_mark: bool) -> Vec<u8> {
    let mark: &[u8] = if has_mark { b"\xef\xbb\xbf" } else { b"" };
    [mark, source.text().as_bytes()].concat()
}
