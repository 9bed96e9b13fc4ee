//! Conditions of IAM policies.

#![no_main]

use karpwarden_test_properties::manifests::assert_conditions;

libfuzzer_sys::fuzz_target!(|text: &str| assert_conditions(text));
