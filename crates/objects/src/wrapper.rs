//! Objects of other controllers that have objects in their specification and apply them.
//!
//! Sources: docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator; docs/enhanced-provider-k8s.md of
//! crossplane-contrib/provider-kubernetes; `ManifestWork` and `ManifestsTemplate` in work/v1/types.go of open-cluster-management-io/api.

use manifest::tree::{Node, items_of};

use crate::object::Object;

/// An object around objects that its controller applies.
#[derive(Clone, Copy, Debug)]
pub struct Wrapper<'d> {
    /// The whole object.
    pub root: Node<'d>,
    /// The kind.
    pub kind: WrapperKind,
}

/// Kind of an object around others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapperKind {
    /// `ResourceSet` of the Flux Operator.
    ResourceSet,
    /// Object of Crossplane.
    CrossplaneObject,
    /// `ManifestWork` of Open Cluster Management.
    ManifestWork,
}

impl<'d> Wrapper<'d> {
    /// The object of another controller at a node.
    pub fn of(root: Node<'d>) -> Option<Self> {
        let (group, _) = root.str_at(&["apiVersion"])?.split_once('/')?;
        let kind = match (group, root.str_at(&["kind"])?) {
            ("fluxcd.controlplane.io", "ResourceSet") => WrapperKind::ResourceSet,
            ("kubernetes.crossplane.io" | "kubernetes.m.crossplane.io", "Object") => {
                WrapperKind::CrossplaneObject
            }
            ("work.open-cluster-management.io", "ManifestWork") => WrapperKind::ManifestWork,
            _ => return None,
        };
        Some(Self { root, kind })
    }

    /// The nearest object of another controller around an object.
    pub fn around(object: Object<'d>) -> Option<Self> {
        Self::around_node(object.root())
    }

    /// The nearest object of another controller around a node.
    pub fn around_node(node: Node<'d>) -> Option<Self> {
        core::iter::successors(node.parent(), |node| node.parent()).find_map(Self::of)
    }

    /// The objects that the controller applies.
    pub(crate) fn content(self) -> Option<Node<'d>> {
        match self.kind {
            WrapperKind::ResourceSet => self.root.at_path(&["spec", "resources"]),
            WrapperKind::CrossplaneObject => {
                // Fields of other objects become fields of this one, which are then known only in the cluster.
                let mut references = items_of(self.root.at_path(&["spec", "references"]));
                let is_open = references.any(|one| one.get("patchesFrom").is_some());
                self.root.at_path(&["spec", "forProvider", "manifest"]).filter(|_| !is_open)
            }
            WrapperKind::ManifestWork => self.root.at_path(&["spec", "workload", "manifests"]),
        }
    }

    /// Kind, namespace and name.
    pub fn identity(self) -> [&'d str; 3] {
        let text = |path: &[&str]| self.root.str_at(path).unwrap_or_default();
        [text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"])]
    }

    /// The name of the cluster in which the controller applies the objects, as far as the object says it: each managed cluster has a namespace for its
    /// `ManifestWorks`, and an Object of Crossplane names the access to its cluster.
    pub fn cluster(self) -> Option<&'d str> {
        let path: &[&str] = match self.kind {
            WrapperKind::ResourceSet => return None,
            WrapperKind::CrossplaneObject => &["spec", "providerConfigRef", "name"],
            WrapperKind::ManifestWork => &["metadata", "namespace"],
        };
        self.root.str_at(path).filter(|name| !name.is_empty())
    }
}
