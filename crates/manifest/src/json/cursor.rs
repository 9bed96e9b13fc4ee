//! Cursor over JSON that reads a few values and skips the others, without a tree.

use memchr::memchr2;

use crate::source::certain;

/// The text is not the JSON that the user of a [`Cursor`] expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the expected JSON")]
pub struct Unexpected;

/// Cursor over JSON. It reads the values that its user asks for. Of a value that it skips, it checks only that the brackets
/// and quotes have an end. [`read`](super::read) checks the whole text and describes errors.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// A cursor before the first value of a text.
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Enters an object.
    pub fn enter_object(&mut self) -> Result<(), Unexpected> {
        self.eat(b'{')
    }

    /// Enters a list.
    pub fn enter_list(&mut self) -> Result<(), Unexpected> {
        self.eat(b'[')
    }

    /// Reads the next key of an object; leaves the object after the last key. A key with an escape is unexpected.
    pub fn next_key(&mut self) -> Result<Option<&'t str>, Unexpected> {
        if !self.has_next(b'}') {
            return Ok(None);
        }
        let key = self.string()?;
        self.eat(b':')?;
        Ok(Some(key))
    }

    /// Whether a list has a further item; leaves the list if it has none.
    pub fn next_item(&mut self) -> bool {
        self.has_next(b']')
    }

    /// Reads a string. A string with an escape is unexpected.
    pub fn string(&mut self) -> Result<&'t str, Unexpected> {
        self.eat(b'"')?;
        let rest = self.text.get(self.at..).ok_or(Unexpected)?;
        let len = memchr2(b'"', b'\\', rest.as_bytes()).ok_or(Unexpected)?;
        self.at += len + 1;
        rest.get(..len).filter(|_| rest.as_bytes().get(len) == Some(&b'"')).ok_or(Unexpected)
    }

    /// Skips a value and returns its text.
    pub fn skip(&mut self) -> Result<&'t str, Unexpected> {
        let first = self.peek().ok_or(Unexpected)?;
        let start = self.at;
        let value = self.text.as_bytes().get(start..).ok_or(Unexpected)?;
        self.at += match first {
            b'"' | b'{' | b'[' => quoted_or_bracketed(value)?,
            _ => value.iter().take_while(|byte| is_in_word(**byte)).count(),
        };
        self.text.get(start..self.at).filter(|text| !text.is_empty()).ok_or(Unexpected)
    }

    /// The position of the next byte that is no white space.
    pub fn position(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// The text from a position to the cursor.
    pub fn text_from(&self, position: usize) -> &'t str {
        certain(self.text.get(position..self.at))
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn eat(&mut self, expected: u8) -> Result<(), Unexpected> {
        if self.peek() == Some(expected) {
            self.at += 1;
            Ok(())
        } else {
            Err(Unexpected)
        }
    }

    fn has_next(&mut self, closing: u8) -> bool {
        if self.peek() == Some(b',') {
            self.at += 1;
        }
        self.eat(closing).is_err()
    }
}

/// Whether a number, `true`, `false` or `null` can have a byte.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The length of the string or collection at the start of some bytes.
fn quoted_or_bracketed(bytes: &[u8]) -> Result<usize, Unexpected> {
    let mut rest = bytes.iter();
    let mut depth = 0_usize;
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => skip_to_quote(&mut rest)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).ok_or(Unexpected)?,
            _ => continue,
        }
        if depth == 0 {
            return Ok(bytes.len() - rest.len());
        }
    }
    Err(Unexpected)
}

/// Skips the rest of a string with its closing quote.
fn skip_to_quote(rest: &mut core::slice::Iter<'_, u8>) -> Result<(), Unexpected> {
    while let Some(at) = memchr2(b'"', b'\\', rest.as_slice()) {
        match rest.nth(at) {
            Some(b'\\') => drop(rest.next()),
            _ => return Ok(()),
        }
    }
    Err(Unexpected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_some_members_and_skips_the_others() {
        let text = r#" { "a" : {"x":"}]\"{"} , "list":[1, "two",[3]], "n":-1.5e+3,"end":null } "#;
        let mut cursor = Cursor::new(text);
        cursor.enter_object().unwrap();
        let mut seen = Vec::new();
        while let Some(key) = cursor.next_key().unwrap() {
            if key == "list" {
                cursor.enter_list().unwrap();
                while cursor.next_item() {
                    seen.push(("item", cursor.skip().unwrap()));
                }
            } else {
                seen.push((key, cursor.skip().unwrap()));
            }
        }
        assert_eq!(
            seen,
            [
                ("a", r#"{"x":"}]\"{"}"#),
                ("item", "1"),
                ("item", r#""two""#),
                ("item", "[3]"),
                ("n", "-1.5e+3"),
                ("end", "null"),
            ]
        );
    }

    #[test]
    fn reads_empty_collections() {
        let mut cursor = Cursor::new("[{},[]]");
        cursor.enter_list().unwrap();
        assert!(cursor.next_item());
        cursor.enter_object().unwrap();
        assert_eq!(cursor.next_key(), Ok(None));
        assert!(cursor.next_item());
        cursor.enter_list().unwrap();
        assert!(!cursor.next_item());
        assert!(!cursor.next_item());
    }

    #[test]
    fn does_not_expect_broken_json_or_escapes() {
        for text in ["", "[", r#""x"#, r#"{"a":[}"#, r#"{"a":"\"#, "]", ",", "{]"] {
            assert_eq!(
                Cursor::new(text).skip().and_then(|_| Cursor::new(text).enter_list()),
                Err(Unexpected),
                "{text}"
            );
        }
        assert_eq!(Cursor::new(r#""a\n""#).string(), Err(Unexpected));
        assert_eq!(Cursor::new(r#""a""#).string(), Ok("a"));
        assert_eq!(Cursor::new("1").string(), Err(Unexpected));
    }
}
