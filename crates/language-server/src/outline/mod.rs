//! The structure of a YAML or JSON text as its lines and brackets show it, also of a text that is only half typed: the parser refuses such a
//! text, but it is where people ask what comes next.
//!
//! | module | content |
//! |---|---|
//! | `block` | lines, indentation, dashes and keys |
//! | `flow` | collections in brackets, and so JSON |
//! | `place` | from a byte to the key or the value there |
//!
//! An outline keeps spans only. It takes every text, and reads it in one pass; anchors, aliases and tags are not resolved.

mod block;
mod flow;
mod place;
#[cfg(test)]
mod tests;

use ids::{IdVec, ids};
use manifest::source::Span;
use manifest::{here_documents, is_terraform};

pub(crate) use place::{EntryStep, ObjectOutline, OutlinePlace, Spot};

ids! {
    /// Key, or item of a list, of an outline.
    pub(crate) EntryId;
}

/// The entries of one document, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    entries: IdVec<EntryId, Entry>,
    /// The entries at the top.
    top: Children,
    /// The text of the document.
    pub(crate) span: Span,
    /// The comments, from `#` to the end of the line.
    comments: Vec<Span>,
    /// Block scalars, whose lines are no structure.
    scripts: Vec<Span>,
    /// Collections in brackets, an outer one before those within.
    collections: Vec<Collection>,
    /// The number of entries that were looked at.
    #[cfg(test)]
    visits: std::cell::Cell<usize>,
}

/// A key with its value, or an item of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The entry that holds this one; none at the top of the document.
    pub(crate) parent: Option<EntryId>,
    /// The key without its quotes; none for an item.
    pub(crate) key: Option<Span>,
    /// The byte of the colon; none for an item, and for a key whose colon is not typed yet.
    pub(crate) colon: Option<usize>,
    /// The scalar value without its quotes; empty at the place of a value that is missing or a collection.
    pub(crate) value: Span,
    /// The bytes of the entry, with all entries below it.
    pub(crate) span: Span,
    /// The column of the key or the dash, from 0; in a collection in brackets the column of the line's structure does not count.
    column: usize,
    is_flow: bool,
    /// The position among the items of its list.
    index: usize,
    below: Children,
    /// The next entry with the same parent.
    next: Option<EntryId>,
}

impl Entry {
    fn new(parent: Option<EntryId>, key: Option<Span>, value: Span, span: Span) -> Self {
        Self {
            parent,
            key,
            colon: None,
            value,
            span,
            column: 0,
            is_flow: false,
            index: 0,
            below: Children::default(),
            next: None,
        }
    }
}

/// The entries that one entry holds, or the top of the document.
#[derive(Clone, Copy, Debug, Default)]
struct Children {
    first: Option<EntryId>,
    last: Option<EntryId>,
    /// The number of items of a list.
    items: usize,
}

/// A collection in brackets.
#[derive(Clone, Copy, Debug)]
struct Collection {
    /// The entry whose value it is; none at the top of the document.
    owner: Option<EntryId>,
    /// From the opening bracket to the closing one, or to the end of a collection that is not closed yet.
    span: Span,
}

