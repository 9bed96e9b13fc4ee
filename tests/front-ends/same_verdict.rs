//! The same verdict in every front end: the policy module in its host answers as the policy library does, byte for byte, and
//! names the same findings as a check of the object as text.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod host;

use karpwarden::answers::report::Report;
use karpwarden::cluster::Cluster;
use karpwarden::manifest::tree::Node;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::Object;
use karpwarden::rule::settings::Settings;
use karpwarden_admit::{FakeCluster, Request};
use karpwarden_policy::admission::validate;
use serde_json::{Value, json};

use host::{Native, answer, granting, module};

/// The files with an extension in a folder of the repository.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // A seed of several files contains patches, which no API server gets.
    paths.retain(|path| {
        path.extension().is_some_and(|own| own == extension) && !path.ends_with("manifests/kustomize.yaml")
    });
    paths.sort();
    paths
}

/// The folders with manifests: examples, and where fuzzing begins.
const MANIFESTS: [&str; 7] = [
    "examples",
    "tests/problems",
    "fuzz/seeds/manifests",
    "fuzz/seeds/fixes",
    "fuzz/seeds/reports",
    "fuzz/seeds/disruption",
    "fuzz/seeds/simulation",
];

fn objects(path: &Path) -> Vec<Value> {
    let file = File::from_bytes(path.display().to_string(), fs::read(path).unwrap(), READ_OPTIONS);
    let trees = file.trees();
    trees.flat_map(Object::all).map(|object| object.root().to_json()).collect()
}

fn cluster(objects: &[Value]) -> FakeCluster {
    granting(FakeCluster::holding(objects.iter().cloned()))
}

/// The findings of a check of the object as text: severity → `rule at path`. Without the rules that cannot run in admission, and
/// without the rules about suppressions.
fn checked(object: &Value, others: &[Value], settings: &Value) -> BTreeMap<String, Vec<String>> {
    let all: Vec<String> = core::iter::once(object).chain(others).map(Value::to_string).collect();
    // The cluster has Karpenter.
    let file = File::read("objects.json", all.join("\n"), READ_OPTIONS);
    let files = vec![File { is_relevant: Some(true), ..file }];
    let text = File::read("settings.json", settings.to_string(), READ_OPTIONS);
    let Some(Document::Read(tree)) = text.documents.first() else { panic!("{:?}", text.documents) };
    let settings = Settings::parse(tree.root(), &karpwarden::REGISTRY).unwrap();
    let report: Report = karpwarden::check(&[Cluster { name: String::new(), files }], &settings);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.document == 0) {
        // The annotation of an author counts in admission only if the settings allow it.
        let is_about_suppressions = finding.family.name() == "document";
        if karpwarden::ADMISSION.find(finding.rule).is_none() || is_about_suppressions {
            continue;
        }
        let named = if finding.path.is_empty() {
            finding.rule.to_owned()
        } else {
            format!("{} at {}", finding.rule, finding.path)
        };
        found.entry(format!("{}s", finding.severity)).or_default().push(named);
    }
    found
}

/// The findings that a response names in its audit annotations.
fn named(response: &Value) -> BTreeMap<String, Vec<String>> {
    let Some(annotations) = response["audit_annotations"].as_object() else { return BTreeMap::new() };
    let names = |text: &Value| text.as_str().unwrap().split(", ").map(str::to_owned).collect();
    annotations.iter().map(|(key, value)| (key.clone(), names(value))).collect()
}

/// The objects of the kinds that the policy looks up.
fn looked_up(objects: &[Value]) -> Vec<Value> {
    let kinds: Vec<&str> = karpwarden::ADMISSION.looked_up().iter().map(|(kind, _)| kind.name).collect();
    objects
        .iter()
        .filter(|object| kinds.contains(&object["kind"].as_str().unwrap_or_default()))
        .cloned()
        .collect()
}

#[test]
fn module_and_library_answer_every_example_alike() {
    let module = module();
    let mut answers = 0;
    for path in MANIFESTS.into_iter().flat_map(|folder| files(folder, "yaml")) {
        let objects = objects(&path);
        let inventory = looked_up(&objects);
        for object in &objects {
            let Ok(request) = Request::create(object.clone()).to_json() else { continue };
            let mut changed = object.clone();
            changed["metadata"]["labels"]["example.com/changed"] = "yes".into();
            let update = Request::update(object.clone(), changed).to_json().unwrap();
            for settings in [
                json!({}),
                json!({"karpenterVersion": "1.0.3", "clusterName": "meadow"}),
                json!({"fix": true}),
            ] {
                let others: Vec<_> = inventory.iter().filter(|other| *other != object).cloned().collect();
                let create =
                    answer(module, &json!({"request": request, "settings": settings}), &cluster(&others));
                let changed =
                    answer(module, &json!({"request": update, "settings": settings}), &cluster(&others));
                if settings["fix"].is_null() {
                    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": update});
                    assert_eq!(
                        named(&changed),
                        checked(&review, &others, &settings),
                        "{}: {review}",
                        path.display()
                    );
                }
                if create["mutated_object"].is_null() && settings["fix"].is_null() {
                    let expected = checked(object, &others, &settings);
                    assert_eq!(named(&create), expected, "{}: {object}", path.display());
                }
                answers += 2;
            }
        }
    }
    assert!(answers > 100, "{answers} answers only");
}

