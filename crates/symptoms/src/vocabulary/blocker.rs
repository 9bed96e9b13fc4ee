//! Reasons for which Karpenter leaves a node as it is, or cannot finish with it. A reason that a judgement of disruption can give too
//! has the same name there.

use disruption::blocked_by::BlockedBy;

/// Reason in an event, whatever its wording in a release. The events are part of normal work: only their repetition may be a
/// symptom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// `consolidateAfter: Never`.
    ConsolidationOff,
    /// The policy `WhenEmpty`, and the node has pods.
    NotEmpty,
    /// The node holds capacity for a `CapacityBuffer`.
    BufferPods,
    /// Karpenter does not know the instance type of the node.
    UnknownInstanceType,
    /// The node lacks a label that Karpenter needs.
    LabelMissing,
    /// The pods of the node do not fit elsewhere.
    PodsFitNowhere,
    /// The pods of the node fit only on a node that is still starting.
    DestinationStarting,
    /// More than one new node would be needed.
    SeveralReplacements,
    /// The cheaper instance types do not meet the minimum values.
    MinValues,
    /// No instance type is cheaper.
    NotCheaper,
    /// Spot to spot consolidation is off.
    SpotToSpotOff,
    /// Too few cheaper types for spot to spot consolidation.
    SpotToSpotTooFewTypes,
    /// The node is not Karpenter's.
    Unmanaged,
    /// The NodeClaim has no Node, or the Node no NodeClaim.
    NoNode,
    /// The node is not initialized.
    NotInitialized,
    /// The node is being deleted.
    Deleting,
    /// A pending pod is meant for the node.
    Nominated,
    /// The node has the annotation `karpenter.sh/do-not-disrupt`.
    DoNotDisrupt,
    /// A pod of the node has the annotation `karpenter.sh/do-not-disrupt`.
    PodDoNotDisrupt,
    /// A `PodDisruptionBudget` allows no eviction.
    Pdb,
    /// Several `PodDisruptionBudgets` select one pod.
    SeveralPdbs,
    /// The NodePool does not exist.
    NoPool,
    /// The budgets of the NodePool allow no disruption.
    Budget,
    /// The cluster changed before Karpenter acted: a candidate got pods or disappeared.
    RejectedForChurn,
    /// The budgets changed before Karpenter acted.
    RejectedForBudget,
    /// The pods no longer fit elsewhere when Karpenter was about to act.
    RejectedForScheduling,
    /// Pods of a deleted node are not evicted yet.
    PodsRemain,
    /// A `PodDisruptionBudget` refuses an eviction from a deleted node.
    EvictionRefused,
    /// A deleted node cannot be terminated.
    TerminationFailed,
    /// Traffic was shifted away from a zone.
    ZonalShift,
    /// The zone is used again.
    ZonalShiftOver,
}

impl Blocker {
    /// Every reason.
    pub const ALL: [Self; 31] = [
        Self::ConsolidationOff,
        Self::NotEmpty,
        Self::BufferPods,
        Self::UnknownInstanceType,
        Self::LabelMissing,
        Self::PodsFitNowhere,
        Self::DestinationStarting,
        Self::SeveralReplacements,
        Self::MinValues,
        Self::NotCheaper,
        Self::SpotToSpotOff,
        Self::SpotToSpotTooFewTypes,
        Self::Unmanaged,
        Self::NoNode,
        Self::NotInitialized,
        Self::Deleting,
        Self::Nominated,
        Self::DoNotDisrupt,
        Self::PodDoNotDisrupt,
        Self::Pdb,
        Self::SeveralPdbs,
        Self::NoPool,
        Self::Budget,
        Self::RejectedForChurn,
        Self::RejectedForBudget,
        Self::RejectedForScheduling,
        Self::PodsRemain,
        Self::EvictionRefused,
        Self::TerminationFailed,
        Self::ZonalShift,
        Self::ZonalShiftOver,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// The consequence in one sentence.
    pub const fn meaning(self) -> &'static str {
        self.texts().1
    }

