//! Kustomizations with folders.

#![no_main]

use karpwarden_test_properties::manifests::assert_builds;

libfuzzer_sys::fuzz_target!(|text: &str| assert_builds(text));
