//! Fixes that the policy applies, and fixes that it leaves to the author.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use karpwarden::karpenter::kind::Kind;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::object::Object;
use karpwarden::rule::{Fixes, On};
use serde_json::{Value, json};

use super::cluster::{ARN, Cluster, has_warning, node_class, warnings};

fn fix(object: &Value) -> Value {
    Cluster::default().create(object, &json!({"fix": true}))
}

fn managed(mut class: Value, operation: &str, fields: &Value) -> Value {
    class["metadata"]["managedFields"] = json!([{"manager": "flux", "operation": operation, "apiVersion": "karpenter.k8s.aws/v1", "fieldsType": "FieldsV1", "fieldsV1": fields}]);
    class
}

#[test]
fn says_what_it_changed_and_why() {
    let answer = fix(&node_class(ARN));
    assert_eq!(answer["mutated_object"]["spec"]["instanceProfile"], "p");
    let [note] = warnings(&answer)[..] else { panic!("{answer}") };
    assert!(note.starts_with("fixed: instance-profile-is-arn at spec.instanceProfile: write "), "{note}");
    assert!(note.contains(", because "), "{note}");
}

/// Applying the same file again would fail on every attempt: the API server refuses to change the binding mode back.
#[test]
fn leaves_fields_that_are_immutable_afterwards() {
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "ebs"},
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "Immediate"});
    let answer = fix(&class);
    assert_eq!(answer["mutated_object"], Value::Null, "{answer}");
    assert!(has_warning(&answer, "storageclass-immediate at volumeBindingMode"), "{answer}");
}

