//! Plans of 508 recorded edits, with the effect that Karpenter's own hashes show (`crates/drift/tests/recorded`).

use std::collections::BTreeSet;
use std::io::Read as _;

use drift::Effect;
use karpwarden::disruption::forecast::ForecastSettings;
use karpwarden::karpenter::release::Release;
use karpwarden::plan::{PlanAssumption, PlanOptions, PlanPair, PlanSide, WallClock, plan};
use karpwarden::simulate::Choices;
use karpwarden::values::timestamp::Timestamp;
use karpwarden::{Cluster, File, READ_OPTIONS, Settings, drift};
use serde_json::{Value, json};

fn rows() -> Vec<Value> {
    let mut text = String::new();
    let packed = &include_bytes!("../../crates/drift/tests/recorded/pairs.jsonl.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One object, with a NodePool that uses it if it is an EC2NodeClass.
fn cluster(object: &Value) -> Cluster {
    let mut files = vec![File::read("object.json", object.to_string(), READ_OPTIONS)];
    if object["kind"] == "EC2NodeClass" {
        let pool = serde_json::json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "pool"},
            "spec": {"template": {"spec": {"requirements": [], "nodeClassRef": {
                "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": object["metadata"]["name"]}}}}});
        files.push(File::read("pool.json", pool.to_string(), READ_OPTIONS));
    }
    Cluster { name: String::new(), files }
}

#[test]
fn recorded_edits_replace_what_karpenter_replaces() {
    let (mut drifted, mut kept) = (0, 0);
    for row in rows() {
        let Some(expected) = row["drift"].get("1.14.1").filter(|expected| !expected.is_null()) else {
            continue;
        };
        let written =
            |key: &str, stored: &str| if row[key].is_null() { row[stored].clone() } else { row[key].clone() };
        let (old, new) = (cluster(&written("oldWritten", "old")), cluster(&written("newWritten", "new")));
        let pair = PlanPair {
            name: "",
            old: PlanSide { cluster: &old, folder: "" },
            new: PlanSide { cluster: &new, folder: "" },
        };
        let release = Some(Release::parse("1.14.1").unwrap());
        let options = PlanOptions {
            at: Timestamp::parse("2026-03-11T10:30:00Z").unwrap(),
            from: release,
            to: release,
            ca_bundle: String::new(),
            is_snapshot: false,
            is_complete: false,
            namespace: None,
            by_terraform: BTreeSet::new(),
            clock: WallClock::utc(),
            forecast: ForecastSettings::default(),
            choices: Choices::default(),
            settings: Settings::default(),
        };
        let answer = plan(&[pair], &options).unwrap().answer;
        // Budgets of the NodePool may let no node go.
        let replaces = ["replaces", "would replace"]
            .iter()
            .any(|verb| answer.verdict.starts_with(&format!("{verb} every node of 1 NodePool")));
        let context = format!("{}: {}", row["id"], answer.verdict);
        if expected["drifted"] == true {
            // A placeholder may have any value.
            assert!(replaces || answer.effect == Effect::Unknown, "{context}");
            drifted += usize::from(replaces);
        } else {
            let is_image = answer
                .changes
                .iter()
                .flat_map(|one| &one.fields)
                .any(|field| field.path == "spec.amiSelectorTerms");
            assert!(!replaces || is_image, "{context}");
            kept += 1;
        }
    }
    assert!(drifted > 250 && kept > 150, "{drifted} {kept}");
}

/// A cluster of two nodes, and its NodePool with another label.
fn drifting() -> (Cluster, Cluster) {
    let pool = |labels: Value| {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {"disruption": {"budgets": [{"nodes": "100%"}]}, "template": {"metadata": {"labels": labels}, "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.xlarge"]}]}}}})
    };
    let mut items = vec![
        pool(json!({})),
        json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {"amiSelectorTerms": [{"alias": "al2023@v20250807"}]}}),
    ];
    for name in ["a", "b"] {
        let conditions = ["Ready", "Launched", "Registered", "Initialized"].map(
            |kind| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-03-01T00:00:00Z"}),
        );
        let labels = json!({"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true",
            "karpenter.sh/initialized": "true", "karpenter.sh/capacity-type": "on-demand", "kubernetes.io/hostname": name,
            "node.kubernetes.io/instance-type": "m5.xlarge", "topology.kubernetes.io/zone": "us-east-1a"});
        let status = json!({"providerID": format!("aws:///us-east-1a/{name}"), "nodeName": name,
            "allocatable": {"cpu": "3900m", "memory": "14Gi", "pods": "58"}, "conditions": conditions});
        let hash = json!({"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"});
        items.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": status["providerID"]}, "status": status}));
        items.push(json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": format!("default-{name}"), "labels": labels, "annotations": hash},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": status}));
        items.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("web-{name}"), "namespace": "shop"},
            "spec": {"nodeName": name, "containers": [{"name": "web", "resources": {"requests": {"cpu": "3"}}}]},
            "status": {"phase": "Running"}}));
    }
    let file = |name: &str, content: Value| File::read(name, content.to_string(), READ_OPTIONS);
    let cluster = |file: File| Cluster { name: String::new(), files: vec![file] };
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    (cluster(file("snapshot.json", list)), cluster(file("pool.json", pool(json!({"team": "web"})))))
}

#[test]
fn a_forecast_that_ends_early_is_an_assumption() {
    let (old, new) = drifting();
    let pair = PlanPair {
        name: "",
        old: PlanSide { cluster: &old, folder: "" },
        new: PlanSide { cluster: &new, folder: "" },
    };
    let release = Some(Release::parse("1.14.1").unwrap());
    let planned = |steps_per_part: u64| {
        let options = PlanOptions {
            at: Timestamp::parse("2026-03-11T10:30:00Z").unwrap(),
            from: release,
            to: release,
            ca_bundle: String::new(),
            is_snapshot: true,
            is_complete: false,
            namespace: None,
            by_terraform: BTreeSet::new(),
            clock: WallClock::utc(),
            forecast: ForecastSettings { steps_per_part, ..ForecastSettings::default() },
            choices: Choices::default(),
            settings: Settings::default(),
        };
        plan(&[pair], &options).unwrap()
    };
    let started = |steps_per_part: u64| {
        let plan = planned(steps_per_part);
        let nodes = plan.answer.nodes.iter().filter(|node| node.start.0.is_some()).count();
        (plan.answer.nodes.len(), nodes, plan.assumptions.contains(&PlanAssumption::ForecastCut))
    };
    let whole = ForecastSettings::default().steps_per_part;
    assert_eq!((started(whole), started(0)), ((2, 2, false), (2, 1, true)));
}
