//! Counts, names and the summary as text.

use std::collections::BTreeSet;

use answers::report::{Outside, Report, ReportedFinding, ReportedPin, Summary};
use karpenter::upgrade_path::UpgradePath;

/// Pinned versions that the summary names.
const MAX_VERSIONS: usize = 4;

/// Object and path of a finding, such as `Deployment/shop/web, spec.template`.
pub(super) fn object(finding: &ReportedFinding) -> String {
    let words = [finding.kind.as_str(), finding.namespace.as_str(), finding.name.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut text = words.join("/");
    if !finding.path.is_empty() {
        text = if text.is_empty() { finding.path.clone() } else { format!("{text}, {}", finding.path) };
    }
    if !finding.cluster.is_empty() {
        text = format!("{text} (cluster {})", finding.cluster);
    }
    printable(&text)
}

/// Message of a finding; under `upgrade` it starts with the release at which the problem begins.
pub(super) fn message(finding: &ReportedFinding) -> String {
    let message = printable(&finding.message);
    finding.boundary.map_or(message.clone(), |boundary| format!("{boundary}: {message}"))
}

/// Number with a noun, such as `1 error` or `2 errors`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// Number of reports of an audit scanner.
pub(super) fn audit_reports(number: usize) -> String {
    format!("{} of the audit scanner", count(number, "report"))
}

/// Number of reports of an audit scanner in the input.
fn audited(report: &Report) -> usize {
    report.logs.iter().flatten().map(|log| log.audit_reports).sum()
}

/// Last line of a report: the numbers of findings and documents, and the release.
pub fn summary(report: &Report) -> String {
    summary_of(report, false)
}

/// Last line of a report. `is_short` says that the report does not list what was not checked, so that the line names the flag for it.
pub(super) fn summary_of(report: &Report, is_short: bool) -> String {
    let notes = notes(report, is_short);
    let found = found(&report.summary);
    let entries = log_entries(report);
    let documents = report.summary.documents;
    let read = report.summary.checked + report.outside.checked + audited(report);
    let is_unchecked = read == 0 && report.unreadable.is_empty();
    if entries.is_none() && found.is_empty() && is_unchecked {
        return match documents {
            0 if has_lines(report) => format!("nothing to diagnose: no log entry recognised{notes}"),
            0 => format!("nothing to check: the input is empty{notes}"),
            _ if report.uncovered > 0 => {
                format!("nothing checked: no rule covers {}{notes}", count(documents, "document"))
            }
            _ => format!(
                "nothing to check: no Karpenter document and no related object in {}{notes}",
                count(documents, "document")
            ),
        };
    }
    if found.is_empty() && documents > 0 && documents == report.unreadable.len() {
        return format!("nothing checked: {} could not be read", count(documents, "document"));
    }
    let found = if found.is_empty() { "no findings".to_owned() } else { found };
    let input = match entries {
        Some(entries) => format!("{entries} and {}", count(documents, "document")),
        None => count(documents, "document"),
    };
    let checked = || format!("checked against {}", releases(report));
    let target = report.upgrade_path().map_or_else(checked, |upgrade| upgrade_path(report, upgrade));
    format!("{found} in {input}{notes}; {target}")
}

/// The releases of the check: the release of the settings, or the versions that the input pins.
fn releases(report: &Report) -> String {
    let release = printable(&report.karpenter_version);
    let pins: Vec<&ReportedPin> = report.pins.iter().filter(|pin| !pin.version.is_empty()).collect();
    match pins.as_slice() {
        [] => format!("Karpenter {release}"),
        [only] if only.folder.is_empty() => format!("Karpenter {}", printable(&only.checked_as)),
        pins => {
            let versions: BTreeSet<&str> = pins.iter().map(|pin| pin.version.as_str()).collect();
            let named = versions.iter().take(MAX_VERSIONS).map(|version| printable(version));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = if versions.len() > MAX_VERSIONS { ", …" } else { "" };
            format!("the pinned versions of Karpenter ({named}{more}), or {release} without a pin")
        }
    }
}

/// Numbers of documents, files and findings that the report leaves out, such as ` (2 skipped, 1 unreadable)`.
fn notes(report: &Report, is_short: bool) -> String {
    let Summary { skipped, suppressed, .. } = report.summary;
    let mut notes = Vec::new();
    if skipped > 0 {
        notes.push(format!("{skipped} skipped"));
    }
    if report.partial > 0 {
        notes.push(format!("{} checked in part", report.partial));
    }
    if !report.unreadable.is_empty() {
        notes.push(format!("{} unreadable", report.unreadable.len()));
    }
    if suppressed > 0 {
        notes.push(format!("{} suppressed", count(suppressed, "finding")));
    }
    if !report.unread.is_empty() {
        notes.push(format!("{} not read", count(report.unread.len(), "file")));
    }
    let audited = audited(report);
    if audited > 0 {
        notes.push(audit_reports(audited));
    }
    let Outside { checked, findings } = report.outside;
    if checked > 0 {
        let outside = count(checked, "document");
        let found =
            if findings > 0 { format!(" with {}", count(findings, "finding")) } else { String::new() };
        notes.push(format!("{outside} outside of the input{found}"));
    }
    let is_listed = skipped > 0 || report.partial > 0 || !report.unread.is_empty();
    let flag = if is_short && is_listed { "; see --verbose" } else { "" };
    if notes.is_empty() { String::new() } else { format!(" ({}{flag})", notes.join(", ")) }
}

/// Whether the input contains text, recognised or not.
fn has_lines(report: &Report) -> bool {
    report.logs.iter().flatten().any(|log| log.lines > 0)
}

/// Number of log entries, if the input contains logs.
fn log_entries(report: &Report) -> Option<String> {
    let entries = report.logs.iter().flatten().map(|log| log.entries).sum::<u64>();
    let entries = usize::try_from(entries).ok().filter(|entries| *entries > 0)?;
    Some(if entries == 1 { "1 log entry".to_owned() } else { format!("{entries} log entries") })
}

/// The upgrade path, and the number of findings that already apply at its start.
fn upgrade_path(report: &Report, upgrade: UpgradePath) -> String {
    let (from, to) = upgrade.ends();
    let change = if to < from { "downgrade" } else { "upgrade" };
    let path = format!("checked the {change} from Karpenter {from} to {to}");
    match report.unchanged {
        0 => path,
        1 => format!("{path}; 1 finding already applies to {from}; run `check` to see it"),
        more => format!("{path}; {more} findings already apply to {from}; run `check` to see them"),
    }
}

/// Numbers of findings, such as `2 errors, 1 warning`; empty if there are no findings.
fn found(summary: &Summary) -> String {
    let counts = [(summary.errors, "error"), (summary.warnings, "warning"), (summary.infos, "info")];
    let words = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, one)| count(number, one));
    words.collect::<Vec<_>>().join(", ")
}

/// Replaces the control characters in a user's text, so that they cannot act on the terminal.
pub fn printable(text: &str) -> String {
    let symbol = |char| match char {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if is_control(char) => '\u{fffd}',
        _ => char,
    };
    text.chars().map(symbol).collect()
}

/// Whether a character acts on a terminal: C0, DEL, C1, and the characters that change the direction of text (CVE-2021-42574).
pub fn is_control(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
