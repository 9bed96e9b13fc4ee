//! Requests that no policy may block, by the match conditions of the manifests.

use cel::{Context, Program, Value as Cel};
use karpwarden_admit::Request;
use serde_json::{Value, json};

use super::samples::good;
use super::types::policies;

const KARPENTER: &str = "system:serviceaccount:kube-system:karpenter";

/// Whether the match conditions of the policy accept the request. A condition that fails to evaluate fails the test: with
/// `failurePolicy: Fail` the API server rejects the request.
fn is_matched(name: &str, request: &Request) -> bool {
    matches_json(name, &request.to_json().unwrap())
}

fn matches_json(name: &str, request: &Value) -> bool {
    let policy = policies().into_iter().find(|policy| policy["metadata"]["name"] == name).unwrap();
    let mut context = Context::default();
    for (variable, pointer) in [("object", "/object"), ("oldObject", "/oldObject"), ("request", "")] {
        let value = request.pointer(pointer).cloned().unwrap_or(Value::Null);
        context.add_variable(variable, value).unwrap();
    }
    let conditions = policy["spec"]["matchConditions"].as_array().unwrap();
    // Every condition is evaluated, so that a false one does not hide the failure of another.
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

const OF_KARPENTER: [(&str, &str); 3] = [
    ("karpwarden-karpenter-objects", "NodePool"),
    ("karpwarden-karpenter-objects", "EC2NodeClass"),
    ("karpwarden-fix", "EC2NodeClass"),
];

#[test]
fn creating_and_changing_objects_is_matched() {
    for (policy, kind) in [
        ("karpwarden-node-overlays", "NodeOverlay"),
        ("karpwarden-workloads", "Deployment"),
        ("karpwarden-pods", "Pod"),
        ("karpwarden-workloads", "CronJob"),
        ("karpwarden-storage", "StorageClass"),
        ("karpwarden-storage", "PersistentVolume"),
        ("karpwarden-controller", "Deployment"),
    ]
    .into_iter()
    .chain(OF_KARPENTER)
    {
        assert!(is_matched(policy, &Request::create(good(kind))), "{policy}: {kind}");
        let old = with(good(kind), "/spec", json!({}));
        assert!(is_matched(policy, &Request::update(old, good(kind))), "{policy}: {kind}");
    }
}

#[test]
fn writes_of_karpenter_are_never_matched() {
    for (policy, kind) in OF_KARPENTER.into_iter().chain([("karpwarden-karpenter-objects", "NodeClaim")]) {
        for namespace in ["kube-system", "karpenter"] {
            let user = format!("system:serviceaccount:{namespace}:karpenter");
            // The hash of the specification: pkg/controllers/nodepool/hash/controller.go at v1.14.
            let hashed =
                with(good(kind), "/metadata/annotations", json!({"karpenter.sh/nodepool-hash": "1"}));
            assert!(
                !is_matched(policy, &Request::update(good(kind), hashed).by(&user, [])),
                "{policy}: {kind}"
            );
            assert!(!is_matched(policy, &Request::create(good(kind)).by(&user, [])), "{policy}: {kind}");
        }
        // The name alone is not enough: other namespaces may have a ServiceAccount of this name.
        let other = Request::create(good(kind)).by("system:serviceaccount:team-a:karpenter", []);
        assert!(is_matched(policy, &other), "{policy}: {kind}");
    }
}

#[test]
fn removing_finalizers_is_never_matched() {
    for (policy, kind) in OF_KARPENTER.into_iter().chain([
        ("karpwarden-node-overlays", "NodeOverlay"),
        ("karpwarden-workloads", "Deployment"),
        ("karpwarden-storage", "StorageClass"),
        ("karpwarden-controller", "Deployment"),
    ]) {
        let going = with(good(kind), "/metadata/deletionTimestamp", json!("2026-11-20T00:00:00Z"));
        let held = with(going.clone(), "/metadata/finalizers", json!(["karpenter.k8s.aws/termination"]));
        let changed = with(going, "/spec", json!({}));
        assert!(!is_matched(policy, &Request::update(held, changed).by("eve", [])), "{policy}: {kind}");
    }
}

#[test]
fn relabelling_and_scaling_existing_objects_is_not_matched() {
    let labelled = |kind| with(good(kind), "/metadata/labels", json!({"a": "b"}));
    for (policy, kind) in OF_KARPENTER.into_iter().chain([("karpwarden-controller", "Deployment")]) {
        assert!(!is_matched(policy, &Request::update(good(kind), labelled(kind))), "{policy}: {kind}");
    }
    let scaled = with(good("Deployment"), "/spec/replicas", json!(7));
    assert!(!is_matched("karpwarden-workloads", &Request::update(good("Deployment"), scaled)));
}

const DISRUPTION: &str = "karpwarden-disruption";

#[test]
fn policy_about_disruption_matches_changes_and_deletions_by_people() {
    for kind in ["NodePool", "EC2NodeClass"] {
        let changed = with(good(kind), "/spec/changed", json!(1));
        for request in [Request::update(good(kind), changed.clone()), Request::delete(good(kind))] {
            for user in ["eve", "system:serviceaccount:argocd:argocd-application-controller"] {
                assert!(is_matched(DISRUPTION, &request.clone().by(user, [])), "{kind}");
                assert!(is_matched(DISRUPTION, &request.clone().by(user, []).dry_run()), "{kind}");
            }
            let of_kubernetes = [
                "system:serviceaccount:kube-system:generic-garbage-collector",
                "system:serviceaccount:kube-system:namespace-controller",
                "system:kube-controller-manager",
            ];
            for user in
                of_kubernetes.into_iter().chain([KARPENTER, "system:serviceaccount:karpenter:karpenter"])
            {
                assert!(!is_matched(DISRUPTION, &request.clone().by(user, [])), "{kind}: {user}");
            }
        }
        let labelled = with(good(kind), "/metadata/labels", json!({"a": "b"}));
        assert!(!is_matched(DISRUPTION, &Request::update(good(kind), labelled)), "{kind}");
        let going =
            |object: Value| with(object, "/metadata/deletionTimestamp", json!("2026-11-20T00:00:00Z"));
        assert!(!is_matched(DISRUPTION, &Request::update(going(good(kind)), going(changed))), "{kind}");
        assert!(!is_matched(DISRUPTION, &Request::delete(going(good(kind)))), "{kind}");
    }
}

/// Without their owner, the NodeClaims of a NodePool stay. An EC2NodeClass owns none.
#[test]
fn nodepool_that_leaves_its_nodes_behind_is_not_matched() {
    for (kind, policy, expected) in [
        ("NodePool", "Orphan", false),
        ("NodePool", "Background", true),
        ("NodePool", "Foreground", true),
        ("EC2NodeClass", "Orphan", true),
    ] {
        let mut request = Request::delete(good(kind)).to_json().unwrap();
        request["options"]["propagationPolicy"] = policy.into();
        assert_eq!(matches_json(DISRUPTION, &request), expected, "{kind} {policy}");
    }
}

#[test]
fn pods_of_matched_workloads_are_not_matched() {
    let owned = |api_version: &str, is_controller: bool| {
        let owner = json!([{"apiVersion": api_version, "kind": "Owner", "name": "a", "uid": "1", "controller": is_controller}]);
        is_matched("karpwarden-pods", &Request::create(with(good("Pod"), "/metadata/ownerReferences", owner)))
    };
    // Owners: a ReplicaSet, a Job, and the node of a mirror pod.
    assert!(!owned("apps/v1", true) && !owned("batch/v1", true) && !owned("v1", true));
    // No policy matches the custom kinds of operators, so their pods are matched.
    assert!(owned("argoproj.io/v1alpha1", true) && owned("apps/v1", false));
}

#[test]
fn provisioned_volumes_are_not_matched() {
    let made = json!({"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"});
    let volume = with(good("PersistentVolume"), "/metadata/annotations", made);
    assert!(!is_matched("karpwarden-storage", &Request::create(volume).by(KARPENTER, [])));
}

#[test]
fn no_policy_matches_subresources() {
    for policy in policies() {
        for rule in policy["spec"]["rules"].as_array().unwrap() {
            for list in ["apiGroups", "apiVersions", "resources", "operations"] {
                for one in rule[list].as_array().unwrap() {
                    let text = one.as_str().unwrap();
                    // The audit scanner ignores rules with a wildcard.
                    assert!(!text.contains(['/', '*']), "{policy}");
                }
            }
        }
    }
}