    /// Sources: pkg/controllers/disruption/{consolidation,emptiness,drift,types,validation}.go, pkg/controllers/state/statenode.go
    /// and pkg/controllers/node/termination of kubernetes-sigs/karpenter at v1.0.9 to v1.14.1.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::ConsolidationOff => {
                ("consolidation-off", "`consolidateAfter: Never` turns consolidation off")
            }
            Self::NotEmpty => ("not-empty", "the policy `WhenEmpty` only takes nodes without pods"),
            Self::BufferPods => ("buffer-pods", "a CapacityBuffer reserves room on the node"),
            Self::UnknownInstanceType => {
                ("unknown-instance-type", "Karpenter has no price for the instance type of the node")
            }
            Self::LabelMissing => ("label-missing", "Karpenter finds no price without the label"),
            Self::PodsFitNowhere => {
                ("pods-fit-nowhere", "a pod of the node fits on no other node and on no new one")
            }
            Self::DestinationStarting => (
                "destination-starting",
                "the pods would move to a node that is still starting; Karpenter waits for it",
            ),
            Self::SeveralReplacements => (
                "several-replacements",
                "the pods need more than one new node; Karpenter replaces a node by at most one",
            ),
            Self::MinValues => ("min-values", "the cheaper instance types do not meet `minValues`"),
            Self::NotCheaper => ("not-cheaper", "no instance type that takes the pods is cheaper"),
            Self::SpotToSpotOff => (
                "spot-to-spot-off",
                "the feature gate `SpotToSpotConsolidation` is off; spot nodes are only deleted, not replaced",
            ),
            Self::SpotToSpotTooFewTypes => (
                "spot-to-spot-too-few-types",
                "spot nodes are replaced only if 15 cheaper instance types remain",
            ),
            Self::Unmanaged => (BlockedBy::Unmanaged.name(), "Karpenter did not make the node"),
            Self::NoNode => {
                (BlockedBy::NoNode.name(), "the NodeClaim and its Node do not belong together yet")
            }
            Self::NotInitialized => {
                (BlockedBy::NotInitialized.name(), "Karpenter only disrupts initialized nodes")
            }
            Self::Deleting => (BlockedBy::Deleting.name(), "the node is already going away"),
            Self::Nominated => (BlockedBy::Nominated.name(), "a pending pod is expected on the node"),
            Self::DoNotDisrupt => (BlockedBy::DoNotDisrupt.name(), "the annotation of the node protects it"),
            Self::PodDoNotDisrupt => (
                BlockedBy::PodDoNotDisrupt.name(),
                "the annotation of a pod protects the node as long as the pod runs",
            ),
            Self::Pdb => (BlockedBy::Pdb.name(), "the PodDisruptionBudget allows no eviction now"),
            Self::SeveralPdbs => (
                BlockedBy::SeveralPdbs.name(),
                "a pod with several PodDisruptionBudgets can never be evicted",
            ),
            Self::NoPool => {
                (BlockedBy::NoPool.name(), "the NodePool of the node does not exist, or has no instance type")
            }
            Self::Budget => {
                (BlockedBy::Budget.name(), "the disruption budgets of the NodePool allow no disruption now")
            }
            Self::RejectedForChurn => (
                "rejected-for-churn",
                "the nodes changed in the 15 seconds before the disruption; Karpenter starts again",
            ),
            Self::RejectedForBudget => {
                ("rejected-for-budget", "the budgets were used up in the 15 seconds before the disruption")
            }
            Self::RejectedForScheduling => {
                ("rejected-for-scheduling", "the pods no longer fitted elsewhere 15 seconds later")
            }
            Self::PodsRemain => ("pods-remain", "the node is terminated after its pods are gone"),
            Self::EvictionRefused => ("eviction-refused", "a PodDisruptionBudget delays the drain"),
            Self::TerminationFailed => {
                ("termination-failed", "the node could not be terminated; Karpenter tries again")
            }
            Self::ZonalShift => ("zonal-shift", "Karpenter launches nothing in the zone"),
            Self::ZonalShiftOver => ("zonal-shift-over", "Karpenter launches in the zone again"),
        }
    }
}
