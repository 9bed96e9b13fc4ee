//! Objects of any size, with one large part each.

use serde_json::{Value, json};

fn node_pool(spec: &Value, template: &Value) -> Value {
    let mut pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "large"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"},
            "requirements": [],
        }}},
    });
    extend(&mut pool["spec"], spec);
    extend(&mut pool["spec"]["template"]["spec"], template);
    pool
}

fn node_class(spec: &Value) -> Value {
    let mut class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "large"},
        "spec": {"role": "nodes", "amiFamily": "AL2023", "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]},
    });
    extend(&mut class["spec"], spec);
    class
}

fn deployment(pod: &Value) -> Value {
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "large", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}},
    });
    extend(&mut deployment["spec"]["template"]["spec"], pod);
    deployment
}

fn extend(object: &mut Value, with: &Value) {
    for (key, value) in with.as_object().unwrap() {
        object[key] = value.clone();
    }
}

/// As many items as fit into a number of bytes, each made from its number.
fn many(bytes: usize, item: impl Fn(usize) -> Value) -> Value {
    let size = item(100_000).to_string().len() + 1;
    (0..bytes / size).map(item).collect()
}

/// As many entries as fit into a number of bytes.
fn entries(bytes: usize, value: &Value) -> Value {
    let size = value.to_string().len() + 20;
    let keys = (0..bytes / size).map(|index| (format!("example.com/{index}"), value.clone()));
    Value::Object(keys.collect())
}

/// As many copies of a text as fit into a number of bytes of JSON.
fn copies(bytes: usize, text: &str) -> String {
    text.repeat(bytes / (json!(text).to_string().len() - 2))
}

fn requirement(index: usize) -> Value {
    json!({"key": format!("example.com/{index}"), "operator": "In", "values": ["a"]})
}

/// Objects of about a number of bytes, each with the name of its large part.
pub(crate) fn objects(bytes: usize) -> Vec<(&'static str, Value)> {
    let none = json!({});
    let in_pool = |spec: Value| node_pool(&spec, &none);
    let in_nodes = |template: Value| node_pool(&none, &template);
    let value = |index| json!(format!("m5.{index}large"));
    let taint = |index| json!({"key": format!("a/{index}"), "effect": "NoSchedule"});
    let same_taint = |_| json!({"key": "a", "effect": "NoSchedule"});
    let budget =
        |index| json!({"nodes": "0", "schedule": format!("{} 9 29 2 *", index % 60), "duration": "8h"});
    let subnet = |index| json!({"id": format!("subnet-{index}")});
    let device = |index| json!({"deviceName": format!("/dev/{index}"), "ebs": {"volumeType": "io1"}});
    let container =
        |index| json!({"name": format!("c{index}"), "image": "a", "resources": {"requests": {"cpu": "1"}}});
    let toleration = |index| json!({"key": format!("a/{index}"), "operator": "Exists"});
    let node_terms = many(bytes, |index| json!({"matchExpressions": [requirement(index)]}));
    let node_affinity =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": node_terms}});
    let pod_term = |index| json!({"labelSelector": {}, "topologyKey": format!("example.com/{index}")});
    let pod_affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": many(bytes, pod_term)});
    let spread = |index| json!({"maxSkew": 1, "topologyKey": format!("a/{index}"), "whenUnsatisfiable": "DoNotSchedule"});
    let types =
        json!([{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": many(bytes, value)}]);
    let user_data = |text| node_class(&json!({"userData": text}));
    vec![
        ("requirements", in_nodes(json!({"requirements": many(bytes, requirement)}))),
        ("values of a requirement", in_nodes(json!({"requirements": types}))),
        ("taints", in_nodes(json!({"taints": many(bytes, taint)}))),
        ("taints that repeat", in_nodes(json!({"taints": many(bytes, same_taint)}))),
        ("budgets", in_pool(json!({"disruption": {"budgets": many(bytes, budget)}}))),
        ("limits", in_pool(json!({"limits": entries(bytes, &json!("1x"))}))),
        ("unknown fields", in_pool(entries(bytes, &json!(1)))),
        ("one key", in_pool(json!({copies(bytes, "k"): 1}))),
        ("characters beyond ASCII", in_nodes(json!({"expireAfter": copies(bytes, "ä🦀\u{0}")}))),
        ("tags", node_class(&json!({"tags": entries(bytes, &json!("a"))}))),
        ("selector terms", node_class(&json!({"subnetSelectorTerms": many(bytes, subnet)}))),
        ("block devices", node_class(&json!({"blockDeviceMappings": many(bytes, device)}))),
        ("kubelet fields", node_class(&json!({"kubelet": entries(bytes, &json!(1))}))),
        ("lines of user data", user_data(format!("#!/bin/bash\n{}", copies(bytes, "echo configured\n")))),
        ("containers", deployment(&json!({"containers": many(bytes, container)}))),
        ("tolerations", deployment(&json!({"tolerations": many(bytes, toleration)}))),
        ("node selector", deployment(&json!({"nodeSelector": entries(bytes, &json!("a"))}))),
        ("node affinity", deployment(&json!({"affinity": {"nodeAffinity": node_affinity}}))),
        ("pod affinity", deployment(&json!({"affinity": {"podAffinity": pod_affinity}}))),
        ("topology spread", deployment(&json!({"topologySpreadConstraints": many(bytes, spread)}))),
    ]
}

/// Node classes with user data of about a number of bytes.
pub(crate) fn user_data(bytes: usize) -> Vec<(&'static str, Value)> {
    let bytes = bytes - 100;
    let script = |line| node_class(&json!({"userData": format!("#!/bin/bash\n{}", copies(bytes, line))}));
    let settings = |text: String| node_class(&json!({"amiFamily": "Bottlerocket", "userData": text}));
    let part = "--b\nContent-Type: text/x-shellscript\n\necho\n";
    let archive = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{}--b--\n",
        copies(bytes, part)
    );
    vec![
        ("lines of a script", script("echo configured\n")),
        ("quotes", script("'\"")),
        ("substitutions", script("$(")),
        ("variables", script("$b\n")),
        ("here-documents", script("cat <<A\n<X>\nA\n")),
        ("placeholders", script("${module.x} {{ x }} <X>\n")),
        ("passwords", script("password=hunter22\n")),
        ("one word", script("a")),
        ("calls of bootstrap.sh", script("/etc/eks/bootstrap.sh a --b 'c' d\n")),
        ("lists of taints", script("registerWithTaints:\n")),
        ("parts of an archive", node_class(&json!({"userData": archive}))),
        (
            "lines of a cloud-config",
            node_class(&json!({"userData": format!("#cloud-config\n{}", copies(bytes, "a: [b]\n"))})),
        ),
        ("tables of TOML", settings(copies(bytes, "[a.b]\n"))),
        ("keys of TOML", settings(format!("[settings.kubernetes]\n{}", copies(bytes, "a-b = 1\n")))),
        ("brackets of TOML", settings(format!("a = {}", copies(bytes, "[")))),
    ]
}
