//! Base64 decoder that also accepts line breaks, as `base64` prints them.

/// Minimum number of characters. Shorter texts are usually words.
const MIN_LENGTH: usize = 16;

/// Decodes standard Base64 with padding; `None` for a text in another encoding or with fewer than 16 characters.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count, mut padding) = (0_u32, 0_usize, 0_usize);
    for byte in text.bytes() {
        let digit = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => continue,
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = (bits << 6 | u32::from(digit)) & 0xff_ffff;
        count += 1;
        if count % 4 == 0 {
            let [_, three @ ..] = bits.to_be_bytes();
            bytes.extend_from_slice(&three);
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => bytes.extend_from_slice((bits << 12).to_be_bytes().get(1..2)?),
        (3, 1) => bytes.extend_from_slice((bits << 6).to_be_bytes().get(1..3)?),
        _ => return None,
    }
    (count + padding >= MIN_LENGTH).then_some(bytes)
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
