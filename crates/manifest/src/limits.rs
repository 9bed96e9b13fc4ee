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
                let size = size(*limit);
                write!(f, "larger than {size}, not read; raise the bound with --max-file-bytes")
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

/// Number of bytes in the largest unit in which it is a whole number, such as `64 MiB`.
pub fn size(bytes: usize) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// Parses a number of bytes: `1000000`, `64MiB` or `64 Mi`.
pub fn parse_size(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: usize = match unit.trim_start() {
        "" => 1,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        "Gi" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_parses_sizes_in_units() {
        for (bytes, text) in [
            (64 << 20, "64 MiB"),
            (1 << 30, "1 GiB"),
            (1536, "1536 bytes"),
            (0, "0 bytes"),
            (3 << 10, "3 KiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (text, bytes) in [
            ("64MiB", Some(64 << 20)),
            ("2 Ki", Some(2048)),
            ("17", Some(17)),
            ("1GB", None),
            ("MiB", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }
}
