//! Configurations of Terraform, with the files of their folder.

#![no_main]

use karpwarden_test_properties::terraform::assert_configuration;

libfuzzer_sys::fuzz_target!(|text: &str| assert_configuration(text));
