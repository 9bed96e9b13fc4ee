//! Encoding of a text, determined by its first bytes.

use manifest::source::certain;

/// Decodes a text to UTF-8 without a byte order mark.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    encoding: Encoding,
    /// Bytes that are not enough yet, to determine the encoding or to make a character.
    rest: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encoding {
    #[default]
    Unknown,
    Utf8,
    /// Not a text.
    Binary,
    /// Windows PowerShell writes it when output is redirected to a file.
    Utf16 {
        big_endian: bool,
    },
}

/// Number of bytes that determine the encoding.
const ENOUGH: usize = 512;

impl Decoder {
    /// Decodes bytes, and passes the text on.
    pub(super) fn decode(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        match self.encoding {
            Encoding::Utf8 => take(bytes),
            Encoding::Binary => {}
            Encoding::Utf16 { big_endian } => {
                let text = self.utf16(bytes, big_endian);
                take(text.as_bytes());
            }
            Encoding::Unknown => {
                self.rest.extend_from_slice(bytes);
                if self.rest.len() >= ENOUGH {
                    self.begin(take);
                }
            }
        }
    }

    /// Ends the text.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(&[u8])) {
        if self.encoding == Encoding::Unknown {
            self.begin(take);
        }
        if self.high.is_some() || !self.rest.is_empty() {
            take("\u{fffd}".as_bytes());
        }
    }

    fn begin(&mut self, take: &mut dyn FnMut(&[u8])) {
        let rest = std::mem::take(&mut self.rest);
        // Always the same number of bytes, so that the pieces of the input do not matter.
        let (encoding, mark) = match rest.get(..ENOUGH).unwrap_or(&rest) {
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            [0xff, 0xfe, ..] => (Encoding::Utf16 { big_endian: false }, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16 { big_endian: true }, 2),
            [one, 0, two, 0, ..] if *one != 0 && *two != 0 => (Encoding::Utf16 { big_endian: false }, 0),
            [0, one, 0, two, ..] if *one != 0 && *two != 0 => (Encoding::Utf16 { big_endian: true }, 0),
            // Zeros alone may be a gap in a log that was cut while it was written.
            bytes if bytes.contains(&0) && bytes.iter().any(|byte| is_control(*byte)) => {
                (Encoding::Binary, 0)
            }
            _ => (Encoding::Utf8, 0),
        };
        self.encoding = encoding;
        self.decode(certain(rest.get(mark..)), take);
    }

    /// Whether the input is binary.
    pub(super) fn is_binary(&self) -> bool {
        self.encoding == Encoding::Binary
    }

    fn utf16(&mut self, bytes: &[u8], big_endian: bool) -> String {
        let mut text = String::with_capacity(bytes.len());
        for byte in bytes {
            self.rest.push(*byte);
            let [one, two] = *self.rest.as_slice() else { continue };
            self.rest.clear();
            let unit =
                if big_endian { u16::from_be_bytes([one, two]) } else { u16::from_le_bytes([one, two]) };
            // A first half waits for the second one. Two first halves in a row are an error and another first half.
            let before = self.high.take();
            let is_high = matches!(unit, 0xd800..=0xdbff);
            let now = before.into_iter().chain((!is_high).then_some(unit));
            text.extend(char::decode_utf16(now).map(|char| char.unwrap_or('\u{fffd}')));
            self.high = is_high.then_some(unit);
        }
        text
    }
}

/// Whether a byte is a control character that logs do not contain.
fn is_control(byte: u8) -> bool {
    matches!(byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f)
}
