//! Expressions of Terraform, one for each line.

#![no_main]

use karpwarden_test_properties::terraform::assert_expressions;

libfuzzer_sys::fuzz_target!(|text: &str| assert_expressions(text));
