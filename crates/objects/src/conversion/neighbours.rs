//! The objects of a cluster that a conversion depends on.

use std::collections::BTreeMap;

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;

/// The node classes of a cluster by name, and the NodePools by the node class that they name; the same for the alpha kinds.
#[derive(Clone, Debug, Default)]
pub struct Neighbours<'d> {
    /// `None` if the input repeats the name.
    classes: BTreeMap<&'d str, Option<Object<'d>>>,
    pools: BTreeMap<&'d str, Vec<Object<'d>>>,
    templates: BTreeMap<&'d str, Option<Object<'d>>>,
    provisioners: BTreeMap<&'d str, Vec<Object<'d>>>,
}

impl<'d> Neighbours<'d> {
    /// Indexes the objects of a cluster.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut all = Self::default();
        for object in objects {
            if object.is_in_any_version(Kind::NODE_CLASS) {
                add_once(&mut all.classes, *object);
            } else if (object.group(), object.kind()) == ("karpenter.k8s.aws", "AWSNodeTemplate") {
                add_once(&mut all.templates, *object);
            } else if (object.group(), object.kind()) == ("karpenter.sh", "Provisioner")
                && let Some(template) = object.str_at(&["spec", "providerRef", "name"])
            {
                all.provisioners.entry(template).or_default().push(*object);
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

    /// The node template of a name, if the input has exactly one of this name.
    pub(super) fn template(&self, name: &str) -> Option<Object<'d>> {
        self.templates.get(name).copied().flatten()
    }

    /// The Provisioners that name a node template.
    pub(super) fn provisioners(&self, template: &str) -> &[Object<'d>] {
        self.provisioners.get(template).map_or(&[], Vec::as_slice)
    }

    /// The NodePools that name a node class.
    pub(super) fn pools(&self, class: &str) -> &[Object<'d>] {
        self.pools.get(class).map_or(&[], Vec::as_slice)
    }
}

/// Adds an object by its name.
fn add_once<'d>(named: &mut BTreeMap<&'d str, Option<Object<'d>>>, object: Object<'d>) {
    named.entry(object.name()).and_modify(|known| *known = None).or_insert(Some(object));
}

/// The name in the `nodeClassRef` of a template's `spec`.
pub(super) fn class_name(template: Node<'_>) -> Option<&str> {
    template.str_at(&["nodeClassRef", "name"])
}
