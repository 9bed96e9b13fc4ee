//! Fixes of findings in files, alone and together.

#![no_main]

use karpwarden_test_properties::fixes::assert_fixes;

libfuzzer_sys::fuzz_target!(|text: &str| assert_fixes(text));
