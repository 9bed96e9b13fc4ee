//! Every change that a help names, and every fix, mends the finding and leads to no new warning or error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use answers::report::{Report, ReportedFinding};
use cluster::Cluster;
use manifest::Document;
use manifest::edit::{Change, Composed, TextEdit, apply};
use manifest::source::{Source, Span};
use manifest::tree::Node;
use rule::finding::Severity;
use rule::settings::Settings;

mod described;
mod elsewhere;
mod follow;
mod tests;
mod wording;

use self::described::DESCRIBED;
use self::follow::changed;
use self::wording::{Instruction, instructions, values};
use super::meta::{blocks, settings};
use super::testing::chosen;
use super::{REGISTRY, documentation};
use crate::check;

/// The report of all rules on a text, with offsets in bytes.
fn report(text: &str, settings: &Settings) -> Report {
    let files = vec![chosen("-", text)];
    let mut report = check(&[Cluster { name: String::new(), files }], settings);
    let source = Source::new("-", text);
    for finding in &mut report.findings {
        for offset in [&mut finding.position.offset, &mut finding.position.end_offset] {
            *offset = offset.map(|offset| source.byte_at(offset));
        }
        for edit in finding.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.offset = source.byte_at(edit.offset);
            edit.end_offset = source.byte_at(edit.end_offset);
        }
    }
    report
}

/// The numbers of warnings and errors of each rule. Rules that diagnose a `status` are left out: the recorded status stays as it was.
fn tally(report: &Report) -> BTreeMap<&str, usize> {
    let mut tally = BTreeMap::new();
    let reads_status =
        |name: &str| REGISTRY.rules().any(|rule| rule.name == name && rule.diagnoses.is_some());
    let grave =
        |finding: &&ReportedFinding| finding.severity <= Severity::Warning && !reads_status(finding.rule);
    for finding in report.findings.iter().filter(grave) {
        *tally.entry(finding.rule).or_default() += 1;
    }
    tally
}

/// Faults after a change for a finding of a rule: new ones, and the rule itself if it reports as much as before.
fn faults(rule: &str, before: &str, after: &str, settings: &Settings) -> Vec<String> {
    let (before, after) = (report(before, settings), report(after, settings));
    let mut faults = worse(&before, &after);
    let count = |report: &Report| report.findings.iter().filter(|finding| finding.rule == rule).count();
    if count(&after) >= count(&before) {
        faults.push(format!("{rule} {} times as before", count(&after)));
    }
    faults
}

/// The rules of which a report has more findings than the report before, and what does not parse.
fn worse(before: &Report, after: &Report) -> Vec<String> {
    let old = tally(before);
    let is_new = |(rule, count): &(&str, usize)| old.get(rule).is_none_or(|before| count > before);
    let mut faults: Vec<String> =
        tally(after).into_iter().filter(is_new).map(|(rule, _)| rule.to_owned()).collect();
    let is_new = |message: &&String| !before.unreadable.iter().any(|old| old.message == **message);
    faults.extend(after.unreadable.iter().map(|unreadable| &unreadable.message).filter(is_new).cloned());
    faults
}

