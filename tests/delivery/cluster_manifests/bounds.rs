//! Every bound of the table "Bounds of the policy" in docs/security.md against every policy, in the waPC host. The first column of the table
//! is compared with the bounds that are tested here.

use karpwarden_admit::server::Mode;
use karpwarden_admit::{AdmissionResponse, FakeCluster, Policy};
use karpwarden_generate::home;
use serde_json::{Map, Value, json};

use super::matched::{cluster, matched, module, policy, rejects_faults, reports_faults, request};
use super::samples::{bad, good, kind};
use super::types::policies;

/// More values than the bound allows.
const BEYOND: usize = 1_000_100;
const MANY_VALUES: &str = "more than 1000000 values";
const MANY_LEVELS: &str = "nested deeper than 128 levels";

/// One request that a policy matches.
struct Match {
    name: String,
    kind: &'static str,
    operation: String,
    is_of_karpenter: bool,
    policy: Policy,
    spec: Value,
}

impl Match {
    fn all() -> Vec<Self> {
        let of_policy = |manifest: Value| {
            let spec = manifest["spec"].clone();
            let name = manifest["metadata"]["name"].as_str().unwrap().to_owned();
            let policy = policy(module(), &spec);
            matched(&spec).into_iter().map(move |(group, resource, operation)| Self {
                name: format!("{name}: {operation} {resource}"),
                kind: kind(&group, &resource),
                operation,
                is_of_karpenter: group.starts_with("karpenter."),
                policy: policy.clone(),
                spec: spec.clone(),
            })
        };
        policies().into_iter().flat_map(of_policy).collect()
    }

    fn is_update(&self) -> bool {
        self.operation == "UPDATE"
    }

    /// Whether the policy rejects objects of Karpenter that it cannot check.
    fn protects(&self) -> bool {
        self.is_of_karpenter && self.spec["settings"]["onExceededBound"] != "warn"
    }

    fn review(&self, object: &Value, old: &Value) -> Answer {
        self.review_by(&self.policy, object, old)
    }

    fn review_by(&self, policy: &Policy, object: &Value, old: &Value) -> Answer {
        let response = policy.review(&request(&self.operation, object, old), &cluster(&self.spec));
        let bytes = serde_json::to_string(&response).unwrap().len();
        assert!(bytes < 100_000, "{}: an answer of {bytes} bytes", self.name);
        Answer { warnings: response.warnings.clone().unwrap_or_default().join("\n"), response }
    }
}

struct Answer {
    response: AdmissionResponse,
    warnings: String,
}

impl Answer {
    fn rejects(&self, reason: &str) -> bool {
        !self.response.allowed && self.response.message().contains(reason)
    }

    fn warns(&self, reason: &str) -> bool {
        self.response.allowed && self.warnings.contains(reason)
    }

    fn shown(&self) -> String {
        format!("{:?}", self.response).chars().take(1_000).collect()
    }
}

