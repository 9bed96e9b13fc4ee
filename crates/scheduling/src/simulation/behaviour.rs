//! The behaviours of Karpenter's scheduler that differ between releases.
//!
//! Source: the history of pkg/controllers/provisioning/scheduling in kubernetes-sigs/karpenter; each constant names its
//! commit. Releases are the releases of the AWS provider, whose patches differ from the patches of kubernetes-sigs/karpenter: 1.12.2 of
//! the provider is built with 1.12.1 (`go.mod` of aws/karpenter-provider-aws).

use karpenter::release::{Release, Releases};

/// Behaviour that holds in some releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchedulerBehaviour(Releases);

impl SchedulerBehaviour {
    /// NodePools without a compatible instance type are dropped before pods are tried (1d087f0cf).
    pub(crate) const DROPS_EMPTY_POOLS: Self = Self(Releases::since(1));
    /// Nodes have the label of the node class during scheduling (1d087f0cf).
    pub(crate) const NODE_CLASS_LABEL: Self = Self(Releases::since(1));
    /// Affinity chooses among the domains that the node can be in (65aa1bf48). Before, a message names the label instead.
    pub(crate) const AFFINITY_BY_NODE: Self = Self(Releases::since(1));
    /// Only NodePools with a node class of the provider count (330b98b1e).
    pub(crate) const MANAGED_NODE_CLASSES: Self = Self(Releases::since(1));
    /// A DaemonSet counts if any required term matches, and tolerates `PreferNoSchedule` (8f8e75926, backported to 1.1.1).
    pub(crate) const DAEMON_ALTERNATIVES: Self = Self(Releases::since_patch(1, 1));
    /// Capacity reservations (a8631046b).
    pub(crate) const RESERVED_CAPACITY: Self = Self(Releases::since(3));
    /// `nodeTaintsPolicy`, `nodeAffinityPolicy` and `matchLabelKeys`; existing nodes add domains (45f73ec7a).
    pub(crate) const SPREAD_POLICIES: Self = Self(Releases::since(3));
    /// All preferences of a pod are relaxed before the next pod is tried (e701a7dab).
    pub(crate) const RELAXES_AT_ONCE: Self = Self(Releases::since(4));
    /// The preferences of a DaemonSet do not count on existing nodes (`calculateExistingNodeClaims` at v1.4.0).
    pub(crate) const DAEMON_PREFERENCES_DO_NOT_COUNT: Self = Self(Releases::since(4));
    /// Host ports of DaemonSets count (e94deb287).
    pub(crate) const DAEMON_HOST_PORTS: Self = Self(Releases::since(4));
    /// All nodes of a NodePool share one usage of host ports (e94deb287, fixed by c289801bc).
    pub(crate) const SHARED_HOST_PORTS: Self = Self(Releases::between(4, 12));
    /// Every pod of a node takes an instance of its capacity reservations (31eb6b511, fixed by 16b0aec82).
    pub(crate) const PODS_TAKE_RESERVATIONS: Self = Self(Releases::patches(5, 0, 2));
    /// Values of well-known labels are validated in pods (f62528b83).
    pub(crate) const KNOWN_VALUES: Self = Self(Releases::since(5));
    /// Messages have no prefix with the NodePool (1bf12254f).
    pub(crate) const SHORT_MESSAGES: Self = Self(Releases::since(5));
    /// The API has `minValues` policies (7034d8385).
    pub(crate) const MIN_VALUES_POLICY: Self = Self(Releases::since(6));
    /// Capacity reservations that expire are not used (`Available` in pkg/providers/instancetype/offering/offering.go of
    /// aws/karpenter-provider-aws at v1.6.2).
    pub(crate) const EXPIRING_RESERVATIONS: Self = Self(Releases::since_patch(6, 2));
    /// A node keeps up to 600 instance types instead of 60 (0f4e19a3e).
    pub(crate) const SIX_HUNDRED_TYPES: Self = Self(Releases::since(7));
    /// NodeOverlays (990572335).
    pub(crate) const NODE_OVERLAYS: Self = Self(Releases::since(7));
    /// Pods fail with an error if all NodePools were dropped (f80f44182).
    pub(crate) const ALL_POOLS_DROPPED_ERROR: Self = Self(Releases::since(7));
    /// Unbound claims with immediate binding are refused, and lost and deleted claims; bound claims need their annotation
    /// (079696a47, 2b1c80e98, 91341612e).
    pub(crate) const BINDING_CHECKS: Self = Self(Releases::since(7));
    /// Pods whose containers use resource claims are refused, and DaemonSets with such pods do not count (6a9532040).
    pub(crate) const REFUSES_RESOURCE_CLAIMS: Self = Self(Releases::since(7));
    /// A pod uses a resource claim even if none of its containers does (`HasDRARequirements` in pkg/utils/pod/scheduling.go at
    /// v1.14.0).
    pub(crate) const RESOURCE_CLAIMS_OF_PODS: Self = Self(Releases::since(14));
    /// `not-ready` with `NoExecute` counts as ephemeral (144b10042).
    pub(crate) const NOT_READY_NO_EXECUTE: Self = Self(Releases::since(7));
    /// Static NodePools take no pods (9136011b9).
    pub(crate) const STATIC_POOLS: Self = Self(Releases::since(8));
    /// Pod-level resources replace the resources of the containers (06d9ded2c).
    pub(crate) const POD_LEVEL_RESOURCES: Self = Self(Releases::since(8));
    /// The operators `Gte` and `Lte` (c81e6ace4).
    pub(crate) const INCLUSIVE_OPERATORS: Self = Self(Releases::since(9));
    /// Volumes restrict the node, and not the domains of the pod (8ae07cf8b).
    pub(crate) const VOLUMES_APART: Self = Self(Releases::since(9));
    /// `evictionSoft` does not lower the allocatable resources (aws 33f14b4fe).
    pub(crate) const IGNORES_EVICTION_SOFT: Self = Self(Releases::since(9));
    /// Missing and deleted volumes are refused (7fbe72f2c).
    pub(crate) const VOLUME_CHECKS: Self = Self(Releases::since(10));
    /// Instance types that do not work with the node class have no offering (aws 1.11).
    pub(crate) const NODE_CLASS_COMPATIBILITY: Self = Self(Releases::since(11));
    /// The limit `nodes` (9f749d9f6).
    pub(crate) const NODE_LIMIT: Self = Self(Releases::since(11));
    /// All terms of a volume are tried (7e9d42691, backported to 1.12.1).
    pub(crate) const VOLUME_ALTERNATIVES: Self = Self(Releases::since_patch(12, 2));
    /// Taints with the prefix `readiness.k8s.io/` are ephemeral (05431485c).
    pub(crate) const READINESS_TAINTS: Self = Self(Releases::since(13));
    /// The DaemonSets of a node depend on its instance type (dd79c9f2c).
    pub(crate) const DAEMONS_BY_TYPE: Self = Self(Releases::since(14));
    /// Nodes count as registered and initialized for DaemonSets (1b4b3e8c8).
    pub(crate) const REGISTERED_LABELS: Self = Self(Releases::since(14));
    /// An instance type without a price has the price of a NodeOverlay (aws 37e83cb5f, aws/karpenter-provider-aws#9249).
    pub(crate) const OVERLAY_PRICES: Self = Self(Releases::since(14));
    /// An instance type fits only together with an offering (82608e757).
    pub(crate) const FITS_WITH_OFFERING: Self = Self(Releases::since(14));
    /// The estimated price of a new node is the lowest of all offerings of its first type, including offerings that it must not have
    /// (`EstimatedSavings` in pkg/controllers/disruption/types.go at v1.9.0).
    pub(crate) const ESTIMATES_BY_ANY_OFFERING: Self = Self(Releases::between(9, 13));
    /// The estimated price of a new node is the lowest of the available offerings of its first type, including offerings that it must
    /// not have (`EstimatedSavings` at v1.14.0).
    pub(crate) const ESTIMATES_BY_AVAILABLE_OFFERING: Self = Self(Releases::patches(14, 0, 0));
    /// Pods without topology spread constraints have default ones (kubernetes-sigs/karpenter#3205).
    pub(crate) const DEFAULT_SPREADS: Self = Self(Releases::since(15));
    /// The kube-reserved memory depends on reserved interfaces, until they are ignored (aws 1.6).
    pub(crate) const RESERVED_INTERFACES_LOWER_OVERHEAD: Self = Self(Releases::until(5));

    /// Whether the behaviour holds in a release.
    pub(crate) fn holds_in(self, release: Release) -> bool {
        self.0.contains(release)
    }
}
