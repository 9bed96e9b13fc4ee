//! What is stored of an object, defaults filled in, is the same to the rules as the object itself.

use crate::found;
use karpenter::release::Release;
use serde_json::{Value as Json, json};

/// A stored object is accepted where the object is, and an update from one to the other changes nothing: a NodeClaim,
/// whose `spec` never changes, may be applied again with or without what the server filled in.
#[test]
fn an_object_and_what_is_stored_of_it_are_the_same() {
    let text = include_str!("defaulting.jsonl");
    let cases: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!cases.is_empty());
    for case in cases {
        for stored in case["stored"].as_array().unwrap() {
            for version in stored["versions"].as_array().unwrap() {
                let version = version.as_str().unwrap();
                // A range of patches is held by its last one.
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
