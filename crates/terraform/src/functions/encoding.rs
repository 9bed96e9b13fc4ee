//! Base64, the encoding of URLs, and tables.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/encoding.go`.

use core::fmt::Write as _;
use std::collections::BTreeSet;
use std::sync::Arc;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Answer, Call, files};
use crate::convert::list_of;
use crate::types::Type;
use crate::value::{EvaluatedMember, EvaluatedValue};

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

/// `csvdecode`: a list of objects, whose keys are in the first line.
///
/// Reference: zclconf/go-cty `cty/function/stdlib/csv.go`, which reads with `encoding/csv` of Go.
pub(super) fn csvdecode(call: &Call<'_>) -> Answer {
    let text = call.str(0)?;
    call.spend_text(text.len().saturating_mul(4))?;
    let mut rows = records(text)?.into_iter();
    let headers = rows.next().ok_or("The table has no header.")?;
    let headers: Vec<Arc<str>> = headers.into_iter().map(Arc::from).collect();
    let mut names = BTreeSet::new();
    if let Some(name) = headers.iter().find(|name| !names.insert(*name)) {
        return Err(format!("Two columns have the name \"{name}\"."));
    }
    let of = Type::object(headers.iter().map(|name| (Arc::clone(name), Type::String)));
    let mut items = Vec::new();
    for row in rows {
        if row.len() != headers.len() {
            return Err("A line of the table has another number of fields.".to_owned());
        }
        let members = headers.iter().zip(row).map(|(name, field)| {
            let value = EvaluatedValue::string(field, call.place);
            (Arc::clone(name), EvaluatedMember { key: call.place, value })
        });
        items.push(EvaluatedValue::object(members.collect::<Vec<_>>(), call.place));
    }
    call.spend(items.len())?;
    call.value(list_of(of, items))
}

/// The fields of the lines of a table. A field in quotes may have commas, line breaks and doubled quotes; empty lines count for nothing.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let misplaced = || Err("The table has a quote at a wrong place.".to_owned());
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    loop {
        if row.is_empty() {
            while chars.next_if_eq(&'\n').is_some() {}
            if chars.peek().is_none() {
                return Ok(rows);
            }
        }
        let mut field = String::new();
        if chars.next_if_eq(&'"').is_some() {
            loop {
                match chars.next() {
                    Some('"') if chars.next_if_eq(&'"').is_none() => break,
                    Some(char) => field.push(char),
                    None => return misplaced(),
                }
            }
        } else {
            while let Some(char) = chars.next_if(|char| !matches!(char, ',' | '\n')) {
                if char == '"' {
                    return misplaced();
                }
                field.push(char);
            }
        }
        row.push(field);
        match chars.next() {
            Some(',') => {}
            Some('\n') | None => rows.push(core::mem::take(&mut row)),
            Some(_) => return misplaced(),
        }
    }
}
