//! Parts of a text.

use std::collections::BTreeMap;

use manifest::source::Span;

/// Parts of a text that may overlap. Whether one holds a byte is found in logarithmic time: a file may have many documents.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// The ends of the parts by their starts. Parts that overlap are one.
    ends: BTreeMap<usize, usize>,
}

impl Spans {
    pub(crate) fn of(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut all: Vec<Span> = spans.into_iter().collect();
        all.sort_unstable();
        let mut found = Self::default();
        for span in all {
            match found.ends.last_entry() {
                Some(mut last) if span.start <= *last.get() => {
                    let end = span.end.max(*last.get());
                    last.insert(end);
                }
                _ => {
                    found.ends.insert(span.start, span.end);
                }
            }
        }
        found
    }

    /// Whether a part has a byte, or ends with it.
    pub(crate) fn hold(&self, at: usize) -> bool {
        self.ends.range(..=at).next_back().is_some_and(|(_, end)| at <= *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_in_one_of_several_parts() {
        let spans = [(5, 9), (0, 3), (1, 2), (8, 12), (20, 20)].map(|(start, end)| Span::new(start, end));
        let spans = Spans::of(spans);
        let held: Vec<usize> = (0..25).filter(|at| spans.hold(*at)).collect();
        assert_eq!(held, [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 20]);
    }
}
