//! The tables of a document while it is read, by the rules of toml.io/en/v1.0.0 "Table" and "Keys" of what may be defined
//! twice.

use super::Value;
use crate::{Placed, Span};

/// A key with its value, or what an array holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) key: Placed,
    pub(super) span: Span,
    pub(super) value: Value,
    origin: Origin,
    parent: Option<usize>,
    /// What it holds: each names the next.
    pub(super) first: Option<usize>,
    last: Option<usize>,
    pub(super) next: Option<usize>,
}

/// What made a table or an array, which decides whether a later line may add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A value: scalar, `[…]` or `{…}`. Nothing may be added.
    Value,
    /// `[a.b]` made `a` on the way.
    Implicit,
    /// `[a]` or the root.
    Header,
    /// `a.b = …` made `a`.
    Dotted,
    /// `[[a]]`.
    TableArray,
}

/// The place of the root among the nodes.
pub(super) const ROOT: usize = 0;

/// A key that is there already.
pub(super) struct Twice(pub(super) Placed);

/// A document in the making.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The keys of all tables, in sorted runs: the longest first, each a power of two long. Looking a key up and adding
    /// one take logarithmic time, whatever the keys.
    sorted: Vec<usize>,
}

impl Tree {
    /// Adds to a table or an array; without one the node is in no place.
    pub(super) fn add(
        &mut self,
        parent: Option<usize>,
        key: Placed,
        span: Span,
        value: Value,
        origin: Origin,
    ) -> usize {
        let id = self.nodes.len();
        self.nodes.push(Node { key, span, value, origin, parent, first: None, last: None, next: None });
        let Some(holder) = parent.and_then(|parent| self.nodes.get_mut(parent)) else { return id };
        let in_table = matches!(holder.value, Value::Table);
        match holder.last.replace(id) {
            None => holder.first = Some(id),
            Some(last) => {
                if let Some(node) = self.nodes.get_mut(last) {
                    node.next = Some(id);
                }
            }
        }
        if in_table {
            self.sorted.push(id);
            let run = 1 << self.sorted.len().trailing_zeros();
            let mut run = self.sorted.split_off(self.sorted.len().saturating_sub(run));
            run.sort_by(|one, two| self.name(*one).cmp(&self.name(*two)));
            self.sorted.append(&mut run);
        }
        id
    }

    fn name(&self, id: usize) -> Option<(Option<usize>, &str)> {
        self.nodes.get(id).map(|node| (node.parent, node.key.value.as_str()))
    }

    fn find(&self, table: usize, key: &Placed) -> Option<usize> {
        let name = Some((Some(table), key.value.as_str()));
        let mut runs = self.sorted.as_slice();
        while let Some(log) = runs.len().checked_ilog2() {
            let (run, rest) = runs.split_at_checked(1 << log)?;
            let found = run.get(run.partition_point(|id| self.name(*id) < name));
            if let Some(id) = found.filter(|id| self.name(**id) == name) {
                return Some(*id);
            }
            runs = rest;
        }
        None
    }

    /// Opens the table of a header.
    pub(super) fn open(&mut self, path: Vec<Placed>, is_array: bool, span: Span) -> Result<usize, Twice> {
        let mut table = ROOT;
        let mut path = path.into_iter().peekable();
        while let Some(key) = path.next() {
            let found = self.find(table, &key);
            let node = found.and_then(|id| self.nodes.get_mut(id));
            let is_last = path.peek().is_none();
            table = match (node, found) {
                (Some(node), Some(id)) => match node.origin {
                    Origin::Value => return Err(Twice(key)),
                    Origin::TableArray if is_last && is_array => {
                        self.add(Some(id), key, span, Value::Table, Origin::Header)
                    }
                    Origin::Implicit if is_last && !is_array => {
                        (node.key, node.span, node.origin) = (key, span, Origin::Header);
                        id
                    }
                    _ if is_last => return Err(Twice(key)),
                    // More is added to the last of several tables.
                    Origin::TableArray => node.last.unwrap_or(id),
                    _ => id,
                },
                _ if is_last && is_array => {
                    let array = self.add(Some(table), key.clone(), span, Value::Array, Origin::TableArray);
                    self.add(Some(array), key, span, Value::Table, Origin::Header)
                }
                _ => {
                    let origin = if is_last { Origin::Header } else { Origin::Implicit };
                    self.add(Some(table), key, span, Value::Table, origin)
                }
            };
        }
        Ok(table)
    }

    /// The table and the key that `a.b.c = …` defines.
    pub(super) fn define(&mut self, mut table: usize, path: Vec<Placed>) -> Result<(usize, Placed), Twice> {
        let mut path = path.into_iter();
        let Some(mut key) = path.next() else { return Ok((table, Placed::default())) };
        for next in path {
            table = match self.find(table, &key) {
                None => {
                    let span = key.span;
                    self.add(Some(table), key, span, Value::Table, Origin::Dotted)
                }
                Some(id) => match self.nodes.get(id).map(|node| node.origin) {
                    Some(Origin::Dotted | Origin::Implicit) => id,
                    _ => return Err(Twice(key)),
                },
            };
            key = next;
        }
        if self.find(table, &key).is_some() { Err(Twice(key)) } else { Ok((table, key)) }
    }
}
