//! Tests for `inventory`: in an admission request, a rule finds the same with the kinds and fields that it declares as with the whole
//! objects of the cluster.

use engine::request::{RequestCluster, check_request};
use karpenter::kind::Kind;
use manifest::File;
use manifest::tree::{Node, Tree};
use objects::embedded::READ_OPTIONS;
use objects::object::{Object, Operation};
use rule::settings::{RuleSelector, Settings};
use rule::{Rule, Runs};
use serde_json::{Map, Value, json};

use super::meta::{blocks, settings};
use super::{ADMISSION, REGISTRY, documentation};

/// An object of an example, with its request.
struct Reviewed {
    operation: Operation,
    object: Value,
    old: Value,
}

/// The objects of a text as JSON.
fn objects(text: &str) -> Vec<Reviewed> {
    let file = File::read("a.yaml", text, READ_OPTIONS);
    let trees = file.trees();
    let reviewed = |object: Object<'_>| Reviewed {
        // A manifest is created.
        operation: match object.operation() {
            Operation::Apply => Operation::Create,
            operation => operation,
        },
        object: object.root().to_json(),
        old: object.old().map_or(Value::Null, Node::to_json),
    };
    trees.flat_map(Object::all).map(reviewed).collect()
}

/// The findings of a rule about a request in a cluster with other objects.
fn findings(rule: &'static Rule, reviewed: &Reviewed, others: &[Value], settings: &Settings) -> Vec<String> {
    let settings = Settings { select: vec![RuleSelector::One(rule.names())], ..settings.clone() };
    let lines: Vec<String> = core::iter::once(&reviewed.object)
        .chain(others)
        .chain([&reviewed.old])
        .map(Value::to_string)
        .collect();
    let file = File::read("a.jsonl", lines.join("\n"), READ_OPTIONS);
    let trees = file.trees();
    let mut trees: Vec<_> = trees.collect();
    let old = if reviewed.old.is_null() { None } else { trees.pop().map(Tree::root) };
    let mut objects: Vec<Object<'_>> = trees.into_iter().flat_map(Object::all).collect();
    let object = Object::in_request(objects[0].root(), old, reviewed.operation);
    objects[0] = object;
    let cluster =
        RequestCluster { objects, is_complete: settings.complete_inventory, ..RequestCluster::default() };
    let found = check_request(&ADMISSION, &[rule], object, &cluster, &settings);
    found
        .iter()
        .map(|finding| {
            format!("{} {}: {}", finding.severity, finding.place.path(object.root()), finding.message)
        })
        .collect()
}

fn is_of(object: &Value, kind: Kind) -> bool {
    let api_version = format!("{}/{}", kind.group, kind.version);
    object["kind"] == kind.name && object["apiVersion"] == api_version.trim_start_matches('/')
}

/// Whether the rule looks up objects of this kind in files alone.
fn is_in_files(rule: &Rule, object: &Value) -> bool {
    rule.inventory.iter().any(|look_up| look_up.in_cluster().is_none() && is_of(object, look_up.kind()))
}

/// The part of an object that the policy asks the cluster for; `None` if the rule does not look up the kind.
fn declared(rule: &Rule, object: &Value) -> Option<Value> {
    let (_, fields) = rule.in_cluster().find(|(kind, _)| is_of(object, *kind))?;
    let mut part = Map::new();
    for key in ["apiVersion", "kind", "metadata"] {
        part.insert(key.to_owned(), object[key].clone());
    }
    let mut part = Value::Object(part);
    for field in fields {
        let pointer = format!("/{}", field.replace('.', "/"));
        let Some(value) = object.pointer(&pointer) else { continue };
        let mut at = &mut part;
        for key in field.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[key];
        }
        *at = value.clone();
    }
    Some(part)
}

#[test]
fn rules_find_the_same_with_the_declared_fields_as_with_whole_objects() {
    let (mut compared, mut with_findings) = (0, 0);
    for rule in ADMISSION.rules().filter(|rule| !rule.inventory.is_empty()) {
        let text = documentation(rule);
        for (words, example) in ["Example", "Use instead"].iter().flat_map(|heading| blocks(&text, heading)) {
            let (settings, all) = (settings(&words), objects(&example));
            for (index, reviewed) in all.iter().enumerate() {
                let others = all.iter().enumerate().filter(|(other, _)| *other != index);
                let others: Vec<Value> =
                    others.map(|(_, one)| one.object.clone()).filter(|one| !is_in_files(rule, one)).collect();
                let parts: Vec<Value> = others.iter().filter_map(|other| declared(rule, other)).collect();
                let expected = findings(rule, reviewed, &others, &settings);
                assert_eq!(
                    findings(rule, reviewed, &parts, &settings),
                    expected,
                    "{}: {}\n{parts:#?}",
                    rule.name,
                    reviewed.object
                );
                compared += usize::from(!parts.is_empty());
                with_findings += usize::from(!expected.is_empty());
            }
        }
    }
    assert!(compared > 8 && with_findings > 5, "{compared} {with_findings}");
}

#[test]
fn only_rules_that_run_in_admission_look_up_objects_in_a_cluster() {
    for rule in REGISTRY.rules() {
        let is_declared = rule.in_cluster().next().is_some();
        assert!(!is_declared || rule.runs == Runs::InAdmission, "{}: no request has the rule", rule.name);
        for (kind, fields) in rule.in_cluster() {
            assert!(!fields.is_empty(), "{}: the policy asks for no field of {}", rule.name, kind.name);
        }
    }
}