#[test]
fn leaves_an_object_that_needs_too_many_fixes() {
    let with = |count: usize| {
        let taints = vec![json!({"key": "a", "effect": "NoSchedule"}); count + 1];
        let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"},
            "spec": {"template": {"spec": {"requirements": [], "taints": taints,
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"}}}}});
        Cluster::default().create(&pool, &json!({"fix": true, "announceErrors": false}))
    };
    assert!(with(100)["mutated_object"].is_object());
    let answer = with(101);
    assert_eq!(answer["mutated_object"], Value::Null);
    assert!(has_warning(&answer, "not fixed: 101 safe fixes, and the policy applies at most 100"));
}

#[test]
fn leaves_fields_that_server_side_apply_manages() {
    let owned = managed(
        node_class(ARN),
        "Apply",
        &json!({"f:spec": {"f:instanceProfile": {}, "f:amiSelectorTerms": {}}}),
    );
    let answer = fix(&owned);
    assert_eq!(answer["mutated_object"], Value::Null, "{answer}");
    let reason = "not fixed here: the field manager `flux` applies this field, so fix it in its source";
    assert!(answer["message"].as_str().unwrap().contains(reason), "{answer}");
    let [warning] = warnings(&answer)[..] else { panic!("one message for the finding: {answer}") };
    assert!(warning.starts_with("would be rejected: instance-profile-is-arn at "), "{warning}");
    assert!(warning.ends_with(reason), "{warning}");
}

/// The component `fix` beside the policies of the component `protect`: the API server shows the messages of both.
#[test]
fn one_finding_gives_one_message_from_two_policies() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("kustomize/components/fix/fix.yaml"));
    let file = File::read("fix.yaml", text.unwrap(), &Limits::DEFAULT);
    let Document::Read(tree) = &file.documents[0] else { panic!("not read") };
    let settings = tree.root().to_json()["spec"]["settings"].clone();
    let protect = json!({"announceErrors": false});
    let owned = managed(node_class(ARN), "Apply", &json!({"f:spec": {"f:instanceProfile": {}}}));
    let fixing = Cluster::default().create(&owned, &settings);
    assert_eq!((&fixing["accepted"], warnings(&fixing).len()), (&json!(true), 0), "{fixing}");
    let guarding = Cluster::default().create(&owned, &protect);
    assert_eq!((&guarding["accepted"], warnings(&guarding).len()), (&json!(false), 0), "{guarding}");
    // The other policy does not see the changes of the fixing policy.
    let fixing = Cluster::default().create(&node_class(ARN), &settings);
    assert_eq!(warnings(&fixing).len(), 1, "{fixing}");
    let guarding = Cluster::default().create(&fixing["mutated_object"], &protect);
    assert_eq!((&guarding["accepted"], warnings(&guarding).len()), (&json!(true), 0), "{guarding}");
}

#[test]
fn fixes_fields_that_others_update_or_do_not_own() {
    for (operation, fields) in [
        ("Update", json!({"f:spec": {"f:instanceProfile": {}}})),
        ("Apply", json!({"f:metadata": {"f:labels": {"f:team": {}}}})),
        ("Apply", json!({"f:spec": {".": {}, "f:role": {}}})),
    ] {
        let answer = fix(&managed(node_class(ARN), operation, &fields));
        assert_eq!(answer["mutated_object"]["spec"]["instanceProfile"], "p", "{answer}");
    }
}

#[test]
fn owner_of_a_whole_object_or_list_owns_what_is_in_it() {
    let answer = fix(&managed(node_class(ARN), "Apply", &json!({"f:spec": {}})));
    assert_eq!(answer["mutated_object"], Value::Null, "{answer}");
}

/// The rules whose safe fixes change the examples in their documentation, by the kind of the changed object.
fn changed_examples() -> BTreeMap<String, BTreeSet<String>> {
    let mut changed = BTreeMap::<_, BTreeSet<_>>::new();
    for rule in karpwarden::ADMISSION.rules().filter(|rule| rule.fix == Fixes::Safe) {
        let page = page(&format!("rules/{}.md", rule.name));
        for block in page.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next()) {
            let file = File::read("example.yaml", block, &Limits::DEFAULT);
            let trees = file.trees();
            for object in trees.flat_map(Object::all).map(|object| object.root().to_json()) {
                for version in ["1.0", "1.14"] {
                    let answer = Cluster::default()
                        .create(&object, &json!({"fix": true, "karpenterVersion": version}));
                    let fixed = warnings(&answer).into_iter().filter_map(|text| text.strip_prefix("fixed: "));
                    let rules = fixed.filter_map(|text| text.split(" at ").next()).map(str::to_owned);
                    changed
                        .entry(object["kind"].as_str().unwrap_or_default().to_owned())
                        .or_default()
                        .extend(rules);
                }
            }
        }
    }
    changed
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

#[test]
fn documentation_lists_the_rules_whose_fixes_change_objects() {
    let settings = page("settings.md");
    let section = settings.split_once("## Fixes in the cluster").unwrap().1.split("\n## ").next().unwrap();
    let row = |kind: &str| -> BTreeSet<String> {
        let row = section.lines().find(|line| line.starts_with(&format!("| {kind} |"))).unwrap();
        row.split('`').skip(1).step_by(2).filter(|name| name.contains('-')).map(str::to_owned).collect()
    };
    let changed = changed_examples();
    for (kind, of) in [("NodePool", Kind::NODE_POOL), ("EC2NodeClass", Kind::NODE_CLASS)] {
        let listed: BTreeSet<String> = row(kind).union(&row("both")).cloned().collect();
        let missing: Vec<_> = changed[kind].difference(&listed).collect();
        assert!(missing.is_empty(), "{kind}: {missing:?} are not listed");
        for name in listed.difference(&changed[kind]) {
            let rule = karpwarden::ADMISSION.find(name).unwrap_or_else(|| panic!("{name}"));
            let reads = rule.on.iter().any(|on| [On::Kind(of), On::Group(of.group), On::Any].contains(on));
            assert!(rule.fix == Fixes::Safe && reads, "{kind}: `{name}` has no safe fix");
        }
    }
}
