//! Exit statuses of the program.

/// Result of a command, as its exit status reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// No findings at or above the severity of `--fail-on`.
    Clean,
    /// Findings at or above the severity of `--fail-on`.
    Findings,
    /// The command line or the config file is invalid.
    Usage,
    /// There are no input files, or standard input is empty.
    NoInput,
    /// An editor ended the language server without `shutdown`.
    NotShutDown,
    /// Some input that may concern Karpenter could not be read or parsed, changed while it was read, or takes too much work; the rest
    /// was checked.
    Unreadable,
    /// A file could not be written, or the system refused a resource.
    System,
}

impl Status {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings | Self::NotShutDown => 1,
            Self::Usage => 2,
            Self::NoInput => 3,
            Self::Unreadable => 4,
            Self::System => 5,
        }
    }
}
