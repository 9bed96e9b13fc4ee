//! Renders one finding with its excerpt, facts and fix.

use std::collections::BTreeSet;

use annotate_snippets::{Group, Level, Padding};
use answers::report::ReportedFinding;
use karpenter::release::Releases;
use manifest::source::Span;
use rule::finding::Severity;

use super::printer::{Printer, note};
use super::words::{self, printable};
use super::{diagnosis, excerpt};
use crate::words::caught_by;

pub(super) fn render(printer: &Printer<'_>, finding: &ReportedFinding) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    if finding.seen.is_some() || finding.evidence.as_ref().is_some_and(|lines| !lines.is_empty()) {
        return diagnosis::render(printer, finding, &level);
    }
    // `error[rule]: `, where the name of the level has at most seven letters.
    let message = printer.wrapped(&words::message(finding), 11 + finding.rule.len());
    let title = level.clone().primary_title(message).id(finding.rule);
    let mut groups = printer.excerpts(vec![Group::with_title(title)], &level, finding);
    let mut group = groups.pop().unwrap_or_else(|| Group::with_level(level));
    group = group.element(Padding).element(printer.note("object", &words::object(finding)));
    if !finding.help.is_empty() {
        group = group.element(printer.note("help", &printable(&finding.help)));
    }
    group = group.element(printer.note("otherwise caught by", caught_by(finding.caught_by)));
    if finding.releases != Releases::ALL.to_string() {
        group = group.element(note("applies to", format!("Karpenter {}", finding.releases)));
    }
    groups.push(group.element(note("explain", format!("karpwarden explain {}", finding.rule))));
    groups.extend(fix(printer, finding));
    printer.render(&groups)
}

fn fix(printer: &Printer<'_>, finding: &ReportedFinding) -> Option<Group<'static>> {
    let fix = finding.fix.as_ref()?;
    let name = if fix.safe { "fix" } else { "unsafe fix" };
    // `diagnose` applies no fixes.
    let command = if finding.confidence.is_some() { "karpwarden check " } else { "" };
    let how = if fix.safe {
        format!("applied by `{command}--fix`")
    } else {
        format!("review it, then apply it with `{command}--unsafe-fixes`")
    };
    let title = printer.wrapped(&format!("{} ({how})", printable(&fix.title)), name.len() + 2);
    let mut group = Group::with_title(Level::HELP.with_name(name).secondary_title(title));
    let files: BTreeSet<&str> = fix.edits.iter().map(|edit| edit.file.as_str()).collect();
    let is_elsewhere = files.iter().any(|file| *file != finding.file);
    for file in files {
        let source = printer.source(file)?;
        let here = fix.edits.iter().filter(|edit| edit.file == file).map(|edit| {
            let span = Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset));
            (span, edit.text.clone())
        });
        let snippets = excerpt::patched(source, &here.collect::<Vec<_>>(), printer.room());
        // The excerpt of the finding names its file.
        let name = is_elsewhere.then(|| file.to_owned());
        group = group.elements(snippets.into_iter().map(|snippet| snippet.path(name.clone())));
    }
    Some(group)
}
