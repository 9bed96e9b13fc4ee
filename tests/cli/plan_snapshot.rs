//! `karpwarden plan --snapshot`: the files against a cluster.

use serde_json::{Value, json};

use crate::folder::{Folder, Run};

pub(crate) const AT: &str = "2026-03-14T22:00:00Z";

/// The NodePool as `pool.yaml` has it, and as the cluster has it with `expireAfter: 720h`.
pub(crate) fn pool(team: &str) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {
        "disruption": {"consolidateAfter": "1h", "budgets": [{"nodes": "1"}]},
        "template": {"metadata": {"labels": {"team": team}}, "spec": {
            "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large", "m5.xlarge"]}],
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}})
}

pub(crate) fn class() -> Value {
    json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {
        "role": "r", "amiSelectorTerms": [{"alias": "al2023@v20250807"}], "userData": "echo secret",
        "subnetSelectorTerms": [{"tags": {"d": "x"}}], "securityGroupSelectorTerms": [{"tags": {"d": "x"}}]},
        "status": {
            "amis": [{"id": "ami-1", "name": "a", "requirements": []}],
            "subnets": [{"id": "subnet-1", "zone": "us-east-1a", "zoneID": "use1-az1"}],
            "securityGroups": [{"id": "sg-1"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-03-01T00:00:00Z"}]}})
}

/// The hash of an object at 1.14, as `karpwarden hash` prints it.
fn hash_of(folder: &Folder, name: &str) -> String {
    let run = folder.run(&["hash", "--karpenter-version", "1.14", "--format", "json", name]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    answer["objects"][0]["hash"].as_str().unwrap().to_owned()
}

/// A cluster with some nodes of the NodePool.
pub(crate) fn cluster(nodes: usize) -> Folder {
    let folder = Folder::with(&[("pool.yaml", &pool("a").to_string()), ("class.yaml", &class().to_string())]);
    // Any constant: the cluster's CA bundle.
    let class_hash = (hash_of(&folder, "class.yaml").parse::<u64>().unwrap() ^ 0x3039).to_string();
    let annotations = json!({
        "karpenter.sh/nodepool-hash": hash_of(&folder, "pool.yaml"), "karpenter.sh/nodepool-hash-version": "v3",
        "karpenter.k8s.aws/ec2nodeclass-hash": class_hash, "karpenter.k8s.aws/ec2nodeclass-hash-version": "v5",
    });
    let (mut stored_pool, mut stored_class) = (pool("a"), class());
    stored_pool["metadata"]["annotations"] = annotations.clone();
    stored_class["metadata"]["annotations"] = annotations.clone();
    stored_pool["spec"]["template"]["spec"]["expireAfter"] = json!("720h");
    let mut items = vec![stored_pool, stored_class];
    for number in 1..=nodes {
        let name = format!("default-{number}");
        let node = format!("node-{number}");
        let id = format!("aws:///us-east-1a/i-{number}");
        let labels = json!({
            "karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
            "karpenter.sh/capacity-type": "on-demand", "node.kubernetes.io/instance-type": if number == 1 { "m5.xlarge" } else { "m5.large" },
            "topology.kubernetes.io/zone": "us-east-1a", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "team": "a",
            "kubernetes.io/hostname": node,
        });
        let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-03-10T00:00:00Z"});
        let conditions = ["Launched", "Registered", "Initialized"].map(condition);
        items.push(json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {
            "name": name, "labels": labels, "annotations": annotations, "creationTimestamp": "2026-03-10T00:00:00Z"},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": [], "expireAfter": "720h"},
            "status": {"nodeName": node, "providerID": id, "imageID": "ami-1",
                "capacity": {"cpu": "2", "memory": "8Gi", "pods": "29"}, "allocatable": {"cpu": "1900m", "memory": "7Gi", "pods": "29"},
                "conditions": conditions}}));
        items.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels},
            "spec": {"providerID": id}, "status": {
                "capacity": {"cpu": "2", "memory": "8Gi", "pods": "29"}, "allocatable": {"cpu": "1900m", "memory": "7Gi", "pods": "29"},
                "conditions": [{"type": "Ready", "status": "True"}]}}));
        items.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("web-{number}"), "namespace": "shop",
            "labels": {"app": "web"}, "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": true}]},
            "spec": {"nodeName": node, "containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": "1500m"}}}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}));
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    folder.write("snapshot/cluster.json", list.to_string().as_bytes());
    folder
}

