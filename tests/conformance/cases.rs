//! The cases, as the file has them.

use std::collections::BTreeSet;
use std::io::Read as _;

use karpenter::release::Release;
use serde_json::Value as Json;

/// An object, and what the API server says of it.
#[derive(Debug)]
pub(crate) struct Case {
    pub id: String,
    pub kind: String,
    object: Json,
    old: Option<Json>,
    pub verdicts: Vec<(BTreeSet<Release>, Verdict)>,
    /// Verdicts of earlier patch releases of 1.0, where they differ.
    pub patch_verdicts: Vec<(BTreeSet<Release>, Verdict)>,
}

/// The API server's verdict on an object.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub valid: bool,
    pub paths: BTreeSet<String>,
    /// Path and detail of each error.
    pub details: BTreeSet<(String, String)>,
    pub unknown: BTreeSet<String>,
    /// Whether the server stopped before its rules over several fields.
    pub cel_skipped: bool,
}

impl Case {
    /// The object as a manifest, or the two of an update as a review.
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

/// The cases of a text, one a line.
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

fn verdicts(json: &Json) -> Vec<(BTreeSet<Release>, Verdict)> {
    json.as_object()
        .unwrap()
        .iter()
        .map(|(ranges, verdict)| (releases_of_verdict(ranges), self::verdict(verdict)))
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
        details: errors
            .iter()
            .map(|error| {
                (error["path"].as_str().unwrap().to_owned(), error["detail"].as_str().unwrap().to_owned())
            })
            .collect(),
        unknown: strings(&json["unknown"]),
        cel_skipped: json["celSkipped"].as_bool().unwrap_or_default(),
    }
}

/// The releases of the verdicts.
pub(crate) const RANGE: &str = "1.0..1.14";

/// Parses the releases of a verdict, such as `1.0.0-1.0.8, 1.2, 1.4-1.14`. A minor release means its newest patch.
fn releases_of_verdict(text: &str) -> BTreeSet<Release> {
    releases(text, |range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (first.to_owned(), last.to_owned())
    })
}

/// Parses the releases of a report, such as `all`, `until 1.0.8, since 1.2` or `1.3 to 1.6`. A minor release means all
/// its patches.
pub(crate) fn releases_of_report(text: &str) -> BTreeSet<Release> {
    let newest = Release::NEWEST.to_string();
    let first_patch = |first: &str| match first.matches('.').count() {
        1 => format!("{first}.0"),
        _ => first.to_owned(),
    };
    releases(text, |range| {
        if range == "all" {
            ("1.0.0".to_owned(), newest.clone())
        } else if let Some((minor, first)) = range.split_once(" since ") {
            (first.to_owned(), minor.to_owned())
        } else if let Some(first) = range.strip_prefix("since ") {
            (first_patch(first), newest.clone())
        } else if let Some(last) = range.strip_prefix("until ") {
            ("1.0.0".to_owned(), last.to_owned())
        } else {
            let (first, last) = range.split_once(" to ").unwrap_or((range, range));
            (first_patch(first), last.to_owned())
        }
    })
}

/// The releases from the first to the last release of each range.
fn releases(text: &str, ends: impl Fn(&str) -> (String, String)) -> BTreeSet<Release> {
    let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
    let in_range = |range| {
        let (first, last) = ends(range);
        let ends = Release::parse(&first).unwrap()..=Release::parse(&last).unwrap();
        Release::all().filter(move |release| ends.contains(release))
    };
    ranges.flat_map(in_range).collect()
}
