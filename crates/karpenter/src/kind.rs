//! Kinds of the Kubernetes API.

/// Whether an API group is Karpenter's own.
pub fn is_karpenter_group(group: &str) -> bool {
    matches!(group, "karpenter.sh" | "karpenter.k8s.aws")
}

/// A kind of the API, in the version that the rules support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version within the group.
    pub version: &'static str,
    /// The kind's name.
    pub name: &'static str,
}

impl Kind {
    /// `karpenter.sh/v1` NodePool.
    pub const NODE_POOL: Self = Self::of("karpenter.sh", "v1", "NodePool");
    /// `karpenter.sh/v1` NodeClaim.
    pub const NODE_CLAIM: Self = Self::of("karpenter.sh", "v1", "NodeClaim");
    /// `karpenter.sh/v1alpha1` NodeOverlay.
    pub const NODE_OVERLAY: Self = Self::of("karpenter.sh", "v1alpha1", "NodeOverlay");
    /// `karpenter.k8s.aws/v1` EC2NodeClass.
    pub const NODE_CLASS: Self = Self::of("karpenter.k8s.aws", "v1", "EC2NodeClass");
    /// `eks.amazonaws.com/v1` `NodeClass`, of EKS Auto Mode.
    pub const AUTO_NODE_CLASS: Self = Self::of("eks.amazonaws.com", "v1", "NodeClass");
    /// `storage.k8s.io/v1` StorageClass.
    pub const STORAGE_CLASS: Self = Self::of("storage.k8s.io", "v1", "StorageClass");
    /// `apps/v1` Deployment.
    pub const DEPLOYMENT: Self = Self::of("apps", "v1", "Deployment");

    /// `policy/v1` PodDisruptionBudget.
    pub const POD_DISRUPTION_BUDGET: Self = Self::of("policy", "v1", "PodDisruptionBudget");
    /// `autoscaling/v2` HorizontalPodAutoscaler.
    pub const HORIZONTAL_POD_AUTOSCALER: Self = Self::of("autoscaling", "v2", "HorizontalPodAutoscaler");
    /// `scheduling.k8s.io/v1` PriorityClass.
    pub const PRIORITY_CLASS: Self = Self::of("scheduling.k8s.io", "v1", "PriorityClass");

    /// A kind by its group, version and name.
    pub const fn of(group: &'static str, version: &'static str, name: &'static str) -> Self {
        Self { group, version, name }
    }

    /// Whether this is the kind with these names.
    pub fn is(self, group: &str, version: &str, name: &str) -> bool {
        self.name == name && self.group == group && self.version == version
    }
}