pub(crate) fn plan(folder: &Folder, further: &[&str]) -> Run {
    let common = ["plan", "--snapshot", "snapshot", "--karpenter-version", "1.14", "--at", AT];
    folder.run(&[&common[..], further].concat())
}

pub(crate) fn json_of(folder: &Folder, further: &[&str]) -> Value {
    let run = plan(folder, &[&["--format", "json"], further].concat());
    let answer = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    crate::answers::assert_valid("plan", &answer);
    answer
}

/// The reason of each node that drifts or may.
pub(crate) fn reasons(answer: &Value) -> Vec<(String, String, bool)> {
    let nodes = answer["nodes"].as_array().unwrap().iter();
    nodes
        .map(|node| {
            let text = |key: &str| node[key].as_str().unwrap().to_owned();
            (text("nodeClaim"), text("reason"), node["uncertain"].as_bool().unwrap())
        })
        .collect()
}

#[test]
fn files_like_the_cluster_replace_no_node() {
    let folder = cluster(2);
    for paths in [&[][..], &["pool.yaml"], &["pool.yaml", "class.yaml"]] {
        let answer = json_of(&folder, paths);
        assert_eq!(answer["nodes"], json!([]), "{paths:?}");
        assert_eq!(
            answer["verdict"], "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes",
            "{paths:?}"
        );
    }
}

