//! The tools and their answers.

use serde_json::{Value, json};

use super::{Client, all_items};
use crate::folder::{BAD, Folder};

const CLUSTER: &str = include_str!("../../../fuzz/seeds/disruption/cluster.yaml");
const POOL: &str = include_str!("../../../fuzz/seeds/disruption/pool.yaml");
const PODS: &str = include_str!("../../../fuzz/seeds/simulation/pods.yaml");
const LOG: &str = include_str!("../../../examples/symptoms/double-nodeclaim/karpenter.log");

/// A call of each tool.
fn calls() -> [(&'static str, Value); 8] {
    let changed = POOL.replace("values: [on-demand]", "values: [spot]");
    [
        ("check", json!({"text": BAD, "karpenterVersion": "1.14"})),
        ("check", json!({"text": BAD, "karpenterVersion": "1.8..1.14"})),
        ("explain", json!({"names": ["instance-profile-is-arn", "storage"]})),
        ("upgrade", json!({"text": BAD, "from": "1.0", "to": "1.14"})),
        ("simulate", json!({"text": format!("{POOL}\n---\n{PODS}"), "karpenterVersion": "1.14"})),
        ("disruption", json!({"text": format!("{POOL}\n---\n{CLUSTER}"), "at": "2026-03-11T10:30:00Z"})),
        ("plan", json!({"oldText": POOL, "newText": changed, "at": "2026-03-11T10:30:00Z"})),
        ("diagnose", json!({"text": LOG, "karpenterVersion": "1.14"})),
    ]
}

#[test]
fn every_tool_answers_as_its_schema_says_and_always_the_same() {
    let mut client = Client::start();
    let tools = client.ask("tools/list", &json!({}))["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["check", "explain", "upgrade", "simulate", "disruption", "plan", "diagnose"]);
    for (name, arguments) in calls() {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        let validator = |schema: &Value| jsonschema::options().build(schema).unwrap();
        assert!(validator(&tool["inputSchema"]).is_valid(&arguments), "{name}");
        let answer = client.call(name, &arguments);
        let errors: Vec<String> =
            validator(&tool["outputSchema"]).iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(client.call(name, &arguments)["answer"], answer["answer"], "{name}");
        assert!(!answer["summary"].as_str().unwrap().is_empty(), "{name}");
    }
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn finds_what_the_commands_find() {
    let folder = Folder::with(&[
        ("class.yaml", BAD),
        ("pods.yaml", PODS),
        ("pool.yaml", POOL),
        ("karpenter.log", LOG),
    ]);
    let root = folder.path("").canonicalize().unwrap();
    let mut client = Client::with(&[], Some(&[&root]));
    let mut both = |tool: &str, arguments: &Value, command: &[&str]| {
        let answer = client.call(tool, arguments);
        (answer, folder.run(command).json())
    };
    let (answer, report) = both(
        "check",
        &json!({"paths": ["."], "karpenterVersion": "1.14", "select": ["instance-profile-is-arn"]}),
        &[
            "check",
            ".",
            "--format",
            "json",
            "--karpenter-version",
            "1.14",
            "--select",
            "instance-profile-is-arn",
        ],
    );
    assert_eq!(answer["answer"]["findings"], report["findings"]);
    assert_eq!(answer["answer"]["summary"], report["summary"]);
    assert!(answer["answer"]["findings"][0]["file"].as_str().is_some_and(|file| file == "class.yaml"));
    let (answer, simulation) = both(
        "simulate",
        &json!({"paths": ["pool.yaml", "pods.yaml"], "karpenterVersion": "1.14"}),
        &["simulate", "pool.yaml", "pods.yaml", "--format", "json", "--karpenter-version", "1.14"],
    );
    assert_eq!(answer["answer"]["summary"], simulation["summary"]);
    assert_eq!(answer["summary"], simulation["verdict"]);
    let (answer, report) = both(
        "diagnose",
        &json!({"paths": ["karpenter.log"], "karpenterVersion": "1.14"}),
        &["diagnose", "karpenter.log", "--format", "json", "--karpenter-version", "1.14"],
    );
    assert_eq!(answer["answer"]["summary"], report["summary"]);
    assert_eq!(client.asked, 1, "the roots of a session are asked for once");
}

/// Many copies of an object, each with another name.
fn many(object: &str, count: usize) -> String {
    (0..count).map(|number| object.replace("NAME", &format!("n{number}"))).collect::<Vec<_>>().join("---\n")
}

#[test]
fn the_rest_of_each_answer_can_be_read() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: shop}\nspec: {containers: [{name: a, image: a}]}\n";
    let node =
        "apiVersion: v1\nkind: Node\nmetadata: {name: NAME}\nspec: {providerID: 'aws:///us-east-1a/NAME'}\n";
    let text = many(&BAD.replace("default", "NAME"), 120);
    let other = text.replace("Nodes-prod", "Other");
    let rules = vec!["instance-profile-is-arn"; 30];
    let mut client = Client::start();
    for (tool, arguments, at, count) in [
        ("explain", json!({"names": rules}), "/answer/pages", 30),
        ("simulate", json!({"text": format!("{POOL}\n---\n{}", many(pod, 120))}), "/answer/pods", 120),
        ("disruption", json!({"text": format!("{POOL}\n---\n{}", many(node, 120))}), "/answer/nodes", 120),
        ("plan", json!({"oldText": text, "newText": other}), "/answer/changes", 120),
        (
            "upgrade",
            json!({"text": many("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAME}\n", 120), "from": "1.0"}),
            "/answer/skipped",
            120,
        ),
        ("diagnose", json!({"text": text, "select": ["instance-profile-is-arn"]}), "/answer/findings", 120),
    ] {
        let first = client.call(tool, &arguments);
        let shown = first.pointer(at).unwrap().as_array().unwrap().len();
        let items = all_items(&mut client, tool, &first, at);
        assert!(items.len() == count && shown < count, "{tool}: {shown} of {}", items.len());
    }
    let first = client.call("check", &json!({"text": text, "select": ["instance-profile-is-arn"]}));
    let findings = all_items(&mut client, "check", &first, "/answer/findings");
    let folder = Folder::with(&[]);
    let arguments = ["check", "-", "--format", "json", "--select", "instance-profile-is-arn"];
    let report = folder.run_in("", &arguments, &text).json();
    // A finding within the findings is cut further, so compare what identifies it.
    let keys = |findings: &[Value]| -> Vec<Value> {
        findings.iter().map(|finding| json!([finding["name"], finding["line"], finding["rule"]])).collect()
    };
    assert_eq!(keys(&findings), keys(report["findings"].as_array().unwrap()));
    assert_eq!(findings.len(), 120);
}

#[test]
fn settings_of_a_root_apply_to_its_files_and_to_texts() {
    let settings = "karpenterVersion: \"1.14\"\nrules: {instance-profile-is-arn: off}\n";
    let folder = Folder::with(&[("karpwarden.yaml", settings), ("a/class.yaml", BAD)]);
    let root = folder.path("").canonicalize().unwrap();
    let mut client = Client::with(&[], Some(&[&root]));
    for arguments in [json!({"paths": ["a"]}), json!({"text": BAD})] {
        let answer = client.call("check", &arguments);
        let findings = answer["answer"]["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["rule"] != "instance-profile-is-arn"), "{arguments}");
        assert_eq!(answer["answer"]["karpenterVersion"], "1.14");
    }
    folder.write("karpwarden.yaml", b"rules: {instance-profile-is-an: off}\n");
    let error = client.refused("check", &json!({"text": BAD}));
    assert!(error.contains("karpwarden.yaml`:1:9: ") && error.contains("instance-profile-is-arn"), "{error}");
}

#[test]
fn says_what_could_not_be_read() {
    let mut client = Client::start();
    let answer = client.call("simulate", &json!({"text": format!("{POOL}\n---\nkarpenter: [\n")}));
    let notes = answer["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("`-`: ")), "{notes:?}");
    let answer = client.call("check", &json!({"text": "karpenter: [\n"}));
    assert_eq!(answer["answer"]["unreadable"][0]["file"], "-");
    let answer = client.call("check", &json!({"text": ""}));
    assert_eq!(answer["answer"]["summary"]["documents"], 0);
}

#[test]
fn the_story_of_one_object_is_in_the_answer() {
    let mut client = Client::start();
    let error = client.refused("diagnose", &json!({"text": LOG, "node": "no-such-node"}));
    assert!(error.contains("no-such-node"), "{error}");
    let error = client.refused("diagnose", &json!({"text": LOG, "node": "a", "pod": "b/c"}));
    assert_eq!(error, "pass one of `node`, `pod` and `nodepool`");
    let error = client.refused("disruption", &json!({"text": CLUSTER, "node": "a", "pod": "b/c"}));
    assert_eq!(error, "pass `node` or `pod`, not both");
}
