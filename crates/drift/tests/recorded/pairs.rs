//! 508 edits with the hashes before and after.

use karpenter::release::Release;
use karpwarden_drift::{HashOptions, differences};

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
            assert_eq!(!found.is_empty(), expected["oldHash"] != expected["newHash"], "{context} {found:?}");
            if is_written {
                options.is_stored = false;
                let (old, new) = (file(&row["oldWritten"]), file(&row["newWritten"]));
                let written = differences(object(&old), object(&new), &options);
                assert_eq!(written.is_empty(), found.is_empty(), "{context} {written:?}");
            }
            count += 1;
        }
    }
    assert!(count > 2_500, "{count}");
}
