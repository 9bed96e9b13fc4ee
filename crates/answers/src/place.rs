//! Places in files.

use objects::location::Place;
use serde::Serialize;

/// Place of a field in its file. Lines and columns count from 1, columns in code points; offsets are UTF-16 code units from the
/// start of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FieldPlace {
    /// Name of the file.
    pub file: String,
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character.
    pub column: usize,
    /// Offset of the first character.
    pub offset: usize,
    /// Offset after the last character.
    pub end_offset: usize,
}

impl From<&Place<'_>> for FieldPlace {
    fn from(place: &Place<'_>) -> Self {
        let (source, span) = (place.source(), place.span());
        let (from, to) = (source.position(span.start), source.position(span.end));
        Self {
            file: source.name().to_owned(),
            line: from.line,
            column: from.column,
            offset: from.offset,
            end_offset: to.offset,
        }
    }
}
