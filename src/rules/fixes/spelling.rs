//! Spells a document in many ways, with one of its values in a style of scalars.

use std::fmt::Write as _;

use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use serde_json::Value as Json;

/// Step of a path to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathStep {
    Key(String),
    Item(usize),
}

/// Style of the chosen value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarStyle {
    Plain,
    Single,
    Double,
    /// A block scalar with this header.
    Block(&'static str),
}

pub(super) const STYLES: [ScalarStyle; 9] = [
    ScalarStyle::Plain,
    ScalarStyle::Single,
    ScalarStyle::Double,
    ScalarStyle::Block("|"),
    ScalarStyle::Block("|-"),
    ScalarStyle::Block("|+"),
    ScalarStyle::Block(">"),
    ScalarStyle::Block(">-"),
    ScalarStyle::Block(">+"),
];

/// Form of a whole text.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the properties are independent of each other")]
pub(super) struct Layout {
    /// Indentation of four columns, instead of two with lists in the column of their key.
    pub(super) is_wide: bool,
    pub(super) has_carriage_returns: bool,
    pub(super) has_byte_order_mark: bool,
    /// Comments above, beside and below the chosen value.
    pub(super) has_comments: bool,
    /// An anchor before the chosen value.
    pub(super) has_anchor: bool,
    /// The document in braces.
    pub(super) is_flow: bool,
    /// Other documents before and after the document.
    pub(super) is_among_others: bool,
}

/// Spells documents. `None` if the chosen value has no such spelling.
pub(super) fn spelled(
    documents: &[Json],
    chosen: &(usize, Vec<PathStep>),
    style: ScalarStyle,
    layout: Layout,
) -> Option<String> {
    let mut texts = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let path = (index == chosen.0).then_some(chosen.1.as_slice());
        let mut writer = Writer { chosen: path, style, layout, text: String::new() };
        if layout.is_flow {
            writer.flow(document, &mut Vec::new())?;
            writer.text.push('\n');
        } else {
            writer.members(document, 0, &mut Vec::new())?;
        }
        texts.push(writer.text.trim_start_matches('\n').to_owned());
    }
    if layout.is_among_others {
        texts.insert(0, "a: b # first\n".to_owned());
        texts.push("# last\nc: d\n".to_owned());
    }
    let mut text = texts.join("---\n");
    if layout.has_carriage_returns {
        text = text.replace('\n', "\r\n");
    }
    Some(if layout.has_byte_order_mark { format!("\u{feff}{text}") } else { text })
}

struct Writer<'w> {
    chosen: Option<&'w [PathStep]>,
    style: ScalarStyle,
    layout: Layout,
    text: String,
}

