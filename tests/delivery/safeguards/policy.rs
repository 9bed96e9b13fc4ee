//! The safeguards of one policy.

use serde_json::{Value, json};

/// Kinds whose requests a policy server that is unavailable may block: people write them, and no pod waits for them.
const MAY_FAIL: [&str; 3] = ["nodepools", "ec2nodeclasses", "nodeoverlays"];

/// The safeguards that a policy lacks.
pub(super) fn missing(policy: &Value) -> Vec<&'static str> {
    let spec = &policy["spec"];
    let resources: Vec<&str> =
        strings(spec["rules"].as_array().into_iter().flatten().map(|rule| &rule["resources"]));
    let has_condition = |name: &str| {
        let conditions = spec["matchConditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|condition| condition["name"] == name)
    };
    let excluded = spec["namespaceSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let excludes_kube_system = excluded.into_iter().any(|expression| {
        expression["key"] == "kubernetes.io/metadata.name"
            && expression["operator"] == "NotIn"
            && expression["values"] == json!(["kube-system"])
    });
    let matches_pods = resources.contains(&"pods");
    // Creates NodeClaims, and writes hashes and finalizers.
    let is_written_by_karpenter =
        resources.iter().any(|resource| MAY_FAIL.contains(resource) || *resource == "nodeclaims");
    // Blocked only by `not-by-karpenter`, so that Karpenter itself does not wait for the policy server.
    let may_fail = has_condition("not-by-karpenter")
        && resources.iter().all(|resource| MAY_FAIL.contains(resource) || *resource == "nodeclaims");
    let fixes = spec["settings"]["fix"] == true;
    let checks = [
        ("a policy server for these policies", spec["policyServer"] == "karpwarden"),
        ("failurePolicy", spec["failurePolicy"] == "Ignore" || (spec["failurePolicy"] == "Fail" && may_fail)),
        ("mutating", spec["mutating"] == fixes && spec["mutating"].is_boolean()),
        ("not-being-deleted", has_condition("not-being-deleted")),
        ("not-by-karpenter", has_condition("not-by-karpenter") || !is_written_by_karpenter),
        ("not-made-by-a-workload", has_condition("not-made-by-a-workload") || !matches_pods),
        ("kube-system excluded", excludes_kube_system || !matches_pods),
        ("a short timeout", spec["timeoutSeconds"].as_u64().is_some_and(|seconds| seconds <= 5)),
        ("no wildcard", !resources.iter().any(|resource| resource.contains('*'))),
        ("audible in mode monitor", spec["mode"] == "protect" || spec["settings"]["announceErrors"] == true),
        ("a mode", spec["mode"] == "protect" || spec["mode"] == "monitor"),
    ];
    checks.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
}

fn strings<'v>(lists: impl Iterator<Item = &'v Value>) -> Vec<&'v str> {
    lists.flat_map(|list| list.as_array().into_iter().flatten()).filter_map(Value::as_str).collect()
}

/// A policy such as `kwctl scaffold manifest` writes it.
#[test]
fn scaffolded_policy_lacks_the_safeguards() {
    let policy = json!({"kind": "ClusterAdmissionPolicy", "spec": {"mutating": true, "rules": [{"resources": ["nodepools", "pods"]}], "settings": {}}});
    assert_eq!(
        missing(&policy),
        [
            "a policy server for these policies",
            "failurePolicy",
            "mutating",
            "not-being-deleted",
            "not-by-karpenter",
            "not-made-by-a-workload",
            "kube-system excluded",
            "a short timeout",
            "audible in mode monitor",
            "a mode",
        ]
    );
}

#[test]
fn only_kinds_that_no_pod_waits_for_may_fail() {
    let policy = |resource: &str| {
        let conditions: Vec<Value> = ["not-by-karpenter", "not-being-deleted", "not-made-by-a-workload"]
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
        json!({"spec": {"policyServer": "karpwarden", "mode": "protect", "mutating": false, "failurePolicy": "Fail", "timeoutSeconds": 5,
            "rules": [{"resources": [resource]}], "matchConditions": conditions,
            "namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]}}})
    };
    assert_eq!(missing(&policy("nodepools")), [] as [&str; 0]);
    for resource in ["pods", "deployments", "persistentvolumes"] {
        assert_eq!(missing(&policy(resource)), ["failurePolicy"], "{resource}");
    }
}