#[test]
fn a_changed_hash_replaces_every_node() {
    let folder = cluster(3);
    folder.write("pool.yaml", pool("b").to_string().as_bytes());
    let answer = json_of(&folder, &["pool.yaml"]);
    assert_eq!(reasons(&answer).len(), 3);
    assert!(reasons(&answer).iter().all(|(_, reason, may)| reason == "NodePoolDrifted" && !may), "{answer}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("replaces 3 of 3 nodes"), "{answer}");
    let changed = class().to_string().replace("\"r\"", "\"s\"");
    folder.write("class.yaml", changed.as_bytes());
    let answer = json_of(&folder, &["class.yaml"]);
    assert!(reasons(&answer).iter().all(|(_, reason, may)| reason == "NodeClassDrift" && !may), "{answer}");
}

#[test]
fn narrower_requirements_replace_the_nodes_that_no_longer_fit() {
    let folder = cluster(2);
    let narrower = pool("a").to_string().replace("\"m5.large\",\"m5.xlarge\"", "\"m5.large\"");
    folder.write("pool.yaml", narrower.as_bytes());
    let answer = json_of(&folder, &["pool.yaml"]);
    assert_eq!(reasons(&answer), [("default-1".to_owned(), "RequirementsDrifted".to_owned(), false)]);
    assert!(answer["verdict"].as_str().unwrap().starts_with("replaces 1 of 2 nodes"), "{answer}");
}

#[test]
fn selectors_decide_only_with_what_ec2_says() {
    let folder = cluster(1);
    let other = class().to_string().replace(
        "\"subnetSelectorTerms\":[{\"tags\":{\"d\":\"x\"}}]",
        "\"subnetSelectorTerms\":[{\"tags\":{\"d\":\"y\"}}]",
    );
    folder.write("class.yaml", other.as_bytes());
    let answer = json_of(&folder, &["class.yaml"]);
    assert_eq!(reasons(&answer), [("default-1".to_owned(), "SubnetDrift".to_owned(), true)]);
    assert!(
        answer["verdict"].as_str().unwrap().starts_with("may replace 1 of 1 node: spec.subnetSelectorTerms"),
        "{answer}"
    );
}

#[test]
fn secrets_that_the_snapshot_leaves_out_are_no_change() {
    let folder = cluster(1);
    let text = folder.read("snapshot/cluster.json").replace("echo secret", "echo REDACTED");
    folder.write("snapshot/cluster.json", text.as_bytes());
    let answer = json_of(&folder, &["class.yaml"]);
    assert_eq!(reasons(&answer), []);
    assert!(
        answer["assumptions"]
            .to_string()
            .contains("leaves out of spec.userData of EC2NodeClass default do not change"),
        "{answer}"
    );
    folder.write("class.yaml", class().to_string().replace("echo secret", "printf secret").as_bytes());
    let answer = json_of(&folder, &["class.yaml"]);
    assert_eq!(reasons(&answer), [("default-1".to_owned(), "NodeClassDrift".to_owned(), false)]);
}

#[test]
fn a_redacted_annotation_of_a_template_is_compared_by_the_hash() {
    let annotated = |value: &str| {
        let mut pool = pool("a");
        pool["spec"]["template"]["metadata"]["annotations"] = json!({"example.com/owner": value});
        pool
    };
    let folder = cluster(1);
    folder.write("pool.yaml", annotated("team-a").to_string().as_bytes());
    let hash = hash_of(&folder, "pool.yaml");
    let mut items: Value = serde_json::from_str(&folder.read("snapshot/cluster.json")).unwrap();
    for item in items["items"].as_array_mut().unwrap() {
        if item["kind"] == "NodePool" {
            item["spec"]["template"]["metadata"]["annotations"] = json!({"example.com/owner": "REDACTED"});
        }
        if item["kind"] == "NodePool" || item["kind"] == "NodeClaim" {
            item["metadata"]["annotations"]["karpenter.sh/nodepool-hash"] = json!(hash);
        }
    }
    folder.write("snapshot/cluster.json", items.to_string().as_bytes());
    let same = json_of(&folder, &["pool.yaml"]);
    assert_eq!(reasons(&same), []);
    assert!(same["verdict"].as_str().unwrap().starts_with("no node is replaced"), "{same}");
    folder.write("pool.yaml", annotated("team-b").to_string().as_bytes());
    let changed = json_of(&folder, &["pool.yaml"]);
    assert_eq!(reasons(&changed), [("default-1".to_owned(), "NodePoolDrifted".to_owned(), false)]);
    assert_eq!(changed["changes"][0]["effect"], "replaces-all", "{changed}");
}

#[test]
fn an_upgrade_writes_new_hashes_and_replaces_no_node() {
    let folder = cluster(1);
    let text = folder.read("snapshot/cluster.json").replace("\"v5\"", "\"v4\"");
    folder.write("snapshot/cluster.json", text.as_bytes());
    let answer = json_of(&folder, &["--from", "1.11"]);
    assert_eq!(reasons(&answer), [], "{answer}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("no node is replaced"), "{answer}");
}

#[test]
fn what_has_drifted_already_goes_on() {
    let folder = cluster(2);
    let text = folder.read("snapshot/cluster.json").replacen(
        "{\"lastTransitionTime\":\"2026-03-10T00:00:00Z\",\"message\":\"\",\"reason\":\"Launched\"",
        "{\"lastTransitionTime\":\"2026-03-13T00:00:00Z\",\"message\":\"\",\"reason\":\"AMIDrift\",\"status\":\"True\",\"type\":\"Drifted\"},{\"lastTransitionTime\":\"2026-03-10T00:00:00Z\",\"message\":\"\",\"reason\":\"Launched\"",
        1,
    );
    assert!(text.contains("AMIDrift"));
    folder.write("snapshot/cluster.json", text.as_bytes());
    let answer = json_of(&folder, &[]);
    assert_eq!(reasons(&answer), [("default-1".to_owned(), "AMIDrift".to_owned(), false)]);
    assert_eq!(answer["nodes"][0]["driftedBefore"], true);
}

#[test]
fn a_removed_node_pool_that_keeps_itself_may_stay() {
    let folder = cluster(2);
    let path = folder.path("snapshot/cluster.json");
    let mut list: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (key, value) in
        [("argocd.argoproj.io/sync-options", "Prune=false"), ("helm.sh/resource-policy", "keep")]
    {
        list["items"][0]["metadata"]["annotations"] = json!({key: value});
        folder.write("snapshot/cluster.json", list.to_string().as_bytes());
        let answer = json_of(&folder, &["--complete", "class.yaml"]);
        let expected =
            format!("may replace nodes: NodePool/default: it may stay in the cluster: `{key}: {value}`");
        assert_eq!(answer["verdict"], expected, "{answer}");
        assert_eq!(answer["changes"][0]["effect"], "unknown", "{answer}");
    }
}

#[test]
fn a_file_that_the_kustomization_beside_it_does_not_list_may_not_be_applied() {
    let folder = cluster(2);
    folder.write("nodes/class.yaml", class().to_string().as_bytes());
    folder.write("nodes/kustomization.yaml", b"resources: [class.yaml]\n");
    let verdict = |team: &str, further: &[&str]| {
        folder.write("nodes/pool.yaml", pool(team).to_string().as_bytes());
        json_of(&folder, &[further, &["nodes"]].concat())["verdict"].as_str().unwrap().to_owned()
    };
    let may = |what: &str| {
        format!("may replace nodes: NodePool/default: it may {what}: no kustomization lists nodes/pool.yaml")
    };
    assert_eq!(verdict("b", &[]), may("change"));
    assert_eq!(verdict("a", &["--complete"]), may("stay in the cluster"));
    let none = verdict("a", &[]);
    assert!(none.starts_with("no node is replaced"), "{none}");
    folder.write("nodes/kustomization.yaml", b"resources: [class.yaml, pool.yaml]\n");
    assert!(verdict("b", &[]).starts_with("replaces 2 of 2 nodes"));
}

#[test]
fn a_removed_node_pool_removes_its_nodes() {
    let folder = cluster(2);
    let answer = json_of(&folder, &["--complete", "class.yaml"]);
    assert!(answer["verdict"].as_str().unwrap().starts_with("removes 2 of 2 nodes at once"), "{answer}");
    // The nodes are drained, and their pods find no other NodePool.
    assert_eq!(answer["pods"]["lost"], json!(["shop/web-1", "shop/web-2"]), "{answer}");
    assert_eq!(plan(&folder, &["--complete", "class.yaml", "--fail-on", "pending"]).status, 1);
    assert!(answer["nodes"].as_array().unwrap().iter().all(|node| node["end"] != ""), "{answer}");
    let cost = &answer["cost"];
    assert!(cost["before"].as_f64() > Some(0.0) && cost["after"] == 0.0, "{answer}");
    let answer = json_of(&folder, &["class.yaml"]);
    assert_eq!(reasons(&answer), []);
    assert!(answer["cost"]["before"].as_f64() > Some(0.0), "{answer}");
    assert_eq!(answer["cost"]["before"], answer["cost"]["after"]);
    let run = plan(&folder, &["--complete"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("`--complete`: name the files"), "{run:?}");
}

#[test]
fn files_of_other_kinds_count_too() {
    let folder = cluster(1);
    let budget = |most: usize| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"maxUnavailable": most, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "observedGeneration": 1}})
    };
    folder.write("snapshot/budget.json", budget(0).to_string().as_bytes());
    folder.write("pool.yaml", pool("b").to_string().as_bytes());
    assert_eq!(json_of(&folder, &["pool.yaml"])["nodes"][0]["never"], true);
    folder.write("budget.yaml", budget(1).to_string().as_bytes());
    assert_eq!(json_of(&folder, &["pool.yaml", "budget.yaml"])["nodes"][0]["never"], false);
}

