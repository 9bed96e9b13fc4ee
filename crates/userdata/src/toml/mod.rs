//! TOML with places, for Bottlerocket's settings.
//!
//! Read is TOML 1.1 (toml.io/en/v1.1.0), of which 1.0 is a part: [`read`] and [`string`] take the text apart, [`scalar`]
//! tells numbers and dates, and [`tree`] decides what may be defined twice. The tests hold it against `toml_parser`.

mod read;
#[cfg(test)]
mod reference;
mod scalar;
mod string;
#[cfg(test)]
mod tests;
mod tree;

use super::word::Word;
use super::{Placed, Span};
use tree::Node;

/// A document: the root table and all below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    nodes: Vec<Node>,
}

/// Why a text is no TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// A value; arrays and tables are asked through [`Entry::children`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string, without its quotes.
    String(Word),
    /// A whole number.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
    /// A number with a fraction or an exponent, `inf` or `nan`.
    Float,
    /// A date, a time or both.
    DateTime,
    /// An array, or an array of tables.
    Array,
    /// A table.
    Table,
}

/// A key with its value in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'d> {
    document: &'d Document,
    node: &'d Node,
}

impl<'d> Entry<'d> {
    /// The key, unquoted, and where it stands first; empty for the root and for what an array holds.
    pub fn key(self) -> &'d Placed {
        &self.node.key
    }

    /// Where the value stands; for a table with a header, the header.
    pub fn span(self) -> Span {
        self.node.span
    }

    /// The value.
    pub fn value(self) -> &'d Value {
        &self.node.value
    }

    /// What a table or an array holds, in order.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let mut next = self.node.first;
        core::iter::from_fn(move || {
            let entry = Self { node: self.document.nodes.get(next?)?, ..self };
            next = entry.node.next;
            Some(entry)
        })
    }

    /// The entry of a table with this key.
    pub fn get(self, key: &str) -> Option<Self> {
        matches!(self.node.value, Value::Table)
            .then(|| self.children().find(|child| child.node.key.value == key))?
    }

    /// The string that it is.
    pub fn as_string(self) -> Option<&'d Word> {
        if let Value::String(word) = &self.node.value { Some(word) } else { None }
    }
}

impl Document {
    /// Reads a text; the first error where it is no TOML.
    pub fn read(text: &str) -> Result<Self, SyntaxError> {
        read::document(text)
    }

    /// The root table.
    pub fn root(&self) -> Option<Entry<'_>> {
        self.nodes.first().map(|node| Entry { document: self, node })
    }

    /// The entry at a path of keys.
    pub fn get(&self, path: &[&str]) -> Option<Entry<'_>> {
        path.iter().try_fold(self.root()?, |entry, key| entry.get(key))
    }
}
