//! Expressions such as `${x}` and `{{ x }}` as words that YAML takes anywhere in a value.
//!
//! `[${x}a]` is no flow sequence, because a brace starts a mapping there, and `${f("a: b")}` is no plain scalar. What Terraform or
//! `envsubst` writes in the place of the expression may be fine.

use core::ops::RangeInclusive;

/// Characters that replace the start of an expression: each is one, by its number. YAML takes them anywhere in a plain scalar.
///
/// Source: Unicode 16.0, Private Use Area; YAML 1.2.2, `c-printable`.
const MARKS: RangeInclusive<char> = '\u{E000}'..='\u{F8FF}';
/// Character that replaces the rest of an expression.
const FILL: char = '_';

/// Maximum number of expressions without an end: each is looked for to the end of its line.
const MAX_UNCLOSED: usize = 64;

/// A text with words instead of its expressions, byte for byte as long as before.
pub(super) struct MaskedText<'t> {
    pub(super) text: String,
    expressions: Vec<&'t str>,
}

impl<'t> MaskedText<'t> {
    /// The text with words instead of `${x}`. `None` if the text has no expressions, too many, or the words already.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        Self::of_expressions(text, "${", false)
    }

    /// The text with words instead of the values `{{ x }}` of Go templates. `None` also if a line starts with an expression, which may be a
    /// statement.
    pub(super) fn of_template(text: &'t str) -> Option<Self> {
        Self::of_expressions(text, "{{", true)
    }

    fn of_expressions(text: &'t str, open: &str, start_no_line: bool) -> Option<Self> {
        if !text.contains(open) || text.contains(|char| MARKS.contains(&char)) {
            return None;
        }
        let (mut masked, mut expressions) = (String::with_capacity(text.len()), Vec::new());
        let (mut rest, mut unclosed, mut is_blank) = (text, 0, true);
        while let Some((before, after)) = rest.split_once(open) {
            masked.push_str(before);
            let line = before.rsplit_once('\n');
            is_blank =
                (is_blank || line.is_some()) && line.map_or(before, |(_, line)| line).trim().is_empty();
            if start_no_line && is_blank {
                return None;
            }
            is_blank = false;
            let expression = rest.get(before.len()..)?;
            let Some(length) = length(expression) else {
                unclosed += 1;
                if unclosed > MAX_UNCLOSED {
                    return None;
                }
                masked.push_str(open);
                rest = after;
                continue;
            };
            let mark = char::from_u32(*MARKS.start() as u32 + u32::try_from(expressions.len()).ok()?)?;
            masked.push(Some(mark).filter(|mark| MARKS.contains(mark))?);
            masked.extend(core::iter::repeat_n(FILL, length.checked_sub(mark.len_utf8())?));
            let (expression, after) = expression.split_at_checked(length)?;
            expressions.push(expression);
            rest = after;
        }
        masked.push_str(rest);
        (!expressions.is_empty()).then_some(Self { text: masked, expressions })
    }

    /// A text with the expressions in the place of their words.
    pub(super) fn restored(&self, part: &str) -> String {
        let mut restored = String::with_capacity(part.len());
        let mut rest = part;
        while let Some((start, mark)) = rest.char_indices().find(|(_, char)| MARKS.contains(char)) {
            let index = (mark as usize).saturating_sub(*MARKS.start() as usize);
            let expression = self.expressions.get(index).copied().unwrap_or_default();
            restored.push_str(rest.get(..start).unwrap_or_default());
            restored.push_str(expression);
            rest = rest.get(start + expression.len()..).unwrap_or_default();
        }
        restored.push_str(rest);
        restored
    }
}

/// The length of the expression at the start of a text, with the braces within it. An expression is on one line.
fn length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth = depth.checked_sub(1)?,
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MAX_UNCLOSED, MaskedText};

    #[test]
    fn words_have_the_length_of_their_expressions() {
        for text in ["a: [${x}a, ${f({b = 1})}]", "${}${é}", "a ${x\n${y}"] {
            let mask = MaskedText::of(text).unwrap();
            assert_eq!(mask.text.len(), text.len(), "{text}");
            assert!(!mask.text.contains("${y}") && !mask.text.contains("${}"), "{}", mask.text);
            assert_eq!(mask.restored(&mask.text), text);
        }
        for text in ["a", "$x", "${", "${x\n}", "\u{E000} ${x}"] {
            assert!(MaskedText::of(text).is_none(), "{text}");
        }
        for text in ["a: {{x}}", "- {{ .x | default {} }}-b\nc: {{{x}}}"] {
            let mask = MaskedText::of_template(text).unwrap();
            assert_eq!((mask.text.len(), mask.restored(&mask.text).as_str()), (text.len(), text));
            assert!(!mask.text.contains("{{"), "{}", mask.text);
        }
        let many = format!("a: ${{b}} {}", "${".repeat(MAX_UNCLOSED + 1));
        assert!(
            MaskedText::of(&many).is_none() && MaskedText::of(many.strip_suffix("${").unwrap()).is_some()
        );
        for text in ["a: b", "a: {{ x }}\n  {{- if .y }}", "{{ x }}"] {
            assert!(MaskedText::of_template(text).is_none(), "{text}");
        }
    }
}
