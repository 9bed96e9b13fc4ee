//! Bounds on the input: no text causes unbounded work.

/// Maximum number of values for each byte of a YAML document, after aliases are expanded. Aliases of aliases grow exponentially; a
/// document that repeats one large value in every line has about 20.
pub const MAX_VALUES_PER_BYTE: usize = 64;

/// Number of bytes of text that cost as much as a value if an alias repeats them: whoever reads the values reads the text again.
pub(crate) const BYTES_PER_VALUE: usize = 8;

/// Bounds on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per file.
    pub file_bytes: usize,
    /// Documents per file.
    pub documents: usize,
    /// Levels of nesting per document.
    pub depth: usize,
    /// Values per document, after aliases are expanded. Text that aliases repeat counts as values too.
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

/// A bound that an input exceeds, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// [`Limits::file_bytes`].
    #[error("larger than {}, not read", size(*.0))]
    FileBytes(usize),
    /// [`Limits::documents`].
    #[error("more than {0} documents, the rest is not read")]
    Documents(usize),
    /// [`Limits::depth`].
    #[error("nested deeper than {0} levels, not checked")]
    Depth(usize),
    /// [`Limits::nodes`].
    #[error("more than {0} values after aliases are expanded, not checked")]
    Nodes(usize),
    /// The limit of a [`WorkBudget`](crate::work::WorkBudget).
    #[error(
        "the documents together have more than {0} values after aliases are expanded, the rest is not checked"
    )]
    Work(usize),
    /// [`MAX_VALUES_PER_BYTE`].
    #[error("aliases expand to more than {MAX_VALUES_PER_BYTE} values for each byte, not checked")]
    Expansion,
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
