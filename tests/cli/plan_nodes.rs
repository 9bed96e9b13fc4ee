//! Sentences of `karpwarden plan --snapshot` about nodes that stay, wait or go for another reason.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::plan_snapshot::{class, cluster, json_of, plan, pool, reasons};

/// A cluster whose objects are changed.
fn changed(nodes: usize, change: impl Fn(&mut Vec<Value>)) -> Folder {
    let folder = cluster(nodes);
    let mut list: Value = serde_json::from_str(&folder.read("snapshot/cluster.json")).unwrap();
    change(list["items"].as_array_mut().unwrap());
    folder.write("snapshot/cluster.json", list.to_string().as_bytes());
    folder
}

fn each<'v>(items: &'v mut [Value], kind: &'static str) -> impl Iterator<Item = &'v mut Value> {
    items.iter_mut().filter(move |item| item["kind"] == kind)
}

/// The verdict after a change of the NodePool, and the status of a run that fails on some plans.
fn verdict(folder: &Folder, pool: &Value, fail_on: &str) -> (String, i32) {
    folder.write("pool.yaml", pool.to_string().as_bytes());
    let answer = json_of(folder, &["pool.yaml"]);
    let run = plan(folder, &["--fail-on", fail_on, "pool.yaml"]);
    (answer["verdict"].as_str().unwrap().to_owned(), run.status)
}

#[test]
fn nodes_whose_pods_find_no_place_are_never_replaced() {
    let mut tainted = pool("a");
    tainted["spec"]["template"]["spec"]["taints"] =
        json!([{"key": "a", "value": "b", "effect": "NoSchedule"}]);
    let (text, status) = verdict(&cluster(2), &tainted, "never");
    assert_eq!(text, "2 nodes are never replaced: pods of the node find no place");
    assert_eq!(status, 1);
    let (text, status) = verdict(&cluster(2), &pool("b"), "never");
    assert!(text.starts_with("replaces 2 of 2 nodes in about"), "{text}");
    assert_eq!(status, 0);
}

#[test]
fn nodes_whose_pods_find_a_place_after_the_end_of_a_job_wait() {
    let folder = changed(2, |items| {
        for pod in each(items, "NodePool") {
            pod["spec"]["limits"] = json!({"cpu": "3"});
        }
        for pod in each(items, "Pod").skip(1) {
            pod["spec"]["restartPolicy"] = json!("Never");
        }
    });
    let mut limited = pool("b");
    limited["spec"]["limits"] = json!({"cpu": "3"});
    let (text, status) = verdict(&folder, &limited, "never");
    assert_eq!(
        text,
        "the replacement of 2 nodes does not start within the 30 days of the forecast: pods of the node find no place until pod shop/web-2 ends"
    );
    assert_eq!(status, 0);
}