#[test]
fn module_and_library_answer_every_request_alike_where_fuzzing_begins() {
    let module = module();
    for path in files("fuzz/seeds/admission", "json") {
        // The answers of the host follow the request.
        let text = fs::read_to_string(&path).unwrap();
        let payload = serde_json::from_str(text.split("\n#==").next().unwrap()).unwrap();
        let response = answer(module, &payload, &cluster(&[]));
        assert!(response["accepted"].is_boolean(), "{}: {response}", path.display());
    }
}

/// `kwctl bench` sends many requests to one instance; policy-server makes a new instance for each.
#[test]
fn reused_instance_answers_like_a_new_one_and_frees_its_memory() {
    let module = module();
    let objects: Vec<_> = files("examples", "yaml").iter().flat_map(|path| objects(path)).collect();
    let cluster = cluster(&looked_up(&objects));
    let instance = module.instance(&cluster).unwrap();
    let kept = |payload: &Value| {
        let payload = payload.to_string();
        let of_instance = String::from_utf8(instance.call("validate", payload.as_bytes()).unwrap()).unwrap();
        assert_eq!(of_instance, validate(payload.as_bytes(), &Native(&cluster)).to_json());
    };
    for fix in [false, true] {
        for object in &objects {
            let Ok(request) = Request::create(object.clone()).to_json() else { continue };
            kept(&json!({"request": request, "settings": {"fix": fix}}));
        }
    }
    // As large as the API server accepts. If each request leaked its memory, 400 of them would exceed the 4 GiB that a module
    // can address.
    let notes = vec!["a note of the team that owns this pool"; 36_000];
    let large = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default", "annotations": {"example.com/notes": notes}},
    });
    let payload = json!({"request": Request::create(large).to_json().unwrap(), "settings": {}}).to_string();
    let fresh = module.call("validate", payload.as_bytes(), &cluster).unwrap();
    for _ in 0..400 {
        assert_eq!(instance.call("validate", payload.as_bytes()).unwrap(), fresh);
    }
}

#[test]
fn rejects_by_the_object_alone_when_the_cluster_cannot_be_read() {
    let module = module();
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {"template": {
        "metadata": {"labels": {"karpenter.sh/team": "a"}},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"}, "requirements": []}}}});
    for cluster in [FakeCluster::offline(), FakeCluster::failing("the API server is down")] {
        let request = Request::create(pool.clone()).to_json().unwrap();
        let response = answer(module, &json!({"request": request, "settings": {}}), &cluster);
        assert_eq!(response["accepted"], false);
        assert!(response["message"].as_str().unwrap().contains("restricted-label"), "{response}");
    }
}

#[test]
fn accepts_a_payload_that_is_not_a_request() {
    let module = module();
    for payload in [
        "",
        "null",
        "[]",
        "{\"request\": 1}",
        "{\"request\": {\"operation\": \"DELETE\"}, \"settings\": {}}",
        "{",
        "\u{1}",
    ] {
        let of_module = module.call("validate", payload.as_bytes(), &FakeCluster::offline()).unwrap();
        let response: Value = serde_json::from_slice(&of_module).unwrap();
        assert_eq!(response["accepted"], true, "{payload}: {response}");
    }
}

#[test]
fn deeply_nested_objects_do_not_trap() {
    let module = module();
    let deep = format!(
        "{{\"request\": {{\"operation\": \"CREATE\", \"object\": {}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let answered = module.call("validate", deep.as_bytes(), &FakeCluster::offline()).unwrap();
    let answered = String::from_utf8(answered).unwrap();
    assert!(answered.contains("nested deeper than 128 levels") && !answered.contains("--max-depth"));
}

#[test]
fn answers_protocol_version_and_validate_settings() {
    let module = module();
    let call = |operation, payload: &str| {
        let answer = module.call(operation, payload.as_bytes(), &FakeCluster::offline()).unwrap();
        serde_json::from_slice::<Value>(&answer).unwrap()
    };
    assert_eq!(call("protocol_version", ""), json!("v1"));
    assert_eq!(call("validate_settings", "{}"), json!({"valid": true, "message": null}));
    let bad = call(
        "validate_settings",
        r#"{"karpenterVersion": 1.1, "rules": {"storag": "deny"}, "clustername": "a"}"#,
    );
    assert_eq!(bad["valid"], false);
    let message = bad["message"].as_str().unwrap();
    for part in
        ["karpenterVersion: must be in quotes", "did you mean `storage`?", "did you mean `clusterName`?"]
    {
        assert!(message.contains(part), "{message}");
    }
}

/// Numbers keep every digit, even if they do not fit into a float.
#[test]
fn fix_changes_nothing_else_in_the_object() {
    let module = module();
    let class = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a", "generation": 9_007_199_254_740_993_i64},
        "spec": {"instanceProfile": "arn:aws:iam::111122223333:instance-profile/p", "unknown": [18_446_744_073_709_551_615_u64, 1.0, {"a": null}],
                 "amiSelectorTerms": [{"alias": "al2023@v20250807"}],
                 "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "a"}}], "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "a"}}]}});
    let request = Request::create(class.clone()).to_json().unwrap();
    let response =
        answer(module, &json!({"request": request, "settings": {"fix": true}}), &FakeCluster::offline());
    let mut expected = class;
    expected["spec"]["instanceProfile"] = "p".into();
    assert_eq!(response["accepted"], true, "{response}");
    assert_eq!(response["mutated_object"], expected);
}

/// The helper `objects` relies on this.
#[test]
fn to_json_keeps_the_values_of_a_document() {
    let file = File::read("-", "a: 1\nb: [x, 1.5]\n", READ_OPTIONS);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
    assert_eq!(Node::to_json(tree.root()), json!({"a": 1, "b": ["x", 1.5]}));
}
