//! Pods that are made to be hard to place.

#![no_main]

use karpwarden_test_properties::placement::assert_hard_pods;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_hard_pods(bytes));
