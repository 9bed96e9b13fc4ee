//! `kubectl apply` sends the objects of a file in their order, so a published file has a node class before the NodePools that name it.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use karpwarden_generate::{home, yaml};
use serde_json::Value;

/// The NodePools that precede their node class in a list of objects.
fn early_pools(objects: &[Value]) -> Vec<String> {
    let is_class = |object: &Value, name: &Value| {
        object["kind"] == "EC2NodeClass" && object["metadata"]["name"] == *name
    };
    let pools = objects.iter().enumerate().filter(|(_, object)| object["kind"] == "NodePool");
    let early = pools.filter(|(index, pool)| {
        let class = &pool["spec"]["template"]["spec"]["nodeClassRef"]["name"];
        objects.iter().skip(*index).any(|object| is_class(object, class))
    });
    early.map(|(_, pool)| pool["metadata"]["name"].to_string()).collect()
}

/// The published texts with manifests: examples, and the YAML blocks of Markdown files.
fn published() -> Vec<(String, String)> {
    let files = |folder: &str, extension: &str| -> Vec<(String, String)> {
        let entries = fs::read_dir(home::path(folder)).unwrap().map(|entry| entry.unwrap().path());
        let named = entries.filter(|path| path.extension().is_some_and(|found| found == extension));
        named.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
    };
    let folders = ["", "docs", "docs/rules", "policies/karpenter", "playground/package"];
    let pages = folders.iter().flat_map(|folder| files(folder, "md"));
    let blocks = pages.flat_map(|(page, text)| {
        yaml::blocks(&text).into_iter().map(move |block| (page.clone(), block)).collect::<Vec<_>>()
    });
    files("examples", "yaml").into_iter().chain(blocks).collect()
}

#[test]
fn node_class_precedes_its_pools_in_every_published_file() {
    let mut with_both = 0;
    for (place, text) in published() {
        // Some blocks show text that is no YAML.
        let objects = yaml::documents(&text).unwrap_or_default();
        assert_eq!(early_pools(&objects), [] as [String; 0], "{place}:\n{text}");
        let has = |kind: &str| objects.iter().any(|object| object["kind"] == kind);
        with_both += usize::from(has("NodePool") && has("EC2NodeClass"));
    }
    assert!(with_both >= 2, "{with_both} texts only");
}

#[test]
fn pool_before_its_class_is_found() {
    let objects = yaml::documents(
        r"kind: NodePool
metadata: {name: a}
spec: {template: {spec: {nodeClassRef: {name: c}}}}
---
kind: EC2NodeClass
metadata: {name: c}
",
    )
    .unwrap();
    assert_eq!(early_pools(&objects), ["\"a\""]);
    let reversed: Vec<Value> = objects.into_iter().rev().collect();
    assert_eq!(early_pools(&reversed), [] as [String; 0]);
}
