//! Edits of YAML and JSON text have the properties of `tests/properties`.

#![no_main]

#[path = "../../tests/properties/mod.rs"]
#[allow(dead_code, reason = "each target uses one of the functions")]
mod properties;

libfuzzer_sys::fuzz_target!(|text: &str| properties::assert_edits(text));
