//! Host calls: which kinds the policy asks for.

use serde_json::{Value, json};

use super::cluster::{Cluster, deployment, has_warning, node_class, node_pool};

fn asked(object: &Value, settings: &Value) -> Vec<String> {
    let cluster = Cluster::holding([node_pool("general", &json!({}))]);
    cluster.create(object, settings);
    cluster.asked()
}

const NOTHING: [String; 0] = [];

#[test]
fn asks_for_nothing_where_no_other_object_matters() {
    assert_eq!(asked(&deployment(&Value::Null), &json!({})), NOTHING);
    assert_eq!(asked(&node_class("p"), &json!({})), NOTHING);
    // The node class of a new pool may be the next object that kubectl sends.
    assert_eq!(asked(&node_pool("new", &json!({})), &json!({})), NOTHING);
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "ebs"},
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"});
    assert_eq!(asked(&class, &json!({})), NOTHING);
}

#[test]
fn asks_for_pools_if_a_pod_selects_nodes() {
    assert_eq!(asked(&deployment(&json!({"example.com/team": "a"})), &json!({})), ["NodePool"]);
    let mut affine = deployment(&Value::Null);
    affine["spec"]["template"]["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "Exists"}]}]}}});
    assert_eq!(asked(&affine, &json!({})), ["NodePool"]);
}

#[test]
fn compares_a_pod_with_pools_up_to_a_thousand_labels() {
    let selecting = |labels: usize| {
        let selector = (0..labels).map(|index| (format!("example.com/{index}"), json!("a")));
        deployment(&Value::Object(selector.collect()))
    };
    assert_eq!(asked(&selecting(1_000), &json!({})), ["NodePool"]);
    assert_eq!(asked(&selecting(1_001), &json!({})), NOTHING);
    let cluster = Cluster::holding([node_pool("general", &json!({}))]);
    let answer = cluster.create(&selecting(1_001), &json!({"completeInventory": true}));
    assert_eq!(answer["accepted"], true, "{answer}");
    assert!(has_warning(&answer, "the object selects nodes by more than 1000 labels"), "{answer}");
}

#[test]
fn asks_for_storage_classes_if_a_workload_claims_volumes() {
    let mut set = deployment(&Value::Null);
    set["kind"] = "StatefulSet".into();
    set["spec"]["volumeClaimTemplates"] =
        json!([{"metadata": {"name": "data"}, "spec": {"storageClassName": "gp3"}}]);
    assert_eq!(asked(&set, &json!({})), ["StorageClass"]);
    assert_eq!(asked(&set, &json!({"context": "pools"})), NOTHING);
}

#[test]
fn setting_context_limits_the_kinds() {
    let selecting = deployment(&json!({"example.com/team": "a"}));
    assert_eq!(asked(&selecting, &json!({"context": "pools"})), ["NodePool"]);
    assert_eq!(asked(&selecting, &json!({"context": "none"})), NOTHING);
    assert_eq!(asked(&selecting, &json!({"rules": {"labels": "off", "controller": "off"}})), NOTHING);
}

/// Without the list, the absence of a pool is not known, whatever the settings say.
#[test]
fn lists_that_are_missing_prove_no_absence() {
    let selecting = deployment(&json!({"karpenter.sh/nodepool": "other"}));
    let rejected = Cluster::holding([node_pool("general", &json!({}))])
        .create(&selecting, &json!({"completeInventory": true}));
    assert_eq!(rejected["accepted"], false, "{rejected}");
    for (cluster, settings) in [
        (Cluster::failing("nodepools is forbidden"), json!({"completeInventory": true})),
        (Cluster::default(), json!({"completeInventory": true, "context": "none"})),
    ] {
        let answer = cluster.create(&selecting, &settings);
        assert_eq!(answer["accepted"], true, "{answer}");
    }
    let failed = Cluster::failing("nodepools is forbidden").create(&selecting, &json!({}));
    assert!(has_warning(&failed, "NodePool objects could not be looked up"), "{failed}");
}

#[test]
fn answers_that_are_no_list_prove_no_absence() {
    let selecting = deployment(&json!({"karpenter.sh/nodepool": "other"}));
    // A list that breaks off behind many objects, one of which mentions the label.
    let broken = format!("{{\"items\": [{}]", [r#"{"a": "other"}"#; 9].join(","));
    let answers: [&[u8]; 9] = [
        b"",
        b"null",
        b"1",
        b"{}",
        br#"{"items": 1}"#,
        br#"{"items": ["#,
        b"nonsense",
        b"\xff",
        broken.as_bytes(),
    ];
    for bytes in answers {
        let answer = Cluster::answering(bytes).create(&selecting, &json!({"completeInventory": true}));
        assert_eq!(answer["accepted"], true, "{bytes:?}: {answer}");
        assert!(has_warning(&answer, "NodePool objects could not be looked up"), "{bytes:?}: {answer}");
    }
}

/// The node class of a pool exists, but its list cannot be read.
#[test]
fn unreadable_node_classes_are_not_dangling() {
    let pool = node_pool("general", &json!({}));
    let answer = Cluster::failing("forbidden").update(&pool, &pool, &json!({"completeInventory": true}));
    assert_eq!(answer["accepted"], true);
    assert!(!has_warning(&answer, "nodeclass-ref-dangling"), "{answer}");
}

#[test]
fn thousand_pools_get_one_request_and_a_verdict() {
    let pools: Vec<_> = (0..1_000)
        .map(|index| node_pool(&format!("p{index}"), &json!({"example.com/team": format!("t{index}")})))
        .collect();
    let cluster = Cluster::holding(pools);
    let fits = cluster.create(&deployment(&json!({"example.com/team": "t999"})), &json!({}));
    assert!(!has_warning(&fits, "pod-no-matching-pool"), "{fits}");
    let stuck = cluster.create(&deployment(&json!({"example.com/team": "t1000"})), &json!({}));
    assert!(has_warning(&stuck, "pod-no-matching-pool"), "{stuck}");
    assert_eq!(cluster.asked(), ["NodePool", "NodePool"]);
}

#[test]
fn verdict_does_not_depend_on_the_order_of_the_pools() {
    let pool =
        |index: usize| node_pool(&format!("p{index}"), &json!({"example.com/team": format!("t{index}")}));
    let tainted = |index: usize| {
        let mut pool = node_pool(&format!("q{index}"), &json!({"example.com/team": "t7"}));
        pool["spec"]["template"]["spec"]["taints"] =
            json!([{"key": "example.com/only", "effect": "NoSchedule"}]);
        pool
    };
    let selecting = deployment(&json!({"example.com/team": "t7"}));
    // The first NodePools that share the label do not take the pod.
    let mut pools: Vec<_> = (0..20).map(tainted).chain((0..20).map(pool)).collect();
    for _ in 0..2 {
        let answer = Cluster::holding(pools.clone()).create(&selecting, &json!({}));
        assert!(
            !has_warning(&answer, "pod-no-matching-pool") && !has_warning(&answer, "pod-missing-toleration"),
            "{answer}"
        );
        pools.reverse();
    }
    let answer =
        Cluster::holding((0..20).map(tainted).chain((8..20).map(pool))).create(&selecting, &json!({}));
    assert!(has_warning(&answer, "pod-missing-toleration"), "{answer}");
}

#[test]
fn counts_every_pool_and_names_the_pool_that_the_pod_selects() {
    let mut pools: Vec<_> = (0..40).map(|index| node_pool(&format!("p{index}"), &json!({}))).collect();
    pools.push(node_pool("last", &json!({"example.com/team": "blue"})));
    let stuck = |value: &str| {
        Cluster::holding(pools.clone()).create(&deployment(&json!({"example.com/team": value})), &json!({}))
    };
    let answer = stuck("red");
    assert!(has_warning(&answer, "`last` has other values for `example.com/team`"), "{answer}");
    assert!(has_warning(&answer, "39 more do not match"), "{answer}");
    assert!(!has_warning(&stuck("blue"), "pod-no-matching-pool"));
}

#[test]
fn last_pool_counts_if_it_sets_the_label_or_has_another_provider() {
    const NODE_GROUP: &str = "eks.amazonaws.com/nodegroup";
    let pools = || (0..40).map(|index| node_pool(&format!("p{index}"), &json!({})));
    let answer = |last: Value, label: &str| {
        Cluster::holding(pools().chain([last])).create(&deployment(&json!({label: "a"})), &json!({}))
    };
    let other = node_pool("last", &json!({}));
    assert!(has_warning(&answer(other.clone(), NODE_GROUP), "nodegroup-label-selector"));
    let labelled = node_pool("last", &json!({NODE_GROUP: "b"}));
    assert!(!has_warning(&answer(labelled, NODE_GROUP), "nodegroup-label-selector"));
    assert!(has_warning(&answer(other.clone(), "team"), "pod-no-matching-pool"));
    let mut auto = other;
    auto["spec"]["template"]["spec"]["nodeClassRef"]["group"] = json!("eks.amazonaws.com");
    assert!(!has_warning(&answer(auto, "team"), "pod-no-matching-pool"));
}

/// What follows is no JSON, which shows that it is not read.
#[test]
fn reads_no_further_pool_once_a_pool_takes_the_pods() {
    let pool = node_pool("a", &json!({"team": "blue"}));
    let list = format!("{{\"items\": [{pool}, nonsense");
    let answer = |labels: &Value| Cluster::answering(list.as_bytes()).create(&deployment(labels), &json!({}));
    let unread = |answer: &Value| has_warning(answer, "NodePool objects could not be looked up");
    assert!(!unread(&answer(&json!({"team": "blue"}))));
    assert!(unread(&answer(&json!({"team": "red"}))));
    assert!(unread(&answer(&json!({"team": "blue", "tier": "web"}))));
}

#[test]
fn reads_pools_whose_text_has_escapes() {
    let pools = [node_pool("a", &json!({"x": "\"", "team": "blue"})), node_pool("b", &json!({}))];
    let answer =
        |team: &str| Cluster::holding(pools.clone()).create(&deployment(&json!({"team": team})), &json!({}));
    assert!(!has_warning(&answer("blue"), "pod-no-matching-pool"));
    assert!(has_warning(&answer("red"), "`a` has other values for `team`, `b` does not set `team`"));
}
