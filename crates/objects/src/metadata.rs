//! `metadata` of an object, a pod template or a NodePool's template.

use manifest::tree::{Members, Node, items_of, members_of};
use values::placeholder::has_placeholder;

/// View of `metadata`; every field is absent where `metadata` is.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'d>(Option<Node<'d>>);

impl<'d> Metadata<'d> {
    /// The metadata of whatever has a key `metadata`.
    pub fn of(holder: Node<'d>) -> Self {
        Self(holder.get("metadata"))
    }

    /// `name`, or the placeholder in place of the whole metadata.
    pub fn name(self) -> Option<Node<'d>> {
        let metadata = self.0?;
        let is_open = || metadata.as_str().is_some_and(has_placeholder);
        metadata.get("name").or_else(|| is_open().then_some(metadata))
    }

    /// `generateName`.
    pub fn generate_name(self) -> Option<Node<'d>> {
        self.0?.get("generateName")
    }

    /// `namespace`.
    pub fn namespace(self) -> Option<Node<'d>> {
        self.0?.get("namespace")
    }

    /// `generation`.
    pub fn generation(self) -> Option<Node<'d>> {
        self.0?.get("generation")
    }

    /// `labels`.
    pub fn label_map(self) -> Option<Node<'d>> {
        self.0?.get("labels")
    }

    /// The labels, each with its value.
    pub fn labels(self) -> Members<'d> {
        members_of(self.label_map())
    }

    /// The value of a label.
    pub fn label(self, key: &str) -> Option<Node<'d>> {
        self.label_map()?.get(key)
    }

    /// `annotations`.
    pub fn annotation_map(self) -> Option<Node<'d>> {
        self.0?.get("annotations")
    }

    /// The annotations, each with its value.
    pub fn annotations(self) -> Members<'d> {
        members_of(self.annotation_map())
    }

    /// The value of an annotation.
    pub fn annotation(self, key: &str) -> Option<Node<'d>> {
        self.annotation_map()?.get(key)
    }

    /// `ownerReferences`.
    pub fn owner_references(self) -> Option<Node<'d>> {
        self.0?.get("ownerReferences")
    }

    /// The kinds of the owners.
    pub fn owner_kinds(self) -> impl Iterator<Item = &'d str> {
        items_of(self.owner_references()).filter_map(|owner| owner.get("kind")?.as_str())
    }
}
