//! Every text that a help names, and every fix, leads to an input without a new warning or error.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use answers::report::{Report, ReportedFinding};
use cluster::Cluster;
use manifest::File;
use objects::embedded::READ_OPTIONS;
use rule::finding::Severity;
use rule::settings::Settings;

use super::meta::{blocks, settings};
use super::{REGISTRY, documentation};
use crate::check;

/// The report of all rules on a text.
fn report(text: &str, settings: &Settings) -> Report {
    let files = vec![File::read("-", text, READ_OPTIONS)];
    check(&[Cluster { name: String::new(), files }], settings)
}

/// The numbers of warnings and errors of each rule.
fn tally(report: &Report) -> BTreeMap<&str, usize> {
    let mut tally = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity <= Severity::Warning) {
        *tally.entry(finding.rule).or_default() += 1;
    }
    tally
}

/// The rules that report more in a text than in the text before, and what does not parse.
fn new_faults(before: &Report, after: &str, settings: &Settings) -> Vec<String> {
    let report = report(after, settings);
    let old = tally(before);
    let is_new = |(rule, count): &(&str, usize)| old.get(rule).is_none_or(|before| count > before);
    let mut faults: Vec<String> =
        tally(&report).into_iter().filter(is_new).map(|(rule, _)| rule.to_owned()).collect();
    faults.extend(report.unreadable.into_iter().map(|unreadable| unreadable.message));
    faults
}

/// The text that a help names first: `X` in ``write `X` ``.
fn named(help: &str) -> Option<&str> {
    let (_, rest) = help.split_once("write `")?;
    rest.split('`').next()
}

/// The example with the text that the help names in the place of the value; `None` if the help describes what to write, instead
/// of naming it.
fn followed(example: &str, finding: &ReportedFinding) -> Option<String> {
    let written = named(&finding.help)?;
    let range = finding.position.offset?..finding.position.end_offset?;
    let old = example.get(range.clone())?;
    let last = finding.path.rsplit('.').next().unwrap_or_default();
    let (key, value) = match written.split_once(": ") {
        Some((key, value)) => (key, value),
        None => (last, written),
    };
    let before = example.get(..range.start)?.trim_end();
    let is_value = before.ends_with(&format!("{last}:")) || last.ends_with(']');
    let is_key = old == last && example.get(range.end..)?.starts_with(':');
    if key.rsplit('.').next() != Some(last) || !(is_value || is_key) || (is_key && written.contains(": ")) {
        // A missing field of the whole object.
        let is_missing = finding.path == key && written.contains(": ") && !is_value;
        return is_missing.then(|| format!("{example}{written}\n"));
    }
    if old.contains('\n') || written.contains('…') || old.starts_with(['{', '[']) {
        return None;
    }
    let quote = old.chars().next().filter(|first| ['"', '\''].contains(first));
    let text = match quote {
        Some(quote) if !value.starts_with(['"', '\'']) => format!("{quote}{value}{quote}"),
        _ => value.to_owned(),
    };
    let mut result = example.to_owned();
    result.replace_range(range, &text);
    Some(result)
}

/// The example with the edits of a fix.
fn fixed(example: &str, finding: &ReportedFinding) -> Option<String> {
    let mut edits = finding.fix.as_ref()?.edits.clone();
    edits.sort_by_key(|edit| core::cmp::Reverse((edit.offset, edit.end_offset)));
    let mut text = example.to_owned();
    for edit in edits {
        text.replace_range(edit.offset..edit.end_offset, &edit.text);
    }
    Some(text)
}

/// The examples of every rule, of which the offsets are bytes.
fn for_each_finding(mut visit: impl FnMut(&str, &str, &ReportedFinding, &Report, &Settings)) {
    for rule in REGISTRY.rules() {
        for (words, example) in blocks(&documentation(rule), "Example") {
            if words.split(',').any(|word| word == "clusters") || !example.is_ascii() {
                continue;
            }
            let settings = settings(&words);
            let before = report(&example, &settings);
            for finding in before.findings.iter().filter(|finding| finding.rule == rule.name) {
                visit(rule.name, &example, finding, &before, &settings);
            }
        }
    }
}

/// Rules whose help may lead to findings of others, each with the reason.
const ALLOWED: [(&str, &str); 2] = [
    ("api-type-meta", "an object without a type is not checked, so that its other faults show afterwards"),
    (
        "kubelet-expression-invalid",
        "an expression that cannot be read does not tell that its feature gate is off",
    ),
];

#[test]
fn following_a_help_leads_to_no_other_fault() {
    let (mut wrong, mut count) = (String::new(), 0);
    for_each_finding(|rule, example, finding, before, settings| {
        let Some(text) = followed(example, finding) else { return };
        count += 1;
        let faults = new_faults(before, &text, settings);
        if !faults.is_empty() && !ALLOWED.iter().any(|(allowed, _)| *allowed == rule) {
            let _ = writeln!(wrong, "{rule}: {} leads to {faults:?}:\n{text}", finding.help);
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 30, "only {count} helps name what to write");
}

#[test]
fn fixes_lead_to_no_other_fault() {
    let (mut wrong, mut count) = (String::new(), 0);
    for_each_finding(|rule, example, finding, before, settings| {
        let Some(text) = fixed(example, finding) else { return };
        count += 1;
        let faults = new_faults(before, &text, settings);
        if !faults.is_empty() {
            let _ = writeln!(wrong, "{rule}: the fix leads to {faults:?}:\n{text}");
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 30, "only {count} fixes");
}
