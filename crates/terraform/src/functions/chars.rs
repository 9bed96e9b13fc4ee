//! Characters as people see them, in which Terraform counts.

/// The characters of a text, as slices; none if the text has characters that may combine with others. Combining them takes tables that
/// nothing else here needs.
pub(super) fn characters(text: &str) -> Option<Vec<&str>> {
    let mut characters = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if !is_simple(char) {
            return None;
        }
        let length = if rest.starts_with("\r\n") { 2 } else { char.len_utf8() };
        let (character, more) = rest.split_at(length);
        characters.push(character);
        rest = more;
    }
    Some(characters)
}

/// Whether a character stands alone: Latin letters, kana and Chinese characters.
fn is_simple(char: char) -> bool {
    matches!(char, '\0'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}')
}

/// The character that Go writes instead in upper case: letters whose upper case is several characters stay.
pub(super) fn upper(char: char) -> char {
    single(char, char.to_uppercase())
}

/// The character that Go writes instead in lower case.
pub(super) fn lower(char: char) -> char {
    single(char, char.to_lowercase())
}

fn single(char: char, mut cased: impl Iterator<Item = char>) -> char {
    match (cased.next(), cased.next()) {
        (Some(cased), None) => cased,
        _ => char,
    }
}
