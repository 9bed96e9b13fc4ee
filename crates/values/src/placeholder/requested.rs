//! Words that ask a person for a value, or show where a value belongs: `REPLACE_ME`, `your-cluster`, `ami-xxxx`, `sg-****`.

use core::ops::Range;

/// The first words that ask for a value: `REPLACE_ME`, `your-cluster-name`, `xxxx`.
pub(super) fn requested_range(text: &str) -> Option<Range<usize>> {
    /// Whole values.
    const VALUES: [&str; 8] = ["todo", "tbd", "tba", "fixme", "masked", "hidden", "omitted", "placeholder"];
    /// Words anywhere in a value.
    const WORDS: [&str; 4] = ["replaceme", "changeme", "redacted", "updateme"];
    /// Pairs of words anywhere in a value.
    const PHRASES: [(&str, &str); 13] = [
        ("fill", "me"),
        ("fill", "in"),
        ("update", "me"),
        ("edit", "me"),
        ("goes", "here"),
        ("insert", "here"),
        ("replace", "me"),
        ("replace", "with"),
        ("replace", "this"),
        ("to", "replace"),
        ("be", "replaced"),
        ("change", "me"),
        ("change", "this"),
    ];
    if let Some(range) = masked_range(text) {
        return Some(range);
    }
    // A number, for example, asks for nothing.
    if !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
    let whole = 0..text.len();
    if VALUES.iter().any(|value| is(text, value)) {
        return Some(whole);
    }
    // The word before, if `-`, `_` or a space is between the two words.
    let mut before = "";
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let end = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let separator = rest.get(end..).and_then(|after| after.chars().next());
        rest = rest.get(end + separator.map_or(0, char::len_utf8)..).unwrap_or_default();
        let is_joined = matches!(separator, Some('-' | '_' | ' '));
        let follows_prefix = is_id_prefix(text, at);
        if is_outline(word) || (follows_prefix && is_outline_of_id(word)) {
            return Some(at..at + word.len());
        }
        let is_phrase =
            !before.is_empty() && PHRASES.iter().any(|(one, other)| is(before, one) && is(word, other));
        let asks = is_phrase
            || WORDS.iter().any(|known| is(word, known))
            || (is_joined && is(word, "your") && asks_for_yours(text, at, word));
        let is_last = || rest.is_empty() && !before.is_empty();
        if asks || (follows_prefix && is(word, "your")) || (word == "HERE" && is_last()) {
            return Some(whole);
        }
        before = if is_joined { word } else { "" };
    }
    None
}

/// The first mask in a single word: three or more asterisks or dots in the place of a name, as in `sg-****` or `subnet-...`, or in the
/// place of the end of an id, as in `subnet-0a1b2c...`.
fn masked_range(text: &str) -> Option<Range<usize>> {
    // Each mark has three bytes, which most texts lack.
    let is_mark = |bytes: &[u8]| matches!(bytes, b"***" | b"..." | [0xe2, 0x80, 0xa6]);
    if !text.as_bytes().windows(3).any(is_mark) || text.contains(char::is_whitespace) {
        return None;
    }
    for mark in ["***", "...", "\u{2026}"] {
        let Some(at) = text.find(mark) else { continue };
        let before = text.get(..at)?;
        let starts_name = at == 0 || before.ends_with(['-', ':', '/', '=', '_']) || ends_in_cut_id(before);
        let rest = text.get(at..)?;
        let length = rest.len() - rest.trim_start_matches(['*', '.', '\u{2026}']).len();
        let ends_name =
            text.get(at + length..)?.bytes().next().is_none_or(|next| !next.is_ascii_alphanumeric());
        if starts_name && ends_name {
            return Some(at..at + length);
        }
    }
    None
}

/// Whether a text ends in an AWS id without its last digits.
fn ends_in_cut_id(text: &str) -> bool {
    let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    digits > 0 && is_id_prefix(text, text.len() - digits)
}

/// Whether a word only shows where a value belongs, as in `ami-xxxx`, `subnet-yyy` or `XXXGi`. A longer word is not the outline of an id.
fn is_outline(word: &str) -> bool {
    /// Units of quantities and durations.
    const UNITS: [&str; 14] = ["Ki", "Mi", "Gi", "Ti", "Pi", "m", "k", "M", "G", "T", "P", "h", "s", "GB"];
    let first = word.bytes().next().unwrap_or_default();
    if !matches!(first.to_ascii_lowercase(), b'x'..=b'z') {
        return false;
    }
    let is_repeated = |word: &str| {
        (3..=20).contains(&word.len()) && word.bytes().all(|byte| byte.eq_ignore_ascii_case(&first))
    };
    is_repeated(word) || UNITS.iter().filter_map(|unit| word.strip_suffix(unit)).any(is_repeated)
}

/// Whether a word in the place of an id is no id: one letter repeated, the alphabet, or an example, as in `sg-aaa`, `sg-abcdefgh`,
/// `sg-abc123` or `ami-example`.
fn is_outline_of_id(word: &str) -> bool {
    const EXAMPLES: [&str; 3] = ["example", "placeholder", "id"];
    let letters = word.trim_end_matches(|char: char| char.is_ascii_digit());
    let (bytes, digits) = (letters.as_bytes(), word.as_bytes().get(letters.len()..).unwrap_or_default());
    let all_letters = letters.len() >= 3 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    let steps_by = |bytes: &[u8], step: u8| {
        bytes
            .iter()
            .zip(bytes.iter().skip(1))
            .all(|(one, next)| next.to_ascii_lowercase() == one.to_ascii_lowercase().wrapping_add(step))
    };
    EXAMPLES.iter().any(|example| word.eq_ignore_ascii_case(example))
        || (all_letters && digits.is_empty() && steps_by(bytes, 0))
        || (all_letters && steps_by(bytes, 1) && (steps_by(digits, 1) || steps_by(digits, 0)))
}

/// Whether the word at an offset follows the prefix of an AWS id, such as `sg-`.
fn is_id_prefix(text: &str, at: usize) -> bool {
    const PREFIXES: [&str; 13] =
        ["ami", "cr", "eni", "eipalloc", "i", "lt", "nat", "pg", "rtb", "sg", "snap", "subnet", "vpc"];
    let Some(before) = text.get(..at).and_then(|before| before.strip_suffix('-')) else { return false };
    let prefix = before.rsplit(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
    let starts =
        || before.strip_suffix(prefix).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', ',']));
    PREFIXES.contains(&prefix) && starts()
}

/// Whether the word `your` at an offset asks for a value, as in `your-cluster` or `YOUR_CLUSTER`. `bring-your-own` is a name, so lower
/// case counts only at the start of a name.
fn asks_for_yours(text: &str, at: usize, word: &str) -> bool {
    let starts_name =
        || text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(['/', ':', '=', ',']));
    word == "YOUR" || starts_name()
}
