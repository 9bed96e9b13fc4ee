//! Requests to the policy, with the answer of its host.

#![no_main]

use karpwarden_test_properties::admission::assert_request;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_request(bytes));
