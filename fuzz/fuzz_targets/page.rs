//! Files and settings of a share link, in the modules of the page.

#![no_main]

use karpwarden_test_properties::page::assert_page;

libfuzzer_sys::fuzz_target!(|text: &str| assert_page(text));
