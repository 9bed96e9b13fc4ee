//! Errors in messages of the editor.

use std::io;

use thiserror::Error;

use crate::framing::MAX_MESSAGE;

/// Error in the stream of messages, after which the start of the next message is not known.
#[derive(Debug, Error)]
pub enum FramingError {
    /// A line is not a header.
    #[error("`{0}` is not a header")]
    Header(String),
    /// The headers do not name the length.
    #[error("a message has no `Content-Length`")]
    NoLength,
    /// The message is too long.
    #[error("a message of {0} bytes is longer than {MAX_MESSAGE}")]
    TooLong(usize),
    /// The input ends early.
    #[error("the input ends within a message")]
    EndOfInput,
    /// The input cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// Error in a message of the editor. `Display` is the text that the editor gets.
#[derive(Debug, Error)]
pub enum ProtocolError {
    /// The parameters of a method do not have its type.
    #[error("the parameters of `{method}` are not valid: {source}")]
    InvalidParameters {
        /// The method.
        method: String,
        /// The error in the parameters.
        source: serde_json::Error,
    },
    /// A document of this URI changed that is not open.
    #[error("`{0}` changed, but is not open")]
    NotOpen(String),
}
