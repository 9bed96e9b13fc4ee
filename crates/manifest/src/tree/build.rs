//! Construction of a [`Tree`], for the YAML and JSON parsers.

use std::collections::BTreeMap;

use always_assert::never;

use super::id::{NodeId, SourceId};
use super::store::{
    Comment, DuplicateKey, NodeData, NodeValue, StoredSpan, StringLocation, Style, Tree, small,
};
use crate::source::{Span, certain};

/// A node about to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedNode {
    pub(crate) value: NodeValue,
    pub(crate) span: Span,
    pub(crate) style: Style,
}

/// End of a part of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeMark {
    nodes: usize,
    repeated: usize,
}

impl Tree {
    /// The end of the texts of the strings that differ from their spelling.
    pub(crate) fn unescaped_end(&self) -> usize {
        self.unescaped.len()
    }

    /// Replaces the texts of the strings that differ from their spelling, from an end of them on. Each stays where it is, so the length
    /// must not change.
    pub(crate) fn replace_unescaped(&mut self, from: usize, replaced: impl FnOnce(&str) -> String) {
        let old = self.unescaped.get(from..).unwrap_or_default();
        let new = replaced(old);
        never!(new.len() != old.len(), "a text of another length");
        if new.len() == old.len() {
            self.unescaped.truncate(from);
            self.unescaped.push_str(&new);
        }
    }

    /// Stores a string: as a slice of the source if the source has the same bytes at `at`, otherwise as a copy.
    pub(crate) fn keep(&mut self, text: &str, at: Span) -> StringLocation {
        if self.source.slice(Span::new(at.start, at.start + text.len())) == text {
            return Self::slice(Span::new(at.start, at.start + text.len()));
        }
        self.keep_copy(text)
    }

    /// A string that is a slice of the source.
    pub(crate) fn slice(at: Span) -> StringLocation {
        StringLocation { start: small(at.start), len: small(at.end - at.start), unescaped: false }
    }

    /// Stores a copy of a string.
    pub(super) fn keep_copy(&mut self, text: &str) -> StringLocation {
        let start = small(self.unescaped.len());
        self.unescaped.push_str(text);
        StringLocation { start, len: small(text.len()), unescaped: true }
    }

    /// Records that the text at the span of a scalar is not its spelling.
    pub(crate) fn derive(&mut self, id: NodeId, spelling: &str) {
        let Some(data) = self.data_mut(id) else { return };
        data.derived = true;
        if !matches!(data.value, NodeValue::String(_)) {
            let spelling = self.keep_copy(spelling);
            self.derivations.get_or_insert_default().spellings.insert(id, spelling);
        }
    }

    /// Records a comment.
    pub(crate) fn add_comment(&mut self, span: Span) {
        self.comments.push(Comment { span, source: SourceId::MAIN });
    }

    /// Adds a node as the last child of `parent`, under a key if the parent is a mapping.
    pub(crate) fn add(
        &mut self,
        parent: Option<NodeId>,
        key: Option<(StringLocation, Span)>,
        new: AddedNode,
    ) -> NodeId {
        let (key, key_span) = key.unwrap_or_default();
        self.add_stored(parent, key, key_span.into(), new.value, new.span.into(), new.style)
    }

