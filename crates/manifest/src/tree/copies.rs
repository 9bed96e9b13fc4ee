//! Copies of a value: the values of aliases, and the members that merge keys copy.

use std::collections::{BTreeMap, BTreeSet};

use super::id::NodeId;
use super::node::Node;
use super::store::{Style, Tree};

impl Tree {
    /// Records that a node copies the value of a node with an anchor.
    pub(crate) fn add_copy(&mut self, from: NodeId, copy: NodeId) {
        self.copies.push((from, copy));
    }

    /// The node with the anchor of each alias that is a value, by the first byte of the alias. What an alias copies may have further aliases: they
    /// have the bytes of the ones that were copied.
    pub fn anchors(&self) -> BTreeMap<usize, Node<'_>> {
        let aliases = self.copies.iter().map(|(from, copy)| (self.node(*copy), self.node(*from)));
        let aliases = aliases.filter(|(copy, _)| copy.is_copied());
        aliases.map(|(copy, from)| (copy.span().start, from)).collect()
    }
}

impl Node<'_> {
    /// The nodes that change with this node, because they copy it or a value around it: the value of each alias, and the
    /// object of each merge key. In document order, at most `limit` nodes.
    pub fn copies(self, limit: usize) -> Vec<Self> {
        let copies = &self.tree().copies;
        let mut found = BTreeSet::new();
        let mut next = if copies.is_empty() { Vec::new() } else { vec![self] };
        while let Some(node) = next.pop() {
            for around in core::iter::successors(Some(node), |node| node.parent()) {
                let id = around.id();
                let first = copies.partition_point(|(from, _)| *from < id);
                let own = copies.iter().skip(first).take_while(|(from, _)| *from == id);
                for (_, copy) in own {
                    if found.len() >= limit {
                        break;
                    }
                    if found.insert(*copy) {
                        next.push(self.tree().node(*copy));
                    }
                }
            }
        }
        found.into_iter().map(|id| self.tree().node(id)).collect()
    }

    /// Whether an alias or a merge key copied this value.
    pub fn is_copied(self) -> bool {
        self.style() == Style::Alias
    }

    /// The value of the alias that this node is, or is within. `None` if the text has no such alias for this place alone,
    /// for example within a merge key.
    pub fn alias(self) -> Option<Self> {
        let mut node = self;
        if node.style() != Style::Alias {
            return None;
        }
        while let Some(parent) = node.parent().filter(|parent| parent.style() == Style::Alias) {
            node = parent;
        }
        (!node.data().merged && node.parent().is_some()).then_some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::{Document, File};

    fn tree(text: &str) -> Tree {
        let file = File::read("-", text, &Limits::DEFAULT);
        match file.documents.into_iter().next() {
            Some(Document::Read(tree)) => tree,
            other => panic!("{other:?}"),
        }
    }

    fn keys_of_copies(text: &str, path: &[&str]) -> Vec<String> {
        let tree = tree(text);
        let node = tree.root().at_path(path).unwrap();
        node.copies(100).into_iter().map(|node| node.key().to_owned()).collect()
    }

    #[test]
    fn finds_every_alias_and_merge_key_of_an_anchor_around_a_value() {
        let text = "a: &a {b: {c: 1}}\nd: *a\ne: {<<: *a}\nf: &f {x: *a}\ng: *f\nh: &h 1\n";
        assert_eq!(keys_of_copies(text, &["a", "b", "c"]), ["d", "e", "x", "g"]);
        assert_eq!(keys_of_copies(text, &["h"]), [""; 0]);
        assert_eq!(tree(text).root().at_path(&["a", "b"]).unwrap().copies(2).len(), 2);
    }

    #[test]
    fn each_alias_has_the_anchor_above_it() {
        let text = "a: &a 0x10\nb: *a\n# &a 2\nc: &a '3'\nd: &d [*a]\ne: *d\n";
        let tree = tree(text);
        let anchors = tree.anchors();
        let spelled = |at: &str| anchors.get(&(text.find(at).unwrap() + 3)).map(|node| node.spelling());
        assert_eq!(spelled("b: *a"), Some("0x10"));
        assert_eq!(spelled("d [*a"), Some("'3'"));
        assert_eq!(spelled("e: *d"), Some("[*a]"));
        assert_eq!(anchors.len(), 3);
    }

    #[test]
    fn finds_alias_around_a_value_but_not_around_a_merged_value() {
        let text = "a: &a {b: {c: 1}}\nd: *a\ne: {<<: *a}\n";
        let tree = tree(text);
        let alias = |path: &[&str]| tree.root().at_path(path).unwrap().alias().map(Node::key);
        assert_eq!(alias(&["d", "b", "c"]), Some("d"));
        assert_eq!(alias(&["d"]), Some("d"));
        assert_eq!(alias(&["e", "b", "c"]), None);
        assert_eq!(alias(&["a", "b"]), None);
    }
}
