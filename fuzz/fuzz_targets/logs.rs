//! Logs, events and status, whole and in pieces.

#![no_main]

use karpwarden_test_properties::diagnosis::assert_diagnosis;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_diagnosis(bytes));
