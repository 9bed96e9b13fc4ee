//! Updates of objects that were wrong before.

use serde_json::{Value, json};

use super::cluster::{ARN, Cluster, deployment, has_warning, node_class, node_pool};

fn update(old: &Value, new: &Value, settings: &Value) -> Value {
    Cluster::default().update(old, new, settings)
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[key] = value;
    object
}

/// A pool with a label that Karpenter refuses to set.
fn bad_pool() -> Value {
    node_pool("general", &json!({"karpenter.sh/team": "a"}))
}

#[test]
fn raising_a_limit_of_an_old_bad_pool_is_accepted_with_a_warning() {
    let new = with(bad_pool(), "/spec/limits", json!({"cpu": "200"}));
    let answer = update(&with(bad_pool(), "/spec/limits", json!({"cpu": "100"})), &new, &json!({}));
    assert_eq!(answer["accepted"], true, "{answer}");
    assert!(has_warning(&answer, "restricted-label"), "{answer}");
    assert!(has_warning(&answer, "the object had this error before the update"), "{answer}");
}

#[test]
fn restart_and_new_image_of_an_old_bad_deployment_are_accepted() {
    let bad = deployment(&json!({"karpenter.sh/team": "a"}));
    let restarted = with(
        bad.clone(),
        "/spec/template/metadata/annotations",
        json!({"kubectl.kubernetes.io/restartedAt": "2026-11-22T10:00:00Z"}),
    );
    let image = with(bad.clone(), "/spec/template/spec/containers/0/image", json!("example.com/web:2"));
    for new in [restarted, image] {
        assert_eq!(update(&bad, &new, &json!({}))["accepted"], true);
        assert_eq!(update(&bad, &new, &json!({"strictUpdates": true}))["accepted"], false);
    }
}

#[test]
fn new_error_beside_an_old_one_rejects() {
    let new = node_pool("general", &json!({"karpenter.sh/team": "a", "karpenter.sh/tier": "b"}));
    let answer = update(&bad_pool(), &new, &json!({}));
    assert_eq!(answer["accepted"], false);
    let message = answer["message"].as_str().unwrap();
    assert!(message.starts_with("1 error in") && message.contains("karpenter.sh/tier"), "{message}");
}

#[test]
fn another_wrong_value_at_the_same_place_rejects() {
    let other = "arn:aws:iam::111122223333:instance-profile/q";
    assert_eq!(update(&node_class(ARN), &node_class(other), &json!({}))["accepted"], false);
    assert_eq!(update(&node_class("p"), &node_class(ARN), &json!({}))["accepted"], false);
}

#[test]
fn error_that_moves_within_a_list_is_still_the_old_error() {
    let requirement = |key: &str| json!({"key": key, "operator": "In", "values": ["a"]});
    let pool = |keys: &[&str]| {
        let requirements: Vec<_> = keys.iter().map(|key| requirement(key)).collect();
        with(node_pool("general", &json!({})), "/spec/template/spec/requirements", requirements.into())
    };
    let old = pool(&["karpenter.sh/team"]);
    let moved = update(
        &old,
        &pool(&["example.com/a", "karpenter.sh/team"]),
        &json!({"rules": {"api-server": "off"}}),
    );
    assert_eq!(moved["accepted"], true, "{moved}");
    let created = Cluster::default().create(&old, &json!({"rules": {"api-server": "off"}}));
    assert_eq!(created["accepted"], false, "{created}");
}

/// Custom resources follow the API server: kubernetes/enhancements keps/sig-api-machinery/4008-crd-ratcheting.
#[test]
fn refusals_of_unchanged_fields_follow_the_kubernetes_release() {
    let bad = with(node_pool("general", &json!({})), "/spec/weight", json!(500));
    let new = with(bad.clone(), "/spec/limits", json!({"cpu": "200"}));
    for (version, accepted) in [("1.29", false), ("1.30", true), ("1.36", true)] {
        let answer = update(&bad, &new, &json!({"kubernetesVersion": version}));
        assert_eq!(answer["accepted"], accepted, "{version}: {answer}");
    }
    let changed = with(bad.clone(), "/spec/weight", json!(501));
    assert_eq!(update(&bad, &changed, &json!({"kubernetesVersion": "1.36"}))["accepted"], false);
}
