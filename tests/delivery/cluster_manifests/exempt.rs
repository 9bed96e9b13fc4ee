//! The requests that no policy may stand in the way of: the match conditions, evaluated.

use cel::{Context, Program, Value as Cel};
use karpwarden_admit::Request;
use serde_json::{Value, json};

use super::samples::good;
use super::types::{group, policies};

const KARPENTER: &str = "system:serviceaccount:kube-system:karpenter";

/// Whether the policy of this name is asked, as far as match conditions decide. A condition that fails to evaluate is a
/// failure: with `failurePolicy: Fail` it would be a refusal.
fn is_asked(name: &str, request: &Request) -> bool {
    let manifests = policies().into_iter().chain([group()]);
    let policy = manifests.into_iter().find(|policy| policy["metadata"]["name"] == name).unwrap();
    let request = request.to_json().unwrap();
    let mut context = Context::default();
    for (variable, pointer) in [("object", "/object"), ("oldObject", "/oldObject"), ("request", "")] {
        let value = request.pointer(pointer).cloned().unwrap_or(Value::Null);
        context.add_variable(variable, value).unwrap();
    }
    let conditions = policy["spec"]["matchConditions"].as_array().unwrap();
    // All are evaluated, so that none can hide a failure of another.
    let holds = conditions.iter().map(|condition| {
        let expression = condition["expression"].as_str().unwrap();
        let program = Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error:?}"));
        match program.execute(&context) {
            Ok(Cel::Bool(holds)) => holds,
            other => panic!("{name}, {expression}: {other:?}"),
        }
    });
    holds.collect::<Vec<bool>>().into_iter().all(|holds| holds)
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[key] = value;
    object
}

const OF_KARPENTER: [(&str, &str); 4] = [
    ("karpwarden-karpenter-objects", "NodePool"),
    ("karpwarden-karpenter-objects", "EC2NodeClass"),
    ("karpwarden-fix", "EC2NodeClass"),
    ("karpwarden-two-names", "NodePool"),
];

#[test]
fn whoever_creates_or_changes_an_object_is_asked_about_it() {
    for (policy, kind) in [
        ("karpwarden-node-overlays", "NodeOverlay"),
        ("karpwarden-workloads", "Deployment"),
        ("karpwarden-workloads", "Pod"),
        ("karpwarden-workloads", "CronJob"),
        ("karpwarden-storage", "StorageClass"),
        ("karpwarden-storage", "PersistentVolume"),
        ("karpwarden-controller", "Deployment"),
    ]
    .into_iter()
    .chain(OF_KARPENTER)
    {
        assert!(is_asked(policy, &Request::create(good(kind))), "{policy}: {kind}");
        let old = with(good(kind), "/spec", json!({}));
        assert!(is_asked(policy, &Request::update(old, good(kind))), "{policy}: {kind}");
    }
}

#[test]
fn karpenters_own_writes_are_never_blocked() {
    for (policy, kind) in OF_KARPENTER.into_iter().chain([("karpwarden-karpenter-objects", "NodeClaim")]) {
        for namespace in ["kube-system", "karpenter"] {
            let user = format!("system:serviceaccount:{namespace}:karpenter");
            // The hash of the specification: pkg/controllers/nodepool/hash/controller.go at v1.14.
            let hashed =
                with(good(kind), "/metadata/annotations", json!({"karpenter.sh/nodepool-hash": "1"}));
            assert!(
                !is_asked(policy, &Request::update(good(kind), hashed).by(&user, [])),
                "{policy}: {kind}"
            );
            assert!(!is_asked(policy, &Request::create(good(kind)).by(&user, [])), "{policy}: {kind}");
        }
        // The name alone is not enough: anybody may have an account called so in a namespace of theirs.
        let other = Request::create(good(kind)).by("system:serviceaccount:team-a:karpenter", []);
        assert!(is_asked(policy, &other), "{policy}: {kind}");
    }
}

#[test]
fn finalizers_come_off_whoever_takes_them() {
    for (policy, kind) in OF_KARPENTER.into_iter().chain([
        ("karpwarden-node-overlays", "NodeOverlay"),
        ("karpwarden-workloads", "Deployment"),
        ("karpwarden-storage", "StorageClass"),
        ("karpwarden-controller", "Deployment"),
    ]) {
        let going = with(good(kind), "/metadata/deletionTimestamp", json!("2026-11-20T00:00:00Z"));
        let held = with(going.clone(), "/metadata/finalizers", json!(["karpenter.k8s.aws/termination"]));
        let changed = with(going, "/spec", json!({}));
        assert!(!is_asked(policy, &Request::update(held, changed).by("eve", [])), "{policy}: {kind}");
    }
}

#[test]
fn labels_and_scaling_of_what_was_there_before_go_through() {
    let labelled = |kind| with(good(kind), "/metadata/labels", json!({"a": "b"}));
    for (policy, kind) in OF_KARPENTER.into_iter().chain([("karpwarden-controller", "Deployment")]) {
        assert!(!is_asked(policy, &Request::update(good(kind), labelled(kind))), "{policy}: {kind}");
    }
    let scaled = with(good("Deployment"), "/spec/replicas", json!(7));
    assert!(!is_asked("karpwarden-workloads", &Request::update(good("Deployment"), scaled)));
}

#[test]
fn what_a_workload_makes_is_not_asked_about_again() {
    let owned = |api_version: &str, is_controller: bool| {
        let owner = json!([{"apiVersion": api_version, "kind": "Owner", "name": "a", "uid": "1", "controller": is_controller}]);
        is_asked(
            "karpwarden-workloads",
            &Request::create(with(good("Pod"), "/metadata/ownerReferences", owner)),
        )
    };
    // A ReplicaSet, a Job, and the node that a mirror pod belongs to.
    assert!(!owned("apps/v1", true) && !owned("batch/v1", true) && !owned("v1", true));
    // An operator's own kinds are not matched, so what they make is.
    assert!(owned("argoproj.io/v1alpha1", true) && owned("apps/v1", false));
}

#[test]
fn a_volume_whose_disk_exists_is_not_refused() {
    let made = json!({"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"});
    let volume = with(good("PersistentVolume"), "/metadata/annotations", made);
    assert!(!is_asked("karpwarden-storage", &Request::create(volume).by(KARPENTER, [])));
}

#[test]
fn status_and_other_sub_resources_are_matched_by_no_policy() {
    for policy in policies().into_iter().chain([group()]) {
        for rule in policy["spec"]["rules"].as_array().unwrap() {
            for list in ["apiGroups", "apiVersions", "resources", "operations"] {
                for one in rule[list].as_array().unwrap() {
                    let text = one.as_str().unwrap();
                    // A wildcard would also keep the audit scanner from looking.
                    assert!(!text.contains(['/', '*']), "{policy}");
                }
            }
        }
    }
}
