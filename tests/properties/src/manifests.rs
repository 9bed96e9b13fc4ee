//! Manifests: reading, checking and reporting.

use karpwarden::KARPENTER_OBJECTS;
use karpwarden::answers::report::Report;
use karpwarden::engine::check::check_karpenter_objects;
use karpwarden::manifest::edit::rewrite;
use karpwarden::manifest::tree::{Node, Style, Tree};
use karpwarden::manifest::{Document, File};
use karpwarden::rule::classification::Family;
use kustomize::{BuildOutcome, Builds};
use serde_json::{Value, json};

use crate::cost::InputCost;
use crate::formats;
use crate::input::{Input, LIMITS};
use crate::locations::assert_locations;

/// Checks files. The part of the engine that the page loads first gives the same report.
pub fn assert_check(text: &str) {
    InputCost::of_files(text).assert_is_bounded();
    let input = Input::parse(text);
    let report = input.check();
    assert_locations(&report, &input.clusters);
    if let Some(first) = check_karpenter_objects(&KARPENTER_OBJECTS, &input.clusters, &input.settings) {
        assert_eq!(first.to_json(), report.to_json());
    }
}

/// Checks an IAM policy in a file without other content.
pub fn assert_policy(text: &str) {
    assert_check(&format!("#== policy.json\n{text}"));
}

/// Builds the kustomizations of files and checks the files. The built objects together have no more values than the bounds allow,
/// and each has its place in a document.
pub fn assert_builds(text: &str) {
    let input = Input::parse(text);
    let builds = Builds::of(input.files(), &LIMITS);
    let mut values = 0;
    for object in builds.overlays.iter().flat_map(|overlay| &overlay.objects) {
        let document = object.origin.document.within(input.files());
        assert!(matches!(document, Some(Document::Read(_))), "{:?}", object.origin);
        if let BuildOutcome::Changed(tree) = &object.outcome {
            values += tree.work();
        }
    }
    assert!(values <= LIMITS.nodes, "{values} values");
    assert_check(text);
}

/// Checks a policy whose conditions are lines: `allow` or `deny` begins a statement, `action` and `resource` add to it, and any other line is
/// an operator, a key and values.
pub fn assert_conditions(text: &str) {
    let mut statements: Vec<Value> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ').map(str::to_owned);
        let first = words.next().unwrap_or_default();
        let effect = match first.as_str() {
            "allow" => Some("Allow"),
            "deny" => Some("Deny"),
            _ => None,
        };
        if effect.is_some() || statements.is_empty() {
            statements.push(
                json!({"Effect": effect.unwrap_or("Allow"), "Action": [], "Resource": [], "Condition": {}}),
            );
        }
        let Some(statement) = statements.last_mut() else { continue };
        let values: Vec<String> = words.collect();
        match (first.as_str(), values.split_first()) {
            ("action", _) => extend(statement, "Action", values),
            ("resource", _) => extend(statement, "Resource", values),
            (operator, Some((key, values))) if effect.is_none() => {
                if let Some(conditions) = statement.get_mut("Condition").and_then(Value::as_object_mut) {
                    let keys = conditions.entry(operator).or_insert_with(|| json!({}));
                    if let Some(keys) = keys.as_object_mut() {
                        keys.insert(key.clone(), json!(values));
                    }
                }
            }
            _ => {}
        }
    }
    assert_policy(&json!({"Version": "2012-10-17", "Statement": statements}).to_string());
}

fn extend(statement: &mut Value, field: &str, values: Vec<String>) {
    if let Some(list) = statement.get_mut(field).and_then(Value::as_array_mut) {
        list.extend(values.into_iter().map(Value::from));
    }
}

/// Checks files and renders the report in every format.
pub fn assert_reports(text: &str) {
    let input = Input::parse(text);
    formats::assert_formats(&input.check(), &input.clusters);
}

/// Checks that an object has the same findings in YAML and in JSON.
pub fn assert_same_in_json(text: &str) {
    let yaml = Input::parse(text);
    let [file] = yaml.files() else { return };
    let [Document::Read(tree)] = file.documents.as_slice() else { return };
    let Some(json) = as_json(tree) else { return };
    let in_json = yaml.with_texts(|_| json.clone());
    assert_eq!(findings(&yaml.check()), findings(&in_json.check()), "{json}");
}

/// The object as JSON. `None` if JSON cannot say the same: comments, duplicate keys, tags such as CloudFormation's `!Ref`,
/// numbers with other digits, and folded text, which `userdata-script-header` reports.
fn as_json(tree: &Tree) -> Option<String> {
    let has_tag = tree.source().text().contains('!');
    if has_tag
        || !tree.comments().is_empty()
        || !tree.duplicate_keys().is_empty()
        || has_folded_text(tree.root())
    {
        return None;
    }
    // The keys keep their order, because some rules report the first of several.
    let json = rewrite(tree.root(), Vec::new());
    let read = File::read("a.yaml", json.as_str(), &LIMITS);
    matches!(read.documents.as_slice(), [Document::Read(other)] if other.root().to_json() == tree.root().to_json())
        .then_some(json)
}

fn has_folded_text(node: Node<'_>) -> bool {
    node.style() == Style::Folded || node.children().any(has_folded_text)
}

/// Rules and paths of the findings, in order, without the findings about the text itself.
fn findings(report: &Report) -> Vec<(&'static str, String)> {
    let findings = report.findings.iter().filter(|finding| finding.family != Family::Document);
    let mut all: Vec<_> = findings.map(|finding| (finding.rule, finding.path.clone())).collect();
    all.sort();
    all
}