impl Writer<'_> {
    fn is_chosen(&self, path: &[PathStep]) -> bool {
        self.chosen == Some(path)
    }

    /// Writes the members of an object or the items of a list in a column, each on its own lines.
    fn members(&mut self, value: &Json, column: usize, path: &mut Vec<PathStep>) -> Option<()> {
        let pad = " ".repeat(column);
        let parts: Vec<(PathStep, &Json)> = match value {
            Json::Object(members) => {
                members.iter().map(|(key, value)| (PathStep::Key(key.clone()), value)).collect()
            }
            Json::Array(items) => {
                items.iter().enumerate().map(|(index, item)| (PathStep::Item(index), item)).collect()
            }
            _ => return None,
        };
        for (step, part) in parts {
            path.push(step.clone());
            let has_comments = self.layout.has_comments && self.is_chosen(path);
            if has_comments {
                let _ = writeln!(self.text, "{pad}# above");
            }
            let head =
                if let PathStep::Key(key) = &step { format!("{}:", key_of(key)) } else { "-".to_owned() };
            let _ = write!(self.text, "{pad}{head}");
            let is_empty = part.as_object().is_some_and(serde_json::Map::is_empty)
                || part.as_array().is_some_and(Vec::is_empty);
            if (part.is_object() || part.is_array()) && !is_empty {
                self.text.push('\n');
                let is_list_below_key = part.is_array() && matches!(step, PathStep::Key(_));
                let deeper = match (self.layout.is_wide, is_list_below_key) {
                    (false, true) => column,
                    (false, false) => column + 2,
                    (true, _) => column + 4,
                };
                self.members(part, deeper, path)?;
            } else {
                self.text.push(' ');
                self.scalar(part, column + 2, path)?;
                self.text.push('\n');
            }
            if has_comments {
                let _ = writeln!(self.text, "{pad}# below");
            }
            path.pop();
        }
        Some(())
    }

    /// Writes a scalar, or a block scalar whose lines are in a column.
    fn scalar(&mut self, value: &Json, column: usize, path: &[PathStep]) -> Option<()> {
        let is_chosen = self.is_chosen(path);
        if is_chosen && self.layout.has_anchor {
            self.text.push_str("&anchor ");
        }
        let comment = if is_chosen && self.layout.has_comments { " # beside" } else { "" };
        let string = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !is_chosen {
            match value.as_str() {
                Some(text) if is_block(text) => self.block("|", "", text, column)?,
                Some(text) => self.text.push_str(&plain(text).unwrap_or_else(|| value.to_string())),
                None => self.text.push_str(&string),
            }
            return Some(());
        }
        match self.style {
            ScalarStyle::Plain if !value.is_string() => self.text.push_str(&string),
            ScalarStyle::Block(header) => return self.block(header, comment, &string, column),
            style => self.text.push_str(&on_one_line(&string, style)?),
        }
        self.text.push_str(comment);
        Some(())
    }

    fn block(&mut self, header: &str, comment: &str, text: &str, column: usize) -> Option<()> {
        let lines = text.strip_suffix('\n').unwrap_or(text);
        if lines.trim().is_empty() || lines.starts_with([' ', '\n']) {
            return None;
        }
        let _ = write!(self.text, "{header}{comment}");
        for line in lines.split('\n') {
            let column = if line.is_empty() { 0 } else { column };
            let _ = write!(self.text, "\n{}{line}", " ".repeat(column));
        }
        if header.ends_with('+') {
            self.text.push('\n');
        }
        Some(())
    }

    fn flow(&mut self, value: &Json, path: &mut Vec<PathStep>) -> Option<()> {
        match value {
            Json::Object(members) => {
                for (index, (key, member)) in members.iter().enumerate() {
                    let _ = write!(self.text, "{}{}: ", if index == 0 { "{" } else { ", " }, key_of(key));
                    path.push(PathStep::Key(key.clone()));
                    self.flow(member, path)?;
                    path.pop();
                }
                self.text.push_str(if members.is_empty() { "{}" } else { "}" });
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.text.push_str(if index == 0 { "[" } else { ", " });
                    path.push(PathStep::Item(index));
                    self.flow(item, path)?;
                    path.pop();
                }
                self.text.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            scalar if self.is_chosen(path) => {
                if self.layout.has_anchor {
                    self.text.push_str("&anchor ");
                }
                let string = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
                let is_unsafe =
                    string.contains([',', '[', ']', '{', '}']) && self.style == ScalarStyle::Plain;
                self.text.push_str(&on_one_line(&string, self.style).filter(|_| !is_unsafe)?);
            }
            scalar => self.text.push_str(&scalar.to_string()),
        }
        Some(())
    }
}

fn key_of(key: &str) -> String {
    plain(key).filter(|key| !key.contains([',', '[', ']', '{', '}'])).unwrap_or_else(|| format!("{key:?}"))
}

/// A string on one line in a style other than a block scalar.
fn on_one_line(text: &str, style: ScalarStyle) -> Option<String> {
    match style {
        ScalarStyle::Plain => plain(text),
        ScalarStyle::Single => (!text.contains('\n')).then(|| format!("'{}'", text.replace('\'', "''"))),
        ScalarStyle::Double => Some(Json::from(text).to_string()),
        ScalarStyle::Block(_) => None,
    }
}

/// A string without quotes, if it is a string then.
fn plain(text: &str) -> Option<String> {
    let file = File::read("-", format!("k: {text}\n"), READ_OPTIONS);
    let [Document::Read(tree)] = file.documents.as_slice() else { return None };
    let is_same = !text.contains('\n') && tree.root().get("k")?.as_str() == Some(text);
    is_same.then(|| text.to_owned())
}

/// Whether a string of several lines can be a literal block scalar.
fn is_block(text: &str) -> bool {
    text.strip_suffix('\n').is_some_and(|lines| {
        lines.contains('\n') && !lines.ends_with('\n') && !lines.starts_with([' ', '\n'])
    })
}
