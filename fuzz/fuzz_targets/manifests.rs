//! Files of a cluster, and the same object in YAML and in JSON.

#![no_main]

use karpwarden_test_properties::manifests::{assert_check, assert_same_in_json};

libfuzzer_sys::fuzz_target!(|text: &str| {
    assert_check(text);
    assert_same_in_json(text);
});
