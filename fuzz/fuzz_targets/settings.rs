//! Settings of the policy and of the command line.

#![no_main]

use karpwarden_test_properties::admission::assert_settings;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_settings(bytes));
