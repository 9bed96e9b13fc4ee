//! Messages without their variable parts: numbers, addresses, identities and the names of the entry's own objects.
//!
//! Only what is certainly variable is replaced, so that two different problems never become one.

use std::borrow::Cow;

use manifest::source::certain;
use values::cropping::cropped;

use super::fields::{node, nodeclaim, nodepool};
use crate::entry::Entry;

/// Length in bytes from which a message is cut.
const MAX_MESSAGE: usize = 400;

/// The replacement of a variable part.
const VARIABLE: &str = "…";

/// The message of an entry and its error, without their variable parts.
pub fn masked_entry(entry: &Entry<'_>) -> String {
    let objects =
        [nodeclaim(entry), nodepool(entry), node(entry), entry.fields.name("Pod"), entry.fields.text("name")];
    let own = Some(Cow::Borrowed(&*entry.object.name));
    let names: Vec<Cow<'_, str>> =
        objects.into_iter().chain([own]).flatten().filter(|name| !name.is_empty()).collect();
    let message = masked(&entry.message, &names);
    match (message.is_empty(), entry.error.is_empty()) {
        (_, true) => message,
        (true, false) => masked(&entry.error, &names),
        (false, false) => format!("{message}: {}", masked(&entry.error, &names)),
    }
}

/// A text in which an ellipsis replaces each variable word. `names` are words that are variable too.
pub fn masked(text: &str, names: &[Cow<'_, str>]) -> String {
    let text = cropped(text.trim(), MAX_MESSAGE);
    let mut masked = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_boundary) {
        let end = piece.trim_end_matches(is_boundary);
        let word = end.trim_end_matches(['.', ':']);
        let rest = certain(piece.get(word.len()..));
        let is_name = names.iter().any(|name| name == word);
        masked.push_str(if is_name || is_variable(word) { VARIABLE } else { word });
        masked.push_str(rest);
    }
    masked
}

fn is_boundary(char: char) -> bool {
    char.is_whitespace() || "\"'`,;=()[]{}<>/".contains(char)
}

/// Whether a word is a number, a time, an address, or an identity such as `i-0c1cfb2c7919d53c1`.
fn is_variable(word: &str) -> bool {
    const LETTERS_OF_A_NUMBER: usize = 4;
    let is_number = word.starts_with(|first: char| first.is_ascii_digit())
        && word.bytes().filter(u8::is_ascii_alphabetic).count() <= LETTERS_OF_A_NUMBER;
    let last = word.rsplit('-').next().unwrap_or(word);
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let is_hex = digits.len() >= 8
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    is_number || is_hex || (word.starts_with("0x") && !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_variable_words() {
        for (text, expected) in [
            ("waited 12.5s for 10.0.3.4:443", "waited … for …"),
            ("terminating i-0c1cfb2c7919d53c1 in subnet-0a1b2c3d4e5f60718", "terminating … in …"),
            ("request id: 5a21ba67-3c5e-4b7a-9d21-7e4c00161cd9, again", "request id: …, again"),
            ("index out of range [3] with length 2", "index out of range […] with length …"),
            ("unexpected fault address 0xdeadbeef", "unexpected fault address …"),
            ("getting \"shop/web-1\" of default-x2b4k", "getting \"shop/web-1\" of …"),
            ("no such host: sts.eu-west-1.amazonaws.com", "no such host: sts.eu-west-1.amazonaws.com"),
            ("v1beta1 is deadbeef, a facade", "v1beta1 is deadbeef, a facade"),
            ("aws:///eu-west-1a/i-0c1cfb2c7919d53c1: 403.", "aws:///eu-west-1a/…: …."),
            ("", ""),
        ] {
            assert_eq!(masked(text, &["default-x2b4k".into()]), expected, "{text}");
        }
    }
}
