//! Base64 decoder that also accepts line breaks, as `base64` prints them.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Minimum number of characters. Shorter texts are usually words.
const MIN_LENGTH: usize = 16;

/// Decoder that ignores the unused bits of the last character, as Go does.
const DECODER: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes standard Base64 with padding; `None` for a text in another encoding or with fewer than 16 characters.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if digits.len() < MIN_LENGTH { None } else { DECODER.decode(digits).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_text_across_line_breaks() {
        assert_eq!(decode_base64("IyEvYmluL2Jh\nc2gKZWNobyBoaQo=").unwrap(), b"#!/bin/bash\necho hi\n");
        assert_eq!(decode_base64("IyEvYmluL2Jhc2gKZQ==").unwrap(), b"#!/bin/bash\ne");
    }

    #[test]
    fn rejects_short_text_and_wrong_padding() {
        for text in [
            "",
            "IyEK",
            "IyEvYmluL2Jhc2gKZQ=",
            "IyEvYmluL2Jhc2gKZ",
            "IyEvYmluL2Jhc2gK-Q==",
            "IyE=YmluL2Jhc2gKZQ==",
        ] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
    }
}
