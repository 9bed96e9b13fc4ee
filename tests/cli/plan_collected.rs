//! `karpwarden plan --snapshot` with a folder that `karpwarden collect` writes.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::folder::{Folder, Run};
use crate::plan_snapshot::{AT, cluster, pool};

/// The kinds of the cluster, with the names by which kubectl knows them.
const RESOURCES: [(&str, &str); 5] = [
    ("EC2NodeClass", "ec2nodeclasses.karpenter.k8s.aws"),
    ("Node", "nodes"),
    ("NodeClaim", "nodeclaims.karpenter.sh"),
    ("NodePool", "nodepools.karpenter.sh"),
    ("Pod", "pods"),
];

/// Writes a snapshot of some objects, with a stand-in for kubectl.
fn collect(folder: &Folder, items: &[Value], name: &str) {
    serve(folder, items);
    let run = run_with_kubectl(folder, &["collect", name]);
    assert_eq!(run.status, 0, "{run:?}");
}

/// Lets the stand-in for kubectl list some objects.
pub(crate) fn serve(folder: &Folder, items: &[Value]) {
    for (kind, resource) in RESOURCES {
        let items: Vec<&Value> = items.iter().filter(|item| item["kind"] == kind).collect();
        let list =
            json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
        folder.write(&format!("bin/answers/{resource}"), list.to_string().as_bytes());
    }
    folder.write("bin/answers/version", b"{\"serverVersion\": {\"gitVersion\": \"v1.33.1\"}}");
    if !folder.path("bin/kubectl").exists() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/collect/kubectl");
        symlink(script, folder.path("bin/kubectl")).unwrap();
    }
}

/// Runs the program with the stand-in for kubectl.
pub(crate) fn run_with_kubectl(folder: &Folder, arguments: &[&str]) -> Run {
    let path = format!("{}:/usr/bin:/bin", folder.path("bin").display());
    folder.run_with("PATH", &path, arguments)
}

/// Of each kind, each object is the last one of its file once.
#[test]
fn a_collected_folder_is_planned_like_a_list_of_its_objects() {
    let folder = cluster(3);
    let list: Value = serde_json::from_str(&folder.read("snapshot/cluster.json")).unwrap();
    let mut items: Vec<Value> = list["items"].as_array().unwrap().clone();
    // The pods differ, so that a plan shows whose spec a pod has.
    let first = items.iter_mut().find(|item| item["kind"] == "Pod").unwrap();
    first["spec"]["nodeSelector"] = json!({"disk": "local"});
    let mut other = pool("c");
    other["metadata"]["name"] = json!("other");
    items.push(other);
    let named = |item: &Value| ["kind", "apiVersion"].map(|key| item[key].as_str().unwrap().to_owned());
    items.sort_by_key(named);
    folder.write("changed.yaml", pool("b").to_string().as_bytes());
    for turn in 0..3 {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        folder.write(&format!("list-{turn}/cluster.json"), list.to_string().as_bytes());
        collect(&folder, &items, &format!("collected-{turn}"));
        let plan = |snapshot: String| {
            let common = ["plan", "--snapshot", &snapshot, "--karpenter-version", "1.14", "--at", AT];
            folder.run(&[&common[..], &["--format", "json", "changed.yaml"]].concat()).json()
        };
        let (expected, found) = (plan(format!("list-{turn}")), plan(format!("collected-{turn}")));
        let verdict = found["verdict"].as_str().unwrap();
        assert!(verdict.starts_with("replaces 2 of 3 nodes in about "), "{verdict}");
        assert!(verdict.ends_with("; 1 node is never replaced: pods of the node find no place"), "{verdict}");
        for key in ["verdict", "effect", "nodes", "rollouts", "cost", "pods"] {
            assert_eq!(found[key], expected[key], "{turn} {key}");
        }
        for (kind, _) in RESOURCES {
            let count = items.iter().filter(|item| item["kind"] == kind).count();
            let start = items.iter().position(|item| item["kind"] == kind).unwrap();
            items[start..start + count].rotate_right(1);
        }
    }
}
