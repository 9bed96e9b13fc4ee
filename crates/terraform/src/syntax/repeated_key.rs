//! Keys that an object has twice.

use std::borrow::Cow;

use super::is_of_word;
use crate::functions::placeholder_length;

/// Writes a string of the same length in the place of the key at a byte, which its object has twice. Terraform takes the last value of a key, and
/// hcl-edit refuses the file. Returns false if the key has several lines.
///
/// Source: hashicorp/hcl `hclsyntax/expression.go`, `ObjectConsExpr.Value`.
pub(super) fn rename(code: &mut Cow<'_, str>, at: usize, name: char) -> bool {
    let rest = code.get(at..).unwrap_or_default();
    let Some(length) = length(rest).filter(|length| *length > 0) else { return false };
    if rest.get(..length).is_none_or(|key| key.contains('\n')) {
        return false;
    }
    let is_word = rest.starts_with(is_of_word);
    let other = if is_word {
        name.to_string().repeat(length)
    } else {
        format!("\"{}\"", name.to_string().repeat(length - 2))
    };
    code.to_mut().replace_range(at..at + length, &other);
    true
}

/// The bytes of the key at the start of a text.
fn length(text: &str) -> Option<usize> {
    match text.bytes().next()? {
        b'"' => string_length(text),
        b'(' => parenthesis_length(text),
        _ => Some(text.find(|char| !is_of_word(char)).unwrap_or(text.len())),
    }
}

/// The bytes of the string at the start of a text, with its quotes.
fn string_length(text: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        at += match rest.chars().next()? {
            '"' => return Some(at + 1),
            '\\' => 1 + rest.chars().nth(1)?.len_utf8(),
            '$' | '%' if rest.get(1..)?.starts_with('{') => placeholder_length(rest),
            char => char.len_utf8(),
        };
    }
}

/// The bytes of the expression in parentheses at the start of a text.
fn parenthesis_length(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '"' => at += string_length(rest)?,
            char => {
                at += char.len_utf8();
                depth = match char {
                    '(' => depth + 1,
                    ')' => depth.checked_sub(1)?,
                    _ => depth,
                };
                if depth == 0 {
                    return Some(at);
                }
            }
        }
    }
}
