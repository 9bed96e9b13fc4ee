//! A placeholder is not reported as a mistake at any field, and its severity does not depend on its spelling.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cluster::Cluster;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::source::Span;
use manifest::tree::{Node, Value};
use manifest::{Document, File};
use rule::finding::Severity;
use rule::settings::Settings;

/// The same placeholder as different tools write it.
const SPELLINGS: [&str; 3] = ["${X}", "{{ .Values.x }}", "REPLACE_ME"];

/// Rules whose findings at a value are true whatever the value is, each with the reason.
const TRUE_ANYWAY: [(&str, &str); 6] = [
    ("api-required", "the finding is about a field that is missing beside the value"),
    ("two-controllers", "the finding is about the object and sits at its name"),
    ("storageclass-immediate", "the finding is about the object and sits at its name"),
    ("interruption-events-missing", "the finding is about the queue and sits at its name"),
    ("selector-not-cluster-specific", "the finding is about the key of the tag"),
    ("iam-delete-unscoped", "an action that is not known may be the action that deletes"),
];

/// Documents of the examples, and the examples of every rule.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for text in files(&root.join("examples"), "yaml") {
        texts.extend(text.split("\n---\n").map(str::to_owned));
    }
    for text in files(&root.join("docs/rules"), "md") {
        let fences = text.split("```yaml").skip(1);
        let bodies = fences.filter_map(|fence| fence.split_once('\n')?.1.split("```").next());
        texts.extend(bodies.map(str::to_owned));
    }
    // An object in a request is not rendered any more.
    texts.retain(|text| !text.contains("AdmissionReview"));
    texts
}

/// Texts of the files in a folder with an extension, in the order of their names.
fn files(folder: &Path, extension: &str) -> Vec<String> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Spans of the strings that a template may replace: not the type of the object, and not a script.
fn strings(text: &str) -> Vec<Span> {
    fn collect(node: Node<'_>, found: &mut BTreeSet<Span>) {
        let is_type = node.parent().is_some_and(|parent| parent.parent().is_none())
            && ["apiVersion", "kind"].contains(&node.key());
        if let Value::String(value) = node.value()
            && !is_type
            && !value.contains('\n')
        {
            found.insert(node.span());
        }
        node.children().for_each(|child| collect(child, found));
    }
    let mut found = BTreeSet::new();
    for document in &File::read("-", text, READ_OPTIONS).documents {
        if let Document::Read(tree) = document {
            collect(tree.root(), &mut found);
        }
    }
    found.into_iter().collect()
}

/// Errors and warnings of a text, each with its rule and path.
fn grave(text: &str) -> BTreeSet<(&'static str, String)> {
    let files = vec![File::read("-", text, READ_OPTIONS)];
    let report = check(&[Cluster { name: String::new(), files }], &Settings::default());
    let found = report.findings.into_iter().filter(|finding| finding.severity <= Severity::Warning);
    found.map(|finding| (finding.rule, finding.path)).collect()
}

/// Rule and severity of the findings at a value.
fn findings_at(text: &str, start: usize, end: usize) -> BTreeMap<&'static str, Severity> {
    let files = vec![File::read("-", text, READ_OPTIONS)];
    let offset = |byte: usize| Span::new(0, byte).text(text).encode_utf16().count();
    let (start, end) = (offset(start), offset(end));
    let report = check(&[Cluster { name: String::new(), files }], &Settings::default());
    let within = |at: Option<usize>| at.is_some_and(|at| (start..end).contains(&at));
    let found = report.findings.iter().filter(|finding| within(finding.position.offset));
    found.map(|finding| (finding.rule, finding.severity)).collect()
}

#[test]
fn placeholder_is_at_most_an_info_in_every_spelling() {
    let mut faults = BTreeSet::new();
    let mut tried = 0;
    for text in texts() {
        for span in strings(&text) {
            tried += 1;
            let mut severities: BTreeMap<&str, BTreeSet<Severity>> = BTreeMap::new();
            for spelling in SPELLINGS {
                let value = format!("'{spelling}'");
                let before = Span::new(0, span.start).text(&text);
                let changed = format!("{before}{value}{}", Span::new(span.end, text.len()).text(&text));
                for (rule, severity) in findings_at(&changed, span.start, span.start + value.len()) {
                    severities.entry(rule).or_default().insert(severity);
                    if severity <= Severity::Warning && TRUE_ANYWAY.iter().all(|(name, _)| *name != rule) {
                        let line = before.lines().last().unwrap_or_default();
                        faults.insert(format!("{severity} {rule}: {line}{value}"));
                    }
                }
            }
            for (rule, severities) in severities {
                assert_eq!(severities.len(), 1, "{rule} at {}", span.text(&text));
            }
        }
    }
    assert!(tried > 200, "{tried}");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Rules that may report another place because of a placeholder, each with the reason.
const ELSEWHERE: [(&str, &str); 7] = [
    ("suppression-unused", "the placeholder is what the suppression accepted"),
    ("instance-profile-is-arn", "the placeholder is the suppression"),
    ("selector-cluster-mismatch", "the other two names differ from each other"),
    ("overlay-conflict", "one of the two overlays is ignored whatever their names are"),
    ("clustername-empty", "a variable whose name is not known is not the variable that the controller reads"),
    ("two-controllers", "a variable whose name is not known is not the variable that the controller reads"),
    ("iam-delete-unscoped", "an action that is not known may be the action that deletes"),
];

#[test]
fn placeholder_makes_no_other_place_wrong() {
    let mut faults = BTreeSet::new();
    for text in texts() {
        let own = grave(&text);
        for span in strings(&text) {
            let before = Span::new(0, span.start).text(&text);
            let changed = format!("{before}'${{X}}'{}", Span::new(span.end, text.len()).text(&text));
            for (rule, path) in grave(&changed).difference(&own) {
                if ELSEWHERE.iter().all(|(name, _)| name != rule) {
                    faults.insert(format!("{rule} at {path} because of {}", span.text(&text)));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
