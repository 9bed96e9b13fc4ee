//! Parser of the conformance cases.

use std::collections::BTreeSet;
use std::io::Read as _;

use karpenter::release::{Release, Releases};
use serde_json::Value as Json;

/// Object, with the verdicts of the API server.
#[derive(Debug)]
pub(crate) struct Case {
    pub id: String,
    pub kind: String,
    object: Json,
    old: Option<Json>,
    pub verdicts: Vec<(Releases, Verdict)>,
    /// Verdicts of earlier patches of 1.0 that differ.
    pub patch_verdicts: Vec<(Releases, Verdict)>,
}

/// Verdict of the API server on an object.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub valid: bool,
    pub paths: BTreeSet<String>,
    pub unknown: BTreeSet<String>,
    /// Whether the server stopped before it evaluated the CEL rules.
    pub cel_skipped: bool,
}

impl Case {
    /// The object as a manifest, or both objects of an update as an AdmissionReview.
    pub(crate) fn text(&self) -> String {
        match &self.old {
            None => self.object.to_string(),
            Some(old) => serde_json::json!({
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "request": {"operation": "UPDATE", "object": self.object, "oldObject": old},
            })
            .to_string(),
        }
    }
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let packed: &[u8] = include_bytes!("cases.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    read(&text)
}

/// Parses cases, one per line.
pub(crate) fn read(text: &str) -> Vec<Case> {
    text.lines().map(|line| case(&serde_json::from_str(line).unwrap())).collect()
}

fn case(json: &Json) -> Case {
    let text = |key: &str| json[key].as_str().unwrap().to_owned();
    Case {
        id: text("id"),
        kind: text("kind"),
        object: json["object"].clone(),
        old: json.get("oldObject").cloned(),
        verdicts: verdicts(&json["verdicts"]),
        patch_verdicts: json.get("patchVerdicts").map(verdicts).unwrap_or_default(),
    }
}

fn verdicts(json: &Json) -> Vec<(Releases, Verdict)> {
    json.as_object()
        .unwrap()
        .iter()
        .map(|(ranges, verdict)| (releases(ranges), self::verdict(verdict)))
        .collect()
}

fn verdict(json: &Json) -> Verdict {
    let strings = |list: &Json| -> BTreeSet<String> {
        list.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let errors = json["errors"].as_array().unwrap();
    Verdict {
        valid: json["valid"].as_bool().unwrap(),
        paths: errors.iter().map(|error| error["path"].as_str().unwrap().to_owned()).collect(),
        unknown: strings(&json["unknown"]),
        cel_skipped: json["celSkipped"].as_bool().unwrap_or_default(),
    }
}

/// Parses releases such as `1.0.0-1.0.8, 1.2, 1.4-1.14`. A minor means its newest patch.
pub(crate) fn releases(text: &str) -> Releases {
    let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
    ranges.fold(Releases::NONE, |all, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (Release::parse(first).unwrap(), Release::parse(last).unwrap());
        let within = Releases::ALL.iter().filter(|release| (first..=last).contains(release));
        within.fold(all, |all, release| all.or(Releases::only(release)))
    })
}
