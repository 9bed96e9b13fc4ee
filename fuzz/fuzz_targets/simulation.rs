//! Objects of a cluster whose pods are simulated.

#![no_main]

use karpwarden_test_properties::placement::assert_simulation;

libfuzzer_sys::fuzz_target!(|text: &str| assert_simulation(text));
