//! Parts of strings, each with its place.

use manifest::source::Span;
use manifest::tree::StringPart;
use terraform::{EvaluatedText, Piece, TextPlace, Texts};

/// The pieces of a range of a string, each with the bytes of the range that come from it and their place.
fn pieces<'t>(
    text: &'t EvaluatedText,
    range: Span,
    texts: &'t Texts,
) -> impl Iterator<Item = (Span, TextPlace, bool)> + 't {
    let all = text.pieces();
    let first = all.partition_point(|piece| piece.start <= range.start).saturating_sub(1);
    let end = move |index: usize| all.get(index + 1).map_or(text.as_str().len(), |next: &Piece| next.start);
    let own = all.iter().enumerate().skip(first).take_while(move |(_, piece)| piece.start < range.end);
    own.map(move |(index, piece)| {
        let bytes = Span::new(piece.start.max(range.start), end(index).min(range.end));
        let place = text.place_of(bytes.start, bytes.end).unwrap_or(piece.place);
        // The placeholder of an interpolation is often the interpolation itself.
        let is_same = piece.is_verbatim || texts.slice(place) == bytes.text(text.as_str());
        (bytes, place, is_same)
    })
}

/// Whether a text has a range of a string as it is, but for the indentation of lines.
pub(crate) fn is_verbatim(text: &EvaluatedText, range: Span, texts: &Texts) -> bool {
    let mut before: Option<(Span, TextPlace)> = None;
    for (bytes, place, is_same) in pieces(text, range, texts) {
        if !is_same {
            return false;
        }
        if let Some((bytes_before, place_before)) = before {
            let gap = Span::new(place_before.span().end, place.span().start);
            let is_ordered = place_before.text == place.text && gap.start <= gap.end;
            if !is_ordered {
                return false;
            }
            let between = texts.slice(TextPlace::new(place.text, gap));
            let starts_line = bytes_before.text(text.as_str()).ends_with('\n');
            let is_indentation = starts_line && between.chars().all(|char| matches!(char, ' ' | '\t'));
            if !between.is_empty() && !is_indentation {
                return false;
            }
        }
        before = Some((bytes, place));
    }
    true
}

/// The parts of a range of a string whose node has a place. Bytes from elsewhere have the place of the node.
pub(crate) fn parts(text: &EvaluatedText, range: Span, within: TextPlace, texts: &Texts) -> Vec<StringPart> {
    let node = within.span();
    pieces(text, range, texts)
        .map(|(bytes, place, is_verbatim)| {
            let span = place.span();
            let is_inside = place.text == within.text && node.start <= span.start && span.end <= node.end;
            let start = bytes.start - range.start;
            if is_inside {
                StringPart { start, span, is_verbatim }
            } else {
                StringPart { start, span: node, is_verbatim: false }
            }
        })
        .collect()
}
