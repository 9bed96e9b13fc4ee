//! Destination of a report, and the exit status that follows from it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use answers::report::Report;
use engine::check::fails;

use super::form::Color;
use super::options::ReportOptions;
use super::status::Status;
use super::terminal;

/// Error for empty standard input, as after a failed `helm template`.
pub(crate) const EMPTY: &str = "standard input is empty; if that is intended, use `--allow-empty`";

/// Standard stream for a report without `--output`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// Opens the file of `--output`, or else a standard stream. Also returns whether to use colour.
pub(crate) fn open(path: Option<&Path>, stream: Stream, color: Color) -> io::Result<(Box<dyn Write>, bool)> {
    Ok(match (path, stream) {
        (Some(path), _) => {
            let file = fs::File::create(path)
                .map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", path.display())))?;
            (Box::new(io::BufWriter::new(file)), color == Color::Always)
        }
        (None, Stream::Stdout) => (terminal::stdout(color), color.on_stdout()),
        (None, Stream::Stderr) => (terminal::stderr(color), color.on_stderr()),
    })
}

/// Prints a note if the report has more findings than the bound.
pub(crate) fn note_truncation(report: &Report, bound: usize, color: Color) {
    if report.truncated {
        let message = format!(
            "more than {bound} findings; the others are counted but not shown; raise the bound with --max-findings"
        );
        terminal::note(color, &message);
    }
}

/// Result of printing, where a closed pipe is not an error: `| head` has read enough, and the exit status still counts.
pub(crate) fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Exit status for a report.
fn status(report: &Report, options: &ReportOptions) -> Status {
    if report.unreadable.iter().any(|unreadable| options.strict || unreadable.concerns_karpenter) {
        return Status::Unreadable;
    }
    match options.fail_on {
        Some(severity) if fails(report, severity) => Status::Findings,
        _ => Status::Clean,
    }
}

/// Exit status for a report. `is_empty` says that standard input is empty and that the command line does not allow it.
pub(crate) fn status_after(report: &Report, options: &ReportOptions, is_empty: bool) -> Status {
    match status(report, options) {
        Status::Clean if is_empty => Status::NoInput,
        status => status,
    }
}

/// Exit status for a story: the findings do not count, because the user asks for something else.
pub(crate) fn status_after_story(report: &Report, options: &ReportOptions, is_empty: bool) -> Status {
    match status_after(report, options, is_empty) {
        Status::Findings => Status::Clean,
        status => status,
    }
}
