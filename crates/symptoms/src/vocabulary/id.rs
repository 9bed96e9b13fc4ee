//! Identities of the messages that the history and the tally act on.

use super::blocker::Blocker;

/// Identity of a message, whatever its wording in a release and whether a log line, an event or a condition carries it.
///
/// Messages that are only counted have no identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageId {
    /// The controller names its own version.
    KarpenterVersion,
    /// A controller became the leader.
    LeaseAcquired,
    /// The launch templates of the cluster name were listed.
    LaunchTemplatesHydrated,
    /// A NodePool was skipped because it is not ready.
    NodePoolNotReady,
    /// The nodes of a NodePool do not register.
    NodePoolUnhealthy,
    /// The validation of an EC2NodeClass has no result, and nothing else keeps it from being ready.
    NodeClassUndecided,

    /// The provisioner found pods to schedule.
    PodsFound,
    /// The provisioner skipped a pod.
    PodIgnored,
    /// Karpenter has no node for a pod, and says nothing of NodePools or instance types: it may have skipped the pod.
    PodNotScheduled,
    /// A pod is meant for a NodeClaim.
    PodNominated,
    /// The scheduler bound a pod to a node.
    PodBound,
    /// The volume of a pod is in another zone than the nodes.
    VolumeInOtherZone,
    /// A pod waits for a volume that is bound at once.
    VolumeUnbound,
    /// The number of new NodeClaims and of their pods.
    NodeClaimsComputed,
    /// The number of pods that fit on nodes that are not ready yet.
    PodsFitUnreadyNodes,

    /// A NodeClaim was created.
    NodeClaimCreated,
    /// A NodeClaim could not be created.
    NodeClaimNotCreated,
    /// The API server refused a NodeClaim for a restricted label.
    LabelRestricted,
    /// The instance of a NodeClaim was launched.
    NodeClaimLaunched,
    /// The instance of a NodeClaim could not be launched.
    LaunchFailed,
    /// No Node was found for a NodeClaim.
    NodeNotFound,
    /// The Node lacks the taint `karpenter.sh/unregistered`, and Karpenter does not register it.
    RegistrationTaintRequired,
    /// The Node lacks the taint `karpenter.sh/unregistered`, and Karpenter registers it all the same.
    RegistrationTaintMissing,
    /// A NodeClaim is deleted because it was not launched or registered in time.
    NodeClaimTimedOut,
    /// The Node of a NodeClaim was registered.
    NodeClaimRegistered,
    /// The Node of a NodeClaim was initialized.
    NodeClaimInitialized,
    /// A NodeClaim drifted.
    NodeClaimDrifted,
    /// Nodes are disrupted, listed in the field `disrupted-nodes`.
    NodesDisrupted,
    /// Nodes are disrupted, listed in the message, as up to 1.2.
    NodesDisruptedInMessage,
    /// A NodeClaim is disrupted, as its event says.
    NodeClaimDisrupted,
    /// A NodeClaim is deleted because it expired.
    NodeClaimExpired,
    /// A node is deleted because it is unhealthy.
    NodeUnhealthy,
    /// EC2 sent an interruption message, and the NodeClaim is deleted.
    Interrupted,
    /// EC2 announced an interruption of the instance, as the event of its NodeClaim says.
    InterruptionAnnounced,
    /// A NodeClaim is deleted for an interruption, as its event says.
    TerminatingOnInterruption,
    /// An instance without a NodeClaim was terminated.
    InstanceCollected,
    /// A Node without a NodeClaim was deleted.
    NodeCollected,
    /// A NodeClaim without an instance is deleted.
    InstanceGone,
    /// A NodeClaim was deleted.
    NodeClaimDeleted,
    /// The drain of a Node begins.
    NodeTainted,
    /// A Node was deleted.
    NodeDeleted,
    /// A replacement for a node is launched, or Karpenter waits for it.
    ReplacementAwaited,
    /// A pod was evicted or deleted, because its node drains.
    PodEvicted,
    /// The time is known at which a drain ends.
    DrainLimited,
    /// Karpenter found a cheaper solution for a node, or approves one.
    ConsolidationConsidered,
    /// Karpenter leaves a node as it is, or cannot finish with it.
    Blocked(Blocker),
}
