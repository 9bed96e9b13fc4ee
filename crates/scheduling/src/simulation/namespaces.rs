//! The namespaces of a cluster.

use std::collections::BTreeMap;

use objects::object::Object;

use super::selector::{LabelSelector, Labels, labels_of};

/// The label that the API server gives every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The namespaces of a cluster with their labels.
#[derive(Debug, Default)]
pub(crate) struct Namespaces<'d>(BTreeMap<&'d str, Labels<'d>>);

impl<'d> Namespaces<'d> {
    /// The namespaces among objects, and the namespaces that objects are in.
    pub(crate) fn of(objects: &[Object<'d>]) -> Self {
        let mut all: BTreeMap<&str, Labels<'_>> = BTreeMap::new();
        for object in objects {
            let is_namespace = object.kind() == "Namespace" && object.group().is_empty();
            let name = if is_namespace { object.name() } else { object.namespace() };
            if name.is_empty() {
                continue;
            }
            let labels = all.entry(name).or_default();
            labels.insert(NAME_LABEL, name);
            if is_namespace {
                labels.extend(labels_of(object.metadata().label_map()));
            }
        }
        Self(all)
    }

    /// The namespaces that a selector selects.
    pub(crate) fn selected(&self, selector: &LabelSelector<'_>) -> impl Iterator<Item = &'d str> {
        self.0.iter().filter(|(_, labels)| selector.matches(labels)).map(|(name, _)| *name)
    }
}