/// An object with a field that no rule reads.
fn with_field(mut object: Value, value: Value) -> Value {
    object["padding"] = value;
    object
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// Values beyond each bound on an object, with the words of its answer.
fn beyond() -> [(Value, &'static str); 2] {
    [(vec![0; BEYOND].into(), MANY_VALUES), (nested(200), MANY_LEVELS)]
}

#[test]
fn the_table_has_the_rows_that_are_tested() {
    let page = home::text("docs/security.md").unwrap();
    let table = page.split("## Bounds of the policy").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().skip(2).map(|row| row.split(" | ").next().unwrap()).collect();
    let tested = [
        "| 1,000,000 values or 128 levels in the object",
        "| 1,000,000 values or 128 levels in the stored object of an update",
        "| 1,000,000 values or 128 levels in the settings",
        "| 64 values for each byte of YAML in user data or in a string, and 1,000,000 values in the object and all user data together",
        "| 64 KiB of user data, of which EC2 accepts a quarter",
        "| 1,000 findings of each rule and severity",
        "| more than 1,000 labels and terms by which an object selects nodes",
        "| more than 10,000 values in `spec` of a NodePool or EC2NodeClass",
        "| more than 100 safe fixes in one object",
        "| 20 findings, 20 problems of settings, 16 KiB in the message of a rejection",
        "| 40 warnings with 3,800 characters in total, 16 KiB in an audit annotation",
    ];
    assert_eq!(rows, tested);
}

#[test]
fn an_object_beyond_a_bound_is_rejected_or_accepted_with_a_warning() {
    for (value, bound) in beyond() {
        let reason = format!("the object was not checked: {bound}");
        for one in Match::all() {
            let object = with_field(good(one.kind), value.clone());
            let answer = one.review(&object, &good(one.kind));
            let is_right = if one.protects() { answer.rejects(&reason) } else { answer.warns(&reason) };
            assert!(is_right, "{}: {}", one.name, answer.shown());
            // The smaller object for what does not depend on the bound.
            if one.is_of_karpenter && one.operation == "CREATE" && bound == MANY_LEVELS {
                let announcing = json!({"announceErrors": true});
                let monitor = one.policy.clone().settings(announcing).mode(Mode::Monitor);
                let answer = one.review_by(&monitor, &object, &good(one.kind));
                assert!(answer.warns(&reason), "{} in mode monitor: {}", one.name, answer.shown());
                let denying = one.policy.clone().settings(json!({"onExceededBound": "deny"}));
                assert!(one.review_by(&denying, &object, &good(one.kind)).rejects(&reason), "{}", one.name);
            }
        }
    }
}

#[test]
fn a_stored_object_beyond_a_bound_hides_no_error_of_the_new_one() {
    for (value, bound) in beyond() {
        let note = format!("the stored object was not compared: {bound}");
        for one in Match::all().into_iter().filter(Match::is_update) {
            let (new, rule) = bad(one.kind).unwrap_or_else(|| (good(one.kind), ""));
            let answer = one.review(&new, &with_field(new.clone(), value.clone()));
            let is_rejected = !rule.is_empty() && rejects_faults(&one.spec);
            assert_eq!(answer.rejects(rule), is_rejected, "{}: {}", one.name, answer.shown());
            let is_read = !answer.warnings.contains("no rule of karpwarden reads");
            assert_eq!(answer.warnings.contains(&note), is_read, "{}: {}", one.name, answer.shown());
        }
    }
}

#[test]
fn settings_beyond_a_bound_reject_every_request() {
    for (value, bound) in beyond() {
        for one in Match::all() {
            let broken = one.policy.clone().settings(json!({ "rules": value }));
            let answer = one.review_by(&broken, &good(one.kind), &good(one.kind));
            let reason = format!("the policy's settings are not valid: {bound}");
            assert!(answer.rejects(&reason), "{}: {}", one.name, answer.shown());
        }
    }
    let keys: Map<String, Value> = (0..100_000).map(|key| (format!("key{key}"), json!(1))).collect();
    for manifest in policies() {
        let broken = policy(module(), &manifest["spec"]).settings(Value::Object(keys.clone()));
        let verdict = broken.check_settings(&cluster(&manifest["spec"]));
        let message = verdict.message.unwrap();
        assert!(!verdict.valid && message.len() <= 16_384 && message.contains("and 99980 more"), "{message}");
    }
}

/// User data of many parts, each of which has ten times as many values for each further level.
fn laughing(parts: usize, depth: usize) -> String {
    let level = |name: &str, item: &str| format!(" {name}: &{name} [{}]\n", [item; 10].join(","));
    let levels = [("a", "x"), ("b", "*a"), ("c", "*b"), ("d", "*c"), ("e", "*d"), ("f", "*e")];
    let levels: String = levels.into_iter().take(depth).map(|(name, item)| level(name, item)).collect();
    let comment = "c".repeat(60);
    let config = format!("# {comment}\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{levels}");
    let part = format!("--b\nContent-Type: application/node.eks.aws\n\n{config}\n");
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{}--b--\n", part.repeat(parts))
}

#[test]
fn user_data_beyond_a_bound_is_a_finding_and_the_rest_is_checked() {
    for one in Match::all().into_iter().filter(|one| one.kind == "EC2NodeClass" && reports_faults(&one.spec))
    {
        for (parts, depth, bound) in
            [(36, 6, "more than 64 values for each byte"), (140, 4, "the documents together have more than")]
        {
            let (mut class, rule) = bad(one.kind).unwrap();
            class["spec"]["userData"] = laughing(parts, depth).into();
            let answer = one.review(&class, &good(one.kind));
            let told = format!("{:?}", answer.response);
            // The policy that fixes objects only notes the names of the rules for the audit log.
            let is_fix = one.spec["settings"]["fix"] == true;
            for word in
                ["userdata-nodeconfig-incomplete", rule, bound].into_iter().take(if is_fix { 2 } else { 3 })
            {
                assert!(told.contains(word), "{}: {word}: {}", one.name, answer.shown());
            }
        }
    }
}

#[test]
fn long_user_data_is_an_error_and_the_rest_is_checked() {
    for one in Match::all().into_iter().filter(|one| one.kind == "EC2NodeClass" && reports_faults(&one.spec))
    {
        let (mut class, rule) = bad(one.kind).unwrap();
        class["spec"]["userData"] = format!("#!/bin/sh\n{}", "echo long\n".repeat(7_000)).into();
        let answer = one.review(&class, &good(one.kind));
        for word in ["userdata-too-large", rule] {
            let told = format!("{:?}", answer.response);
            assert!(told.contains(word), "{}: {word}: {}", one.name, answer.shown());
        }
        assert_eq!(
            answer.rejects("userdata-too-large"),
            rejects_faults(&one.spec),
            "{}: {}",
            one.name,
            answer.shown()
        );
    }
}

#[test]
fn an_object_with_too_many_selectors_is_checked_alone() {
    let labels: Map<String, Value> =
        (0..1_001).map(|label| (format!("example.com/{label}"), json!("a"))).collect();
    for one in Match::all() {
        let mut object = good(one.kind);
        let selector = [
            "/spec/nodeSelector",
            "/spec/template/spec/nodeSelector",
            "/spec/jobTemplate/spec/template/spec/nodeSelector",
        ]
        .into_iter()
        .find(|pointer| object.pointer(pointer).is_some());
        let Some(pointer) = selector.filter(|_| one.kind != "DaemonSet") else { continue };
        *object.pointer_mut(pointer).unwrap() = Value::Object(labels.clone());
        let answer = one.review(&object, &good(one.kind));
        let reason = "the object selects nodes by more than 1000 labels";
        // A policy that looks up nothing has nothing to warn about.
        let is_compared = one.spec["settings"]["context"] != "none";
        assert!(answer.response.allowed, "{}: {}", one.name, answer.shown());
        assert_eq!(answer.warns(reason), is_compared, "{}: {}", one.name, answer.shown());
    }
}

#[test]
fn an_update_of_too_many_values_is_not_compared() {
    let updates = |one: &Match| one.is_update() && one.kind == "NodePool" && !reports_faults(&one.spec);
    let matches: Vec<Match> = Match::all().into_iter().filter(updates).collect();
    assert_eq!(matches.len(), 1);
    for one in matches {
        let labelled = |labels: usize| {
            let mut pool = good("NodePool");
            let labels = (0..labels).map(|label| (format!("example.com/{label}"), json!("a")));
            pool["spec"]["template"]["metadata"]["labels"] = Value::Object(labels.collect());
            // No NodeClaim is known to be of another NodePool.
            pool["status"] = json!({"resources": {"nodes": "3"}});
            pool
        };
        let granted = FakeCluster::failing("forbidden");
        let warnings = |labels: usize| {
            let request = request("UPDATE", &labelled(labels), &labelled(labels - 1));
            one.policy.review(&request, &granted).warnings.unwrap_or_default().join("\n")
        };
        assert!(warnings(9_900).contains("replaces all 3 nodes"), "{}", warnings(9_900));
        assert_eq!(warnings(10_000), "");
    }
}

/// A NodePool with this number of faults, each with a safe fix.
fn faulty_pool(faults: usize) -> Value {
    let mut pool = good("NodePool");
    pool["spec"]["template"]["spec"]["taints"] =
        vec![json!({"key": "a", "effect": "NoSchedule"}); faults + 1].into();
    pool
}

#[test]
fn an_object_with_too_many_fixes_is_not_fixed() {
    let fixing = |one: &Match| one.kind == "NodePool" && one.spec["settings"]["fix"] == true;
    let matches: Vec<Match> = Match::all().into_iter().filter(fixing).collect();
    assert_eq!(matches.len(), 2);
    for one in matches {
        let few = one.review(&faulty_pool(100), &good("NodePool"));
        assert!(few.response.patch.is_some(), "{}: {}", one.name, few.shown());
        let many = one.review(&faulty_pool(101), &good("NodePool"));
        assert!(many.response.patch.is_none(), "{}: {}", one.name, many.shown());
        assert!(
            many.warns("not fixed: 101 safe fixes, and the policy applies at most 100"),
            "{}",
            many.shown()
        );
    }
}

#[test]
fn answers_are_bounded_whatever_the_object_is() {
    let long = "n".repeat(1_400_000);
    for one in Match::all() {
        let (mut named, rule) = bad(one.kind).unwrap_or_else(|| (good(one.kind), ""));
        named["metadata"]["name"] = long.as_str().into();
        let answer = one.review(&named, &good(one.kind));
        let rejects = rejects_faults(&one.spec);
        // A name of this length is an error too, in some kinds.
        assert!(rule.is_empty() || answer.rejects(rule) == rejects, "{}: {}", one.name, answer.shown());
        assert_bounded(&one, &answer);
        if one.kind == "NodePool" {
            let answer = one.review(&faulty_pool(5_000), &good(one.kind));
            assert!(answer.rejects("and 980 more") == rejects, "{}: {}", one.name, answer.shown());
            assert_bounded(&one, &answer);
        }
    }
}

fn assert_bounded(one: &Match, answer: &Answer) {
    assert!(answer.response.message().len() <= 16_384, "{}", one.name);
    let warnings = answer.response.warnings.iter().flatten();
    let characters: usize = warnings.clone().map(|warning| warning.chars().count()).sum();
    // The last warning counts the others.
    assert!(warnings.count() <= 41 && characters <= 4_096, "{}: {characters}", one.name);
    let annotations = answer.response.audit_annotations.iter().flatten();
    assert!(annotations.map(|(_, text)| text.len()).all(|bytes| bytes <= 16_384), "{}", one.name);
}
