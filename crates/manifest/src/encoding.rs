//! Encodings of a file: UTF-8, and UTF-16 with a byte order mark, which PowerShell writes.

use crate::source::certain;

/// Encoding of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 without a byte order mark.
    #[default]
    Utf8,
    /// UTF-8 after a byte order mark.
    MarkedUtf8,
    /// UTF-16 after a byte order mark, low byte first.
    Utf16Le,
    /// UTF-16 after a byte order mark, high byte first.
    Utf16Be,
}

impl Encoding {
    /// The encoding that the first bytes of a file show.
    pub fn detect(bytes: &[u8]) -> Self {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => Self::MarkedUtf8,
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// Whether the encoding is UTF-16.
    pub const fn is_utf16(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }

    /// Encodes a text, with the byte order mark of the encoding.
    pub fn encode(self, text: &str) -> Vec<u8> {
        let units = || core::iter::once(0xfeff).chain(text.encode_utf16());
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::MarkedUtf8 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Self::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
        }
    }

    /// Decodes UTF-16 without its byte order mark. The error is the text before the first invalid code unit.
    pub(crate) fn decode_utf16(self, bytes: &[u8]) -> Result<String, String> {
        let pairs = certain(bytes.get(2..)).chunks(2);
        let unit = |pair: &[u8]| match (pair, self) {
            ([low, high], Self::Utf16Le) | ([high, low], _) => u16::from_be_bytes([*high, *low]),
            // Half a code unit at the end of the file: as invalid as half a surrogate pair.
            _ => 0xd800,
        };
        let mut text = String::with_capacity(bytes.len() / 2);
        for char in char::decode_utf16(pairs.map(unit)) {
            match char {
                Ok(char) => text.push(char),
                Err(_) => return Err(text),
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_it_encodes() {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encoding.encode("a: é😀\n");
            assert_eq!(Encoding::detect(&bytes), encoding);
            assert_eq!(encoding.decode_utf16(&bytes), Ok("a: é😀\n".to_owned()));
        }
        assert_eq!(Encoding::detect(&Encoding::MarkedUtf8.encode("a")), Encoding::MarkedUtf8);
        assert_eq!(Encoding::Utf8.encode("é"), "é".as_bytes());
    }

    #[test]
    fn stops_at_half_a_character() {
        let mut bytes = Encoding::Utf16Le.encode("ab");
        bytes.push(b'c');
        assert_eq!(Encoding::Utf16Le.decode_utf16(&bytes), Err("ab".to_owned()));
        assert_eq!(Encoding::Utf16Be.decode_utf16(&[0xfe, 0xff, 0, b'a', 0xd8, 0]), Err("a".to_owned()));
    }
}
