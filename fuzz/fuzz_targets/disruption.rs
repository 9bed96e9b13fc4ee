//! Objects of a cluster whose nodes may be disrupted.

#![no_main]

use karpwarden_test_properties::placement::assert_disruption;

libfuzzer_sys::fuzz_target!(|text: &str| assert_disruption(text));
