//! Errors of the `toml` crate in the words of a finding.

use manifest::source::Span;

/// Syntax error in a TOML document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlError {
    /// Message in lower case, without a full stop.
    pub message: String,
    /// Span of the error.
    pub span: Span,
}

impl TomlError {
    pub(super) fn new(text: &str, error: &toml::de::Error) -> Self {
        let span = match error.span() {
            Some(range) => {
                Span::new(text.floor_char_boundary(range.start), text.ceil_char_boundary(range.end))
            }
            None => Span::whole(text).first_line(text),
        };
        let (description, expected) = match error.message().split_once(", expected ") {
            Some((description, expected)) => (description, expected),
            None => (error.message(), ""),
        };
        let message = if description == "duplicate key" || description.starts_with("cannot extend value") {
            let key = span.text(text).trim_matches(['"', '\'']);
            format!("`{key}` is defined twice")
        } else if expected.starts_with('`') && !expected.contains(", ") {
            format!("{description}, expected {expected}")
        } else {
            // The other expectations repeat the description or list what the grammar allows.
            description.to_owned()
        };
        Self { message, span }
    }
}