    pub(super) fn add_stored(
        &mut self,
        parent: Option<NodeId>,
        key: StringLocation,
        key_span: StoredSpan,
        value: NodeValue,
        span: StoredSpan,
        style: Style,
    ) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        let parent = parent.unwrap_or(NodeId::NONE);
        let index = match self.nodes.get(parent.index()) {
            None => 0,
            Some(above) if above.first_child == NodeId::NONE => 0,
            Some(above) => self.data(above.last_child).index + 1,
        };
        self.nodes.push(NodeData {
            value,
            parent,
            first_child: NodeId::NONE,
            last_child: NodeId::NONE,
            next_sibling: NodeId::NONE,
            index,
            key,
            key_span,
            span,
            style,
            overridden: false,
            merged: false,
            derived: false,
            source: SourceId::MAIN,
        });
        if let Some(above) = self.nodes.get_mut(parent.index()) {
            let before = core::mem::replace(&mut above.last_child, id);
            if above.first_child == NodeId::NONE {
                above.first_child = id;
            }
            if let Some(sibling) = self.nodes.get_mut(before.index()) {
                sibling.next_sibling = id;
            }
        }
        id
    }

    /// Extends the span of a node to the byte at which the node ends.
    pub(crate) fn close(&mut self, id: NodeId, end: usize) {
        if let Some(data) = self.data_mut(id) {
            data.span.end = small(end).max(data.span.end);
        }
    }

    /// The end of the last child of a node, or of the node itself if it has no children.
    pub(crate) fn end_of(&self, id: NodeId) -> usize {
        let data = self.data(id);
        let end =
            if data.last_child == NodeId::NONE { data.span.end } else { self.data(data.last_child).span.end };
        end as usize
    }

    /// Stores a key that an alias repeats.
    pub(crate) fn repeat_key(&mut self, text: &str, at: Span) -> StringLocation {
        self.repeated += text.len();
        self.keep(text, at)
    }

    /// Copies the subtree of `from` below `parent`, as an alias does. Returns `None` if the size of the tree would exceed
    /// `limit`.
    pub(crate) fn copy(
        &mut self,
        from: NodeId,
        parent: Option<NodeId>,
        key: Option<(StringLocation, Span)>,
        span: Option<Span>,
        limit: usize,
    ) -> Option<NodeId> {
        let (key, key_span) = key.unwrap_or_default();
        let span = span.map(StoredSpan::from);
        let copy = self.copy_stored(from, parent, key, key_span.into(), span, limit)?;
        self.add_copy(from, copy);
        Some(copy)
    }

    fn copy_stored(
        &mut self,
        from: NodeId,
        parent: Option<NodeId>,
        key: StringLocation,
        key_span: StoredSpan,
        span: Option<StoredSpan>,
        limit: usize,
    ) -> Option<NodeId> {
        if self.size() >= limit {
            return None;
        }
        let data = *self.data(from);
        if let NodeValue::String(text) = data.value {
            self.repeated += text.len();
        }
        let copy =
            self.add_stored(parent, key, key_span, data.value, span.unwrap_or(data.span), Style::Alias);
        if let Some(new) = self.data_mut(copy) {
            new.overridden = data.overridden;
            new.derived = data.derived;
        }
        self.copy_children(from, copy, limit)?;
        Some(copy)
    }

    fn copy_children(&mut self, from: NodeId, into: NodeId, limit: usize) -> Option<()> {
        let mut child = self.data(from).first_child;
        while child != NodeId::NONE {
            let data = *self.data(child);
            self.repeated += data.key.len();
            self.copy_stored(child, Some(into), data.key, data.key_span, None, limit)?;
            child = data.next_sibling;
        }
        Some(())
    }

    /// Copies the members of the mapping `from` into the mapping `into`, as a merge key does. Returns `None` if the
    /// size of the tree would exceed `limit`.
    pub(crate) fn merge(&mut self, from: NodeId, into: NodeId, limit: usize) -> Option<()> {
        let first = self.nodes.len();
        self.copy_children(from, into, limit)?;
        self.add_copy(from, into);
        let merged = certain(self.nodes.get_mut(first..));
        for member in merged.iter_mut().filter(|data| data.parent == into) {
            member.merged = true;
        }
        Some(())
    }

    /// Completes a mapping: marks every member that a later member with the same key overrides, and records the two as
    /// duplicates unless a merge key copied one of them.
    pub(crate) fn complete_mapping(&mut self, id: NodeId) {
        /// For so few members, comparing all pairs of keys is faster than a map: most mappings of a manifest are small.
        const MAX_COMPARED: u32 = 12;
        let data = *self.data(id);
        let few = data.last_child == NodeId::NONE || self.data(data.last_child).index < MAX_COMPARED;
        let mut repeated = Vec::new();
        let mut last_of = BTreeMap::<&str, NodeId>::new();
        let mut child = data.first_child;
        while child != NodeId::NONE {
            let next = self.data(child);
            let key = self.text(next.key);
            let earlier = if few {
                self.last_with_key(data.first_child, child, key)
            } else {
                last_of.insert(key, child)
            };
            repeated.extend(earlier.map(|earlier| (earlier, child)));
            child = next.next_sibling;
        }
        for (earlier, later) in repeated {
            if let Some(data) = self.data_mut(earlier) {
                data.overridden = true;
            }
            if !self.is_merged(earlier) && !self.is_merged(later) {
                self.duplicates.push(DuplicateKey { earlier, later });
            }
        }
    }

    /// The last sibling from `first` up to and excluding `end` that has a key.
    fn last_with_key(&self, first: NodeId, end: NodeId, key: &str) -> Option<NodeId> {
        let mut found = None;
        let mut sibling = first;
        while sibling != end {
            let data = self.data(sibling);
            if self.text(data.key) == key {
                found = Some(sibling);
            }
            sibling = data.next_sibling;
        }
        found
    }

    fn is_merged(&self, id: NodeId) -> bool {
        self.data(id).merged
    }

    /// Makes room for the nodes of a text of some bytes, as far as texts of this length are common.
    pub(crate) fn make_room_for(&mut self, bytes: usize) {
        /// Manifests have a value for each 22 bytes.
        const BYTES_PER_NODE: usize = 16;
        const MOST: usize = 1024;
        self.nodes.reserve((bytes / BYTES_PER_NODE).min(MOST));
    }

    /// Completes the tree.
    pub(crate) fn finish(&mut self) {
        self.nodes.shrink_to_fit();
        self.duplicates.sort_unstable();
        self.copies.sort_unstable();
    }

    pub(crate) fn is_mapping(&self, id: NodeId) -> bool {
        self.data(id).value == NodeValue::Mapping
    }

    pub(crate) fn is_sequence(&self, id: NodeId) -> bool {
        self.data(id).value == NodeValue::Sequence
    }

    pub(crate) fn is_string(&self, id: NodeId) -> bool {
        matches!(self.data(id).value, NodeValue::String(_))
    }

    pub(crate) fn string_of(&self, id: NodeId) -> Option<&str> {
        if let NodeValue::String(text) = self.data(id).value { Some(self.text(text)) } else { None }
    }

    pub(crate) fn children_of(&self, id: NodeId) -> Vec<NodeId> {
        let mut children = Vec::new();
        let mut child = self.data(id).first_child;
        while child != NodeId::NONE {
            children.push(child);
            child = self.data(child).next_sibling;
        }
        children
    }

    /// The end of what the tree has so far.
    pub(crate) fn mark(&self) -> TreeMark {
        TreeMark { nodes: self.nodes.len(), repeated: self.repeated }
    }

    /// Drops the nodes from a mark on, which are all below the node `above`, and the comments within `above`.
    pub(crate) fn truncate(&mut self, above: NodeId, from: TreeMark) {
        let size = self.size();
        let TreeMark { nodes: from, repeated } = from;
        self.repeated = repeated;
        self.nodes.truncate(from);
        self.dropped += size.saturating_sub(self.size());
        self.duplicates.retain(|key| key.later.index() < from);
        self.copies.retain(|(_, copy)| copy.index() < from);
        if let Some(data) = self.nodes.get_mut(above.index()) {
            (data.first_child, data.last_child) = (NodeId::NONE, NodeId::NONE);
            let start = data.span.start as usize;
            self.comments.retain(|comment| comment.span.start < start);
        }
    }
}
