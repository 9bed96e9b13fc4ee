//! The key or the value at a byte.

use manifest::source::Span;

use super::{Entry, EntryId, Outline};

/// Step of the path of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryStep<'t> {
    /// Member of an object.
    Key(&'t str),
    /// Item of a list.
    Item(usize),
}

/// Part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// The key of an entry.
    Key,
    /// The value of an entry, which may be missing.
    Value,
    /// A new entry, whose text has not begun.
    New,
    /// A comment.
    Comment,
}

/// A place in a text, as its outline shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutlinePlace<'o, 't> {
    pub(crate) outline: &'o Outline,
    pub(crate) text: &'t str,
    pub(crate) spot: Spot,
    /// The entry at the place; none for a new entry and a comment.
    pub(crate) entry: Option<EntryId>,
    /// The entry that holds the entry at the place; none at the top of the document.
    pub(crate) holder: Option<EntryId>,
    /// The word at the place, without quotes: what a completion replaces. The text of a comment.
    pub(crate) word: Span,
    /// Whether the place is in a collection in brackets.
    pub(crate) is_flow: bool,
    /// The column of the entry, or of a new one.
    pub(crate) column: usize,
}

/// The object of the Kubernetes API around a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectOutline<'t> {
    /// The entry of the object; none if it is the whole document.
    pub(crate) root: Option<EntryId>,
    pub(crate) api_version: &'t str,
    pub(crate) kind: &'t str,
}

impl Outline {
    /// The place at a byte of the text. `None` within a script, and where a value has ended.
    pub(crate) fn place<'o, 't>(&'o self, text: &'t str, at: usize) -> Option<OutlinePlace<'o, 't>> {
        let place = OutlinePlace {
            outline: self,
            text,
            spot: Spot::New,
            entry: None,
            holder: None,
            word: Span::new(at, at),
            is_flow: false,
            column: 0,
        };
        if let Some(comment) = self.comments.iter().find(|span| span.start < at && at <= span.end) {
            return Some(OutlinePlace { spot: Spot::Comment, word: *comment, ..place });
        }
        if self.is_in_script(at) {
            return None;
        }
        let within = self.collections.iter().rev().find(|one| one.span.start < at && at < one.span.end);
        if let Some(collection) = within {
            let place = OutlinePlace { is_flow: true, holder: collection.owner, ..place };
            let is_at = |entry: &Entry| entry.is_flow && entry.span.start <= at && at <= entry.span.end;
            let member = self.children(collection.owner).filter(|(_, entry)| is_at(entry)).last();
            return member.map_or(Some(place), |(id, entry)| self.part(place, id, *entry, at));
        }
        let line = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let line_end = super::flow::line_end(text, line, text.len());
        let is_on_line = |entry: &&Entry| !entry.is_flow && (line..=line_end).contains(&entry.span.start);
        if !self.entries.iter().any(|entry| is_on_line(&entry)) {
            let is_blank = Span::new(line, at).text(text).trim().is_empty();
            let column = at - line;
            return is_blank.then_some(OutlinePlace {
                holder: self.holder_at(line, column),
                column,
                ..place
            });
        }
        let there = self.entries.enumerate().filter(|(_, entry)| is_on_line(entry) && entry.span.start <= at);
        let (id, entry) = there.last()?;
        self.part(place, id, *entry, at)
    }

    /// The part of an entry at a byte.
    fn part<'o, 't>(
        &'o self,
        place: OutlinePlace<'o, 't>,
        id: EntryId,
        entry: Entry,
        at: usize,
    ) -> Option<OutlinePlace<'o, 't>> {
        let place = OutlinePlace { entry: Some(id), holder: entry.parent, column: entry.column, ..place };
        if let Some(key) = entry.key.filter(|_| entry.colon.is_none_or(|colon| at <= colon)) {
            let is_within = key.start <= at && at <= key.end;
            return is_within.then_some(OutlinePlace { spot: Spot::Key, word: key, ..place });
        }
        if entry.key.is_none() && at <= entry.span.start && !entry.is_flow {
            return None;
        }
        let value = OutlinePlace { spot: Spot::Value, ..place };
        if entry.value.start <= at && at <= entry.value.end {
            return Some(OutlinePlace { word: entry.value, ..value });
        }
        // Behind a value that has ended, there is no place.
        let has_begun =
            !entry.value.is_empty() || self.children(Some(id)).any(|(_, child)| child.span.start < at);
        (!has_begun).then_some(value)
    }

    /// The entry that holds a new entry in a column of a line.
    fn holder_at(&self, line: usize, column: usize) -> Option<EntryId> {
        let before = self.entries.enumerate().filter(|(_, entry)| !entry.is_flow && entry.span.start < line);
        let mut next = before.last().map(|(id, _)| id);
        while let Some(entry) = next.and_then(|id| self.entry(id)) {
            if entry.column < column {
                break;
            }
            next = entry.parent;
        }
        next
    }

    /// The path of an entry from an entry around it, or from the top of the document.
    pub(crate) fn path<'t>(
        &self,
        text: &'t str,
        id: Option<EntryId>,
        root: Option<EntryId>,
    ) -> Vec<EntryStep<'t>> {
        let step = |entry: &Entry| match entry.key {
            Some(key) => EntryStep::Key(key.text(text)),
            None => EntryStep::Item(entry.index),
        };
        self.entries_to(id, root).into_iter().filter_map(|id| self.entry(id)).map(step).collect()
    }

    /// The entries of a path, one for each step.
    pub(crate) fn entries_to(&self, id: Option<EntryId>, root: Option<EntryId>) -> Vec<EntryId> {
        let parent = |id: &EntryId| self.entry(*id)?.parent.filter(|parent| Some(*parent) != root);
        let mut entries: Vec<_> = std::iter::successors(id.filter(|id| Some(*id) != root), parent).collect();
        entries.reverse();
        entries
    }

    /// The innermost object of the Kubernetes API around an entry; without one the whole document.
    pub(crate) fn object<'t>(&self, text: &'t str, id: Option<EntryId>) -> ObjectOutline<'t> {
        let object = |root| ObjectOutline {
            root,
            api_version: self.scalar(text, root, "apiVersion"),
            kind: self.scalar(text, root, "kind"),
        };
        let mut next = id;
        while let Some((id, entry)) = next.and_then(|id| Some((id, self.entry(id)?))) {
            let found = object(Some(id));
            if !found.api_version.is_empty() && !found.kind.is_empty() {
                return found;
            }
            next = entry.parent;
        }
        object(None)
    }
}

impl<'t> OutlinePlace<'_, 't> {
    /// The entry at the place, or the entry that holds a new one.
    pub(crate) fn nearest(&self) -> Option<EntryId> {
        self.entry.or(self.holder)
    }

    /// The object of the Kubernetes API around the place.
    pub(crate) fn object(&self) -> ObjectOutline<'t> {
        self.outline.object(self.text, self.holder)
    }

    /// The keys beside the entry at the place.
    pub(crate) fn present(&self) -> Vec<&'t str> {
        let others = self.outline.children(self.holder).filter(|(id, _)| Some(*id) != self.entry);
        others.filter_map(|(_, entry)| Some(entry.key?.text(self.text))).collect()
    }

    /// The scalars beside the entry at the place, in its list.
    pub(crate) fn present_items(&self, list: Option<EntryId>) -> Vec<&'t str> {
        let others = self.outline.children(list).filter(|(id, _)| Some(*id) != self.entry);
        others
            .filter(|(_, entry)| entry.key.is_none())
            .map(|(_, entry)| entry.value.text(self.text))
            .collect()
    }
}