#[test]
fn nodes_of_a_removed_node_pool_whose_drain_never_ends_are_named() {
    let folder = changed(2, |items| {
        for pod in each(items, "Pod") {
            pod["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
        }
    });
    let answer = json_of(&folder, &["--complete", "class.yaml"]);
    let text = answer["verdict"].as_str().unwrap();
    assert!(text.starts_with("the drain of 2 nodes never ends: "), "{text}");
    assert!(answer["nodes"].as_array().unwrap().iter().all(|node| node["never"] == true), "{answer}");
    assert!(answer["nodes"][0]["because"].to_string().contains("shop/web-1"), "{answer}");
    assert_eq!(plan(&folder, &["--complete", "--fail-on", "never", "class.yaml"]).status, 1);
}

#[test]
fn windows_without_a_gap_never_let_a_node_go() {
    let closed = |duration: &str| {
        let mut pool = pool("b");
        pool["spec"]["disruption"]["budgets"] =
            json!([{"nodes": "0", "schedule": "@monthly", "duration": duration}]);
        pool
    };
    let (text, status) = verdict(&cluster(1), &closed("800h"), "never");
    assert_eq!(
        text,
        "1 node is never replaced: the budgets of the NodePool allow no disruption; \
         1 node expires before it is replaced, from Thu 2026-04-09 00:00 UTC, without a replacement first"
    );
    assert_eq!(status, 1);
    assert_eq!(verdict(&cluster(1), &closed("700h"), "never").1, 0);
}

#[test]
fn nodes_that_expire_before_their_turn_are_counted() {
    let folder = changed(3, |items| {
        for claim in each(items, "NodeClaim") {
            claim["spec"]["expireAfter"] = json!("118h1m");
        }
    });
    let (text, _) = verdict(&folder, &pool("b"), "none");
    assert!(
        text.contains(
            "; 2 nodes expire before they are replaced, from Sat 22:01 UTC, without a replacement first"
        ),
        "{text}"
    );
    let run = plan(&folder, &["--timezone", "Europe/Berlin", "pool.yaml"]);
    let first = run.stdout.lines().next().unwrap_or_default();
    assert!(first.contains("from Sat 23:01 Europe/Berlin, without"), "{first}");
    // Budgets hold up no expiry.
    let mut closed = pool("b");
    closed["spec"]["disruption"]["budgets"] = json!([{"nodes": "0"}]);
    let (text, status) = verdict(&folder, &closed, "never");
    assert_eq!(
        text,
        "3 nodes are never replaced: the budgets of the NodePool allow no disruption; \
         3 nodes expire before they are replaced, from Sat 22:01 UTC, without a replacement first"
    );
    assert_eq!(status, 1);
}

#[test]
fn status_shows_nodes_with_another_image_or_without_a_subnet() {
    let folder = changed(2, |items| {
        for claim in each(items, "NodeClaim").take(1) {
            claim["status"]["imageID"] = json!("ami-0");
        }
    });
    assert_eq!(reasons(&json_of(&folder, &[])), [("default-1".to_owned(), "AMIDrift".to_owned(), false)]);

    let folder = changed(1, |items| {
        for class in each(items, "EC2NodeClass") {
            class["status"]["subnets"][0]["zone"] = json!("us-east-1b");
        }
    });
    assert_eq!(reasons(&json_of(&folder, &[])), [("default-1".to_owned(), "SubnetDrift".to_owned(), false)]);

    // The files name the image.
    let folder = cluster(1);
    let mut by_id = class();
    for (id, drifts) in [("ami-2", Some(false)), ("ami-1", None)] {
        by_id["spec"]["amiFamily"] = json!("AL2023");
        by_id["spec"]["amiSelectorTerms"] = json!([{"id": id}]);
        folder.write("class.yaml", by_id.to_string().as_bytes());
        let answer = json_of(&folder, &["class.yaml"]);
        let image = reasons(&answer).into_iter().find(|(_, reason, _)| reason == "AMIDrift");
        assert_eq!(image.map(|(.., is_uncertain)| is_uncertain), drifts, "{id}: {answer}");
    }
}

#[test]
fn the_first_image_that_fits_counts() {
    let image = |id: &str, arch: &str| json!({"id": id, "name": id, "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": [arch]}]});
    for (newer, drifts) in [("amd64", true), ("arm64", false)] {
        let folder = changed(1, |items| {
            for class in each(items, "EC2NodeClass") {
                class["status"]["amis"] = json!([image("ami-2", newer), image("ami-1", "amd64")]);
            }
            for claim in each(items, "NodeClaim") {
                claim["metadata"]["labels"]["kubernetes.io/arch"] = json!("amd64");
            }
        });
        let answer = json_of(&folder, &[]);
        let expected = drifts.then(|| ("default-1".to_owned(), "AMIDrift".to_owned(), false));
        assert_eq!(reasons(&answer), Vec::from_iter(expected), "{newer}");
        assert!(
            answer["assumptions"].to_string().contains("which security groups an instance has"),
            "{answer}"
        );
    }
}

#[test]
fn ids_of_the_status_and_reservations_of_other_nodes_replace_no_node() {
    let folder = changed(1, |items| {
        for class in each(items, "EC2NodeClass") {
            class["status"]["subnets"] =
                json!([{"id": "subnet-1", "zone": "us-east-1a"}, {"id": "subnet-2", "zone": "us-east-1b"}]);
            class["status"]["securityGroups"] = json!([{"id": "sg-1"}]);
            class["spec"]["capacityReservationSelectorTerms"] = json!([{"id": "cr-1"}]);
        }
    });
    let terms = |field: &str, ids: &[&str]| {
        let mut class = class();
        class["spec"]["capacityReservationSelectorTerms"] = json!([{"id": "cr-1"}]);
        class["spec"][field] = ids.iter().map(|id| json!({"id": id})).collect();
        folder.write("class.yaml", class.to_string().as_bytes());
        let found = reasons(&json_of(&folder, &["class.yaml"]));
        found.into_iter().map(|(_, reason, is_uncertain)| (reason, is_uncertain)).collect::<Vec<_>>()
    };
    let may = |reason: &str| vec![(reason.to_owned(), true)];
    assert_eq!(terms("securityGroupSelectorTerms", &["sg-1"]), []);
    assert_eq!(terms("securityGroupSelectorTerms", &["sg-1", "sg-2"]), may("SecurityGroupDrift"));
    assert_eq!(terms("subnetSelectorTerms", &["subnet-1"]), []);
    assert_eq!(terms("subnetSelectorTerms", &["subnet-2"]), may("SubnetDrift"));
    assert_eq!(terms("capacityReservationSelectorTerms", &["cr-2"]), []);
}

#[test]
fn alias_that_is_taken_back_may_replace_only_nodes_with_the_present_image_for_certain() {
    let folder = changed(2, |items| {
        for claim in each(items, "NodeClaim").take(1) {
            claim["status"]["imageID"] = json!("ami-0");
        }
    });
    let mut back = class();
    back["spec"]["amiSelectorTerms"] = json!([{"alias": "al2023@v20250701"}]);
    folder.write("class.yaml", back.to_string().as_bytes());
    let own = |claim: &str, is_uncertain| (claim.to_owned(), "AMIDrift".to_owned(), is_uncertain);
    let mut found = reasons(&json_of(&folder, &["class.yaml"]));
    found.sort();
    assert_eq!(found, [own("default-1", true), own("default-2", false)]);
}

