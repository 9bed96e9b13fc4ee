//! The cost of a request in instructions and memory of the module, for objects as large and as awkward as a review can hold.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::sync::LazyLock;

use karpwarden_admit::{FakeCluster, Meter, Request, built};
use serde_json::{Value, json};

#[expect(dead_code, reason = "the other tests use the rest")]
mod host;
mod large;

use host::granting;
use large::{objects, user_data};

/// policy-server refuses a larger review (HTTP status 413). An update has the object twice.
const REVIEW: usize = 2_000_000;

/// Size of user data up to which the rules read it: four times what EC2 accepts.
const USER_DATA: usize = 65_536;

/// Half of the memory at which Kubewarden 1.38 stops an evaluation.
const MEMORY: usize = 128 * 1024 * 1024;

/// policy-server interrupts a request after 2 s. A core executes more than a billion instructions of WebAssembly in a second.
const INSTRUCTIONS: u64 = 3_000_000_000;

/// Parts of which a review holds up to 80,000, each with a key to compare and, except in a node selector, a fault to report.
const SMALL_PARTS: [&str; 3] = ["limits", "kubelet fields", "node selector"];

/// Instructions for small parts.
const SMALL_PARTS_INSTRUCTIONS: u64 = 5_000_000_000;

/// Instructions for user data. EC2 accepts a quarter of the largest text that the rules read.
const USER_DATA_INSTRUCTIONS: u64 = 1_200_000_000;

static METER: LazyLock<Meter> = LazyLock::new(|| Meter::load(&built::policy().unwrap()).unwrap());

/// Instructions for each further NodePool of the cluster, about a pod that a NodePool takes, and about one that none takes. The
/// policy parsed each NodePool whole before it had a shortlist, for 304,000 instructions.
const FURTHER_POOL_INSTRUCTIONS: [u64; 2] = [3_000, 40_000];

/// A cluster with ten NodePools.
fn cluster() -> FakeCluster {
    let pool = |index: usize| {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": format!("pool-{index}")},
            "spec": {"template": {
                "metadata": {"labels": {"example.com/1": "a"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"},
                    "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
                    "taints": [{"key": "a/1", "effect": "NoSchedule"}],
                },
            }},
        })
    };
    granting(FakeCluster::holding((0..10).map(pool)))
}

fn update(object: Value) -> Request {
    let mut old = object.clone();
    old["metadata"]["generation"] = json!(1);
    Request::update(old, object)
}

/// Reviews an object and returns its cost as one line, if the cost exceeds a limit.
fn excess(what: &str, request: &Request, settings: &Value, instructions: u64) -> Option<String> {
    let payload = json!({"request": request.to_json().unwrap(), "settings": settings}).to_string();
    assert!(payload.len() < REVIEW, "{what}: {} bytes", payload.len());
    let cost = match METER.call("validate", payload.as_bytes(), &cluster()) {
        Ok(cost) => cost,
        Err(error) => return Some(format!("{what}: {error}")),
    };
    let answer: Value = serde_json::from_slice(&cost.answer).unwrap();
    assert!(answer["accepted"].is_boolean(), "{what}: {answer}");
    let line = format!("{what}: {} instructions, {} KiB", cost.instructions, cost.memory / 1024);
    println!("{line}");
    (cost.memory > MEMORY || cost.instructions > instructions).then_some(line)
}

/// The costs that exceed the limits, of requests about objects of about a number of bytes.
fn excesses(bytes: usize, settings: &Value, request: impl Fn(Value) -> Request) -> Vec<String> {
    let objects = objects(bytes).into_iter();
    let reviewed = objects.filter_map(|(what, object)| {
        let is_small = SMALL_PARTS.contains(&what);
        let limit = if is_small { SMALL_PARTS_INSTRUCTIONS } else { INSTRUCTIONS };
        excess(what, &request(object), settings, limit)
    });
    reviewed.collect()
}

#[test]
fn largest_updates_stay_within_memory_and_instructions() {
    let over = excesses(REVIEW * 9 / 20, &json!({}), update);
    assert!(over.is_empty(), "{over:#?}");
}

/// Some fields of the object change, and the large part does not.
fn change(object: Value) -> Request {
    let mut old = object.clone();
    old["spec"]["role"] = json!("other");
    old["spec"]["template"]["metadata"]["labels"]["team"] = json!("other");
    Request::update(old, object)
}

#[test]
fn largest_changes_stay_within_memory_and_instructions() {
    for settings in [json!({"rules": {"update-replaces-nodes": "off"}}), json!({})] {
        println!("{settings}");
        let over = excesses(REVIEW * 9 / 20, &settings, change);
        println!("{over:#?}");
    }
    let over = excesses(REVIEW * 9 / 20, &json!({}), change);
    assert!(over.is_empty(), "{over:#?}");
}

