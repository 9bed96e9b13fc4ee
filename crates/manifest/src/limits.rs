//! Bounds on the input: no text causes unbounded work.

use core::fmt;

/// Bounds on an input. Each bound is a flag of `karpwarden`, which the message of [`Exceeded`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per file.
    pub file_bytes: usize,
    /// Documents per file.
    pub documents: usize,
    /// Levels of nesting per document.
    pub depth: usize,
    /// Values per document, after aliases are expanded.
    pub nodes: usize,
}

impl Limits {
    /// The default bounds: 64 MiB, 100,000 documents, 128 levels, 1,000,000 values.
    pub const DEFAULT: Self = Self { file_bytes: 64 << 20, documents: 100_000, depth: 128, nodes: 1_000_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A bound that an input exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// More bytes than `--max-file-bytes`.
    FileBytes(usize),
    /// More documents than `--max-documents`.
    Documents(usize),
    /// More levels than `--max-depth`.
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
