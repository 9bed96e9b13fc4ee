//! Sends an object of every matched resource through the module.

use std::sync::LazyLock;

use karpwarden_admit::server::Mode;
use karpwarden_admit::{FakeCluster, Policy, PolicyModule, Request, built};
use serde_json::{Value, json};

use super::samples::{bad, good, kind};
use super::types::policies;

/// The policy module. Compiled once, because that takes longer than all requests.
pub(super) fn module() -> &'static PolicyModule {
    static MODULE: LazyLock<PolicyModule> =
        LazyLock::new(|| PolicyModule::load(&built::policy().unwrap()).unwrap());
    &MODULE
}

/// A cluster with the objects that the policy looks up.
pub(super) fn cluster(spec: &Value) -> FakeCluster {
    let granted = spec["contextAwareResources"].as_array().unwrap();
    let granted =
        granted.iter().map(|one| (one["apiVersion"].as_str().unwrap(), one["kind"].as_str().unwrap()));
    FakeCluster::holding(["NodePool", "EC2NodeClass", "StorageClass"].map(good)).granting(granted)
}

pub(super) fn policy(module: &PolicyModule, spec: &Value) -> Policy {
    let mode = if spec["mode"] == "monitor" { Mode::Monitor } else { Mode::Protect };
    Policy::new(module.clone())
        .settings(spec["settings"].clone())
        .mutating(spec["mutating"] == true)
        .mode(mode)
}

/// Group, resource and operation of each match of a policy.
pub(super) fn matched(spec: &Value) -> Vec<(String, String, String)> {
    let mut matched = Vec::new();
    for rule in spec["rules"].as_array().unwrap() {
        let list =
            |key: &str| rule[key].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned());
        for group in list("apiGroups") {
            for resource in list("resources") {
                matched
                    .extend(list("operations").map(|operation| (group.clone(), resource.clone(), operation)));
            }
        }
    }
    matched
}

pub(super) fn request(operation: &str, object: &Value, old: &Value) -> Value {
    let request = match operation {
        "CREATE" => Request::create(object.clone()),
        "UPDATE" => Request::update(old.clone(), object.clone()),
        "DELETE" => Request::delete(object.clone()),
        other => panic!("unexpected operation {other}"),
    };
    request.to_json().unwrap()
}

/// Whether a policy reports the faults of an object. The policy about disruption compares it with the stored one, and knows no faults.
pub(super) fn reports_faults(spec: &Value) -> bool {
    spec["settings"]["rules"]["api-server"] != "off"
}

/// Whether a policy rejects the faults of an object. The policy that fixes rejects nothing.
pub(super) fn rejects_faults(spec: &Value) -> bool {
    reports_faults(spec) && spec["settings"]["fix"] != true
}

#[test]
fn accepts_good_and_rejects_bad_objects_of_every_match() {
    let module = module();
    for manifest in policies().into_iter().filter(|policy| reports_faults(&policy["spec"])) {
        let (name, spec) = (manifest["metadata"]["name"].as_str().unwrap(), &manifest["spec"]);
        let (policy, cluster) = (policy(module, spec), cluster(spec));
        assert!(policy.check_settings(&cluster).valid, "{name}");
        for (group, resource, operation) in matched(spec) {
            let kind = kind(&group, &resource);
            let good = good(kind);
            let case = format!("{name}: {operation} {resource}");
            let answer = policy.review(&request(&operation, &good, &good), &cluster);
            assert!(answer.allowed, "{case}: {}", answer.message());
            let warnings = answer.warnings.unwrap_or_default();
            let unread = warnings.iter().any(|warning| warning.contains("no rule of karpwarden reads"));
            assert!(!unread || resource.starts_with("persistentvolume"), "{case}: {warnings:?}");
            let Some((bad, rule)) = bad(kind) else { continue };
            let answer = policy.review(&request(&operation, &bad, &good), &cluster);
            if name == "karpwarden-fix" {
                assert!(answer.allowed, "{case}: {}", answer.message());
                continue;
            }
            assert!(!answer.allowed, "{case}: not rejected");
            assert!(answer.message().contains(rule), "{case}: {}", answer.message());
        }
        let refused: Vec<_> = cluster.calls().into_iter().filter_map(|call| call.refusal).collect();
        assert!(refused.is_empty(), "{name} lacks a permission: {refused:?}");
    }
}

#[test]
fn other_policies_accept_what_the_fixing_policy_returns() {
    let module = module();
    let all = policies();
    let spec = |name: &str| &all.iter().find(|policy| policy["metadata"]["name"] == name).unwrap()["spec"];
    let fix = spec("karpwarden-fix");
    let (class, _) = bad("EC2NodeClass").unwrap();
    let answer = policy(module, fix).review(&request("CREATE", &class, &class), &cluster(fix));
    assert_eq!(
        answer.patch().unwrap(),
        json!([{"op": "replace", "path": "/spec/instanceProfile", "value": "a"}])
    );
    let fixed = good("EC2NodeClass");
    let guard = spec("karpwarden-karpenter-objects");
    assert!(policy(module, guard).review(&request("CREATE", &fixed, &fixed), &cluster(guard)).allowed);
}

#[test]
fn monitor_mode_rejects_and_changes_nothing() {
    let module = module();
    let all = policies();
    let policy = policy(module, &all[0]["spec"]).mode(Mode::Monitor);
    let (pool, rule) = bad("NodePool").unwrap();
    let answer = policy.review(&request("CREATE", &pool, &pool), &cluster(&all[0]["spec"]));
    assert!(answer.allowed && answer.patch.is_none());
    assert!(answer.audit_annotations.unwrap()["errors"].contains(rule));
}
