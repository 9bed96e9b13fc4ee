//! Errors that end a command.

use std::io;

use thiserror::Error;

use super::status::Status;

/// Error that ends a command.
#[derive(Debug, Error)]
pub(crate) enum CommandError {
    /// The command line is invalid, or a file that it names.
    #[error("{0}")]
    Usage(String),
    /// There is no input.
    #[error("{0}")]
    NoInput(String),
    /// The command line or the config file is invalid, and the messages have been printed.
    #[error("invalid command line or config file")]
    Printed,
    /// The system refused something, such as to write a file.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl CommandError {
    pub(crate) fn status(&self) -> Status {
        match self {
            // A reader such as `head` has closed the pipe.
            Self::System(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Clean,
            Self::Usage(_) | Self::Printed => Status::Usage,
            Self::System(_) => Status::System,
            Self::NoInput(_) => Status::NoInput,
        }
    }

    /// Whether the user has not seen the message yet.
    pub(crate) fn has_message(&self) -> bool {
        !matches!(self, Self::Printed) && self.status() != Status::Clean
    }
}
