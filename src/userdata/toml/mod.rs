//! TOML with places, for Bottlerocket's settings.
//!
//! `toml_parser` gives tokens, scalars and syntax errors (TOML 1.1, of which 1.0 is a part); what may be
//! defined twice is decided here, by the rules of toml.io/en/v1.0.0 "Table" and "Keys".

mod build;
mod datetime;
#[cfg(test)]
mod tests;

use super::word::Word;
use super::{Placed, Span};

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

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    key: Placed,
    span: Span,
    value: Value,
    origin: Origin,
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
    Array(Vec<usize>),
    /// A table.
    Table(Vec<usize>),
}

/// What made a table or an array, which decides whether a later line may add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
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
        let held = match &self.node.value {
            Value::Array(held) | Value::Table(held) => held.as_slice(),
            _ => &[],
        };
        held.iter().filter_map(move |id| Some(Self { node: self.document.nodes.get(*id)?, ..self }))
    }

    /// The entry of a table with this key.
    pub fn get(self, key: &str) -> Option<Self> {
        matches!(self.node.value, Value::Table(_))
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
        build::read(text)
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
