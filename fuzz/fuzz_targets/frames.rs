//! Messages of an editor with their headers.

#![no_main]

use karpwarden_test_properties::language_server::assert_frames;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_frames(bytes));
