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
    /// Whether an object of Karpenter has a version after the alpha versions.
    has_later: bool,
}

impl<'d> Neighbours<'d> {
    /// Indexes the objects of a cluster.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut all = Self::default();
        for object in objects {
            let is_of_karpenter = ["karpenter.sh", "karpenter.k8s.aws"].contains(&object.group());
            all.has_later |= is_of_karpenter && !is_alpha(*object);
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

    /// Whether all objects of Karpenter have the versions of releases before 0.32. Who keeps such files often runs such a release.
    pub fn are_all_alpha(&self) -> bool {
        !self.has_later
    }

    /// The other objects that no release serves beside the converted object, unless they are converted too: the node class of a
    /// NodePool, and the NodePools of a node class.
    pub(super) fn partners(&self, object: Object<'d>) -> Vec<Object<'d>> {
        let mut partners = Vec::new();
        match object.kind() {
            "Provisioner" => {
                let name = object.str_at(&["spec", "providerRef", "name"]).unwrap_or_default();
                partners.extend(self.template(name).or_else(|| self.class(name)));
                partners.extend(self.provisioners(name));
            }
            "AWSNodeTemplate" => partners.extend(self.provisioners(object.name())),
            "EC2NodeClass" => partners.extend(self.pools(object.name())),
            "NodePool" => {
                let template = object.at(&["spec", "template", "spec"]);
                let name = template.and_then(class_name).unwrap_or_default();
                partners.extend(self.class(name));
                partners.extend(self.pools(name));
            }
            _ => {}
        }
        partners.retain(|partner| *partner != object);
        partners
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

/// Whether an object has a kind and version that releases before 0.32 served, and that no later release does.
fn is_alpha(object: Object<'_>) -> bool {
    object.served().is_some_and(|served| {
        served.instead.is_some() && ["Provisioner", "Machine", "AWSNodeTemplate"].contains(&served.kind)
    })
}

/// Adds an object by its name.
fn add_once<'d>(named: &mut BTreeMap<&'d str, Option<Object<'d>>>, object: Object<'d>) {
    named.entry(object.name()).and_modify(|known| *known = None).or_insert(Some(object));
}

/// The name in the `nodeClassRef` of a template's `spec`.
pub(super) fn class_name(template: Node<'_>) -> Option<&str> {
    template.str_at(&["nodeClassRef", "name"])
}
