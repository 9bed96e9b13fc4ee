//! `karpwarden schema`: the schemas accept and refuse what the API server does, except for its rules in CEL.

#[path = "../conformance/cases.rs"]
#[expect(dead_code, reason = "the comparison with the rules uses the rest")]
mod cases;

use std::collections::BTreeMap;

use jsonschema::Validator;
use karpenter::release::Release;
use karpwarden::objects::embedded::READ_OPTIONS;
use manifest::{Document, File};
use objects::object::Object;
use objects::validation::{What, refusals};
use serde_json::Value;

use crate::folder::{Folder, GOOD};

/// Validators of the files that `--output` writes for a release, by kind.
fn validators(folder: &Folder, release: Release) -> BTreeMap<String, Validator> {
    let name = format!("of-{release}");
    let run = folder.run(&["schema", "--karpenter-version", &release.to_string(), "--output", &name]);
    assert_eq!(run.status, 0, "{run:?}");
    let files = [
        ("NodePool", "karpenter.sh/nodepool_v1.json"),
        ("NodeClaim", "karpenter.sh/nodeclaim_v1.json"),
        ("NodeOverlay", "karpenter.sh/nodeoverlay_v1alpha1.json"),
        ("EC2NodeClass", "karpenter.k8s.aws/ec2nodeclass_v1.json"),
    ];
    let present = files.iter().filter(|(_, file)| folder.path(&format!("{name}/{file}")).exists());
    present
        .map(|(kind, file)| {
            let schema: Value = serde_json::from_str(&folder.read(&format!("{name}/{file}"))).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{file}");
            ((*kind).to_owned(), jsonschema::validator_for(&schema).unwrap())
        })
        .collect()
}

/// Whether JSON Schema can express a refusal.
fn is_expressible(what: &What) -> bool {
    !matches!(what, What::Relation(_) | What::Change(_) | What::NotServed)
}

/// Whether a number is written with a fraction of zero: `1.0` is an integer in JSON Schema.
fn has_whole_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|it| number.is_f64() && it.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_whole_fraction),
        Value::Object(members) => members.values().any(has_whole_fraction),
        _ => false,
    }
}

#[test]
fn schemas_agree_with_the_api_server_but_for_its_rules_in_cel() {
    let folder = Folder::with(&[]);
    let schemas: Vec<_> = Release::minors().map(|minor| (minor, validators(&folder, minor))).collect();
    let (mut accepted, mut refused, mut differences) = (0, 0, Vec::new());
    for case in cases::all() {
        // The new object of an update alone.
        let json: Value = serde_json::from_str(&case.text()).unwrap();
        let object = json.pointer("/request/object").unwrap_or(&json);
        let is_create = json.get("request").is_none();
        let text = object.to_string();
        let file = File::read("case.json", text.as_str(), READ_OPTIONS);
        let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{}", case.id) };
        let objects = Object::all(tree);
        let found = refusals(objects[0], true, false);
        for (release, validators) in &schemas {
            let Some(validator) = validators.get(&case.kind) else { continue };
            let is_valid = validator.is_valid(object);
            let mut expressible = found.iter().filter(|one| is_expressible(&one.what));
            // The schemas do not hold `status`, which the server drops.
            let is_refused = expressible.any(|one| {
                one.releases.contains(*release) && !one.place.path(objects[0].root()).starts_with("status")
            });
            let verdict = case.verdicts.iter().find(|(releases, _)| releases.contains(release));
            let is_taken = is_create && verdict.is_some_and(|(_, it)| it.valid && it.unknown.is_empty());
            if is_valid == is_refused || (is_taken && !is_valid) {
                let errors: Vec<_> = validator.iter_errors(object).collect();
                // The server does not look at the type of a list in the place of a time.
                let is_time = |error: &jsonschema::ValidationError<'_>| {
                    error.instance_path().to_string().ends_with("/timeAdded")
                };
                if (is_valid && has_whole_fraction(object)) || (!is_valid && errors.iter().all(is_time)) {
                    continue;
                }
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                differences.push(format!("{} {release}: {errors:?} {found:?}", case.id));
            }
            if is_valid {
                accepted += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{accepted} accepted, {refused} refused, {} differ", differences.len());
    assert!(accepted > 15_000 && refused > 5_000, "{accepted} {refused}");
    let few = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differ\n{few}", differences.len());
}

#[test]
fn prints_a_schema_of_a_kind_in_a_release() {
    let folder = Folder::with(&[]);
    let field = |release: &str, path: &str| {
        let run = folder.run(&["schema", "--karpenter-version", release, "NodePools"]);
        run.json().pointer(path).cloned()
    };
    assert_eq!(field("1.7", "/properties/spec/properties/replicas"), None);
    let replicas = field("1.8", "/properties/spec/properties/replicas").unwrap();
    assert_eq!((&replicas["minimum"], &replicas["maximum"]), (&0.into(), &i32::MAX.into()));
    let api_version = field("1.14", "/properties/apiVersion/enum").unwrap();
    assert_eq!(api_version, serde_json::json!(["karpenter.sh/v1"]));
    let budgets = "/properties/spec/properties/disruption/properties/budgets";
    let nodes = field("1.14", &format!("{budgets}/items/properties/nodes")).unwrap();
    assert_eq!(nodes["default"], "10%");
    assert!(nodes["description"].as_str().unwrap().contains("percentage"), "{nodes}");
}

#[test]
fn prints_the_schema_of_the_config_file_without_a_network() {
    let folder = Folder::with(&[("class.yaml", GOOD)]);
    let schema = folder.run(&["schema", "config"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(
        validator.is_valid(&serde_json::json!({"karpenterVersion": "1.8", "rules": {"storage": "warn"}}))
    );
    assert!(!validator.is_valid(&serde_json::json!({"rule": {}})));
    assert_eq!(folder.run(&["init"]).status, 0);
    let text = folder.read("karpwarden.yaml");
    let mut lines = text.lines();
    let first = lines.next().unwrap();
    assert_eq!(first, format!("# yaml-language-server: $schema={}", schema["$id"].as_str().unwrap()));
    assert!(lines.next().unwrap().contains("`karpwarden schema config`"), "{text}");
    for name in ["report", "simulation", "disruption", "plan", "hash", "why", "rules"] {
        assert!(folder.run(&["schema", name]).json()["$schema"].is_string(), "{name}");
    }
}

#[test]
fn refuses_an_unknown_name_and_a_kind_that_the_release_lacks() {
    let folder = Folder::with(&[]);
    let run = folder.run(&["schema", "nodepol"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("did you mean `nodepool`?"), "{}", run.stderr);
    let run = folder.run(&["schema", "--karpenter-version", "1.6", "nodeoverlay"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("Karpenter 1.6 does not have the kind NodeOverlay"), "{}", run.stderr);
    assert_eq!(folder.run(&["schema", "--karpenter-version", "1.x", "nodepool"]).status, 2);
    assert_eq!(folder.run(&["schema"]).status, 2);
}
