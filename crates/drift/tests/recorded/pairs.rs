//! 508 edits with the hashes before and after.

use karpenter::release::Release;
use karpwarden_drift::{DriftReason, Effect, HashOptions, differences, field_changes};

use super::{file, hash_at, object, rows};

#[test]
fn edits_have_the_recorded_effect_and_name_the_fields_that_make_the_difference() {
    let mut count = 0;
    for row in rows(include_bytes!("pairs.jsonl.gz")) {
        let is_written = !row["oldWritten"].is_null() && !row["newWritten"].is_null();
        for (release, expected) in row["drift"].as_object().unwrap() {
            if expected.is_null() {
                continue;
            }
            let context = format!("{} {release}", row["id"]);
            for (key, hash) in [("old", "oldHash"), ("new", "newHash")] {
                let found = hash_at(&row[key], release, true, "");
                assert_eq!(found.as_deref().ok(), expected[hash].as_str(), "{context}");
            }
            let mut options = HashOptions::new(Release::parse(release).unwrap());
            options.is_stored = true;
            let (old, new) = (file(&row["old"]), file(&row["new"]));
            let found = differences(object(&old), object(&new), &options);
            let is_drifted = expected["drifted"] == true || expected["kubeletDrifted"] == true;
            assert_eq!(!found.is_empty(), is_drifted, "{context}");
            let fields = field_changes(object(&old), object(&new), &options);
            // A pinned alias replaces nodes too, but not because of the hash.
            let hashed = fields.iter().filter(|field| field.path != "spec.amiSelectorTerms");
            let strongest = hashed.max_by_key(|field| field.effect);
            let reason = strongest.filter(|field| field.effect == Effect::ReplacesAll);
            let reason = reason.and_then(|field| field.reason).map(DriftReason::name);
            let expected = expected["reason"].as_str().or(is_drifted.then_some("NodeClassDrift"));
            assert_eq!(reason, expected, "{context}");
            if is_written {
                options.is_stored = false;
                let (old, new) = (file(&row["oldWritten"]), file(&row["newWritten"]));
                let written = differences(object(&old), object(&new), &options);
                assert_eq!(written.is_empty(), found.is_empty(), "{context}");
            }
            count += 1;
        }
    }
    assert!(count > 2_500, "{count}");
}

/// The effects of edits that change no hash.
#[test]
fn edits_outside_of_the_hash_have_the_effect_of_their_field() {
    let expected = |edit: &str| match edit {
        "weight changed"
        | "limits changed"
        | "limits removed"
        | "budgets changed"
        | "consolidateAfter changed" => Some(Effect::ActsAtOnce),
        "requirement removed"
        | "requirement values widened"
        | "ipPrefixCount changed"
        | "subnet term added"
        | "requirement minValues added" => Some(Effect::NewNodes),
        "requirements reordered"
        | "disruption defaults written"
        | "NodePool metadata label added"
        | "expireAfter default written as 43200m"
        | "volumeSize same, other unit"
        | "tags written as null"
        | "unknown field in spec" => Some(Effect::None),
        "security group selector changed" | "subnet selector changed" | "alias pinned -> latest" => {
            Some(Effect::Unknown)
        }
        _ => None,
    };
    let mut count = 0;
    for row in rows(include_bytes!("pairs.jsonl.gz")) {
        let edit = row["edit"].as_str().unwrap();
        let Some(expected) = expected(edit) else { continue };
        let mut options = HashOptions::new(Release::parse("1.14.1").unwrap());
        options.is_stored = true;
        let (old, new) = (file(&row["old"]), file(&row["new"]));
        let fields = field_changes(object(&old), object(&new), &options);
        let found = fields.iter().map(|field| field.effect).max().unwrap_or(Effect::None);
        assert_eq!(found, expected, "{}", row["id"]);
        count += 1;
    }
    assert!(count > 60, "{count}");
}
