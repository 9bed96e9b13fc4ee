//! Changes of an object without text of an author, such as the object of an admission request.

use super::change::{Change, sort_by_node};
use super::compose::Composed;
use super::spelling::spell;
use super::text_edit::{TextEdit, apply};
use crate::json::quote;
use crate::tree::{Node, Style, Value};

/// Writes an object that was JSON as JSON, with all changes made. Numbers keep their spelling; of duplicate keys the last
/// one stays.
pub fn rewrite(object: Node<'_>, changes: Vec<&Change<'_>>) -> String {
    write(object, changes, Syntax::Json)
}

/// The edit that writes the value of an alias in its place, with all changes made. `None` if the document is JSON.
pub fn replace_alias(alias: Node<'_>, changes: Vec<&Change<'_>>) -> Option<TextEdit> {
    if alias.style() != Style::Alias || alias.span().is_empty() || !alias.is_verbatim() {
        return None;
    }
    Some(TextEdit { span: alias.span(), text: write(alias, changes, Syntax::Yaml) })
}

fn write(value: Node<'_>, mut changes: Vec<&Change<'_>>, syntax: Syntax) -> String {
    sort_by_node(&mut changes);
    let mut writer = Writer { changes: &changes, syntax, text: String::new() };
    writer.value(value);
    writer.text
}

/// The syntax of the new text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// JSON without spaces.
    Json,
    /// YAML in braces and brackets.
    Yaml,
}

struct Writer<'c, 'd> {
    /// Sorted by node.
    changes: &'c [&'c Change<'d>],
    syntax: Syntax,
    text: String,
}

impl<'c, 'd> Writer<'c, 'd> {
    /// The changes of a node.
    fn changes_at(&self, node: Node<'d>) -> Vec<&'c Change<'d>> {
        let first = self.changes.partition_point(|change| change.node().id() < node.id());
        let from = self.changes.iter().skip(first).copied();
        let same = from.take_while(|change| change.node().id() == node.id());
        same.filter(|change| change.node() == node).collect()
    }

    fn value(&mut self, node: Node<'d>) {
        let changes = self.changes_at(node);
        for change in changes.iter().rev() {
            match change {
                Change::Set(_, value) => return self.string(value),
                Change::Write(_, value) => return self.composed(value),
                _ => {}
            }
        }
        self.unchanged(node, &changes);
    }

    /// Writes a value that is not replaced as a whole.
    fn unchanged(&mut self, node: Node<'d>, changes: &[&'c Change<'d>]) {
        match node.value() {
            Value::Mapping => self.object(node, changes),
            Value::Sequence => self.list(node, &[]),
            Value::String(text) => {
                let edits = changes.iter().filter_map(|change| match change {
                    Change::Replace(_, span, text) => Some(TextEdit { span: *span, text: text.clone() }),
                    _ => None,
                });
                self.string(&apply(text, &edits.collect::<Vec<_>>()));
            }
            Value::Null => self.text.push_str("null"),
            _ => self.text.push_str(node.spelling()),
        }
    }

    fn object(&mut self, node: Node<'d>, changes: &[&'c Change<'d>]) {
        let mut open = '{';
        for (key, member) in node.members() {
            let own = self.changes_at(member);
            let is_replaced = |change: &&Change<'_>| matches!(change, Change::Add(_, name, _) if name == key);
            if is_removed(&own) || changes.iter().any(is_replaced) {
                self.added_after(&own, &mut open);
                continue;
            }
            let renamed = own.iter().rev().find_map(|change| match change {
                Change::Rename(_, key) => Some(key.as_str()),
                _ => None,
            });
            self.key(renamed.unwrap_or(key), &mut open);
            let appended = changes.iter().find_map(|change| match change {
                Change::Append(_, name, items) if *name == key => Some(items.as_slice()),
                _ => None,
            });
            match appended {
                Some(items) if member.is_sequence() => self.list(member, items),
                _ => self.value(member),
            }
            self.added_after(&own, &mut open);
        }
        for change in changes {
            match change {
                Change::Add(_, key, value) => {
                    self.key(key, &mut open);
                    self.string(value);
                }
                Change::Append(_, key, items) if node.get(key).is_none() => {
                    self.key(key, &mut open);
                    self.items('[', items);
                }
                _ => {}
            }
        }
        self.text.push_str(if open == '{' { "{}" } else { "}" });
    }

    /// Writes the members that are added after a member with these changes.
    fn added_after(&mut self, changes: &[&'c Change<'d>], open: &mut char) {
        for change in changes {
            if let Change::AddAfter(_, key, value) = change {
                self.key(key, open);
                self.composed(value);
            }
        }
    }

    fn composed(&mut self, value: &Composed<'d>) {
        match value {
            Composed::Text(text) | Composed::CopyWith(_, text) => self.string(text),
            Composed::Number(number) => self.text.push_str(&number.to_string()),
            Composed::Bool(value) => self.text.push_str(&value.to_string()),
            // The changes of the node itself are not part of the copy.
            Composed::Copy(node) => self.unchanged(*node, &[]),
            Composed::Object(members) => {
                let mut open = '{';
                for (key, member) in members {
                    self.key(key, &mut open);
                    self.composed(member);
                }
                self.text.push_str(if open == '{' { "{}" } else { "}" });
            }
            Composed::List(items) => {
                let mut open = '[';
                for item in items {
                    self.separate(&mut open);
                    self.composed(item);
                }
                self.text.push_str(if open == '[' { "[]" } else { "]" });
            }
        }
    }

    /// Writes a key, after the brace or a comma.
    fn key(&mut self, key: &str, open: &mut char) {
        self.separate(open);
        self.string(key);
        self.text.push_str(if self.syntax == Syntax::Json { ":" } else { ": " });
    }

    /// Writes the brace or bracket that opens a collection, or a comma after a member or an item.
    fn separate(&mut self, open: &mut char) {
        let is_next = *open == ',';
        self.text.push(core::mem::replace(open, ','));
        if is_next && self.syntax == Syntax::Yaml {
            self.text.push(' ');
        }
    }

    fn string(&mut self, text: &str) {
        match self.syntax {
            Syntax::Json => quote(text, &mut self.text),
            Syntax::Yaml => self.text.push_str(&spell(text, Style::Plain)),
        }
    }

    fn list(&mut self, node: Node<'d>, appended: &[Node<'d>]) {
        let mut items: Vec<_> = node.items().filter(|item| !is_removed(&self.changes_at(*item))).collect();
        items.extend(appended);
        self.items('[', &items);
    }

    fn items(&mut self, mut open: char, items: &[Node<'d>]) {
        for item in items {
            self.separate(&mut open);
            self.value(*item);
        }
        self.text.push_str(if open == '[' { "[]" } else { "]" });
    }
}

fn is_removed(changes: &[&Change<'_>]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Remove(_)))
}
