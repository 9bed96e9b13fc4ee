//! Plans and states of Terraform.

#![no_main]

use karpwarden_test_properties::terraform::assert_plan;

libfuzzer_sys::fuzz_target!(|text: &str| assert_plan(text));
