//! Events of Karpenter and of the scheduler.

use super::normal;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, event};
use karpenter::release::Releases;

pub(super) const MESSAGES: &[Message] = &[
    normal(
        event("Nominated", Text::Starts("Pod should schedule on: ")).id(MessageId::PodNominated),
        "2m14s (x6 over 21m)   Normal   Nominated   pod/api-6d5f7c9b8-qk2vx   Pod should schedule on: nodeclaim/default-7xk2p",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
    ),
    normal(
        event("DisruptionLaunching", Text::Any).id(MessageId::ReplacementAwaited),
        "2m14s (x6 over 21m)   Normal   DisruptionLaunching   nodeclaim/default-7xk2p   Launching NodeClaim: Underutilized",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("DisruptionWaitingReadiness", Text::Any).id(MessageId::ReplacementAwaited),
        "2m14s (x6 over 21m)   Normal   DisruptionWaitingReadiness   nodeclaim/default-7xk2p   Waiting on readiness to continue disruption",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("DisruptionTerminating", Text::Any).id(MessageId::NodeClaimDisrupted),
        "2m14s (x6 over 21m)   Normal   DisruptionTerminating   nodeclaim/default-7xk2p   Disrupting Node: Underutilized",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("ConsolidationCandidate", Text::Any).id(MessageId::ConsolidationConsidered),
        "2m14s (x6 over 21m)   Normal   ConsolidationCandidate   nodeclaim/default-7xk2p   Consolidation candidate: delete: [default-7xk2p] (savings: $0.04)",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("ConsolidationApproved", Text::Any).id(MessageId::ConsolidationConsidered),
        "2m14s (x6 over 21m)   Normal   ConsolidationApproved   nodeclaim/default-7xk2p   score 1.20 >= threshold 0.50 (k: 1, savings 4.0%, disruption 2.0%)",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("Evicted", Text::Starts("Evicted pod")).id(MessageId::PodEvicted),
        "2m14s (x6 over 21m)   Normal   Evicted   pod/api-6d5f7c9b8-qk2vx   Evicted pod: Underutilized",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/node/termination/terminator/events/events.go",
    ),
    normal(
        event("Disrupted", Text::Starts("Deleting the pod to accommodate the terminationTime ")).id(MessageId::PodEvicted),
        "2m14s (x6 over 21m)   Normal   Disrupted   pod/api-6d5f7c9b8-qk2vx   Deleting the pod to accommodate the terminationTime 2025-10-21T12:00:00Z of the node.",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/node/termination/terminator/events/events.go",
    ),
    normal(
        event("TerminationGracePeriodExpiring", Text::Starts("All pods will be deleted by ")).id(MessageId::DrainLimited),
        "2m14s (x6 over 21m)   Warning   TerminationGracePeriodExpiring   node/ip-10-0-37-12   All pods will be deleted by 2025-10-21T12:00:00Z",
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/node/termination/terminator/events/events.go",
    ),
    normal(
        event("DoNotDisruptUntil", Text::Any),
        "2m14s (x6 over 21m)   Normal   DoNotDisruptUntil   pod/api-6d5f7c9b8-qk2vx   The karpenter.sh/do-not-disrupt grace period will elapse at 2026-05-19T12:00:00Z",
        "kubernetes-sigs/karpenter v1.12.0 pkg/utils/pod/events.go",
    )
    .only_in(Releases::since(12)),
    normal(
        event("DoNotDisruptGracePeriodElapsed", Text::Any),
        "2m14s (x6 over 21m)   Normal   DoNotDisruptGracePeriodElapsed   pod/api-6d5f7c9b8-qk2vx   The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable",
        "kubernetes-sigs/karpenter v1.12.0 pkg/utils/pod/events.go",
    )
    .only_in(Releases::since(12)),
    normal(
        event(
            "FailedScheduling",
            Text::HasBut(
                &["nodes are available: "],
                &["volume node affinity conflict", "unbound immediate PersistentVolumeClaims"],
            ),
        ),
        "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   0/6 nodes are available: 6 Insufficient cpu. preemption: 0/6 nodes are available: 6 No preemption victims found for incoming pod.",
        "kube-scheduler",
    ),
    normal(
        event("SpotInterrupted", Text::Any).id(MessageId::InterruptionAnnounced),
        "2m14s (x6 over 21m)   Warning   SpotInterrupted   node/ip-10-0-37-12   Spot interruption warning was triggered",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("SpotRebalanceRecommendation", Text::Any),
        "2m14s (x6 over 21m)   Warning   SpotRebalanceRecommendation   node/ip-10-0-37-12   Spot rebalance recommendation was triggered",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("InstanceStopping", Text::Any),
        "2m14s (x6 over 21m)   Warning   InstanceStopping   node/ip-10-0-37-12   Instance is stopping",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("InstanceTerminating", Text::Any),
        "2m14s (x6 over 21m)   Warning   InstanceTerminating   node/ip-10-0-37-12   Instance is terminating",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("InstanceUnhealthy", Text::Any).id(MessageId::InterruptionAnnounced),
        "2m14s (x6 over 21m)   Warning   InstanceUnhealthy   node/ip-10-0-37-12   An unhealthy warning was triggered for the instance",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("TerminatingOnInterruption", Text::Any).id(MessageId::TerminatingOnInterruption),
        "2m14s (x6 over 21m)   Warning   TerminatingOnInterruption   node/ip-10-0-37-12   Interruption triggered termination for the Node",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
    normal(
        event("CapacityReservationInstanceInterrupted", Text::Any),
        "2m14s (x6 over 21m)   Warning   CapacityReservationInstanceInterrupted   node/ip-10-0-37-12   Capacity Reservation interruption warning was triggered",
        "aws/karpenter-provider-aws v1.14.1 pkg/controllers/interruption/events/events.go",
    ),
];
