//! Reports on files in every format.

#![no_main]

use karpwarden_test_properties::manifests::assert_reports;

libfuzzer_sys::fuzz_target!(|text: &str| assert_reports(text));
