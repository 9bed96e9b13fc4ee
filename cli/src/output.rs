//! Destination of a report, and the exit status that follows from it.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use answers::report::Report;
use engine::check::fails;
use manifest::File;

use super::error::CommandError;
use super::form::Color;
use super::input::{BaseFolder, ClusterInputs, InputFile};
use super::options::ReportOptions;
use super::safe_writer::{Escaping, SafeWriter};
use super::status::Status;
use super::terminal;
use super::whole_file::{WholeFile, target_of};

/// Error for empty standard input, as after a failed `helm template`.
pub(crate) const EMPTY: &str = "standard input is empty; if that is intended, use `--allow-empty`";

/// Standard stream for a report without `--output`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// Destination of a report.
pub(crate) enum Destination {
    /// A standard stream, or a device such as `/dev/null`.
    Stream(Box<dyn Write>),
    /// A file, with its name.
    File(String, SafeWriter<WholeFile>),
}

impl Destination {
    /// Ends the report. A file appears at its path now.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stream(mut stream) => stream.flush(),
            Self::File(name, file) => {
                let written = file.into_inner().and_then(WholeFile::finish);
                written.map_err(|error| cannot_write(&name, &error))
            }
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File(name, file) => file.write(bytes).map_err(|error| cannot_write(name, &error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(name, file) => file.flush().map_err(|error| cannot_write(name, &error)),
        }
    }
}

fn cannot_write(name: &str, error: &io::Error) -> io::Error {
    io::Error::other(format!("cannot write `{name}`: {error}"))
}

/// Opens the file of `--output`, or else a standard stream. Also returns whether to use colour.
pub(crate) fn open(
    path: Option<&Path>,
    stream: Stream,
    escaping: Escaping,
    color: Color,
) -> io::Result<(Destination, bool)> {
    Ok(match (path, stream) {
        (Some(path), _) => (file(path, escaping)?, color == Color::Always),
        (None, Stream::Stdout) => {
            (Destination::Stream(terminal::stdout_as(color, escaping)), color.on_stdout())
        }
        (None, Stream::Stderr) => {
            (Destination::Stream(terminal::stderr_as(color, escaping)), color.on_stderr())
        }
    })
}

fn file(path: &Path, escaping: Escaping) -> io::Result<Destination> {
    let name = path.display().to_string();
    // A device or a pipe cannot be replaced, nor the file behind a descriptor of a process.
    let is_stream =
        is_descriptor(path) || fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
    let opened = if is_stream {
        let stream = fs::OpenOptions::new().append(true).open(path);
        stream.map(|stream| {
            Destination::Stream(Box::new(io::BufWriter::new(SafeWriter::new(stream, escaping))))
        })
    } else {
        WholeFile::create(path).map(|file| Destination::File(name.clone(), SafeWriter::new(file, escaping)))
    };
    opened.map_err(|error| cannot_write(&name, &error))
}

/// Whether a path leads to an open file of a process, such as `/dev/stdout` and `/proc/self/fd/1`.
fn is_descriptor(path: &Path) -> bool {
    let is_standard =
        ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|known| path == Path::new(known));
    let is_in_proc =
        || path.starts_with("/proc") && path.parent().is_some_and(|folder| folder.ends_with("fd"));
    is_standard || path.starts_with("/dev/fd") || is_in_proc()
}

/// Whether a file starts like a report in JSON, XML or Markdown that this program writes. No manifest starts like that.
fn is_report(path: &Path) -> bool {
    // Opening a pipe may block forever.
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let text: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    let known = [
        r#"{"schema":"#,
        r#"{"$schema":"https://docs.oasis-open.org/sarif"#,
        r#"{"assumptions":"#,
        r#"{"acts":"#,
        r#"[{"description":"#,
        "[]",
        "<?xml",
        "##Karpentermanifests",
        "##UpgradefromKarpenter",
        "##DowngradefromKarpenter",
        "##Planforthenodes",
    ];
    read.is_ok() && known.iter().any(|known| text.starts_with(known))
}

/// Refuses a file to write that is an input or the config file of the run. `flag` names the file on the command line.
pub(crate) fn refuse_input(
    path: Option<&Path>,
    flag: &str,
    clusters: &[ClusterInputs],
    config: Option<&Path>,
) -> Result<(), CommandError> {
    // A report of an earlier run in a folder is no input, as long as it is one.
    let is_report = path.is_some_and(is_report);
    let inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
    let inputs = inputs.filter(|input| input.is_named || !is_report).filter_map(InputFile::path);
    refuse_same(path, flag, inputs.chain(config))
}

/// Refuses a file to write that the run has read beside its inputs: another file refers to it, or it pins a version.
pub(crate) fn refuse_referenced<'f>(
    path: Option<&Path>,
    flag: &str,
    files: impl IntoIterator<Item = &'f File>,
    base: &BaseFolder,
) -> Result<(), CommandError> {
    let read: Vec<PathBuf> = match path {
        Some(path) if !is_report(path) => {
            files.into_iter().map(|file| base.path(Path::new(file.source.name()))).collect()
        }
        _ => Vec::new(),
    };
    refuse_same(path, flag, read.iter().map(PathBuf::as_path))
}

/// Refuses a file to write that the run also reads.
pub(crate) fn refuse_same<'p>(
    path: Option<&Path>,
    flag: &str,
    read: impl IntoIterator<Item = &'p Path>,
) -> Result<(), CommandError> {
    let Some((path, target)) = path.and_then(|path| Some((path, target_of(path).ok()?))) else {
        return Ok(());
    };
    if read.into_iter().any(|other| target_of(other).is_ok_and(|other| other == target)) {
        let shown = path.display();
        let text = format!("{flag}: `{shown}` is also an input, and would be lost; write to another file");
        return Err(CommandError::Usage(text));
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_descriptors_below_dev_and_proc_are_streams() {
        for path in ["/dev/stdout", "/dev/stderr", "/dev/fd/3", "/proc/self/fd/1", "/proc/17/task/18/fd/1"] {
            assert!(is_descriptor(Path::new(path)), "{path}");
        }
        for path in
            ["/dev/shm/report.json", "/dev/stdout.json", "/proc/self/fdinfo/1", "/tmp/fd/1", "dev/stdout"]
        {
            assert!(!is_descriptor(Path::new(path)), "{path}");
        }
    }
}
