//! Places of values that no document of the input has: values that a program computes from its own texts.

use std::sync::Arc;

use super::node::Node;
use super::store::Style;
use crate::source::{Source, Span};

/// Place of a new node in a text.
#[derive(Clone, Copy, Debug)]
pub struct NodePlace<'s> {
    /// The text.
    pub source: &'s Arc<Source>,
    /// The key; empty for an item and for the root.
    pub key: Span,
    /// The value.
    pub value: Span,
    /// The spelling of the value.
    pub style: Style,
    /// The spelling of a scalar value, if it is not the text at the place.
    pub derived: Option<&'s str>,
}

/// Part of a string that comes from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringPart {
    /// The first byte of the part in the string. The part ends where the next one starts.
    pub start: usize,
    /// The bytes of the text that it comes from.
    pub span: Span,
    /// Whether the bytes of the text are the bytes of the string.
    pub is_verbatim: bool,
}

impl<'d> Node<'d> {
    /// The parts of a derived string; none if they are not known.
    pub fn parts(self) -> &'d [StringPart] {
        let derivations = self.tree().derivations.as_ref();
        derivations.and_then(|known| known.parts.get(&self.id())).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the text has some bytes of a string letter by letter, although it computes others, so that it can have other bytes there.
    pub(crate) fn has_verbatim(self, range: Span, new: &str) -> bool {
        let parts = self.parts();
        let first = parts.partition_point(|part| part.start <= range.start).saturating_sub(1);
        let mut touched =
            parts.iter().skip(first).take_while(|part| part.start < range.end.max(range.start + 1));
        // Of a new line, only the parts of a block scalar show the indentation.
        let is_indented = !self.source().slice(self.span()).starts_with("<<");
        touched.clone().next().is_some()
            && touched.all(|part| part.is_verbatim)
            && (is_indented || !new.contains('\n'))
    }

    /// The span in the source of some bytes of a string whose parts are known.
    pub(super) fn span_in_parts(self, range: Span) -> Option<Span> {
        let parts = self.parts();
        let place = |byte: usize, at: usize| {
            let part = parts.get(parts.partition_point(|part| part.start <= byte).checked_sub(1)?)?;
            let within = Span::new(part.span.start + (at - part.start).min(part.span.len()), part.span.end);
            Some((*part, within.start))
        };
        let (first, from) = place(range.start, range.start)?;
        let last = range.end.saturating_sub(1).max(range.start);
        let (end, to) = place(last, range.end.max(range.start))?;
        let start = if first.is_verbatim { from } else { first.span.start };
        let end = if end.is_verbatim { to } else { end.span.end };
        Some(Span::new(start, end.max(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ReadOptions;
    use crate::tree::{Assembly, Value};

    #[test]
    fn finds_bytes_of_a_string_in_its_parts() {
        let source = Arc::new(Source::new("main.tf", "  a ${x} b\n  c\n"));
        let mut assembly = Assembly::of_text(&source, &ReadOptions::default(), 10);
        let place = NodePlace {
            source: &source,
            key: Span::default(),
            value: Span::new(2, 14),
            style: Style::Literal,
            derived: Some(""),
        };
        let id = assembly.place(None, None, Value::String("a longer b\nc"), &place).unwrap();
        let part =
            |start, from, to, is_verbatim| StringPart { start, span: Span::new(from, to), is_verbatim };
        assembly.set_parts(
            id,
            vec![part(0, 2, 4, true), part(2, 4, 8, false), part(8, 8, 11, true), part(11, 13, 14, true)],
        );
        let tree = assembly.finish();
        let found = |start, end| source.slice(tree.root().span_within(Span::new(start, end)));
        assert_eq!(found(0, 1), "a");
        assert_eq!(found(3, 5), "${x}");
        assert_eq!(found(9, 10), "b");
        assert_eq!(found(11, 12), "c");
        assert_eq!(found(0, 10), "a ${x} b");
        assert_eq!(found(12, 12), "");
    }
}