#[test]
fn another_ca_bundle_may_replace_every_node() {
    let folder = cluster(2);
    let controller = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "karpenter", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": [{"name": "controller", "image": "public.ecr.aws/karpenter/controller:1.14.1",
            "env": [{"name": "CLUSTER_CA_BUNDLE", "value": "YQ=="}]}]}}}});
    folder.write("snapshot/controller.json", controller.to_string().as_bytes());
    folder.write("controller.yaml", controller.to_string().replace("YQ==", "Yg==").as_bytes());
    folder.write("values.yaml", b"settings: {clusterName: a, clusterCABundle: Yg==, reservedENIs: \"0\"}\nserviceAccount: {annotations: {eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/a}}\n");
    for file in ["controller.yaml", "values.yaml"] {
        let answer = json_of(&folder, &[file]);
        let may: Vec<_> = reasons(&answer).into_iter().map(|(_, reason, may)| (reason, may)).collect();
        let expected = ("NodeClassDrift".to_owned(), true);
        assert_eq!(may, [expected.clone(), expected], "{file}: {answer}");
        assert_eq!(answer["verdict"], "may replace 2 of 2 nodes: cluster-ca-bundle", "{file}");
    }
}

#[test]
fn the_rollout_obeys_the_budgets_one_after_the_other() {
    let folder = cluster(3);
    folder.write("pool.yaml", pool("b").to_string().as_bytes());
    let answer = json_of(&folder, &["pool.yaml", "--node-start", "2m"]);
    let rollout = &answer["rollouts"][0];
    assert_eq!([&rollout["nodePool"], &rollout["nodes"]], [&json!("default"), &json!(3)]);
    assert_eq!(rollout["limitedBy"], "budget", "{answer}");
    let starts: Vec<&str> =
        answer["nodes"].as_array().unwrap().iter().map(|node| node["start"].as_str().unwrap()).collect();
    assert_eq!(starts[0], AT);
    assert!(starts.is_sorted() && starts[0] < starts[1] && starts[1] < starts[2], "{starts:?}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("replaces 3 of 3 nodes in about "), "{answer}");
    let cost = |key: &str| answer["cost"][key].as_f64().unwrap();
    assert!(cost("before") > 0.0 && cost("after") > 0.0 && cost("peak") > cost("before"), "{answer}");
    let slower = json_of(&folder, &["pool.yaml", "--node-start", "20m"]);
    assert!(slower["rollouts"][0]["end"].as_str() > rollout["end"].as_str(), "{slower}");
    assert_eq!(plan(&folder, &["pool.yaml", "--fail-on", "blocked,never"]).status, 0);
}

#[test]
fn a_budget_with_an_extreme_number_gets_an_answer() {
    let folder = cluster(1);
    let budget = |spec: Value| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
            "status": {"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3}})
    };
    folder.write("snapshot/budget.json", budget(json!({"maxUnavailable": 1})).to_string().as_bytes());
    for spec in [
        json!({"minAvailable": "9000000000000000000%"}),
        json!({"maxUnavailable": i64::MIN}),
        json!({"minAvailable": i64::MIN}),
    ] {
        folder.write("budget.json", budget(spec.clone()).to_string().as_bytes());
        let run = plan(&folder, &["budget.json"]);
        assert!(run.status <= 1, "{spec}: {run:?}");
    }
}

#[test]
fn a_pod_disruption_budget_that_allows_nothing_keeps_a_node() {
    let folder = cluster(1);
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "observedGeneration": 1}});
    folder.write("snapshot/budget.json", budget.to_string().as_bytes());
    folder.write("pool.yaml", pool("b").to_string().as_bytes());
    let answer = json_of(&folder, &["pool.yaml"]);
    assert_eq!(answer["verdict"], "1 node is never replaced: PodDisruptionBudget shop/web", "{answer}");
    assert_eq!(answer["nodes"][0]["never"], true);
    assert_eq!(plan(&folder, &["pool.yaml", "--fail-on", "never"]).status, 1);
}

