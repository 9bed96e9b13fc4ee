//! Requests beyond a bound: an object that is not checked is not accepted unnoticed.

use serde_json::{Value, json};

use super::cluster::{Cluster, has_warning, node_class, warnings};

/// A NodePool with a requirement in the wrong domain, and with this number of values.
fn pool(values: usize) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {"template": {"spec": {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "requirements": [{"key": "karpenter.sh/custom", "operator": "In", "values": vec![""; values]}]}}}})
}

fn deployment(values: usize) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "annotations": {}},
        "spec": {"template": {"spec": {"containers": [{"name": "a", "args": vec![""; values]}]}}}})
}

/// The answer to a request with the kind of its object, as the API server sends it.
fn answer(group: &str, object: &Value, old: &Value, settings: &Value) -> Value {
    let kind = json!({"group": group, "version": "v1", "kind": object["kind"]});
    let operation = if old.is_null() { "CREATE" } else { "UPDATE" };
    let request = json!({"kind": kind, "operation": operation, "object": object, "oldObject": old});
    Cluster::default().answer(&request, settings)
}

const BEYOND: usize = 1_000_100;
const REASON: &str = "the object was not checked: more than 1000000 values";

#[test]
fn rejects_objects_of_karpenter_beyond_a_bound_and_warns_of_others() {
    let (pool, deployment) = (pool(BEYOND), deployment(BEYOND));
    for (group, object, settings, accepted) in [
        ("karpenter.sh", &pool, json!({}), false),
        ("karpenter.sh", &pool, json!({"onExceededBound": "auto"}), false),
        ("karpenter.sh", &pool, json!({"onExceededBound": "warn"}), true),
        ("apps", &deployment, json!({}), true),
        ("apps", &deployment, json!({"onExceededBound": "deny"}), false),
    ] {
        let answer = answer(group, object, &Value::Null, &settings);
        assert_eq!(answer["accepted"], accepted, "{group} {settings}: {answer}");
        assert!(has_warning(&answer, REASON), "{answer}");
        assert_eq!(answer["message"].as_str().is_some_and(|message| message.starts_with(REASON)), !accepted);
    }
    let silent = json!({"announceErrors": false});
    assert!(warnings(&answer("karpenter.sh", &pool, &Value::Null, &silent)).is_empty());
}

#[test]
fn rejects_objects_that_are_nested_too_deeply() {
    let deep = (0..200).fold(json!(1), |inner, _| json!({ "a": inner }));
    let mut pool = pool(1);
    pool["metadata"]["annotations"] = deep;
    let answer = answer("karpenter.sh", &pool, &Value::Null, &json!({}));
    assert_eq!(answer["accepted"], false, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("nested deeper than 128 levels"), "{answer}");
}

#[test]
fn gives_the_stored_object_a_bound_of_its_own() {
    let key = "requirements[0].key";
    for (new, old) in [(pool(500_100), pool(500_100)), (pool(1), pool(BEYOND))] {
        let mut old = old;
        old["spec"]["template"]["spec"]["requirements"][0]["key"] = json!("example.com/custom");
        let answer = answer("karpenter.sh", &new, &old, &json!({}));
        assert_eq!(answer["accepted"], false, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(key), "{}", answer["message"]);
    }
    for settings in [json!({}), json!({"fix": true})] {
        let answer = answer("karpenter.k8s.aws", &node_class("p"), &pool(BEYOND), &settings);
        assert_eq!(answer["accepted"], true, "{answer}");
        let note = "the stored object was not compared: more than 1000000 values";
        assert!(has_warning(&answer, note), "{answer}");
    }
}

#[test]
fn bounds_its_answers() {
    let long = "n".repeat(1_400_000);
    let mut object = pool(1);
    object["metadata"]["name"] = json!(long);
    let size = |answer: &Value| answer.to_string().len();
    let answer = answer("karpenter.sh", &object, &Value::Null, &json!({}));
    assert_eq!(answer["accepted"], false);
    assert!(size(&answer) < 100_000, "{}", size(&answer));
    let keys: serde_json::Map<String, Value> =
        (0..100_000).map(|key| (format!("key{key}"), json!(1))).collect();
    let answer = karpwarden_policy::admission::validate_settings(Value::Object(keys).to_string().as_bytes());
    assert!(answer.len() < 40_000, "{}", answer.len());
    assert!(answer.contains("and 99980 more"), "{answer}");
}
