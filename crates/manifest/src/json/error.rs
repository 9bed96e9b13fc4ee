//! Errors of the JSON parser.

use crate::limits::Exceeded;

/// A syntax error in JSON, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct JsonError {
    /// The byte at which parsing stopped.
    pub at: usize,
    /// The reason.
    pub problem: JsonProblem,
}

/// Reason why JSON text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// Another token is expected here: its name.
    #[error("not valid JSON: expected {0}")]
    Expected(&'static str),
    /// The text ends within a value.
    #[error("not valid JSON: the text ends within a value")]
    Ends,
    /// The text ends within a string.
    #[error("not valid JSON: the text ends within a string; add `\"`")]
    EndsInString,
    /// A bracket without its end: the bracket, and the missing end.
    #[error("not valid JSON: this `{0}` is never closed; add `{1}`")]
    Unclosed(char, char),
    /// The text exceeds a bound.
    #[error(transparent)]
    Exceeded(Exceeded),
}
