//! Times.

use serde::Serialize;
use values::timestamp::Timestamp;

/// Time in UTC, such as `2026-03-11T10:30:00Z`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(inline, extend("format" = "date-time"))
)]
pub struct DateTime(String);

impl DateTime {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Timestamp> for DateTime {
    fn from(time: Timestamp) -> Self {
        Self(time.to_string())
    }
}
