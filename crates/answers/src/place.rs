//! Places in files.

use manifest::source::{Source, Span};
use objects::location::Place;
use serde::Serialize;

/// Range of characters in a file. Lines and columns count from 1, columns in code points; offsets are UTF-16 code units from the
/// start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CharacterRange {
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character.
    pub column: usize,
    /// Offset of the first character.
    pub offset: usize,
    /// Offset after the last character.
    pub end_offset: usize,
}

impl CharacterRange {
    /// The range of a span.
    pub fn of(source: &Source, span: Span) -> Self {
        let (from, to) = (source.position(span.start), source.position(span.end));
        Self { line: from.line, column: from.column, offset: from.offset, end_offset: to.offset }
    }
}

/// Place of a field in its file. Lines and columns count from 1, columns in code points; offsets are UTF-16 code units from the
/// start of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FieldPlace {
    /// Name of the file.
    pub file: String,
    /// The field.
    #[serde(flatten)]
    pub range: CharacterRange,
}

impl From<&Place<'_>> for FieldPlace {
    fn from(place: &Place<'_>) -> Self {
        let source = place.source();
        Self { file: source.name().to_owned(), range: CharacterRange::of(source, place.span()) }
    }
}
