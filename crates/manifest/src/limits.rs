//! The bounds within which text is read, so that no input costs unbounded work.

use core::fmt;

/// How much of an input is read. Each bound is a flag of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Documents of one file.
    pub documents: usize,
    /// Levels of nesting in one document.
    pub depth: usize,
    /// Values in one document, counted after aliases are expanded.
    pub nodes: usize,
}

impl Limits {
    /// The bounds in force unless something else is asked for.
    pub const DEFAULT: Self = Self { file_bytes: 64 << 20, documents: 100_000, depth: 128, nodes: 1_000_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A bound that an input goes beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// More bytes than `--max-file-bytes`.
    FileBytes(usize),
    /// More documents than `--max-documents`.
    Documents(usize),
    /// Deeper than `--max-depth`.
    Depth(usize),
    /// More values than `--max-nodes`.
    Nodes(usize),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileBytes(limit) => {
                write!(f, "larger than {limit} bytes, not read; raise the bound with --max-file-bytes")
            }
            Self::Documents(limit) => {
                write!(
                    f,
                    "more than {limit} documents, the rest is not read; raise the bound with --max-documents"
                )
            }
            Self::Depth(limit) => {
                write!(f, "nested deeper than {limit} levels, not checked; raise the bound with --max-depth")
            }
            Self::Nodes(limit) => write!(
                f,
                "more than {limit} values after aliases are expanded, not checked; raise the bound with --max-nodes"
            ),
        }
    }
}
