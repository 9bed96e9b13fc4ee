//! User data of several parts.

#![no_main]

use karpwarden_test_properties::user_data::assert_parts;

libfuzzer_sys::fuzz_target!(|text: &str| assert_parts(text));
