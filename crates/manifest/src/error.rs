//! The reason why a document cannot be read.

use crate::json::JsonProblem;
use crate::limits::Exceeded;
use crate::yaml::YamlProblem;

/// Reason why a file or a document cannot be read. Its text says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not valid YAML.
    #[error(transparent)]
    Yaml(#[from] YamlProblem),
    /// The text is not valid JSON.
    #[error(transparent)]
    Json(#[from] JsonProblem),
    /// The file exceeds a bound.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The text contains a conflict that Git could not merge; the marker.
    #[error("Git conflict marker `{0}`; resolve the conflict and remove the markers")]
    Conflict(String),
    /// The file contains null bytes.
    #[error("a binary file, not read")]
    Binary,
    /// The rest of the file is not UTF-8.
    #[error("not UTF-8 from here on; save the file as UTF-8")]
    NotUtf8,
    /// The rest of the file is not UTF-16, although it starts with the byte order mark of UTF-16.
    #[error("not UTF-16 from here on; save the file as UTF-8")]
    NotUtf16,
    /// The caller of [`File::unreadable`](crate::File::unreadable) could not open the file; its reason.
    #[error("{0}")]
    NotOpened(String),
}

impl ReadError {
    /// The bound that the input exceeds, if that is the reason.
    pub const fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Self::Yaml(YamlProblem::Exceeded(exceeded))
            | Self::Json(JsonProblem::Exceeded(exceeded))
            | Self::Exceeded(exceeded) => Some(*exceeded),
            _ => None,
        }
    }
}
