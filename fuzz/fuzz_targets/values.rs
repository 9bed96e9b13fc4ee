//! Schedules, quantities, durations and other small grammars.

#![no_main]

use karpwarden_test_properties::values::assert_values;

libfuzzer_sys::fuzz_target!(|text: &str| assert_values(text));
