//! Reasons why an input cannot be read, in the words of the report.

use std::io;

use thiserror::Error;
use zip::result::ZipError;

/// Reason why an input cannot be read.
#[derive(Debug, Error)]
pub(crate) enum InputError {
    #[error("no such file or folder")]
    NotFound,
    #[error("cannot be read: permission denied")]
    PermissionDenied,
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The walk through the folder could not read the path.
    #[error("{0}")]
    Walk(String),
    #[error("cannot be read as a zip archive: {0}")]
    Zip(#[from] ZipError),
    #[error("a zip archive on standard input is not read; write it to a file")]
    ZipOnStdin,
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            _ => Self::Io(error),
        }
    }
}
