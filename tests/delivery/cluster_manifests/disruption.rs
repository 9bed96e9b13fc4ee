//! The policy of the component `disruption`: updates and deletions as kubectl sends them, with the settings of each mode.

use karpwarden_admit::server::Mode;
use karpwarden_admit::{AdmissionResponse, FakeCluster, Request};
use serde_json::{Value, json};

use super::matched::{module, policy};
use super::samples::good;
use super::types::policies;

fn claim(name: &str, pool: &str) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool, "karpenter.sh/capacity-type": "spot"}},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []},
        "status": {"nodeName": name}})
}

/// Answers a request in a cluster with other objects, under changed settings.
fn answer(
    request: &Request,
    mode: Mode,
    levels: &Value,
    objects: Vec<Value>,
) -> (AdmissionResponse, FakeCluster) {
    let all = policies();
    let manifest = all.iter().find(|policy| policy["metadata"]["name"] == "karpwarden-disruption").unwrap();
    let mut spec = manifest["spec"].clone();
    for (rule, level) in levels.as_object().unwrap() {
        spec["settings"]["rules"][rule] = level.clone();
    }
    spec["settings"]["announceErrors"] = (mode == Mode::Monitor).into();
    let granted = spec["contextAwareResources"].as_array().unwrap().clone();
    let granted =
        granted.iter().map(|one| (one["apiVersion"].as_str().unwrap(), one["kind"].as_str().unwrap()));
    let cluster = FakeCluster::holding(objects).granting(granted);
    let policy = policy(module(), &spec).mode(mode);
    assert!(policy.check_settings(&cluster).valid);
    (policy.review(&request.to_json().unwrap(), &cluster), cluster)
}

fn warnings(response: &AdmissionResponse) -> String {
    response.warnings.clone().unwrap_or_default().join("\n")
}

fn relabelled() -> Value {
    let mut pool = good("NodePool");
    pool["spec"]["template"]["metadata"]["labels"]["example.com/team"] = "b".into();
    pool
}

fn annotated(mut object: Value, reason: &str) -> Value {
    object["metadata"]["annotations"] = json!({"karpwarden/ignore": reason});
    object
}

#[test]
fn update_names_the_nodes_that_it_replaces() {
    let objects = || vec![good("NodePool"), good("EC2NodeClass"), claim("a", "default"), claim("b", "other")];
    let pool = Request::update(good("NodePool"), relabelled());
    for mode in [Mode::Monitor, Mode::Protect] {
        let (response, cluster) = answer(&pool, mode, &json!({}), objects());
        assert!(response.allowed);
        let expected = "update-replaces-nodes at spec.template.metadata.labels.example.com/team: changing \
            `spec.template.metadata.labels.example.com/team` replaces the only node of NodePool `default` (`a`)";
        assert!(warnings(&response).starts_with(expected), "{response:?}");
        assert!(cluster.calls().iter().all(|call| call.refusal.is_none()), "{:?}", cluster.calls());
    }
    let mut tagged = good("EC2NodeClass");
    tagged["spec"]["tags"] = json!({"team": "a"});
    let class = Request::update(good("EC2NodeClass"), tagged);
    let (response, _) = answer(&class, Mode::Monitor, &json!({}), objects());
    assert!(
        warnings(&response).contains("replaces all 2 nodes of NodePools `default`, `other` (`a`, `b`)"),
        "{response:?}"
    );
}

#[test]
fn update_that_replaces_nothing_asks_for_nothing() {
    let mut limited = good("NodePool");
    limited["spec"]["limits"] = json!({"cpu": "100"});
    let (response, cluster) = answer(
        &Request::update(good("NodePool"), limited),
        Mode::Protect,
        &json!({}),
        vec![claim("a", "default")],
    );
    assert!(response.allowed && response.warnings.is_none(), "{response:?}");
    assert_eq!(cluster.calls(), []);
    // The nodes of other NodePools stay.
    let update = Request::update(good("NodePool"), relabelled());
    let (response, cluster) = answer(&update, Mode::Protect, &json!({}), vec![claim("b", "other")]);
    assert!(response.allowed && response.warnings.is_none(), "{response:?}");
    assert!(!cluster.calls().is_empty());
}

#[test]
fn annotation_with_a_reason_lifts_the_change_freeze() {
    let freeze = json!({"update-replaces-nodes": "deny"});
    let update = |new: Value| {
        answer(&Request::update(good("NodePool"), new), Mode::Protect, &freeze, vec![claim("a", "default")]).0
    };
    let denied = update(relabelled());
    assert!(!denied.allowed && denied.message().contains("update-replaces-nodes -- REASON"), "{denied:?}");
    assert!(!update(annotated(relabelled(), "update-replaces-nodes")).allowed);
    assert!(update(annotated(relabelled(), "update-replaces-nodes -- OPS-17")).allowed);
}

#[test]
fn deletion_of_what_is_in_use_is_announced_or_rejected() {
    let objects = || vec![good("NodePool"), good("EC2NodeClass"), claim("a", "default")];
    for (kind, expected) in [
        ("NodePool", "Karpenter drains the only node of NodePool `default` (`a`)"),
        ("EC2NodeClass", "the EC2NodeClass is in use by the only node of NodePool `default` (`a`)"),
    ] {
        let delete = Request::delete(good(kind));
        for request in [delete.clone(), delete.dry_run()] {
            let (monitored, _) = answer(&request, Mode::Monitor, &json!({}), objects());
            assert!(
                monitored.allowed
                    && warnings(&monitored).contains("would be rejected: deletion-removes-nodes")
            );
            let (protected, _) = answer(&request, Mode::Protect, &json!({}), objects());
            assert!(!protected.allowed && protected.message().contains(expected), "{protected:?}");
        }
        let lifted = Request::delete(annotated(good(kind), "deletion-removes-nodes -- OPS-18"));
        let (response, _) = answer(&lifted, Mode::Protect, &json!({}), objects());
        assert!(response.allowed && response.warnings.is_none(), "{response:?}");
        let (unused, _) = answer(&Request::delete(good(kind)), Mode::Protect, &json!({}), Vec::new());
        assert!(unused.allowed && unused.warnings.is_none(), "{unused:?}");
    }
}
