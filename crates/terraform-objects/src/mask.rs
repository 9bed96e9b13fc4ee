//! Placeholders as words that YAML takes anywhere in a value.
//!
//! `[${x}a]` is no flow sequence, because a brace starts a mapping there. What Terraform writes in the place of `${x}` may be fine.

use core::ops::RangeInclusive;

use terraform::EvaluatedText;

/// Characters that replace the start of a placeholder: each is one, by its number. YAML takes them anywhere in a plain scalar.
///
/// Source: Unicode 16.0, Private Use Area; YAML 1.2.2, `c-printable`.
const MARKS: RangeInclusive<char> = '\u{E000}'..='\u{F8FF}';
/// Character that replaces the rest of a placeholder.
const FILL: &str = "_";

/// A text with words instead of its placeholders, byte for byte as long as before.
pub(crate) struct MaskedText<'t> {
    pub(crate) text: String,
    placeholders: Vec<&'t str>,
}

impl<'t> MaskedText<'t> {
    /// `None` if the text has no placeholders, too many, or the words already.
    pub(crate) fn of(text: &'t EvaluatedText) -> Option<Self> {
        let whole = text.as_str();
        if whole.contains(|char| MARKS.contains(&char)) {
            return None;
        }
        let (mut masked, mut placeholders) = (String::new(), Vec::new());
        let ends = text.pieces().iter().skip(1).map(|piece| piece.start).chain([whole.len()]);
        for (piece, end) in text.pieces().iter().zip(ends) {
            let mut rest = whole.get(piece.start..end)?;
            while let Some(start) = rest.find("${") {
                let length = placeholder_length(rest.get(start..)?)?;
                masked.push_str(rest.get(..start)?);
                let mark = char::from_u32(*MARKS.start() as u32 + u32::try_from(placeholders.len()).ok()?)?;
                masked.push(Some(mark).filter(|mark| MARKS.contains(mark))?);
                masked.push_str(&FILL.repeat(length.checked_sub(mark.len_utf8())?));
                placeholders.push(rest.get(start..start + length)?);
                rest = rest.get(start + length..)?;
            }
            masked.push_str(rest);
        }
        (!placeholders.is_empty()).then_some(Self { text: masked, placeholders })
    }

    /// A part of the text with its placeholders.
    pub(crate) fn restored(&self, part: &str) -> String {
        let mut restored = String::new();
        let mut rest = part;
        while let Some((start, mark)) = rest.char_indices().find(|(_, char)| MARKS.contains(char)) {
            let index = (mark as usize).saturating_sub(*MARKS.start() as usize);
            let placeholder = self.placeholders.get(index).copied().unwrap_or_default();
            restored.push_str(rest.get(..start).unwrap_or_default());
            restored.push_str(placeholder);
            rest = rest.get(start + placeholder.len()..).unwrap_or_default();
        }
        restored.push_str(rest);
        restored
    }
}

/// The length of the placeholder at the start of a text, with the braces within it.
fn placeholder_length(text: &str) -> Option<usize> {
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
