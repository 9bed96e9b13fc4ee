//! Renders the versions of Karpenter that the input pins, and the folders that look like clusters.

use std::io::{self, Write};

use answers::report::{ReportedEnvironments, ReportedPin};

use super::printer::{BOLD, Printer};
use super::words::printable;

/// Versions shown.
const MAX_PINS: usize = 20;

/// Folders named for each group that looks like clusters.
const MAX_FOLDERS: usize = 6;

/// Writes the pinned versions; unless the report is verbose, only versions that the facts do not have.
pub(super) fn pins(printer: &Printer<'_>, out: &mut dyn Write, pins: &[ReportedPin]) -> io::Result<()> {
    let label = printer.styled(BOLD, "version");
    let is_unknown = |pin: &&ReportedPin| !pin.version.is_empty() && !pin.note.is_empty();
    let pins: Vec<&ReportedPin> =
        pins.iter().filter(|pin| printer.options.verbose || is_unknown(pin)).collect();
    for pin in pins.iter().take(MAX_PINS) {
        writeln!(out, "{label}: {}", printable(&sentence(pin)))?;
    }
    match pins.len().saturating_sub(MAX_PINS) {
        0 => Ok(()),
        more => writeln!(out, "{label}: {more} more folders pin a version; `--format json` lists all"),
    }
}

fn sentence(pin: &ReportedPin) -> String {
    let ReportedPin { folder, version, file, line, note, .. } = pin;
    // A file can pin a version for itself only.
    let is_folder = folder != file;
    let scope = match folder.as_str() {
        "" => "the input".to_owned(),
        folder if is_folder => format!("`{folder}/`"),
        file => format!("`{file}`"),
    };
    if version.is_empty() {
        return format!("{scope} pins several versions of Karpenter: {note}");
    }
    let from = if is_folder { format!("from {file}:{line}") } else { format!("line {line}") };
    let note = if note.is_empty() { String::new() } else { format!("; {note}") };
    format!("{scope} pins Karpenter {version} ({from}){note}")
}

pub(super) fn environments(
    printer: &Printer<'_>,
    out: &mut dyn Write,
    groups: &[ReportedEnvironments],
) -> io::Result<()> {
    for group in groups {
        let line = printable(&advice(&group.folders));
        writeln!(out, "{}: {line}", printer.styled(BOLD, "clusters"))?;
    }
    Ok(())
}

fn advice(folders: &[String]) -> String {
    let shown = || folders.iter().take(MAX_FOLDERS);
    let more = match folders.len().saturating_sub(MAX_FOLDERS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names: Vec<String> = shown().map(|folder| format!("`{folder}`")).collect();
    let flags: Vec<String> = shown().map(|folder| format!("--cluster {folder}")).collect();
    let ellipsis = if more.is_empty() { "" } else { " …" };
    format!(
        "{}{more} look like separate clusters, so their objects are not compared; check each with `{}{ellipsis}`",
        names.join(", "),
        flags.join(" ")
    )
}
