//! The names of placeholders in a text of which some parts are not known: a function must not take them for the text that is there later.

use manifest::source::Span;

/// The placeholders of a text. A text that is known may look like one, which only makes the answer more careful.
pub(crate) fn placeholders(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("${")).map(|start| at + start) {
        let length = length(text.get(start..).unwrap_or_default());
        found.push(Span::new(start, start + length));
        at = start + length;
    }
    found
}

/// The length of the placeholder at the start of a text: up to the brace that closes it, outside of the strings of its expression.
pub(crate) fn length(text: &str) -> usize {
    let (mut depth, mut is_string, mut is_escaped) = (0, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' if is_string => is_escaped = true,
            '"' => is_string = !is_string,
            '{' if !is_string => depth += 1,
            '}' if !is_string => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether a text starts with another one, whatever its placeholders are; none if that depends on them.
pub(super) fn starts_with(text: &str, start: &str) -> Option<bool> {
    let known = placeholders(text).first().map_or(text.len(), |first| first.start);
    let compared = known.min(start.len());
    match text.as_bytes().get(..compared) == start.as_bytes().get(..compared) {
        true if compared < start.len() && known < text.len() => None,
        is_same => Some(is_same && compared == start.len()),
    }
}

/// Whether a text ends with another one, whatever its placeholders are; none if that depends on them.
pub(super) fn ends_with(text: &str, end: &str) -> Option<bool> {
    let known = text.len() - placeholders(text).last().map_or(0, |last| last.end);
    let compared = known.min(end.len());
    let tail = |text: &str| text.as_bytes().iter().rev().take(compared).copied().collect::<Vec<u8>>();
    match tail(text) == tail(end) {
        true if compared < end.len() && known < text.len() => None,
        is_same => Some(is_same && compared == end.len()),
    }
}

/// Whether a pattern may match a part of a placeholder's value together with a part of the text around it.
pub(super) fn may_straddle(text: &str, pattern: &str, placeholders: &[Span]) -> bool {
    let inner = || (1..pattern.len()).filter(|at| pattern.is_char_boundary(*at));
    placeholders.iter().any(|placeholder| {
        let before = text.get(..placeholder.start).unwrap_or_default();
        let after = text.get(placeholder.end..).unwrap_or_default();
        inner().any(|at| {
            let (head, tail) = pattern.split_at(at);
            before.ends_with(head) || after.starts_with(tail)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_end_at_their_brace() {
        let text = r#"a ${x["}"]} b ${{ c = 1 }} ${"#;
        let found: Vec<&str> = placeholders(text).iter().map(|span| span.text(text)).collect();
        assert_eq!(found, [r#"${x["}"]}"#, "${{ c = 1 }}", "${"]);
    }

    #[test]
    fn the_ends_of_a_text_may_depend_on_a_placeholder() {
        assert_eq!(starts_with("ab${x}", "a"), Some(true));
        assert_eq!(starts_with("ab${x}", "b"), Some(false));
        assert_eq!(starts_with("ab${x}", "abc"), None);
        assert_eq!(starts_with("ab", "abc"), Some(false));
        assert_eq!(ends_with("${x}\n", "\n"), Some(true));
        assert_eq!(ends_with("${x}\n", "b\n"), None);
        assert_eq!(ends_with("${x}-a", "b"), Some(false));
        assert_eq!(ends_with("${x}", "b"), None);
        assert_eq!(ends_with("${x}", ""), Some(true));
    }
}