#[test]
fn snapshot_without_node_claims_decides_by_node_pool() {
    let folder = changed(2, |items| items.retain(|item| item["kind"] != "NodeClaim"));
    let (text, status) = verdict(&folder, &pool("b"), "replaces");
    assert!(text.starts_with("replaces every node of 1 NodePool (default)"), "{text}");
    assert_eq!(status, 1);
    let answer = json_of(&folder, &["pool.yaml"]);
    assert!(answer["assumptions"].to_string().contains("no NodeClaims"), "{answer}");
    // Nodes of other origin show that the cluster has none of Karpenter's.
    let folder = changed(1, |items| {
        items.retain(|item| item["kind"] != "NodeClaim");
        for node in each(items, "Node") {
            node["metadata"]["labels"] = json!({});
        }
    });
    assert_eq!(verdict(&folder, &pool("b"), "replaces").1, 0);
}

#[test]
fn fewer_replicas_remove_nodes() {
    let with_replicas = |replicas: u32| {
        let mut pool = pool("a");
        pool["spec"]["replicas"] = json!(replicas);
        pool["spec"].as_object_mut().unwrap().remove("disruption");
        pool
    };
    let make_static = |items: &mut Vec<Value>| {
        for pool in each(items, "NodePool") {
            pool["spec"] = with_replicas(3)["spec"].clone();
        }
    };
    let folder = changed(3, make_static);
    let (text, status) = verdict(&folder, &with_replicas(1), "replaces");
    assert_eq!(text, "removes 2 of 3 nodes: spec.replicas");
    assert_eq!(status, 1);
    let (text, _) = verdict(&folder, &with_replicas(4), "replaces");
    assert_eq!(text, "no node is replaced: spec.replicas acts at once");
    let without_gate = changed(3, |items| {
        make_static(items);
        items.push(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "karpenter", "namespace": "kube-system"},
            "spec": {"template": {"spec": {"containers": [{
                "name": "controller", "image": "public.ecr.aws/karpenter/controller:1.14.1",
                "env": [{"name": "FEATURE_GATES", "value": "StaticCapacity=false"}],
            }]}}},
        }));
    });
    assert_eq!(verdict(&without_gate, &with_replicas(1), "replaces"), ("no node is replaced".to_owned(), 0));

    let files = Folder::with(&[
        ("old/pool.yaml", &with_replicas(3).to_string()),
        ("new/pool.yaml", &with_replicas(1).to_string()),
    ]);
    let run = files.run(&["plan", "--fail-on", "replaces", "--karpenter-version", "1.14", "old", "new"]);
    assert!(run.stdout.starts_with("removes nodes of 1 NodePool (default): spec.replicas"), "{run:?}");
    assert_eq!(run.status, 1);
}

#[test]
fn node_pool_without_its_class_replaces_no_node() {
    let answer = json_of(&changed(2, |_| ()), &["--complete", "pool.yaml"]);
    assert_eq!(answer["nodes"], json!([]), "the NodePool is as it was");
    let folder = cluster(2);
    folder.write("pool.yaml", pool("b").to_string().as_bytes());
    let answer = json_of(&folder, &["--complete", "pool.yaml"]);
    assert_eq!(answer["verdict"], "2 nodes are never replaced: NodePool default has no EC2NodeClass");
    let cost = &answer["cost"];
    assert!(cost["before"].as_f64().unwrap() > 0.0, "{cost}");
    assert_eq!((&cost["after"], &cost["peak"]), (&cost["before"], &cost["before"]));
}

#[test]
fn pods_of_static_node_pools_run_on_the_new_nodes() {
    let with_replicas = |team: &str| {
        let mut pool = pool(team);
        pool["spec"]["replicas"] = json!(2);
        pool["spec"]["disruption"] = json!({"budgets": [{"nodes": "1"}]});
        pool["spec"]["disruption"]["consolidateAfter"] = json!("0s");
        pool
    };
    let folder = changed(2, |items| {
        for pool in each(items, "NodePool") {
            pool["spec"] = with_replicas("a")["spec"].clone();
        }
    });
    folder.write("pool.yaml", with_replicas("b").to_string().as_bytes());
    let answer = json_of(&folder, &["pool.yaml"]);
    assert_eq!(answer["pods"]["pending"], json!([]), "{answer}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("replaces 2 of 2 nodes in about"), "{answer}");
}

#[test]
fn nodes_that_use_up_a_budget_are_counted() {
    let folder = changed(2, |items| {
        for node in each(items, "Node").take(1) {
            node["status"]["conditions"][0]["status"] = json!("False");
        }
    });
    let (text, _) = verdict(&folder, &pool("b"), "none");
    let because = json_of(&folder, &["pool.yaml"])["nodes"][0]["because"].to_string();
    assert!(text.contains("does not start within the 30 days of the forecast"), "{text}");
    assert!(
        because.contains("a node that is not ready or is being deleted uses up the budgets"),
        "{because}"
    );
}
