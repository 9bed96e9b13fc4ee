//! Values of an object during a build. A value that no step changed is a node of its file, so that a step costs only what it
//! changes, and every value keeps the place of its text.

use std::borrow::Cow;

use manifest::tree::{Assembly, NewValue, Node, NodeId, Value as Plain};

/// A value of an object.
#[derive(Clone, Debug)]
pub(crate) enum BuiltValue<'d> {
    /// A value as a file has it, with everything below it.
    Written(Node<'d>),
    /// A string that a step computed, at the place of a node.
    Computed(String, Node<'d>),
    /// An object, at the place of a node.
    Mapping(Node<'d>, Vec<Member<'d>>),
    /// A list, at the place of a node.
    Sequence(Node<'d>, Vec<BuiltValue<'d>>),
}

/// A member of an object. Of members with the same key the last one counts.
#[derive(Clone, Debug)]
pub(crate) struct Member<'d> {
    pub(crate) key: Cow<'d, str>,
    pub(crate) value: BuiltValue<'d>,
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Scalar,
    Mapping,
    Sequence,
}

/// The text of a scalar, without quotes.
pub(crate) fn scalar_text(node: Node<'_>) -> Option<&str> {
    match node.value() {
        Plain::String(text) => Some(text),
        Plain::Bool(_) | Plain::Int(_) | Plain::Float(_) => Some(node.spelling()),
        Plain::Null | Plain::Sequence | Plain::Mapping => None,
    }
}

/// The kind of a node's value.
pub(crate) fn shape_of(node: Node<'_>) -> Shape {
    match node.value() {
        Plain::Null => Shape::Null,
        Plain::Mapping => Shape::Mapping,
        Plain::Sequence => Shape::Sequence,
        Plain::String(_) | Plain::Bool(_) | Plain::Int(_) | Plain::Float(_) => Shape::Scalar,
    }
}

