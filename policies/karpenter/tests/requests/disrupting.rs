//! Updates and deletions of NodePools and EC2NodeClasses: what they do to nodes.

use serde_json::{Value, json};

use super::cluster::{Cluster, has_warning, node_class, node_pool, warnings};

fn claim(name: &str, pool: &str) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool, "kubernetes.io/arch": "amd64"}},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}})
}

fn pool(team: &str) -> Value {
    node_pool("general", &json!({"example.com/team": team}))
}

fn delete(cluster: &Cluster, object: &Value, settings: &Value) -> Value {
    cluster.answer(&json!({"operation": "DELETE", "object": null, "oldObject": object}), settings)
}

const LISTED: [&str; 2] = ["NodePool", "NodeClaim"];

#[test]
fn lists_nodes_only_if_a_change_replaces_them() {
    let cluster = Cluster::holding([claim("a", "general"), claim("b", "other")]);
    let answer = cluster.update(&pool("a"), &pool("b"), &json!({"rules": {"nodeclass": "off"}}));
    assert_eq!(cluster.asked(), LISTED);
    assert!(has_warning(&answer, "replaces the only node of NodePool `general` (`a`)"), "{answer}");

    let cluster = Cluster::holding([claim("a", "general")]);
    let mut limited = pool("a");
    limited["spec"]["limits"] = json!({"cpu": "10"});
    let answer = cluster.update(&pool("a"), &limited, &json!({"rules": {"nodeclass": "off"}}));
    assert_eq!(warnings(&answer), [] as [&str; 0]);
    assert_eq!(cluster.asked(), [] as [String; 0]);

    let cluster = Cluster::holding([claim("a", "general")]);
    let answer = cluster.update(
        &pool("a"),
        &pool("b"),
        &json!({"rules": {"update-replaces-nodes": "off", "nodeclass": "off"}}),
    );
    assert_eq!(warnings(&answer), [] as [&str; 0]);
    assert_eq!(cluster.asked(), [] as [String; 0]);
}

#[test]
fn nodes_that_already_have_the_new_hash_stay() {
    let hashed = |object: Value| {
        let mut claim = claim("a", "general");
        let text = object.to_string();
        let source = karpwarden::manifest::File::read("-", text, karpwarden::READ_OPTIONS);
        let Some(karpwarden::Document::Read(tree)) = source.documents.first() else { panic!() };
        let object = karpwarden::Object::all(tree)[0];
        let options = karpwarden::drift::HashOptions {
            is_stored: true,
            ..karpwarden::drift::HashOptions::new(karpwarden::karpenter::release::Release::NEWEST)
        };
        let hash = karpwarden::drift::hash(object, &options).unwrap().unwrap();
        claim["metadata"]["annotations"] = json!({"karpenter.sh/nodepool-hash": hash.to_string(), "karpenter.sh/nodepool-hash-version": hash.version});
        Cluster::holding([claim])
    };
    let settings = json!({"rules": {"update-replaces-nodes": "deny"}});
    assert_eq!(hashed(pool("a")).update(&pool("b"), &pool("a"), &settings)["accepted"], true);
    assert_eq!(hashed(pool("b")).update(&pool("b"), &pool("a"), &settings)["accepted"], false);
}

#[test]
fn change_without_nodes_is_silent() {
    for objects in [vec![], vec![claim("b", "other")]] {
        let answer = Cluster::holding(objects).update(&pool("a"), &pool("b"), &json!({}));
        assert_eq!(warnings(&answer), [] as [&str; 0]);
    }
}

#[test]
fn deletion_of_what_is_in_use_is_rejected() {
    for (object, message) in [
        (pool("a"), "Karpenter drains the only node of NodePool `general` (`a`)"),
        (node_class("p"), "the EC2NodeClass is in use by the only node of NodePool `general` (`a`)"),
    ] {
        let cluster = Cluster::holding([claim("a", "general")]);
        let answer = delete(&cluster, &object, &json!({}));
        assert_eq!(answer["accepted"], false, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(message), "{answer}");
        assert_eq!(cluster.asked(), LISTED);
        let unused = delete(&Cluster::default(), &object, &json!({}));
        assert_eq!((&unused["accepted"], &unused["warnings"]), (&json!(true), &Value::Null), "{unused}");
    }
    let pools = Cluster::holding([pool("a")]);
    assert_eq!(delete(&pools, &node_class("p"), &json!({}))["accepted"], false);
}

/// Without the list, only the status of the NodePool rejects. Otherwise a warning says that nodes could not be counted.
#[test]
fn nodes_that_are_not_known_are_a_warning() {
    const UNCOUNTED: &str = "could not be counted";
    let mut counted = pool("a");
    counted["status"] = json!({"resources": {"nodes": "3"}});
    for (object, accepted) in [(pool("a"), true), (node_class("p"), true), (counted, false)] {
        let denying = json!({"rules": {"deletion-removes-nodes": "deny"}});
        let answer = delete(&Cluster::failing("forbidden"), &object, &denying);
        assert_eq!(answer["accepted"], accepted, "{answer}");
        assert!(has_warning(&answer, "NodeClaim objects could not be looked up"), "{answer}");
        assert_eq!(has_warning(&answer, UNCOUNTED), accepted, "{answer}");
        let unseen = Cluster::answering(b"{\"items\": [{}");
        for context in ["none", "pools"] {
            let settings = json!({"context": context, "rules": {"deletion-removes-nodes": "deny"}});
            let answer = delete(&unseen, &object, &settings);
            assert_eq!(answer["accepted"], accepted, "{answer}");
            assert_eq!(has_warning(&answer, UNCOUNTED), accepted, "{answer}");
        }
        let off = json!({"context": "none", "rules": {"deletion-removes-nodes": "off"}});
        assert_eq!(warnings(&delete(&unseen, &object, &off)), [] as [&str; 0]);
    }
    let mut accepted = pool("a");
    accepted["metadata"]["annotations"] = json!({"karpwarden/ignore": "deletion-removes-nodes -- unused"});
    let settings = json!({"context": "none", "allowIgnoreAnnotation": true});
    assert_eq!(warnings(&delete(&Cluster::default(), &accepted, &settings)), [] as [&str; 0]);
}

#[test]
fn only_rules_about_deletions_review_a_deletion() {
    let faulty = node_pool("general", &json!({"karpenter.sh/team": "a"}));
    for settings in [json!({}), json!({"fix": true})] {
        let answer = delete(&Cluster::default(), &faulty, &settings);
        assert_eq!((&answer["accepted"], &answer["warnings"]), (&json!(true), &Value::Null), "{answer}");
    }
    let pod =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}});
    let answer = delete(&Cluster::default(), &pod, &json!({}));
    assert_eq!((&answer["accepted"], &answer["warnings"]), (&json!(true), &Value::Null), "{answer}");
}

/// An object of an administrator who wants to be rid of it.
#[test]
fn object_beyond_a_bound_can_be_deleted() {
    let mut large = pool("a");
    large["padding"] = vec![0; 1_000_100].into();
    let answer = delete(&Cluster::default(), &large, &json!({"onExceededBound": "deny"}));
    assert_eq!(answer["accepted"], true);
    assert!(has_warning(&answer, "the object was not checked: more than 1000000 values"), "{answer}");
}