#[test]
fn a_snapshot_is_the_same_as_a_list_and_as_separate_documents() {
    let folder = cluster(3);
    let list: Value = serde_json::from_str(&folder.read("snapshot/cluster.json")).unwrap();
    let mut items: Vec<Value> = list["items"].as_array().unwrap().clone();
    folder.write("changed.yaml", pool("b").to_string().as_bytes());
    // Of each kind, an object is last once.
    for _ in 0..4 {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let documents: Vec<String> = items.iter().map(Value::to_string).collect();
        folder.write("list/cluster.json", list.to_string().as_bytes());
        folder.write("documents/cluster.json", documents.join("\n").as_bytes());
        folder.write("documents-of-yaml/cluster.yaml", documents.join("\n---\n").as_bytes());
        let plan = |snapshot: &str| {
            let common = ["plan", "--snapshot", snapshot, "--karpenter-version", "1.14", "--at", AT];
            folder.run(&[&common[..], &["--format", "json", "changed.yaml"]].concat()).json()
        };
        let expected = plan("list");
        assert_eq!(expected["nodes"].as_array().unwrap().len(), 3);
        for snapshot in ["documents", "documents-of-yaml"] {
            let answer = plan(snapshot);
            for key in ["verdict", "nodes", "rollouts", "cost", "pods"] {
                assert_eq!(answer[key], expected[key], "{snapshot} {key}");
            }
        }
        items.rotate_right(1);
    }
}

