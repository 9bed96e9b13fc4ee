//! Base64 and the encoding of URLs.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/encoding.go`.

use core::fmt::Write as _;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Answer, Call, files};
use crate::types::Type;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn base64encode(call: &Call<'_>) -> Answer {
    call.string(encoded(call.str(0)?.as_bytes()))
}

/// Bytes in base64, with padding.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (group >> (18 - 6 * digit)) & 63;
            let is_padding = digit > chunk.len();
            let symbol = ALPHABET.get(index as usize).copied().unwrap_or(b'=');
            text.push(if is_padding { '=' } else { char::from(symbol) });
        }
    }
    text
}

pub(super) fn base64decode(call: &Call<'_>) -> Answer {
    let wrong = || "The string is not base64.".to_owned();
    // Go ignores line breaks.
    let text: Vec<u8> = call.str(0)?.bytes().filter(|byte| !b"\r\n".contains(byte)).collect();
    if !text.len().is_multiple_of(4) {
        return Err(wrong());
    }
    let mut bytes = Vec::new();
    for (index, group) in text.chunks(4).enumerate() {
        let is_last = (index + 1) * 4 == text.len();
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || padding > 0 && !is_last {
            return Err(wrong());
        }
        let mut value = 0_u32;
        for byte in group.iter().take(4 - padding) {
            let digit = ALPHABET.iter().position(|symbol| symbol == byte).ok_or_else(wrong)?;
            value = value << 6 | u32::try_from(digit).unwrap_or(0);
        }
        value <<= 6 * padding;
        bytes.extend(value.to_be_bytes().into_iter().skip(1).take(3 - padding));
    }
    let text = String::from_utf8(bytes).map_err(|_| "The decoded bytes are not UTF-8.")?;
    call.string(text)
}

pub(super) fn md5(call: &Call<'_>) -> Answer {
    call.string(hex(&digest::<Md5>(call.str(0)?)))
}

pub(super) fn sha1(call: &Call<'_>) -> Answer {
    call.string(hex(&digest::<Sha1>(call.str(0)?)))
}

pub(super) fn sha256(call: &Call<'_>) -> Answer {
    call.string(hex(&digest::<Sha256>(call.str(0)?)))
}

pub(super) fn sha512(call: &Call<'_>) -> Answer {
    call.string(hex(&digest::<Sha512>(call.str(0)?)))
}

pub(super) fn base64sha256(call: &Call<'_>) -> Answer {
    call.string(encoded(&digest::<Sha256>(call.str(0)?)))
}

pub(super) fn base64sha512(call: &Call<'_>) -> Answer {
    call.string(encoded(&digest::<Sha512>(call.str(0)?)))
}

pub(super) fn filemd5(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| hex(&Md5::digest(bytes)))
}

pub(super) fn filesha1(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| hex(&Sha1::digest(bytes)))
}

pub(super) fn filesha256(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| hex(&Sha256::digest(bytes)))
}

pub(super) fn filesha512(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| hex(&Sha512::digest(bytes)))
}

pub(super) fn filebase64sha256(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| encoded(&Sha256::digest(bytes)))
}

pub(super) fn filebase64sha512(call: &Call<'_>) -> Answer {
    of_file(call, |bytes| encoded(&Sha512::digest(bytes)))
}

pub(super) fn filebase64(call: &Call<'_>) -> Answer {
    of_file(call, encoded)
}

fn digest<D: Digest>(text: &str) -> Vec<u8> {
    D::digest(text.as_bytes()).to_vec()
}

/// Bytes as two hexadecimal digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A text that is computed from the bytes of a file; unknown without the file.
fn of_file(call: &Call<'_>, compute: impl Fn(&[u8]) -> String) -> Answer {
    match files::source(call, 0)? {
        Some(source) => call.string(compute(&source.bytes())),
        None => call.unknown(Type::String),
    }
}

pub(super) fn urlencode(call: &Call<'_>) -> Answer {
    let mut text = String::new();
    for byte in call.str(0)?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            b' ' => text.push('+'),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    call.string(text)
}
