//! TOML with spans, for Bottlerocket's settings.
//!
//! The `toml` crate parses the text, as Bottlerocket does when it reads its settings. This module adds the view that the
//! rules need: entries in the order of the text, and the span of every part of a string.

mod error;
mod nesting;
#[cfg(test)]
mod tests;
use manifest::source::Span;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::word::SourceWord;

pub use error::TomlError;

/// TOML document: the root table and everything below it.
#[derive(Clone, Debug)]
pub struct TomlDocument<'t> {
    text: &'t str,
    root: DeValue<'t>,
}

impl<'t> TomlDocument<'t> {
    /// Parses a text, or returns its first error.
    pub fn parse(text: &'t str) -> Result<Self, TomlError> {
        nesting::check(text)?;
        let root = DeTable::parse(text).map_err(|error| TomlError::new(text, &error))?;
        let document = Self { text, root: DeValue::Table(root.into_inner()) };
        document.check_integers()?;
        Ok(document)
    }

    /// Root table.
    pub fn root(&self) -> TomlEntry<'_> {
        TomlEntry { text: self.text, key: None, span: Span::whole(self.text), value: &self.root }
    }

    /// Entry at a path of keys.
    pub fn get(&self, path: &[&str]) -> Option<TomlEntry<'_>> {
        path.iter().try_fold(self.root(), |entry, key| entry.get(key))
    }

    /// Refuses integers outside 64 bits. The `toml` crate checks them only when it deserializes a value.
    fn check_integers(&self) -> Result<(), TomlError> {
        let mut entries = vec![self.root()];
        while let Some(entry) = entries.pop() {
            if entry.value.is_integer() && entry.as_integer().is_none() {
                let message = "the integer does not fit into 64 bits".to_owned();
                return Err(TomlError { message, span: entry.span });
            }
            entries.extend(entry.children());
        }
        Ok(())
    }
}

/// Value in a TOML document, with its key if it belongs to a table.
#[derive(Clone, Copy, Debug)]
pub struct TomlEntry<'d> {
    text: &'d str,
    key: Option<&'d Spanned<DeString<'d>>>,
    span: Span,
    value: &'d DeValue<'d>,
}

impl<'d> TomlEntry<'d> {
    /// Key without quotes; empty for the root and for items of an array.
    pub fn key(self) -> &'d str {
        self.key.map_or("", |key| key.get_ref())
    }

    /// Span of the key where it first occurs; empty for the root and for items of an array.
    pub fn key_span(self) -> Span {
        self.key.map_or_else(Span::default, |key| Span::from(key.span()))
    }

    /// Span of the value. For a table, the span of its header, or of the key that creates a table without a header.
    pub fn span(self) -> Span {
        self.span
    }

    /// Entries of a table or items of an array, in the order of the text.
    pub fn children(self) -> Vec<Self> {
        match self.value {
            DeValue::Table(table) => {
                let mut entries: Vec<_> =
                    table.iter().map(|(key, value)| self.child(Some(key), value)).collect();
                entries.sort_by_key(|entry| entry.key_span().start);
                entries
            }
            DeValue::Array(items) => items.iter().map(|item| self.child(None, item)).collect(),
            _ => Vec::new(),
        }
    }

    /// Entry of a table with this key.
    pub fn get(self, key: &str) -> Option<Self> {
        let (key, value) = self.value.as_table()?.get_key_value(key)?;
        Some(self.child(Some(key), value))
    }

    /// String value, with the span of each of its parts.
    pub fn as_string(self) -> Option<SourceWord> {
        let value = self.value.as_str()?;
        Some(SourceWord::literal(value, self.content(value), self.span))
    }

    /// Integer value.
    pub fn as_integer(self) -> Option<i64> {
        self.value.as_integer().and_then(integer)
    }

    /// Whether the value is an array or an array of tables.
    pub fn is_array(self) -> bool {
        self.value.is_array()
    }

    /// Whether the value is a table or an array without content.
    pub fn is_empty(self) -> bool {
        match self.value {
            DeValue::Table(table) => table.is_empty(),
            DeValue::Array(items) => items.is_empty(),
            _ => false,
        }
    }

    fn child(self, key: Option<&'d Spanned<DeString<'d>>>, value: &'d Spanned<DeValue<'d>>) -> Self {
        Self { text: self.text, key, span: Span::from(value.span()), value: value.get_ref() }
    }

    /// Span of the content of a string: without quotes if it appears verbatim, else with them.
    fn content(self, value: &str) -> Span {
        let raw = self.span.text(self.text);
        let is_literal = raw.starts_with('\'');
        let quotes = if raw.starts_with("'''") || raw.starts_with("\"\"\"") { 3 } else { 1 };
        let inner = raw.get(quotes..raw.len().saturating_sub(quotes)).unwrap_or("");
        let is_escaped = value.is_empty() || (value.contains('\\') && !is_literal);
        match inner.find(value).filter(|_| !is_escaped) {
            Some(at) => {
                let start = self.span.start + quotes + at;
                Span::new(start, start + value.len())
            }
            None => self.span,
        }
    }
}

fn integer(value: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(value.as_str(), value.radix()).ok()
}
