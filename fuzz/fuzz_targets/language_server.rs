//! Messages of an editor to the language server.

#![no_main]

use karpwarden_test_properties::language_server::assert_messages;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| assert_messages(bytes));