/// The example with a text that the help names in the place of the value; `None` if the text is for another place.
fn followed(example: &str, finding: &ReportedFinding, written: &str) -> Option<String> {
    let range = finding.position.offset?..finding.position.end_offset?;
    let old = example.get(range.clone())?;
    let last = finding.path.rsplit('.').next().unwrap_or_default();
    let (key, value) = match written.split_once(": ") {
        Some((key, value)) => (key, value),
        None => (last, written),
    };
    let before = example.get(..range.start)?.trim_end();
    let is_value = before.ends_with(&format!("{last}:")) || last.ends_with(']');
    // A help that names only a key names the right key.
    let names_key = [format!("write `{written}`"), format!("did you mean `{written}`?")];
    let is_key = old == last
        && example.get(range.end..)?.starts_with(':')
        && (written.contains(": ") || names_key.contains(&finding.help));
    if key.rsplit('.').next() != Some(last) || !(is_value || is_key) || (is_key && written.contains(": ")) {
        // A missing field of the whole object, or another member of the object that the finding is in.
        let is_missing = finding.path == key && written.contains(": ") && !is_value;
        let whole = || is_missing.then(|| format!("{example}{written}\n"));
        return beside(example, finding, written).or_else(whole);
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

/// The example with a member, `key: value`: in the object that lacks it, or in the nearest object around a finding that has it.
fn beside(example: &str, finding: &ReportedFinding, written: &str) -> Option<String> {
    let (key, value) = written.split_once(": ")?;
    if key.contains(['.', ' ']) || value.starts_with(['{', '[']) || value.contains('…') {
        return None;
    }
    with_node(example, finding, |node| {
        let mut steps = finding.path.rsplit('.');
        let (last, holder) = (steps.next(), steps.next().unwrap_or_default());
        // The report marks the first key of an item that lacks a field.
        let is_holder = |node: &Node<'_>| is_step(*node, holder);
        let lacking = node.parent().filter(is_holder).filter(|_| !is_holder(&node)).unwrap_or(node);
        let is_missing = last == Some(key) && lacking.is_mapping();
        let edit = if is_missing && lacking.get(key).is_none() {
            Change::AddAfter(lacking.children().last()?, key.to_owned(), composed(value)).edit()?
        } else {
            let mut around = core::iter::successors(node.parent(), |node| node.parent());
            TextEdit { span: around.find_map(|object| object.get(key))?.span(), text: value.to_owned() }
        };
        Some(apply(example, &[edit]))
    })
}

/// A scalar as YAML reads it.
fn composed<'d>(value: &str) -> Composed<'d> {
    match (value, value.parse::<i64>()) {
        (_, Ok(number)) => Composed::Number(number),
        ("true" | "false", _) => Composed::Bool(value == "true"),
        _ => Composed::Text(value.trim_matches(['"', '\'']).to_owned()),
    }
}

/// The example without the member that a help asks to remove, if the finding is at its key or value.
fn removed(example: &str, finding: &ReportedFinding) -> Option<String> {
    let (_, rest) = finding.help.split_once("remove `")?;
    let name = rest.split('`').next()?;
    with_node(example, finding, |node| {
        let edit = Change::Remove(node).edit().filter(|_| node.key() == name)?;
        Some(apply(example, &[edit]))
    })
}

/// Calls `then` with the root of the document of a finding, and the place of the finding.
fn with_root<T>(
    example: &str,
    finding: &ReportedFinding,
    then: impl FnOnce(Node<'_>, Span) -> Option<T>,
) -> Option<T> {
    let file = chosen("-", example);
    let Some(Document::Read(tree)) = file.documents.get(finding.document) else { return None };
    then(tree.root(), Span::new(finding.position.offset?, finding.position.end_offset?))
}

/// Calls `then` with the node at the place of a finding.
fn with_node<T>(
    example: &str,
    finding: &ReportedFinding,
    then: impl FnOnce(Node<'_>) -> Option<T>,
) -> Option<T> {
    with_root(example, finding, |root, range| {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if node.span() == range || node.key_span() == range {
                return then(node);
            }
            open.extend(node.children());
        }
        None
    })
}

/// Calls `then` with the node at the place of a finding, or with the smallest node around it: a report marks only the first line of an
/// object, and only a part of a script.
fn with_nearest_node<T>(
    example: &str,
    finding: &ReportedFinding,
    then: impl FnOnce(Node<'_>) -> Option<T>,
) -> Option<T> {
    with_root(example, finding, |root, range| then(nearest_node(root, range, finding)))
}

/// Whether a step of a path leads to a node.
fn is_step(node: Node<'_>, step: &str) -> bool {
    match node.parent() {
        Some(parent) if parent.is_sequence() => step.ends_with(&format!("[{}]", node.index())),
        _ => step == node.key(),
    }
}

fn nearest_node<'d>(root: Node<'d>, range: Span, finding: &ReportedFinding) -> Node<'d> {
    let last = finding.path.rsplit('.').next().unwrap_or_default();
    let is_named = |node: &Node<'_>| is_step(*node, last);
    let starts = |node: &Node<'_>| [node.span().start, node.key_span().start].contains(&range.start);
    let (mut open, mut nearest) = (vec![root], root);
    while let Some(node) = open.pop() {
        let is_exact = [node.span(), node.key_span()].contains(&range);
        if is_exact || (starts(&node) && is_named(&node)) {
            nearest = node;
            break;
        }
        if node.span().start <= range.start
            && range.end <= node.span().end
            && node.children().next().is_none()
        {
            nearest = node;
        }
        open.extend(node.children());
    }
    let mut around = core::iter::successors(Some(nearest), |node| node.parent());
    around.find(is_named).unwrap_or(nearest)
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

/// The findings of every rule in its own examples.
fn for_each_finding(mut visit: impl FnMut(&str, &str, &ReportedFinding, &Settings)) {
    for rule in REGISTRY.rules() {
        for (words, example) in blocks(&documentation(rule), "Example") {
            if words.split(',').any(|word| word == "clusters") {
                continue;
            }
            let settings = settings(&words);
            let before = report(&example, &settings);
            for finding in before.findings.iter().filter(|finding| finding.rule == rule.name) {
                visit(rule.name, &example, finding, &settings);
            }
        }
    }
}

/// The texts before and after each change that a help asks for.
fn followed_in_every_way(example: &str, finding: &ReportedFinding) -> Vec<(String, String)> {
    let as_json = |instruction: &Instruction<'_>| {
        with_nearest_node(example, finding, |node| changed(example, finding, node, instruction))
    };
    let mut texts = Vec::new();
    for value in &values(&finding.help) {
        let text = followed(example, finding, value).map(|text| (example.to_owned(), text));
        texts.extend(text.or_else(|| as_json(&Instruction::Write(value))));
    }
    texts.extend(removed(example, finding).map(|text| (example.to_owned(), text)));
    texts.extend(instructions(&finding.help).iter().filter_map(as_json));
    texts
}

#[test]
fn following_a_help_mends_the_finding_and_leads_to_no_other_fault() {
    let (mut wrong, mut described, mut count) = (String::new(), BTreeSet::new(), 0);
    for_each_finding(|rule, example, finding, settings| {
        let texts = followed_in_every_way(example, finding);
        if texts.is_empty() && finding.fix.is_none() {
            described.insert(format!("{rule}: {}", finding.help));
        }
        for (before, after) in texts {
            count += 1;
            let faults = faults(rule, &before, &after, settings);
            if !faults.is_empty() {
                let _ = writeln!(wrong, "{rule}: {} leads to {faults:?}:\n{after}", finding.help);
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 140, "only {count} changes that helps name");
    let reasons = || DESCRIBED.iter().flat_map(|(_, helps)| *helps);
    let is_known = |help: &String| reasons().any(|known| help.starts_with(known));
    let unknown: Vec<_> = described.iter().filter(|help| !is_known(help)).collect();
    assert!(unknown.is_empty(), "helps that neither name a change nor are in `DESCRIBED`: {unknown:#?}");
    let is_stale = |known: &&&str| !described.iter().any(|help| help.starts_with(**known));
    let stale: Vec<_> = reasons().filter(is_stale).collect();
    assert!(stale.is_empty(), "`DESCRIBED` has helps that are applied or that no rule has: {stale:#?}");
}

#[test]
fn fixes_mend_the_finding_and_lead_to_no_other_fault() {
    let (mut wrong, mut count) = (String::new(), 0);
    for_each_finding(|rule, example, finding, settings| {
        let Some(text) = fixed(example, finding) else { return };
        count += 1;
        let faults = faults(rule, example, &text, settings);
        if !faults.is_empty() {
            let _ = writeln!(wrong, "{rule}: the fix leads to {faults:?}:\n{text}");
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 30, "only {count} fixes");
}