/// A NodeClaim of about 2,500 bytes.
fn node_claim(index: usize) -> Value {
    let labels =
        (0..25).map(|label| (format!("karpenter.k8s.aws/instance-label-{label}"), json!("some-value")));
    let mut labels: serde_json::Map<String, Value> = labels.collect();
    labels.insert("karpenter.sh/nodepool".to_owned(), json!("default"));
    labels.insert("kubernetes.io/arch".to_owned(), json!("amd64"));
    let annotations = (0..8).map(|index| (format!("example.com/annotation-{index}"), json!("a".repeat(60))));
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": format!("default-{index:05}"), "labels": labels,
            "annotations": annotations.collect::<serde_json::Map<_, _>>(), "finalizers": ["karpenter.sh/termination"]},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
    })
}

#[test]
fn changes_and_deletions_that_concern_5000_nodes_stay_within_memory_and_instructions() {
    let cluster = granting(FakeCluster::holding((0..5_000).map(node_claim)));
    let pool = |team: &str, arch: &str| {
        let reference = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
        let requirements = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": [arch]}]);
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {"template": {
            "metadata": {"labels": {"team": team}}, "spec": {"nodeClassRef": reference, "requirements": requirements}}}})
    };
    let class = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {}});
    let old = pool("a", "amd64");
    for (what, request) in [
        ("label", Request::update(old.clone(), pool("b", "amd64"))),
        ("requirements", Request::update(old.clone(), pool("a", "arm64"))),
        ("NodePool", Request::delete(old)),
        ("EC2NodeClass", Request::delete(class)),
    ] {
        let payload = json!({"request": request.to_json().unwrap(), "settings": {}}).to_string();
        let cost = METER.call("validate", payload.as_bytes(), &cluster).unwrap();
        println!("{what}: {} instructions, {} KiB", cost.instructions, cost.memory / 1024);
        let answer = String::from_utf8(cost.answer).unwrap();
        assert!(answer.contains("all 5000 nodes of NodePool `default`"), "{what}: {answer}");
        assert!(
            cost.memory <= MEMORY && cost.instructions <= INSTRUCTIONS / 3,
            "{what}: {}",
            cost.instructions
        );
    }
}

#[test]
fn largest_new_objects_stay_within_memory_and_instructions() {
    let over = excesses(REVIEW * 19 / 20, &json!({}), Request::create);
    assert!(over.is_empty(), "{over:#?}");
}

#[test]
fn fixing_the_largest_objects_stays_within_memory_and_instructions() {
    let settings = json!({"fix": true});
    let over = [
        excesses(REVIEW * 9 / 20, &settings, update),
        excesses(REVIEW * 19 / 20, &settings, Request::create),
    ];
    assert!(over.concat().is_empty(), "{over:#?}");
}

#[test]
fn awkward_user_data_stays_within_memory_and_instructions() {
    let settings = json!({"allowIgnoreAnnotation": true});
    let annotated = |mut class: Value| {
        class["metadata"]["annotations"] = json!({"karpwarden/ignore": "userdata-too-large -- generated"});
        class
    };
    let classes = user_data(USER_DATA).into_iter();
    let over: Vec<_> = classes
        .filter_map(|(what, class)| {
            excess(what, &update(annotated(class)), &settings, USER_DATA_INSTRUCTIONS)
        })
        .collect();
    assert!(over.is_empty(), "{over:#?}");
}

/// The instructions for a pod that selects a team, in a cluster with a number of NodePools.
fn instructions_for_pod(team: &str, pools: usize) -> u64 {
    let pool = |index: usize| {
        json!({
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": format!("pool-{index}")},
            "spec": {
                "template": {
                    "metadata": {"labels": {"example.com/team": "web"}},
                    "spec": {
                        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                        "taints": [{"key": "example.com/special", "effect": "NoSchedule"}],
                        "expireAfter": "720h",
                        "requirements": [
                            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
                            {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
                            {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["2"]},
                        ],
                    },
                },
                "limits": {"cpu": "1000", "memory": "1000Gi"},
                "disruption": {
                    "consolidationPolicy": "WhenEmptyOrUnderutilized",
                    "consolidateAfter": "1m",
                    "budgets": [{"nodes": "10%"}, {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}],
                },
            },
        })
    };
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "nodeSelector": {"example.com/team": team},
            "tolerations": [{"key": "example.com/special", "operator": "Exists"}],
            "containers": [{"name": "web", "image": "example.com/web:1"}],
        },
    });
    let request = Request::create(pod).to_json().unwrap();
    let payload = json!({"request": request, "settings": {}}).to_string();
    let cluster = granting(FakeCluster::holding((0..pools).map(pool)));
    METER.call("validate", payload.as_bytes(), &cluster).unwrap().instructions
}

#[test]
fn further_node_pools_cost_few_instructions() {
    let further = ["web", "data"].map(|team| {
        let (some, more) = (instructions_for_pod(team, 100), instructions_for_pod(team, 300));
        (more - some) / 200
    });
    println!("{further:?} instructions for each further NodePool");
    assert!(further.iter().zip(FURTHER_POOL_INSTRUCTIONS).all(|(cost, limit)| *cost <= limit), "{further:?}");
}
