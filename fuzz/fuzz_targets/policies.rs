//! IAM policies.

#![no_main]

use karpwarden_test_properties::manifests::assert_policy;

libfuzzer_sys::fuzz_target!(|text: &str| assert_policy(text));
