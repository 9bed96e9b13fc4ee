//! Inputs of `simulate` that make the scheduler compare many equal parts with each other, in any size.

use serde_json::{Value, json};

use crate::shapes::InputShape;

/// All kinds, with one object in each line. `crates/scheduling/tests/simulation/shapes.rs` counts the steps of more of them.
pub const SIMULATED: [InputShape; 6] = [
    InputShape {
        name: "NodePools that take no pod",
        text: |size| lines(tainted_pools(size), pods(size, &json!({}))),
    },
    InputShape {
        name: "pods that repel each other in zones",
        text: |size| lines(any_pool(), repelling_pods(size)),
    },
    InputShape { name: "topology domains", text: |size| lines(racks(size), spread_over_racks(size)) },
    InputShape { name: "preferences", text: |size| lines(any_pool(), preferring_pods(size)) },
    InputShape {
        name: "full nodes",
        text: |size| lines([any_pool(), full_nodes(size)].concat(), lost_pods(size)),
    },
    InputShape { name: "groups without a place", text: |size| lines(any_pool(), lost_pods(size)) },
];

/// The objects and a node class.
fn lines(pools: Vec<Value>, pods: Vec<Value>) -> String {
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}]},
    });
    let all = [class].into_iter().chain(pools).chain(pods);
    all.map(|object| object.to_string()).collect::<Vec<_>>().join("\n")
}

fn tainted_pools(count: usize) -> Vec<Value> {
    let taint = |number: usize| json!({"key": format!("k{number}"), "effect": "NoSchedule"});
    (0..count).map(|number| pool(&format!("p{number}"), json!({"taints": [taint(number)]}))).collect()
}

fn any_pool() -> Vec<Value> {
    vec![pool("default", json!({}))]
}

fn racks(count: usize) -> Vec<Value> {
    let values: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
    let requirement = json!({"key": "example.com/rack", "operator": "In", "values": values});
    vec![pool("default", json!({"requirements": [requirement]}))]
}

/// NodePool with a specification of its nodes.
fn pool(name: &str, spec: Value) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let spec = with(spec, "nodeClassRef", class);
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {"template": {"spec": spec}},
    })
}

/// An object with one more member.
fn with(mut object: Value, key: &str, value: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
    object
}

fn full_nodes(count: usize) -> Vec<Value> {
    let amounts = json!({"cpu": "0", "memory": "0", "pods": "0"});
    let node = |number: usize| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{number}")},
            "status": {"capacity": amounts, "allocatable": amounts},
        })
    };
    (0..count).map(node).collect()
}

/// Pods with equal specifications, each with its own requests.
fn pods(count: usize, spec: &Value) -> Vec<Value> {
    let pod = |number: usize| {
        let requests = json!({"cpu": format!("{}m", 100 + number), "memory": "64Mi"});
        let containers = json!([{"name": "app", "resources": {"requests": requests}}]);
        let spec = with(spec.clone(), "containers", containers);
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("pod-{number}"), "labels": {"all": "yes"}}, "spec": spec,
        })
    };
    (0..count).map(pod).collect()
}

/// Pods that no node of the input and no NodePool has the label for.
fn lost_pods(count: usize) -> Vec<Value> {
    pods(count, &json!({"nodeSelector": {"team": "none"}}))
}

fn repelling_pods(count: usize) -> Vec<Value> {
    let term =
        json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"all": "yes"}}});
    let spec = json!({
        "topologySpreadConstraints": [spread("topology.kubernetes.io/zone")],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    });
    pods(count, &spec)
}

fn spread_over_racks(count: usize) -> Vec<Value> {
    pods(count, &json!({"topologySpreadConstraints": [spread("example.com/rack")]}))
}

fn spread(key: &str) -> Value {
    let selector = json!({"matchLabels": {"all": "yes"}});
    json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector})
}

/// Pods with a hundred preferences for zones that do not exist.
fn preferring_pods(count: usize) -> Vec<Value> {
    let term = |number: usize| {
        let zone =
            json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [format!("z{number}")]});
        json!({"weight": 1 + number, "preference": {"matchExpressions": [zone]}})
    };
    let terms: Vec<Value> = (0..100).map(term).collect();
    pods(
        count,
        &json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}),
    )
}
