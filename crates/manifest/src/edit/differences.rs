//! Comparison of a document after an edit with the document before it and the declared changes.

use std::collections::BTreeMap;

use super::change::{Change, sort_by_node};
use super::compose::Composed;
use super::text_edit::{TextEdit, apply};
use crate::tree::{Node, Value};

/// Returns the nodes of `before` that do not have, in `after`, the value that the changes give them. The order of the
/// members of an object does not count.
pub fn differences<'d>(before: Node<'d>, after: Node<'_>, changes: &[&Change<'d>]) -> Vec<Node<'d>> {
    let mut changes = changes.to_vec();
    sort_by_node(&mut changes);
    let mut comparison = Comparison { changes: &changes, found: Vec::new() };
    comparison.value(before, after);
    if after.tree().duplicate_keys().len() > before.tree().duplicate_keys().len() {
        comparison.found.push(before);
    }
    comparison.found
}

/// The value that a member must have after the changes.
enum Expected<'c, 'd> {
    Node(Node<'d>),
    /// A list with items appended.
    Longer(Option<Node<'d>>, &'c [Node<'d>]),
    Text(&'c str),
    Composed(&'c Composed<'d>),
}

struct Comparison<'c, 'd> {
    /// Sorted by node.
    changes: &'c [&'c Change<'d>],
    found: Vec<Node<'d>>,
}

impl<'c, 'd> Comparison<'c, 'd> {
    /// The changes of a node.
    fn changes_at(&self, node: Node<'d>) -> Vec<&'c Change<'d>> {
        let first = self.changes.partition_point(|change| change.node().id() < node.id());
        let from = self.changes.iter().skip(first).copied();
        from.take_while(|change| change.node().id() == node.id())
            .filter(|change| change.node() == node)
            .collect()
    }

    fn expect(&mut self, holds: bool, node: Node<'d>) {
        if !holds {
            self.found.push(node);
        }
    }

    fn value(&mut self, before: Node<'d>, after: Node<'_>) {
        let changes = self.changes_at(before);
        for change in changes.iter().rev() {
            match change {
                Change::Set(_, text) => return self.expect(after.as_str() == Some(text), before),
                Change::Write(_, value) => return self.composed(before, value, after),
                _ => {}
            }
        }
        self.unchanged(before, after, &changes);
    }

    /// Compares a value that is not replaced as a whole.
    fn unchanged(&mut self, before: Node<'d>, after: Node<'_>, changes: &[&'c Change<'d>]) {
        match (before.value(), after.value()) {
            (Value::Mapping, Value::Mapping) => self.object(before, after, changes),
            (Value::Sequence, Value::Sequence) => self.list(before, Some(before), &[], after),
            (Value::String(text), Value::String(edited)) => {
                let edits = changes.iter().filter_map(|change| match change {
                    Change::Replace(_, span, text) => Some(TextEdit { span: *span, text: text.clone() }),
                    _ => None,
                });
                if apply(text, &edits.collect::<Vec<_>>()) == edited {
                    return;
                }
                match (before.embedded(), after.embedded()) {
                    (Some(before), Some(after)) => self.value(before, after),
                    _ => self.found.push(before),
                }
            }
            (value, edited) => self.expect(value == edited, before),
        }
    }

    fn object(&mut self, before: Node<'d>, after: Node<'_>, changes: &[&'c Change<'d>]) {
        let mut expected = self.members(before, changes);
        let mut is_same =
            after.children().count() == after.members().count() || !before.tree().duplicate_keys().is_empty();
        for (key, member) in after.members() {
            match expected.remove(key) {
                Some(Expected::Node(node)) => self.value(node, member),
                Some(Expected::Longer(list, items)) => self.list(before, list, items, member),
                Some(Expected::Text(text)) => is_same &= member.as_str() == Some(text),
                Some(Expected::Composed(value)) => self.composed(before, value, member),
                None => is_same = false,
            }
        }
        self.expect(is_same && expected.is_empty(), before);
    }

    /// The members that an object must have after the changes.
    fn members(&self, before: Node<'d>, changes: &[&'c Change<'d>]) -> BTreeMap<&'c str, Expected<'c, 'd>>
    where
        'd: 'c,
    {
        let mut expected = BTreeMap::new();
        for (key, member) in before.members() {
            let own = self.changes_at(member);
            let mut kept = Some(key);
            for change in &own {
                match change {
                    Change::Remove(_) => kept = None,
                    Change::Rename(_, key) => kept = kept.map(|_| key.as_str()),
                    Change::AddAfter(_, key, value) => {
                        expected.insert(key.as_str(), Expected::Composed(value));
                    }
                    _ => {}
                }
            }
            if let Some(key) = kept {
                expected.insert(key, Expected::Node(member));
            }
        }
        for change in changes {
            match change {
                Change::Add(_, key, text) => {
                    expected.insert(key, Expected::Text(text));
                }
                Change::Append(_, key, items) => {
                    expected.insert(key, Expected::Longer(before.get(key), items));
                }
                _ => {}
            }
        }
        expected
    }

    fn list(&mut self, holder: Node<'d>, before: Option<Node<'d>>, appended: &[Node<'d>], after: Node<'_>) {
        let own = before.map(Node::items).into_iter().flatten();
        let mut expected: Vec<_> = own.filter(|item| !is_removed(&self.changes_at(*item))).collect();
        expected.extend(appended);
        if !after.is_sequence() || after.len() != expected.len() {
            return self.found.push(before.unwrap_or(holder));
        }
        for (item, edited) in expected.into_iter().zip(after.items()) {
            self.value(item, edited);
        }
    }

    fn composed(&mut self, holder: Node<'d>, value: &'c Composed<'d>, after: Node<'_>) {
        let is_same = match value {
            Composed::Text(text) | Composed::CopyWith(_, text) => after.as_str() == Some(text),
            Composed::Number(number) => after.as_int() == Some(*number),
            Composed::Bool(value) => after.as_bool() == Some(*value),
            // The changes of the node itself are not part of the copy.
            Composed::Copy(node) => return self.unchanged(*node, after, &[]),
            Composed::Object(members) => {
                let edited = after.sorted_members();
                let of_key = |key: &str| {
                    let at = edited.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                    edited.get(at).map(|(_, member)| *member)
                };
                let mut has_all = true;
                for (key, member) in members {
                    match of_key(key) {
                        Some(edited) => self.composed(holder, member, edited),
                        None => has_all = false,
                    }
                }
                after.is_mapping() && has_all && edited.len() == members.len()
            }
            Composed::List(items) => {
                for (item, edited) in items.iter().zip(after.items()) {
                    self.composed(holder, item, edited);
                }
                after.is_sequence() && after.len() == items.len()
            }
        };
        self.expect(is_same, holder);
    }
}

fn is_removed(changes: &[&Change<'_>]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Remove(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{Document, File};

    fn file(text: &str) -> File {
        File::read("-", text, &Limits::DEFAULT)
    }

    fn root(file: &File) -> Node<'_> {
        let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{:?}", file.documents) };
        tree.root()
    }

    /// The keys of the nodes that differ after `k` of the first text became `v`.
    fn keys(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (file(before), file(after));
        let node = root(&before).get("k").unwrap();
        let change = Change::Set(node, "v".to_owned());
        differences(root(&before), root(&after), &[&change])
            .into_iter()
            .map(|node| node.key().to_owned())
            .collect()
    }

    #[test]
    fn finds_nothing_where_only_the_declared_value_changes() {
        assert_eq!(keys("k: a\nb: [1, {c: d}]\n", "# x\nb:\n- 1\n- 'c': d\nk: 'v'\n"), [""; 0]);
    }

    #[test]
    fn understands_replacement_at_the_start_of_a_block_scalar() {
        let before = file("k: |\n\n\n  a\n\n    b\n");
        let after = file("k: |\n  a\n\n    b\n");
        let node = root(&before).get("k").unwrap();
        let change = Change::Replace(node, crate::source::Span::new(0, 2), String::new());
        let edit = change.edit().unwrap();
        assert_eq!(apply(before.source.text(), &[edit]), after.source.text());
        assert_eq!(differences(root(&before), root(&after), &[&change]), []);
    }

    #[test]
    fn finds_every_other_change() {
        assert_eq!(keys("k: a\nb: c\n", "k: w\nb: c\n"), ["k"]);
        assert_eq!(keys("k: a\nb: c\n", "k: vb\n"), ["k", ""]);
        assert_eq!(keys("k: a\nb: c\n", "k: v\nb: d\n"), ["b"]);
        assert_eq!(keys("k: a\nb: c\n", "k: v\nb: c\nb: c\n"), ["", ""]);
        assert_eq!(keys("k: a\nb: [c]\n", "k: v\nb: [c, d]\n"), ["b"]);
        assert_eq!(keys("k: a\nb: '1'\n", "k: v\nb: 1\n"), ["b"]);
        assert_eq!(keys("k: &x a\nb: *x\n", "k: v\nb: v\n"), ["b"]);
    }
}