impl Outline {
    /// The outlines of the documents of a text, which `---` separates.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        block::documents(text).into_iter().map(|span| block::read(text, span)).collect()
    }

    /// The outline of the document at a byte of a text.
    #[cfg(test)]
    pub(crate) fn at(text: &str, byte: usize) -> Self {
        Self::within(text, Span::new(0, text.len()), byte)
    }

    /// The outline of the document at a byte of a file. A configuration of Terraform has documents only in its here-documents.
    pub(crate) fn of_file(name: &str, text: &str, byte: usize) -> Option<Self> {
        let part = if is_terraform(name) {
            here_documents(text).into_iter().find(|body| body.start <= byte && byte < body.end)?
        } else {
            Span::new(0, text.len())
        };
        Some(Self::within(text, part, byte))
    }

    /// The outline of the document at a byte of a part of a text.
    fn within(text: &str, part: Span, byte: usize) -> Self {
        let spans = block::documents(part.text(text)).into_iter().map(|span| span.shifted(part.start));
        let before = spans.take_while(|span| span.start <= byte.max(part.start));
        before.last().map_or_else(Self::default, |span| block::read(text, span))
    }

    /// An entry.
    pub(crate) fn entry(&self, id: EntryId) -> Option<&Entry> {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
        self.entries.get(id)
    }

    /// The entries below an entry, or at the top of the document.
    pub(crate) fn children(&self, parent: Option<EntryId>) -> impl Iterator<Item = (EntryId, &Entry)> {
        let children = parent.map_or(Some(self.top), |id| self.entry(id).map(|entry| entry.below));
        let first = children.and_then(|children| children.first);
        let with_entry = |id: EntryId| self.entry(id).map(|entry| (id, entry));
        std::iter::successors(first.and_then(with_entry), move |(_, entry)| with_entry(entry.next?))
    }

    /// The entry under a key below an entry, or at the top of the document.
    pub(crate) fn member(&self, text: &str, parent: Option<EntryId>, key: &str) -> Option<EntryId> {
        let is_key = |entry: &Entry| entry.key.is_some_and(|span| span.text(text) == key);
        self.children(parent).find(|(_, entry)| is_key(entry)).map(|(id, _)| id)
    }

    /// The scalar value under a key below an entry; empty without one.
    pub(crate) fn scalar<'t>(&self, text: &'t str, parent: Option<EntryId>, key: &str) -> &'t str {
        let member = self.member(text, parent, key).and_then(|id| self.entry(id));
        member.map_or("", |entry| entry.value.text(text))
    }

    /// The text of the document without the lines of keys whose colon is not typed yet, which no parser takes.
    pub(crate) fn without_words(&self, text: &str) -> String {
        let mut rest = self.span;
        let mut parts = String::new();
        for word in
            self.entries.iter().filter(|entry| entry.key.is_some() && entry.colon.is_none() && !entry.is_flow)
        {
            let line = Span::new(rest.start, word.span.start)
                .text(text)
                .rfind('\n')
                .map_or(rest.start, |end| rest.start + end + 1);
            parts += Span::new(rest.start, line).text(text);
            rest.start = flow::line_end(text, word.span.end, self.span.end);
        }
        parts + rest.text(text)
    }

    /// Whether a byte is in a block scalar.
    pub(crate) fn is_in_script(&self, byte: usize) -> bool {
        self.scripts.iter().any(|span| span.start <= byte && byte < span.end)
    }

    /// The comments, in the order of the text.
    pub(crate) fn comments(&self) -> &[Span] {
        &self.comments
    }

    /// The entries with their ids, in the order of the text.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.entries.enumerate()
    }

    /// The spans of the entries, in the order of the text.
    pub(crate) fn spans(&self) -> impl Iterator<Item = Span> {
        self.entries.iter().map(|entry| entry.span)
    }

    /// Adds an entry as the last one of its parent.
    fn add(&mut self, entry: Entry) -> EntryId {
        let id = self.entries.push(entry);
        let siblings = match entry.parent {
            Some(parent) => self.entries.get_mut(parent).map(|parent| &mut parent.below),
            None => Some(&mut self.top),
        };
        let Some(siblings) = siblings else { return id };
        let index = siblings.items;
        siblings.items += usize::from(entry.key.is_none());
        siblings.first.get_or_insert(id);
        let before = siblings.last.replace(id);
        if let Some(before) = before.and_then(|id| self.entries.get_mut(id)) {
            before.next = Some(id);
        }
        if let Some(own) = self.entries.get_mut(id) {
            own.index = index;
        }
        id
    }

    /// Extends the span of an entry, and of the entries around it, to a byte.
    fn extend(&mut self, id: EntryId, end: usize) {
        let mut next = Some(id);
        while let Some(entry) = next.and_then(|id| self.entries.get_mut(id)) {
            entry.span.end = entry.span.end.max(end);
            next = entry.parent;
        }
    }
}
