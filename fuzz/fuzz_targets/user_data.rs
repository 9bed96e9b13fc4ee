//! User data in every format.

#![no_main]

use karpwarden_test_properties::user_data::assert_user_data;

libfuzzer_sys::fuzz_target!(|text: &str| assert_user_data(text));
