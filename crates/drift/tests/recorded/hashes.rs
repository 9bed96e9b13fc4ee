//! 1,823 objects with their hashes at eleven releases.

use karpwarden_drift::kubelet_hash_of_1_0;
use serde_json::Value as Json;

use super::{file, hash_at, object, rows};

/// A part of each hash with a CA bundle.
const CA_BUNDLE: &str = "test-ca-bundle";

fn all() -> Vec<Json> {
    rows(include_bytes!("hashes.jsonl.gz"))
}

/// The recorded hashes of a row: release and hash.
fn hashes<'r>(row: &'r Json, key: &str) -> impl Iterator<Item = (&'r str, &'r str)> {
    let hashes = row[key].as_object().into_iter().flatten();
    hashes.filter_map(|(release, hash)| Some((release.as_str(), hash.as_str()?)))
}

#[test]
fn stored_objects_have_the_recorded_hashes() {
    let mut count = 0;
    for row in all() {
        for (release, expected) in hashes(&row, "hash") {
            let hash = hash_at(&row["manifest"], release, true, "");
            assert_eq!(hash.as_deref(), Ok(expected), "{} {release}", row["id"]);
            count += 1;
        }
    }
    assert!(count > 15_000, "{count}");
}

#[test]
fn written_objects_have_the_recorded_hashes() {
    let mut count = 0;
    for row in all().iter().filter(|row| !row["written"].is_null()) {
        for (release, expected) in hashes(row, "hash") {
            let hash = hash_at(&row["written"], release, false, "");
            assert_eq!(hash.as_deref(), Ok(expected), "{} {release}", row["id"]);
            count += 1;
        }
    }
    assert!(count > 12_000, "{count}");
}

#[test]
fn the_ca_bundle_is_a_part_of_the_hash() {
    let mut count = 0;
    for row in all() {
        for (release, expected) in hashes(&row, "hashWithCABundle") {
            let hash = hash_at(&row["manifest"], release, true, CA_BUNDLE);
            assert_eq!(hash.as_deref(), Ok(expected), "{} {release}", row["id"]);
            count += 1;
        }
    }
    assert!(count > 2_000, "{count}");
}

#[test]
fn the_kubelet_has_a_hash_of_its_own_in_1_0() {
    let mut count = 0;
    for row in all() {
        let Some(expected) = row["kubeletHash"]["1.0.9"].as_str() else { continue };
        let file = file(&row["manifest"]);
        let kubelet = object(&file).at(&["spec", "kubelet"]);
        assert_eq!(kubelet_hash_of_1_0(kubelet).unwrap().to_string(), expected, "{}", row["id"]);
        count += 1;
    }
    assert!(count > 800, "{count}");
}

#[test]
fn what_karpenter_cannot_decode_has_no_hash() {
    let mut count = 0;
    for row in all() {
        for (release, error) in row["decodeError"].as_object().into_iter().flatten() {
            let hash = hash_at(&row["manifest"], release, true, "");
            assert!(hash.is_err(), "{} {release}: {hash:?} instead of {error}", row["id"]);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}
