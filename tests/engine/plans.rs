//! Plans of 508 recorded edits, with the effect that Karpenter's own hashes show (`crates/drift/tests/recorded`).

use std::io::Read as _;

use drift::Effect;
use karpwarden::disruption::forecast::ForecastSettings;
use karpwarden::karpenter::release::Release;
use karpwarden::plan::{PlanOptions, PlanPair, PlanSide, plan};
use karpwarden::simulate::Choices;
use karpwarden::values::timestamp::Timestamp;
use karpwarden::{Cluster, File, READ_OPTIONS, Settings, drift};
use serde_json::Value;

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
            forecast: ForecastSettings::default(),
            choices: Choices::default(),
            settings: Settings::default(),
        };
        let answer = plan(&[pair], &options).unwrap().answer;
        let replaces = answer.verdict.starts_with("replaces every node of 1 NodePool");
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
