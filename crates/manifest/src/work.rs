//! The budget that all documents of one text share.
//!
//! A reader without aliases makes at most one value for each byte, so only aliases can exceed a budget. A unit is a value of a tree, or a
//! few bytes of text that an alias repeats ([`Tree::work`](crate::tree::Tree::work)).

use core::cell::Cell;

use crate::limits::Limits;

/// Units for each byte of a text that a budget has besides [`Limits::nodes`], so that a text without aliases never exceeds it,
/// however long the text is. The longest manifests with aliases have fewer values for each byte.
const UNITS_PER_BYTE: usize = 4;

/// Work that the readers may still do for texts that belong together: the documents of a file, or the parts of the user data of
/// an object.
#[derive(Debug)]
pub struct WorkBudget {
    limit: usize,
    left: Cell<usize>,
}

impl WorkBudget {
    /// A budget of `units` for texts with this number of bytes altogether.
    pub fn new(units: usize, bytes: usize) -> Self {
        Self::with_limit(units.saturating_add(bytes.saturating_mul(UNITS_PER_BYTE)))
    }

    /// The budget of a file.
    pub fn of_file(bytes: usize, limits: &Limits) -> Self {
        Self::new(limits.nodes, bytes)
    }

    fn with_limit(limit: usize) -> Self {
        Self { limit, left: Cell::new(limit) }
    }

    /// The units that the budget had at first.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The units that are left.
    pub fn left(&self) -> usize {
        self.left.get()
    }

    /// The units that the readers have spent.
    pub fn spent(&self) -> usize {
        self.limit - self.left()
    }

    /// A budget with the same limit of which `left` units are left, for a reader on another thread.
    pub(crate) fn part(limit: usize, left: usize) -> Self {
        Self { limit, left: Cell::new(left) }
    }

