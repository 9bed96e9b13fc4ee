//! Errors of the JSON parser.

use core::fmt;

use crate::limits::Exceeded;

/// A syntax error in JSON, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The byte at which parsing stopped.
    pub at: usize,
    /// The reason.
    pub problem: JsonProblem,
}

/// Reason why JSON text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonProblem {
    /// Another token is expected here: its name.
    Expected(&'static str),
    /// The text ends within a value.
    Ends,
    /// The text ends within a string.
    EndsInString,
    /// A bracket without its end: the bracket, and the missing end.
    Unclosed(char, char),
    /// The text exceeds a bound.
    Exceeded(Exceeded),
}

impl fmt::Display for JsonProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "not valid JSON: expected {what}"),
            Self::Ends => f.write_str("not valid JSON: the text ends within a value"),
            Self::EndsInString => f.write_str("not valid JSON: the text ends within a string; add `\"`"),
            Self::Unclosed(bracket, end) => {
                write!(f, "not valid JSON: this `{bracket}` is never closed; add `{end}`")
            }
            Self::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}