#[test]
fn a_review_of_a_deletion_removes_the_nodes() {
    let folder = cluster(2);
    let review = |object: &Value| {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "1", "operation": "DELETE", "object": null, "oldObject": object}})
    };
    folder.write("review.json", review(&pool("a")).to_string().as_bytes());
    let answer = json_of(&folder, &["review.json"]);
    assert!(answer["verdict"].as_str().unwrap().starts_with("removes 2 of 2 nodes at once"), "{answer}");
    assert_eq!(answer["effect"], "removes-nodes");
    folder.write("review.json", review(&class()).to_string().as_bytes());
    let answer = json_of(&folder, &["review.json"]);
    assert_eq!(answer["changes"][0]["change"], "removed");
    assert_eq!(answer["nodes"], json!([]));
}

#[test]
fn numbers_agree_with_their_verbs() {
    for (nodes, verb) in [(1, "1 node does not go within"), (2, "2 nodes do not go within")] {
        let mut closed = pool("b");
        closed["spec"]["disruption"]["budgets"] = json!([{"nodes": "0"}]);
        let folder = cluster(nodes);
        folder.write("pool.yaml", closed.to_string().as_bytes());
        let run = plan(&folder, &["pool.yaml"]);
        assert!(run.stdout.contains(verb), "{run:?}");
        assert!(run.stdout.contains("meanwhile; no pod moves\n"), "{run:?}");
        let run = plan(&folder, &["--format", "markdown", "pool.yaml"]);
        assert!(run.stdout.contains("meanwhile; no pod moves.\n"), "{run:?}");
    }
}

#[test]
fn of_two_documents_of_one_name_in_a_file_the_last_one_is_applied() {
    let folder = cluster(1);
    let documents = |teams: [&str; 2]| teams.map(|team| pool(team).to_string()).join("\n---\n");
    for (teams, effect) in [(["b", "a"], "none"), (["a", "b"], "replaces-all")] {
        folder.write("pools.yaml", documents(teams).as_bytes());
        assert_eq!(json_of(&folder, &["pools.yaml"])["effect"], effect, "{teams:?}");
    }
    folder.write("other.yaml", pool("b").to_string().as_bytes());
    let run = plan(&folder, &["pools.yaml", "other.yaml"]);
    assert_eq!(run.status, 2, "{run:?}");
}
