//! Storage classes.

use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};

use crate::object::Object;

/// The keys by which the topology of a volume names a zone. Karpenter replaces the others with the first.
///
/// Source: `NormalizedLabels` in pkg/apis/v1/labels.go of kubernetes-sigs/karpenter and of the provider at v1.14.1.
pub const ZONE_KEYS: [&str; 3] = [
    "topology.kubernetes.io/zone",
    "topology.ebs.csi.aws.com/zone",
    "failure-domain.beta.kubernetes.io/zone",
];

/// View of a StorageClass.
#[derive(Clone, Copy, Debug)]
pub struct StorageClass<'d>(Object<'d>);

impl<'d> StorageClass<'d> {
    /// The object as a StorageClass, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::STORAGE_CLASS).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `provisioner`.
    pub fn provisioner_node(self) -> Option<Node<'d>> {
        self.0.root().get("provisioner")
    }

    /// `provisioner`, where it is a string.
    pub fn provisioner(self) -> Option<&'d str> {
        self.provisioner_node()?.as_str()
    }

    /// `volumeBindingMode`.
    pub fn volume_binding_mode(self) -> Option<Node<'d>> {
        self.0.root().get("volumeBindingMode")
    }

    /// The time at which volumes are created.
    pub fn binding(self) -> Binding<'d> {
        Binding::of(self.0)
    }

    /// `allowedTopologies`.
    pub fn allowed_topologies(self) -> Option<Node<'d>> {
        self.0.root().get("allowedTopologies")
    }

    /// The zones that `allowedTopologies` lists; empty if the class does not restrict them.
    pub fn allowed_zones(self) -> Vec<Node<'d>> {
        let expressions =
            items_of(self.allowed_topologies()).flat_map(|term| items_of(term.get("matchLabelExpressions")));
        let of_zones = |expression: &Node<'_>| {
            expression.get("key").and_then(Node::as_str).is_some_and(|key| ZONE_KEYS.contains(&key))
        };
        expressions.filter(of_zones).flat_map(|expression| items_of(expression.get("values"))).collect()
    }

    /// Whether claims that name no class get this class.
    pub fn is_default(self) -> bool {
        self.has_default_mark("true")
    }

    /// Whether the class says that it is not the default.
    pub fn is_no_default(self) -> bool {
        self.has_default_mark("false")
    }

    fn has_default_mark(self, value: &str) -> bool {
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|key| self.0.annotation(key).and_then(Node::as_str) == Some(value))
    }
}

/// Time at which the volumes of a StorageClass are created.
#[derive(Clone, Copy, Debug)]
pub enum Binding<'d> {
    /// `Immediate`, as written.
    Immediate(Node<'d>),
    /// The field is absent, and the API server writes `Immediate`.
    Default,
    /// Anything else.
    Other,
}

impl<'d> Binding<'d> {
    /// Parses `volumeBindingMode`. Source: `SetDefaults_StorageClass` of Kubernetes' storage.k8s.io/v1.
    pub fn of(class: Object<'d>) -> Self {
        match StorageClass(class).volume_binding_mode() {
            None => Self::Default,
            Some(mode) if mode.is_null() => Self::Default,
            Some(mode) if mode.as_str() == Some("Immediate") => Self::Immediate(mode),
            Some(_) => Self::Other,
        }
    }
}