impl<'d> BuiltValue<'d> {
    /// The kind of the value.
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Written(node) => shape_of(*node),
            Self::Computed(..) => Shape::Scalar,
            Self::Mapping(..) => Shape::Mapping,
            Self::Sequence(..) => Shape::Sequence,
        }
    }

    /// The node at whose place the value is.
    pub(crate) fn node(&self) -> Node<'d> {
        match self {
            Self::Written(node)
            | Self::Computed(_, node)
            | Self::Mapping(node, _)
            | Self::Sequence(node, _) => *node,
        }
    }

    /// The text of a scalar, without quotes.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Written(node) => scalar_text(*node),
            Self::Computed(text, _) => Some(text),
            Self::Mapping(..) | Self::Sequence(..) => None,
        }
    }

    /// The member of an object under a key.
    pub(crate) fn get(&self, key: &str) -> Option<Cow<'_, Self>> {
        match self {
            Self::Written(node) => node.get(key).map(|node| Cow::Owned(Self::Written(node))),
            Self::Mapping(_, members) => members
                .iter()
                .rev()
                .find(|member| member.key == key)
                .map(|member| Cow::Borrowed(&member.value)),
            Self::Computed(..) | Self::Sequence(..) => None,
        }
    }

    /// The text of the scalar at a path of keys.
    pub(crate) fn text_at(&self, keys: &[&str]) -> Option<String> {
        let Some((first, rest)) = keys.split_first() else { return self.text().map(str::to_owned) };
        self.get(first)?.text_at(rest)
    }

    /// The members of an object with their keys, or the items of a list with empty keys.
    pub(crate) fn parts(&self) -> Vec<(Cow<'_, str>, Cow<'_, Self>)> {
        match self {
            Self::Written(node) => {
                let part = |child: Node<'d>| (Cow::Borrowed(child.key()), Cow::Owned(Self::Written(child)));
                node.children().filter(|child| !child.is_overridden()).map(part).collect()
            }
            Self::Mapping(_, members) => members
                .iter()
                .map(|member| (Cow::Borrowed(&*member.key), Cow::Borrowed(&member.value)))
                .collect(),
            Self::Sequence(_, items) => {
                items.iter().map(|item| (Cow::Borrowed(""), Cow::Borrowed(item))).collect()
            }
            Self::Computed(..) => Vec::new(),
        }
    }

    /// The members of an object, for a change; `None` if the value is not an object.
    pub(crate) fn members(&mut self) -> Option<&mut Vec<Member<'d>>> {
        if let Self::Written(node) = *self
            && node.is_mapping()
        {
            let member =
                |child: Node<'d>| Member { key: Cow::Borrowed(child.key()), value: Self::Written(child) };
            *self = Self::Mapping(node, node.children().map(member).collect());
        }
        if let Self::Mapping(_, members) = self { Some(members) } else { None }
    }

    /// The items of a list, for a change; `None` if the value is not a list.
    pub(crate) fn items(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Written(node) = *self
            && node.is_sequence()
        {
            *self = Self::Sequence(node, node.items().map(Self::Written).collect());
        }
        if let Self::Sequence(_, items) = self { Some(items) } else { None }
    }

    /// The member of an object under a key, for a change.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let members = self.members()?;
        members.iter_mut().rev().find(|member| member.key == key).map(|member| &mut member.value)
    }

    /// Sets a member of an object.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if let Some(old) = self.get_mut(key) {
            *old = value;
        } else if let Some(members) = self.members() {
            members.push(Member { key: Cow::Owned(key.to_owned()), value });
        }
    }

    /// Removes a member of an object. Returns whether there was one.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let Some(members) = self.members() else { return false };
        let before = members.len();
        members.retain(|member| member.key != key);
        members.len() < before
    }

    /// The member under a key, which is created as an empty object at the place of a node.
    pub(crate) fn member_or_object(&mut self, key: &str, at: Node<'d>) -> Option<&mut Self> {
        if self.get(key).is_none_or(|value| value.shape() == Shape::Null) {
            self.set(key, Self::Mapping(at, Vec::new()));
        }
        self.get_mut(key)
    }

    /// Number of values, where 64 bytes of text count as one.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Written(node) => 1 + node.span().len() / 64,
            Self::Computed(text, _) => 1 + text.len() / 64,
            Self::Mapping(_, members) => members.iter().map(|member| member.value.size()).sum::<usize>() + 1,
            Self::Sequence(_, items) => items.iter().map(Self::size).sum::<usize>() + 1,
        }
    }

    /// Whether two values are equal as JSON values.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self.shape(), other.shape()) {
            (Shape::Null, Shape::Null) => true,
            (Shape::Scalar, Shape::Scalar) => {
                let is_string = |value: &Self| match value {
                    Self::Written(node) => node.as_str().is_some(),
                    _ => true,
                };
                self.text() == other.text() && is_string(self) == is_string(other)
            }
            (Shape::Mapping, Shape::Mapping) => {
                let (one, two) = (self.parts(), other.parts());
                let equals = |(key, value): &(Cow<'_, str>, Cow<'_, Self>)| {
                    other.get(key).is_some_and(|other| value.equals(&other))
                };
                one.len() == two.len() && one.iter().all(equals)
            }
            (Shape::Sequence, Shape::Sequence) => {
                let (one, two) = (self.parts(), other.parts());
                one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| one.1.equals(&two.1))
            }
            _ => false,
        }
    }

    /// Writes the value into a document. `None` if the document would be too large.
    pub(crate) fn write(&self, into: &mut Assembly, parent: Option<NodeId>, key: Option<&str>) -> Option<()> {
        match self {
            Self::Written(node) => into.copy(parent, key, *node).map(drop),
            Self::Computed(text, at) => {
                into.add(parent, key, NewValue::Of(Plain::String(text)), *at, true).map(drop)
            }
            Self::Mapping(at, members) => {
                let id = into.add(parent, key, NewValue::Of(Plain::Mapping), *at, false)?;
                for member in members {
                    member.value.write(into, Some(id), Some(&member.key))?;
                }
                into.complete(id);
                Some(())
            }
            Self::Sequence(at, items) => {
                let id = into.add(parent, key, NewValue::Of(Plain::Sequence), *at, false)?;
                items.iter().try_for_each(|item| item.write(into, Some(id), None))
            }
        }
    }
}
