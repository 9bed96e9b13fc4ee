//! Iteration over the items of a list and the members of an object.

use super::node::Node;

impl<'d> Node<'d> {
    /// The items of a list or the values of an object in the order of the text, overridden members included.
    pub fn children(self) -> Children<'d> {
        Children { next: self.linked(self.data().first_child) }
    }

    /// The items of a list; empty for any other value.
    pub fn items(self) -> Children<'d> {
        items_of(Some(self))
    }

    /// The members of an object, without overridden members; empty for any other value.
    pub fn members(self) -> Members<'d> {
        members_of(Some(self))
    }

    /// The members of an object by key, without overridden members; empty for any other value.
    pub fn sorted_members(self) -> Vec<(&'d str, Node<'d>)> {
        let mut members: Vec<_> = self.members().collect();
        sort_by_text(&mut members);
        members
    }

    /// The items of the list at a path of keys; empty if there is no list.
    pub fn items_at(self, keys: &[&str]) -> Children<'d> {
        items_of(self.at_path(keys))
    }

    /// The members of the object at a path of keys; empty if there is no object.
    pub fn members_at(self, keys: &[&str]) -> Members<'d> {
        members_of(self.at_path(keys))
    }
}

/// The items of an optional list.
pub fn items_of(list: Option<Node<'_>>) -> Children<'_> {
    list.filter(|list| list.is_sequence()).map_or(Children { next: None }, Node::children)
}

/// Sorts nodes by the text beside each. Nodes with equal texts keep their order.
pub fn sort_by_text(nodes: &mut [(&str, Node<'_>)]) {
    nodes.sort_by_key(|(text, _)| *text);
}

/// The members of an optional object, as in [`Node::members`].
pub fn members_of(object: Option<Node<'_>>) -> Members<'_> {
    let object = object.filter(|object| object.is_mapping());
    Members { all: object.map_or(Children { next: None }, Node::children) }
}

/// Iterator of [`Node::children`] and [`Node::items`].
#[derive(Clone, Debug)]
pub struct Children<'d> {
    next: Option<Node<'d>>,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        let node = self.next?;
        self.next = node.linked(node.data().next_sibling);
        Some(node)
    }
}

/// Iterator of [`Node::members`].
#[derive(Clone, Debug)]
pub struct Members<'d> {
    all: Children<'d>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Node<'d>);

    fn next(&mut self) -> Option<(&'d str, Node<'d>)> {
        let node = self.all.find(|node| !node.is_overridden())?;
        Some((node.key(), node))
    }
}
