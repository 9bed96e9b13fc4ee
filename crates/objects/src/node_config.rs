//! Documents in user data that are no Kubernetes objects of the cluster: nodeadm's NodeConfig and cloud-init's
//! cloud-config.
//!
//! Source: awslabs/amazon-eks-ami `nodeadm/api/v1alpha1/nodeconfig_types.go`.

use manifest::tree::{Children, Node, items_of};

/// View of a NodeConfig.
#[derive(Clone, Copy, Debug)]
pub struct NodeConfig<'d>(Node<'d>);

/// A required field of a NodeConfig's `spec.cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterField {
    /// `name`.
    Name,
    /// `apiServerEndpoint`.
    ApiServerEndpoint,
    /// `certificateAuthority`.
    CertificateAuthority,
    /// `cidr`.
    Cidr,
}

impl ClusterField {
    /// All of them, in the order of nodeadm's documentation.
    pub const ALL: [Self; 4] = [Self::Name, Self::ApiServerEndpoint, Self::CertificateAuthority, Self::Cidr];

    /// The key of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::ApiServerEndpoint => "apiServerEndpoint",
            Self::CertificateAuthority => "certificateAuthority",
            Self::Cidr => "cidr",
        }
    }
}

impl<'d> NodeConfig<'d> {
    /// The document as a NodeConfig, whatever its kind.
    pub fn new(root: Node<'d>) -> Self {
        Self(root)
    }

    /// `apiVersion`.
    pub fn api_version(self) -> Option<Node<'d>> {
        self.0.get("apiVersion")
    }

    /// `kind`.
    pub fn kind(self) -> Option<Node<'d>> {
        self.0.get("kind")
    }

    /// `spec`.
    pub fn spec(self) -> Option<Node<'d>> {
        self.0.get("spec")
    }

    /// `spec.cluster`.
    pub fn cluster(self) -> Option<Node<'d>> {
        self.spec()?.get("cluster")
    }

    /// A field of `spec.cluster`.
    pub fn cluster_field(self, field: ClusterField) -> Option<Node<'d>> {
        self.cluster()?.get(field.name())
    }

    fn kubelet(self, key: &str) -> Option<Node<'d>> {
        self.spec()?.get("kubelet")?.get(key)
    }

    fn kubelet_setting(self, key: &str) -> Option<Node<'d>> {
        self.kubelet("config")?.get(key).filter(|node| !node.is_null())
    }

    /// `spec.kubelet.config.registerWithTaints`, unless it is null.
    pub fn register_with_taints(self) -> Option<Node<'d>> {
        self.kubelet_setting("registerWithTaints")
    }

    /// `spec.kubelet.config.maxPods`, unless it is null.
    pub fn max_pods(self) -> Option<Node<'d>> {
        self.kubelet_setting("maxPods")
    }

    /// `spec.kubelet.config.clusterDNS`, unless it is null.
    pub fn cluster_dns(self) -> Option<Node<'d>> {
        self.kubelet_setting("clusterDNS")
    }

    /// The items of `spec.kubelet.flags`.
    pub fn kubelet_flags(self) -> Children<'d> {
        items_of(self.kubelet("flags"))
    }
}

/// View of cloud-init's cloud-config.
#[derive(Clone, Copy, Debug)]
pub struct CloudConfig<'d>(Node<'d>);

impl<'d> CloudConfig<'d> {
    /// The document as a cloud-config.
    pub fn new(root: Node<'d>) -> Self {
        Self(root)
    }

    /// The items of `bootcmd`, then of `runcmd`.
    pub fn commands(self) -> impl Iterator<Item = Node<'d>> {
        items_of(self.0.get("bootcmd")).chain(items_of(self.0.get("runcmd")))
    }
}
