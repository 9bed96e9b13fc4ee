//! The stored form of an object, with the defaults of the API server, gets the same findings as the object itself.

use crate::found;
use karpenter::release::Release;
use serde_json::{Value as Json, json};

/// The rules accept the stored object if they accept the object, and an update between the two changes nothing: a NodeClaim,
/// whose `spec` is immutable, may be applied again with or without the defaults.
#[test]
fn objects_and_their_stored_form_get_the_same_findings() {
    let text = include_str!("defaulting.jsonl");
    let cases: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!cases.is_empty());
    for case in cases {
        for stored in case["stored"].as_array().unwrap() {
            for version in stored["versions"].as_array().unwrap() {
                let version = version.as_str().unwrap();
                // The last patch of a range represents the range.
                let release = version.rsplit('-').next().unwrap();
                let review = |old: &Json, new: &Json| {
                    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                        "request": {"operation": "UPDATE", "object": new, "oldObject": old}})
                    .to_string()
                };
                let (object, stored) = (&case["object"], &stored["object"]);
                let texts =
                    [object.to_string(), stored.to_string(), review(stored, object), review(object, stored)];
                let range =
                    if release == "1.14" { "1.13..1.14".to_owned() } else { format!("{release}..1.14") };
                let found = found(&texts, &range);
                let of = |index: usize| &found[index][&Release::parse(release).unwrap()];
                assert_eq!(of(0).paths, of(1).paths, "{} {version}", case["id"]);
                assert!(of(1).unknown.is_empty(), "{} {version}", case["id"]);
                for update in [of(2), of(3)] {
                    assert!(update.paths.is_empty(), "{} {version} {:?}", case["id"], update.paths);
                }
            }
        }
    }
}
