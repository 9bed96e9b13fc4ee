//! Bounds on the texts of users in messages: a name of a megabyte behind thousands of aliases would make gigabytes.

use std::borrow::Cow;

/// Returns a text of at most `max` bytes and an ellipsis, cut at a character.
pub fn cropped(text: &str, max: usize) -> Cow<'_, str> {
    let end = text.floor_char_boundary(max);
    match text.get(..end) {
        Some(start) if end < text.len() => Cow::Owned(format!("{start}…")),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::cropped;

    #[test]
    fn cuts_a_long_text_at_a_character() {
        assert_eq!(cropped("abc", 3), "abc");
        assert_eq!(cropped("abcd", 3), "abc…");
        assert_eq!(cropped("aéb", 2), "a…");
        assert_eq!(cropped("", 0), "");
    }
}
