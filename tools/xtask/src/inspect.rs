//! `cargo xtask inspect`: prints the content of a policy module.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use anyhow::{Context as _, Result};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::{capabilities, metadata::USAGE, module::ValidatedModule};

/// Metadata, size and interface of a module, as text.
pub(crate) fn report(bytes: &[u8]) -> Result<String> {
    let module = ValidatedModule::read(bytes)?;
    let compressed = gzip(bytes)?;
    let mut report = String::new();
    let mut line = |text: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(report, "{text}");
    };
    match module.metadata {
        None => line("metadata      none: the module is not annotated"),
        Some(metadata) => {
            let metadata: Value = serde_json::from_slice(metadata).context("the metadata is not JSON")?;
            line("metadata");
            line(&indented(&shortened(metadata)));
        }
    }
    line(&format!("size          {} bytes, {} after gzip -9", grouped(bytes.len()), grouped(compressed)));
    list(&mut line, "imports", module.imports.iter());
    list(&mut line, "exports", module.exports.iter());
    list(&mut line, "capabilities", capabilities::used(&module.data).iter());
    Ok(report)
}

fn list<'a>(line: &mut impl FnMut(&str), title: &str, names: impl Iterator<Item = &'a String>) {
    let names: Vec<_> = names.map(String::as_str).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join("\n              ") };
    line(&format!("{title:<13} {names}"));
}

/// The metadata with the number of lines in place of the README, which `kwctl inspect` renders.
fn shortened(mut metadata: Value) -> Value {
    if let Some(usage) = metadata.pointer_mut(&format!("/annotations/{USAGE}"))
        && let Some(text) = usage.as_str()
    {
        *usage = format!("({} lines)", text.lines().count()).into();
    }
    metadata
}

fn indented(metadata: &Value) -> String {
    let yaml = serde_saphyr::to_string(metadata).unwrap_or_default();
    yaml.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn gzip(bytes: &[u8]) -> io::Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// `1234567` as `1,234,567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_size_and_interface_of_a_module_without_metadata() {
        let module =
            wat::parse_str(r#"(module (import "wapc" "a" (func)) (memory (export "memory") 1))"#).unwrap();
        let report = report(&module).unwrap();
        assert!(report.starts_with("metadata      none"), "{report}");
        assert!(
            report.contains("imports       wapc.a\nexports       memory\ncapabilities  none\n"),
            "{report}"
        );
        assert!(report.contains(&format!("{} bytes", module.len())), "{report}");
    }

    #[test]
    fn groups_digits_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
