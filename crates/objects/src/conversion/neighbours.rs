//! The objects of a cluster that a conversion depends on.

use std::collections::BTreeMap;

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;

/// The node classes of a cluster by name, and the NodePools by the node class that they name.
#[derive(Clone, Debug, Default)]
pub struct Neighbours<'d> {
    /// `None` if the input repeats the name.
    classes: BTreeMap<&'d str, Option<Object<'d>>>,
    pools: BTreeMap<&'d str, Vec<Object<'d>>>,
}

impl<'d> Neighbours<'d> {
    /// Indexes the objects of a cluster.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut all = Self::default();
        for object in objects {
            if object.is_in_any_version(Kind::NODE_CLASS) {
                let class = all.classes.entry(object.name());
                class.and_modify(|class| *class = None).or_insert(Some(*object));
            } else if object.is_in_any_version(Kind::NODE_POOL)
                && let Some(class) = object.at(&["spec", "template", "spec"]).and_then(class_name)
            {
                all.pools.entry(class).or_default().push(*object);
            }
        }
        all
    }

    /// The node class of a name, if the input has exactly one of this name.
    pub(super) fn class(&self, name: &str) -> Option<Object<'d>> {
        self.classes.get(name).copied().flatten()
    }

    /// The NodePools that name a node class.
    pub(super) fn pools(&self, class: &str) -> &[Object<'d>] {
        self.pools.get(class).map_or(&[], Vec::as_slice)
    }
}

/// The name in the `nodeClassRef` of a template's `spec`.
pub(super) fn class_name(template: Node<'_>) -> Option<&str> {
    template.str_at(&["nodeClassRef", "name"])
}
