//! A cluster whose nodes all drift, in any size.

use serde_json::{Value, json};

/// Number of pods of each node.
pub const PODS_OF_NODE: usize = 10;

/// Number of nodes whose pods belong to one Deployment.
const NODES_OF_DEPLOYMENT: usize = 250;

/// The objects of a cluster as a snapshot has them, one in each line: nodes with ten pods each, from Deployments whose pods are spread
/// over zones or are not. The nodes have no room for a further pod.
pub fn snapshot(nodes: usize) -> String {
    let all = [class(), pool(&json!({}))].into_iter().chain((0..nodes).flat_map(node));
    all.map(|object| object.to_string()).collect::<Vec<_>>().join("\n")
}

/// The NodePool of the snapshot with a further label, which all nodes lack.
pub fn changed_pool() -> String {
    pool(&json!({"labels": {"team": "web"}})).to_string()
}

fn class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}]},
    })
}

fn pool(metadata: &Value) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let requirements = json!([
        {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
    ]);
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {
            "template": {"metadata": metadata, "spec": {"nodeClassRef": class, "requirements": requirements}},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s",
                "budgets": [{"nodes": "10%"}],
            },
        },
    })
}

/// A node with its NodeClaim and its pods.
fn node(number: usize) -> Vec<Value> {
    let (name, claim) =
        (format!("ip-10-0-{}-{}", number / 256, number % 256), format!("default-{number:05}"));
    let zone = match number % 3 {
        0 => "us-east-1a",
        1 => "us-east-1b",
        _ => "us-east-1c",
    };
    let labels = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "on-demand",
        "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
        "karpenter.k8s.aws/ec2nodeclass": "default", "karpenter.k8s.aws/instance-category": "m",
        "node.kubernetes.io/instance-type": "m5.xlarge", "topology.kubernetes.io/zone": zone,
    });
    let conditions = ["Launched", "Registered", "Initialized"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-03-01T00:00:00Z"}));
    let id = format!("aws:///{zone}/i-{number:017x}");
    let capacity = json!({"cpu": "4", "memory": "15896Mi", "pods": "58"});
    let allocatable = json!({"cpu": "3920m", "memory": "14162Mi", "pods": "58"});
    let mut all = vec![
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": id},
            "status": {
                "capacity": capacity, "allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}],
            },
        }),
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {
                "name": claim, "labels": labels, "creationTimestamp": "2026-03-01T00:00:00Z",
                "annotations": {"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"},
            },
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "expireAfter": "Never",
            },
            "status": {
                "providerID": id, "nodeName": name, "capacity": capacity, "allocatable": allocatable,
                "conditions": conditions,
            },
        }),
    ];
    all.extend((0..PODS_OF_NODE).map(|position| pod(number * PODS_OF_NODE + position, number, &name)));
    all
}

/// A running pod. Each fourth Deployment spreads its pods over zones.
fn pod(number: usize, of_node: usize, node: &str) -> Value {
    let deployment = of_node / NODES_OF_DEPLOYMENT;
    let app = format!("app-{deployment}");
    let spread = json!([{
        "maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }]);
    let requests = json!({"cpu": "370m", "memory": "1Gi"});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{app}-{number:06}"), "namespace": "shop", "uid": format!("{:032x}", number * 7919 % 1_000_003),
            "labels": {"app": app, "pod-template-hash": "5d4f8"}, "creationTimestamp": "2026-03-01T00:05:00Z",
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{app}-5d4f8"), "controller": true,
            }],
        },
        "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 30,
            "topologySpreadConstraints": if deployment % 4 == 3 { spread } else { json!([]) },
            "containers": [{"name": "app", "image": "app:1", "resources": {"requests": requests}}],
        },
        "status": {"phase": "Running", "startTime": "2026-03-01T00:05:00Z"},
    })
}
