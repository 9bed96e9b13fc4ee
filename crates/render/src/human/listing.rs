//! Renders the documents that are unreadable, skipped, or accepted by some releases.

use std::io::{self, Write};
use std::path::Path;

use annotate_snippets::{Group, Level, Origin};
use answers::report::{Report, Skipped, Unreadable};
use manifest::source::{Source, Span};

use super::printer::{BOLD, Printer, marked};
use super::words::printable;

/// Locations shown for each group of documents.
const MAX_LOCATIONS: usize = 3;

/// A file without a text, such as one that does not exist.
pub(super) fn unopened(printer: &Printer<'_>, unreadable: &Unreadable) -> String {
    let message = printable(&format!("{}: {}", unreadable.file, unreadable.message));
    printer.render(&[Group::with_title(Level::ERROR.primary_title(message))])
}

/// A document with a syntax error.
pub(super) fn unparsed(printer: &Printer<'_>, unreadable: &Unreadable) -> String {
    let title = Level::ERROR.with_name("unreadable").primary_title(printable(&unreadable.message));
    let group = Group::with_title(title);
    let groups = match printer.source(&unreadable.file) {
        Some(source) => {
            let byte = source.byte_of(unreadable.line, unreadable.column);
            marked(group, source, character_at(source, byte))
        }
        None => vec![group.element(Origin::path(printable(&unreadable.file)))],
    };
    printer.render(&groups)
}

/// Writes which releases accept which documents, for a check against a range of releases.
pub(super) fn accepted(printer: &Printer<'_>, out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for accepted in report.accepted.iter().flatten() {
        add(&mut groups, &accepted.releases, location(printer, &accepted.file, accepted.document));
    }
    for (releases, locations) in groups {
        let line = if releases.is_empty() {
            "rejected by every release in the range".to_owned()
        } else {
            format!("accepted by {releases}")
        };
        writeln!(out, "{}: {}", printer.styled(BOLD, &line), first_of(&locations))?;
    }
    Ok(())
}

pub(super) fn skipped(printer: &Printer<'_>, out: &mut dyn Write, skipped: &[Skipped]) -> io::Result<()> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for skipped in skipped {
        add(&mut groups, &skipped.reason, location(printer, &skipped.file, skipped.document));
    }
    for (reason, locations) in groups {
        let label = printer.styled(BOLD, "skipped");
        writeln!(out, "{label}: {}: {}", printable(reason), first_of(&locations))?;
    }
    Ok(())
}

/// Writes the files of the folders that are no manifests by their extension.
pub(super) fn unread(printer: &Printer<'_>, out: &mut dyn Write, files: &[String]) -> io::Result<()> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for file in files {
        let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
        add(&mut groups, extension.unwrap_or_default(), printable(file));
    }
    for (extension, locations) in groups {
        let label = printer.styled(BOLD, "not read");
        let reason = match extension {
            "" => "no extension".to_owned(),
            extension => format!("extension `{}`", printable(extension)),
        };
        writeln!(out, "{label}: {reason}: {}", first_of(&locations))?;
    }
    Ok(())
}

/// Writes the unreadable documents in files that have nothing to do with Karpenter.
pub(super) fn unrelated(
    printer: &Printer<'_>,
    out: &mut dyn Write,
    unreadable: &[Unreadable],
) -> io::Result<()> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for unreadable in unreadable.iter().filter(|unreadable| !unreadable.concerns_karpenter) {
        add(&mut groups, &unreadable.message, location(printer, &unreadable.file, unreadable.document));
    }
    for (message, locations) in groups {
        let label = printer.styled(BOLD, "unreadable, does not mention Karpenter");
        writeln!(out, "{label}: {}: {}", printable(message), first_of(&locations))?;
    }
    Ok(())
}

/// File and line where a document starts, such as `file.yaml:12`.
fn location(printer: &Printer<'_>, file: &str, document: usize) -> String {
    let line = printer.files.get(file).and_then(|file| {
        let byte = file.documents.get(document)?.start();
        Some(file.source.position(byte).line)
    });
    let file = printable(file);
    line.map_or(file.clone(), |line| format!("{file}:{line}"))
}

/// Adds a location to the group with a label. A linear search is enough, because there are few labels.
fn add<'a>(groups: &mut Vec<(&'a str, Vec<String>)>, label: &'a str, location: String) {
    match groups.iter_mut().find(|(known, _)| *known == label) {
        Some((_, locations)) => locations.push(location),
        None => groups.push((label, vec![location])),
    }
}

fn first_of(locations: &[String]) -> String {
    let shown = locations.iter().take(MAX_LOCATIONS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match locations.len().saturating_sub(MAX_LOCATIONS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Span of the character at a byte, or of the last character if the byte is at the end of the text.
fn character_at(source: &Source, byte: usize) -> Span {
    let text = source.text();
    let byte = if byte < text.len() { byte } else { text.trim_end().len().saturating_sub(1) };
    let start = text.floor_char_boundary(byte);
    Span::new(start, text.ceil_char_boundary(start + 1))
}
