//! Documents that are open in an editor: their diagnostics, and the edits of their fixes.

#![no_main]

use karpwarden_test_properties::language_server::assert_documents;

libfuzzer_sys::fuzz_target!(|text: &str| assert_documents(text));
