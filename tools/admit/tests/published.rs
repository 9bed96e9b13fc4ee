//! The published policies decide which requests they get, as the API server decides.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]
#![expect(clippy::needless_pass_by_value, reason = "the callers write JSON in place")]

use karpwarden_admit::published::{PolicyMismatch, PublishedPolicy};
use karpwarden_admit::{PolicyModule, Request};
use serde_json::{Value, json};

/// A policy for Deployments and classes of storage.
fn policy(fields: Value) -> PublishedPolicy {
    let module = PolicyModule::load(b"\0asm\x01\0\0\0").unwrap();
    let rule = |groups: Value, resources: Value| json!({"apiGroups": groups, "apiVersions": ["v1"], "resources": resources, "operations": ["CREATE"]});
    let mut spec = json!({
        "mode": "monitor",
        "mutating": false,
        "rules": [rule(json!(["apps"]), json!(["deployments"])), rule(json!(["storage.k8s.io"]), json!(["storageclasses"]))],
    });
    for (key, value) in fields.as_object().unwrap() {
        spec[key] = value.clone();
    }
    let manifest = json!({"kind": "ClusterAdmissionPolicy", "metadata": {"name": "a"}, "spec": spec});
    PublishedPolicy::of(&manifest, &module).unwrap().unwrap()
}

fn deployment(namespace: &str, labels: Value) -> Value {
    let metadata = json!({"name": "web", "namespace": namespace, "labels": labels});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
    Request::create(object).to_json().unwrap()
}

#[test]
fn rules_name_the_kind_and_the_operation() {
    let policy = policy(json!({}));
    assert_eq!(policy.matches(&deployment("shop", json!({})), &[]), Ok(()));
    let pod = Request::create(json!({"apiVersion": "v1", "kind": "Pod"})).to_json().unwrap();
    assert_eq!(policy.matches(&pod, &[]), Err(PolicyMismatch::Rules));
    let deleted = Request::delete(json!({"apiVersion": "apps/v1", "kind": "Deployment"})).to_json().unwrap();
    assert_eq!(policy.matches(&deleted, &[]), Err(PolicyMismatch::Rules));
}

#[test]
fn selectors_compare_the_labels_of_the_object_and_of_its_namespace() {
    let not_in = |key: &str, value: &str| json!({"matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]}]});
    let own = policy(json!({"objectSelector": not_in("app", "karpenter")}));
    assert_eq!(own.matches(&deployment("shop", json!({})), &[]), Ok(()));
    let karpenter = deployment("shop", json!({"app": "karpenter"}));
    assert_eq!(own.matches(&karpenter, &[]), Err(PolicyMismatch::ObjectSelector));
    let other = policy(json!({"namespaceSelector": not_in("kubernetes.io/metadata.name", "kube-system")}));
    assert_eq!(other.matches(&deployment("shop", json!({})), &[]), Ok(()));
    assert_eq!(
        other.matches(&deployment("kube-system", json!({})), &[]),
        Err(PolicyMismatch::NamespaceSelector)
    );
    let class =
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "gp3"}});
    assert_eq!(other.matches(&Request::create(class).to_json().unwrap(), &[]), Ok(()), "it has no namespace");
    let labelled = policy(json!({"namespaceSelector": {"matchLabels": {"team": "shop"}}}));
    let namespace = json!({"kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}});
    assert_eq!(labelled.matches(&deployment("shop", json!({})), &[&namespace]), Ok(()));
    assert_eq!(
        labelled.matches(&deployment("web", json!({})), &[&namespace]),
        Err(PolicyMismatch::NamespaceSelector)
    );
}

#[test]
fn conditions_are_evaluated_and_failures_follow_the_failure_policy() {
    let condition = |expression: &str| json!([{"name": "c", "expression": expression}]);
    let matched = |fields: Value| policy(fields).matches(&deployment("shop", json!({})), &[]);
    let mismatch = || Err(PolicyMismatch::Condition("c".to_owned()));
    assert_eq!(matched(json!({"matchConditions": condition("request.operation == 'CREATE'")})), Ok(()));
    assert_eq!(matched(json!({"matchConditions": condition("has(object.spec)")})), mismatch());
    for (failure_policy, rejects) in [("Ignore", false), ("Fail", true)] {
        let failing = condition("object.spec.replicas > 1");
        let matched = matched(json!({"matchConditions": failing, "failurePolicy": failure_policy}));
        assert_eq!(matched, Err(PolicyMismatch::FailedCondition { name: "c".to_owned(), rejects }));
    }
}
