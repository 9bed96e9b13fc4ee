//! How counts, names and facts are put into words.

use lint::finding::CaughtBy;
use karpenter::upgrade_path::UpgradePath;
use lint::report::{Finding, Report, Summary};

/// What would have told, had this tool not.
pub(super) fn caught_by(who: CaughtBy) -> &'static str {
    match who {
        CaughtBy::ApiServer => "the API server, which refuses it at apply",
        CaughtBy::Controller => "the controller, after it was accepted: it fails at run time",
        CaughtBy::Nobody => "nobody: it is accepted, and nothing says so",
    }
}

/// The object of a finding: `NodePool/default`, with its namespace where it has one, and the path in it.
pub(super) fn object(finding: &Finding) -> String {
    let mut words = vec![finding.kind.as_str()];
    words.extend(
        [finding.namespace.as_str(), finding.name.as_str()].into_iter().filter(|word| !word.is_empty()),
    );
    let mut text = words.join("/");
    if !finding.path.is_empty() {
        text = if text.is_empty() { finding.path.clone() } else { format!("{text}, {}", finding.path) };
    }
    if !finding.cluster.is_empty() {
        text = format!("{text} (cluster {})", finding.cluster);
    }
    printable(&text)
}

/// What is wrong; on the way from one release to another, first from which release on.
pub(super) fn message(finding: &Finding) -> String {
    let message = printable(&finding.message);
    finding.boundary.map_or(message.clone(), |boundary| format!("{boundary}: {message}"))
}

/// `1 error`, `2 errors`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// The last line: what was found, in how much, against which release.
pub(super) fn summary(report: &Report) -> String {
    let Summary { documents, skipped, suppressed, .. } = report.summary;
    let mut notes = Vec::new();
    if skipped > 0 {
        notes.push(format!("{skipped} skipped"));
    }
    if !report.unreadable.is_empty() {
        notes.push(format!("{} unreadable", report.unreadable.len()));
    }
    if suppressed > 0 {
        notes.push(format!("{} suppressed", count(suppressed, "finding")));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let release = printable(&report.karpenter_version);
    let checked = || format!("checked against Karpenter {release}");
    let against = report.upgrade_path().map_or_else(checked, |path| on_upgrade(report, path));
    let found = found(&report.summary);
    let input = || count(documents, "document");
    let input = || lines_and(report).map_or_else(input, |lines| format!("{lines}{}", input()));
    let is_log = lines_and(report).is_some();
    if !is_log && found.is_empty() && report.summary.checked == 0 && report.unreadable.is_empty() {
        let input = if documents == 0 { "the input is empty".to_owned() } else { nothing_in(documents) };
        return format!("nothing to check: {input}{notes}");
    }
    if found.is_empty() {
        let calm = if report.unreadable.is_empty() { "nothing to report" } else { "no finding" };
        return format!("{calm} in {}{notes}; {against}", input());
    }
    format!("{found} in {}{notes}; {against}", input())
}

/// `120 lines and `, where lines of logs were read.
fn lines_and(report: &Report) -> Option<String> {
    let entries = report.logs.iter().flatten().map(|log| log.entries).sum::<u64>();
    let entries = usize::try_from(entries).ok().filter(|entries| *entries > 0)?;
    Some(format!("{} and ", if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }))
}

/// The upgrade path, and the number of findings that already hold at its start.
fn on_upgrade(report: &Report, path: UpgradePath) -> String {
    let (from, to) = path.ends();
    let way = format!("on the way from Karpenter {from} to {to}");
    match report.unchanged {
        0 => way,
        held => format!("{way}; {} in {from} already, which `karpwarden check` tells", holds(held)),
    }
}

fn holds(number: usize) -> String {
    if number == 1 { "1 finding holds".to_owned() } else { format!("{number} findings hold") }
}

fn nothing_in(documents: usize) -> String {
    format!("no Karpenter document, and none that concerns it, in {}", count(documents, "document"))
}

/// `2 errors, 1 warning`; empty where there is nothing.
fn found(summary: &Summary) -> String {
    let counts = [(summary.errors, "error"), (summary.warnings, "warning"), (summary.infos, "info")];
    let words = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, one)| count(number, one));
    words.collect::<Vec<_>>().join(", ")
}

/// A text of the user's without what a terminal would act on: control characters stand as their pictures.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
            '\u{7f}' => '\u{2421}',
            // C1 controls, and what turns the direction of text around (CVE-2021-42574).
            '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => char,
        })
        .collect()
}
