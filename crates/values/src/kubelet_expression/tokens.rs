//! Tokens of an expression.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionToken<'t> {
    /// A whole number.
    Int(&'t str),
    /// A number with a fraction or an exponent.
    Double(&'t str),
    /// A number without a sign, such as `1u`.
    Unsigned(&'t str),
    /// A string.
    Text(&'t str),
    /// A name or a keyword.
    Name(&'t str),
    /// An operator or a bracket.
    Sign(&'t str),
    /// A part that is no token.
    Invalid(&'t str),
}

impl<'t> ExpressionToken<'t> {
    /// The text of the token.
    pub(super) const fn text(self) -> &'t str {
        match self {
            Self::Int(text)
            | Self::Double(text)
            | Self::Unsigned(text)
            | Self::Text(text)
            | Self::Name(text)
            | Self::Sign(text)
            | Self::Invalid(text) => text,
        }
    }
}

const SIGNS: [&str; 23] = [
    "&&", "||", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", "<", ">", "!",
    "?", ":", ",",
];

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<ExpressionToken<'_>> {
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let (token, after) = next(rest);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The first token of a text that starts with one, and the text after it.
fn next(text: &str) -> (ExpressionToken<'_>, &str) {
    let first = text.chars().next().unwrap_or_default();
    if first.is_ascii_digit() {
        return number(text);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let (name, rest) = split_while(text, |char| char.is_ascii_alphanumeric() || char == '_');
        return (ExpressionToken::Name(name), rest);
    }
    if matches!(first, '"' | '\'') {
        return string(text, first);
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign)).copied();
    let sign = sign.or_else(|| text.starts_with('.').then_some("."));
    let length = sign.map_or(first.len_utf8(), str::len);
    let (part, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    (if sign.is_some() { ExpressionToken::Sign(part) } else { ExpressionToken::Invalid(part) }, rest)
}

fn number(text: &str) -> (ExpressionToken<'_>, &str) {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    // The sign of an exponent belongs to the number.
    let mut before = ' ';
    let (whole, rest) = split_while(text, |char| {
        let is_exponent = !is_hexadecimal && matches!(before, 'e' | 'E') && matches!(char, '+' | '-');
        before = char;
        char.is_ascii_alphanumeric() || matches!(char, '.' | '_') || is_exponent
    });
    let digits = whole.strip_prefix("0x").or_else(|| whole.strip_prefix("0X"));
    let is_int = match digits {
        Some(digits) => i64::from_str_radix(digits, 16).is_ok(),
        None => whole.bytes().all(|byte| byte.is_ascii_digit()),
    };
    let token = if is_int {
        ExpressionToken::Int(whole)
    } else if digits.is_none() && whole.parse::<f64>().is_ok() && !whole.ends_with('.') {
        ExpressionToken::Double(whole)
    } else if whole.strip_suffix(['u', 'U']).is_some_and(|number| number.parse::<u64>().is_ok()) {
        ExpressionToken::Unsigned(whole)
    } else {
        ExpressionToken::Invalid(whole)
    };
    (token, rest)
}

/// A string in quotes. `quote` is its first character.
fn string(text: &str, quote: char) -> (ExpressionToken<'_>, &str) {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, char)| {
        let ends = *char == quote && !is_escaped;
        is_escaped = *char == '\\' && !is_escaped;
        ends
    });
    let split = end.and_then(|(at, _)| text.split_at_checked(at + 1));
    split.map_or((ExpressionToken::Invalid(text), ""), |(string, rest)| (ExpressionToken::Text(string), rest))
}

fn split_while(text: &str, mut belongs: impl FnMut(char) -> bool) -> (&str, &str) {
    let end = text.find(|char| !belongs(char)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}