    /// Spends units. A reader asks before it makes values, so that more than all is never spent.
    pub(crate) fn spend(&self, units: usize) {
        self.left.set(self.left().saturating_sub(units));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Exceeded;
    use crate::{Document, File, ReadOptions};

    /// Options that read a document within each string below the key `held`.
    const OPTIONS: ReadOptions =
        ReadOptions { holds_document: |string| string.key().starts_with("held"), ..ReadOptions::DEFAULT };

    /// A document whose aliases make as many values of few bytes as they may.
    fn laughs(levels: usize) -> String {
        let level = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","));
        format!("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n{}", (1..levels).map(level).collect::<String>())
    }

    fn json_text(text: &str) -> String {
        let mut quoted = String::new();
        crate::json::quote(text, &mut quoted);
        quoted
    }

    /// The work of the documents that were read, and the bound that the last one exceeds.
    fn read(name: &str, text: &str) -> (usize, Option<Exceeded>) {
        let file = File::read(name, text, OPTIONS);
        let work = file.documents.iter().map(|document| match document {
            Document::Read(tree) => tree.work(),
            _ => 0,
        });
        let exceeded = match file.documents.last() {
            Some(Document::Unreadable { error, .. }) => error.exceeded(),
            _ => None,
        };
        (work.sum(), exceeded)
    }

    #[test]
    fn documents_of_one_file_share_a_budget() {
        // Each document alone is within the bounds: it has 11,000 values.
        let document = format!("# {}\n{}", "c".repeat(200), laughs(4));
        let alone = read("-", &document);
        assert!(alone.0 > 11_000 && alone.1.is_none(), "{alone:?}");
        for separator in ["---\n", "...\n"] {
            let text = [document.as_str(); 300].join(separator);
            let budget = WorkBudget::of_file(text.len(), &OPTIONS.limits);
            let (work, exceeded) = read("-", &text);
            assert!(work <= budget.limit() && work + alone.0 > budget.limit(), "{separator}: {work}");
            assert_eq!(exceeded, Some(Exceeded::Work(budget.limit())));
        }
        let held = format!("{{\"held\":{}}}\n", json_text(&document));
        let text = held.repeat(300);
        for name in ["a.json", "a.jsonl", "a.yaml"] {
            let (work, exceeded) = read(name, &text);
            let limit = WorkBudget::of_file(text.len(), &OPTIONS.limits).limit();
            assert!(work <= limit && exceeded == Some(Exceeded::Work(limit)), "{name}: {work} {exceeded:?}");
        }
    }

    #[test]
    fn documents_after_each_other_in_one_section_share_the_work_for_its_bytes() {
        // Each document has 111,000 values, and the section may have 64 for each of its bytes.
        let text = [laughs(5).as_str(); 40].join("...\n");
        let (work, exceeded) = read("-", &text);
        assert!(work > 200_000 && work <= text.len() * 64, "{work}");
        assert_eq!(exceeded, Some(Exceeded::Expansion));
    }

    #[test]
    fn text_that_aliases_repeat_is_work() {
        let text = "t".repeat(100_000);
        for (start, repeated) in [
            (format!("a: &a {text}\nb:\n"), "- *a\n"),
            (format!("a: &a\n  ? {text}\n  : 1\nb:\n"), "- *a\n"),
            (format!("a: &a {{b: {text}}}\nb:\n"), "- {<<: *a}\n"),
            (format!("a: &a {text}\nb:\n"), "- {*a : 1}\n"),
        ] {
            let few = start.clone() + &repeated.repeat(50);
            assert_eq!(read("-", &few).1, None, "{repeated}");
            let many = start + &repeated.repeat(100);
            assert_eq!(read("-", &many).1, Some(Exceeded::Nodes(OPTIONS.limits.nodes)), "{repeated}");
        }
    }

    #[test]
    fn documents_in_strings_share_the_budget_of_their_document() {
        let held = |n: usize| {
            let lines: String = laughs(9).lines().flat_map(|line| ["  ", line, "\n"]).collect();
            format!("held{n}: |\n{lines}")
        };
        let text: String = (0..200).map(held).collect();
        let (work, exceeded) = read("-", &text);
        assert!(work <= 2 * OPTIONS.limits.nodes && exceeded.is_none(), "{work} {exceeded:?}");
        // A string whose document exceeds the work for its own bytes stays a string, and the next one is read.
        let two = held(1) + "held2: |\n  a: b\n";
        let file = File::read("-", two.as_str(), OPTIONS);
        let [Document::Read(tree)] = file.documents.as_slice() else {
            panic!("{} documents", file.documents.len())
        };
        let is_read = |key: &str| tree.root().get(key).is_some_and(|node| node.embedded().is_some());
        assert!(!is_read("held1") && is_read("held2"));
        assert!(tree.work() > laughs(9).len() * 32 && tree.work() < two.len() * 65, "{}", tree.work());
    }

    #[test]
    fn texts_without_aliases_are_read_whatever_their_form() {
        for (text, documents) in [
            ("- - - a\n---\n".repeat(20_000), 20_000),
            ("[,,,,,,,,]\n---\n".replace(',', "a,").repeat(20_000), 20_000),
            ("[[[[[]]]]]\n---\n".repeat(20_000), 20_000),
            ("a\n...\n".repeat(20_000), 20_000),
            (format!("{}\n---\n", "[".repeat(200)).repeat(200), 200),
        ] {
            let (_, exceeded) = read("-", &text);
            assert!(!matches!(exceeded, Some(Exceeded::Work(_) | Exceeded::Expansion)), "{exceeded:?}");
            assert_eq!(File::read("-", text, OPTIONS).documents.len(), documents);
        }
    }

    #[test]
    fn blank_documents_cost_nothing() {
        let blank = ["\n", "---\n", "# c\n", " ", " \n", "---\n\n# c\n", "\r\n", "\t\n"];
        for text in blank.map(|piece| piece.repeat(200_000)) {
            let is_white = text.trim().is_empty();
            let names = ["a.yaml", "a.sh", "a.json", "a.jsonl"];
            for name in names.into_iter().take(if is_white { 4 } else { 2 }) {
                let file = File::read(name, text.as_str(), OPTIONS);
                let read = file.documents.iter().filter(|document| matches!(document, Document::Read(_)));
                assert_eq!(read.count(), 0, "{name} {:?}", text.get(..8));
                assert!(file.documents.len() <= 1, "{name} {:?}", text.get(..8));
            }
            // The document behind the blank ones has the position that an editor shows.
            let file = File::read("a.yaml", format!("{}\na: b\n", text.replace('\t', " ")), OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else {
                panic!("{} documents", file.documents.len())
            };
            let line = file.source.position(tree.root().span().start).line;
            assert_eq!(line, file.source.text().lines().count());
        }
    }
}
