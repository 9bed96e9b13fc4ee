//! Spelling of a string in YAML and JSON.

use crate::json::quote;
use crate::scalar::{Scalar, resolve};
use crate::source::certain;
use crate::tree::Style;

/// Spells a string in a style. A plain string that YAML would resolve to another type gets quotes.
pub(super) fn spell(value: &str, style: Style) -> String {
    match style {
        Style::DoubleQuoted => format!("\"{}\"", escaped(value)),
        Style::SingleQuoted => format!("'{}'", value.replace('\'', "''")),
        _ if is_plain(value) => value.to_owned(),
        _ => format!("\"{}\"", escaped(value)),
    }
}

/// Whether a string needs no quotes, in block and in flow style.
fn is_plain(value: &str) -> bool {
    let starts = value.starts_with(|char: char| char.is_ascii_alphanumeric() || char == '/' || char == '_');
    let letters = value.chars().all(|char| char.is_ascii_alphanumeric() || "-_./@=+:$".contains(char));
    starts && letters && !value.ends_with(':') && !value.contains(": ") && resolve(value) == Scalar::String
}

/// Escapes a string as in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut quoted = String::new();
    quote(text, &mut quoted);
    certain(quoted.get(1..quoted.len().saturating_sub(1))).to_owned()
}
