//! Errors in messages of the editor.

use thiserror::Error;

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
    /// A document of this URI changed in a part.
    #[error("`{0}` changed in a part, but the server asks for whole texts")]
    PartialChange(String),
    /// A document of this URI changed that is not open.
    #[error("`{0}` changed, but is not open")]
    NotOpen(String),
}
