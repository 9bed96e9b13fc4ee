//! Events that say why Karpenter leaves a node as it is. The reasons that are a symptom if they last are in the files of the
//! symptoms.

use super::normal;
use crate::vocabulary::blocker::Blocker;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, event};
use karpenter::release::Releases;

pub(super) const MESSAGES: &[Message] = &[
    normal(
        event("Unconsolidatable", Text::Has(&["NodePool \"", "\" has consolidation disabled"])).id(MessageId::Blocked(Blocker::ConsolidationOff)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   NodePool \"default\" has consolidation disabled",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ),
    normal(
        event("Unconsolidatable", Text::Has(&["NodePool \"", "\" has non-empty consolidation disabled"])).id(MessageId::Blocked(Blocker::NotEmpty)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   NodePool \"default\" has non-empty consolidation disabled",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ).only_in(Releases::until(13)),
    normal(
        event("Unconsolidatable", Text::Has(&["has consolidation policy WhenEmpty, but node is not empty"])).id(MessageId::Blocked(Blocker::NotEmpty)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty",
        "kubernetes-sigs/karpenter main before v1.15.0 pkg/controllers/disruption/consolidation.go",
    ).only_in(Releases::since(14)),
    normal(
        event("Unconsolidatable", Text::Has(&["Node \"", "\" has buffer pods"])).id(MessageId::Blocked(Blocker::BufferPods)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Node \"ip-10-0-37-12\" has buffer pods",
        "kubernetes-sigs/karpenter main before v1.15.0 pkg/controllers/disruption/emptiness.go",
    ).only_in(Releases::since(14)),
    normal(
        event("Unconsolidatable", Text::Has(&["Instance Type \"", "\" not found"])).id(MessageId::Blocked(Blocker::UnknownInstanceType)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Instance Type \"m5.large\" not found",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ).only_in(Releases::since(1)),
    normal(
        event("DisruptionBlocked", Text::Has(&["Instance Type \"", "\" not found"])).id(MessageId::Blocked(Blocker::UnknownInstanceType)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: Instance Type \"m5.large\" not found",
        "kubernetes-sigs/karpenter v1.0.9 pkg/controllers/disruption/types.go",
    ).only_in(Releases::until(0)),
    normal(
        event("Unconsolidatable", Text::Starts("Node does not have label \"")).id(MessageId::Blocked(Blocker::LabelMissing)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Node does not have label \"karpenter.sh/capacity-type\"",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ).only_in(Releases::since(1)),
    normal(
        event("DisruptionBlocked", Text::Has(&["ode doesn't have required label"])).id(MessageId::Blocked(Blocker::LabelMissing)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Node doesn't have required label (label=karpenter.sh/nodepool)",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/state/statenode.go",
    ),
    normal(
        event("Unconsolidatable", Text::HasBut(&["ot all pods would schedule, "], &["would schedule against uninitialized "])).id(MessageId::Blocked(Blocker::PodsFitNowhere)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Not all pods would schedule, shop/api-0 => incompatible with nodepool \"default\", daemonset overhead={\"pods\":\"4\"}, did not tolerate taint",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/provisioning/scheduling/scheduler.go",
    ),
    normal(
        event("DisruptionBlocked", Text::HasBut(&["ot all pods would schedule, "], &["would schedule against uninitialized "])).id(MessageId::Blocked(Blocker::PodsFitNowhere)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Not all pods would schedule, shop/api-0 => no instance type satisfied resources",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/drift.go",
    ),
    normal(
        event("Unconsolidatable", Text::Has(&["would schedule against uninitialized "])).id(MessageId::Blocked(Blocker::DestinationStarting)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Not all pods would schedule, shop/api-0 => would schedule against uninitialized nodeclaim/default-7xk2p, node/ip-10-0-37-12",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/helpers.go",
    ),
    normal(
        event("DisruptionBlocked", Text::Has(&["would schedule against uninitialized "])).id(MessageId::Blocked(Blocker::DestinationStarting)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Not all pods would schedule, shop/api-0 => would schedule against uninitialized nodeclaim/default-7xk2p, node/ip-10-0-37-12",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/helpers.go",
    ),
    normal(
        event("Unconsolidatable", Text::Starts("Can't remove without creating ")).id(MessageId::Blocked(Blocker::SeveralReplacements)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Can't remove without creating 2 candidates",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ),
    normal(
        event("Unconsolidatable", Text::Starts("Filtering by price: ")).id(MessageId::Blocked(Blocker::MinValues)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Filtering by price: minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ),
    normal(
        event("Unconsolidatable", Text::Is("Can't replace with a cheaper node")).id(MessageId::Blocked(Blocker::NotCheaper)),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Can't replace with a cheaper node",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/consolidation.go",
    ),
    normal(
        event("DisruptionBlocked", Text::Has(&["ode is not managed by karpenter"])).id(MessageId::Blocked(Blocker::Unmanaged)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: node is not managed by karpenter",
        "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
    ).only_in(Releases::between(1, 1)),
    normal(
        event("DisruptionBlocked", Text::Has(&["ode isn't managed by karpenter"])).id(MessageId::Blocked(Blocker::Unmanaged)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Node isn't managed by karpenter",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/state/statenode.go",
    ).only_in(Releases::since(2)),
    normal(
        event("DisruptionBlocked", Text::Has(&["tate node doesn't contain both a node and a nodeclaim"])).id(MessageId::Blocked(Blocker::NoNode)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: state node doesn't contain both a node and a nodeclaim",
        "kubernetes-sigs/karpenter v1.0.9 pkg/controllers/state/statenode.go",
    ).only_in(Releases::until(0)),
    normal(
        event("DisruptionBlocked", Text::Has(&["odeclaim does not have an associated node"])).id(MessageId::Blocked(Blocker::NoNode)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Nodeclaim does not have an associated node",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/state/statenode.go",
    ).only_in(Releases::since(1)),
    normal(
        event("DisruptionBlocked", Text::Has(&["odeClaim does not have an associated node"])).id(MessageId::Blocked(Blocker::NoNode)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   NodeClaim does not have an associated node",
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
    ).only_in(Releases::since(1)),
    normal(
        event("DisruptionBlocked", Text::Has(&["tate node is marked for deletion"])).id(MessageId::Blocked(Blocker::Deleting)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: state node is marked for deletion",
        "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
    ).only_in(Releases::until(3)),
    normal(
        event("DisruptionBlocked", Text::Has(&["ode is deleting or marked for deletion"])).id(MessageId::Blocked(Blocker::Deleting)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Node is deleting or marked for deletion",
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
    ).only_in(Releases::since(2)),
    normal(
        event("DisruptionBlocked", Text::Has(&["ode is nominated for a pending pod"])).id(MessageId::Blocked(Blocker::Nominated)),
        "4m (x6 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Node is nominated for a pending pod",
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
    ),
    normal(
        event("ConsolidationRejected", Text::Has(&["Consolidation rejected: ", ", reason: churn"])).id(MessageId::Blocked(Blocker::RejectedForChurn)),
        "4m (x6 over 9h)   Normal   ConsolidationRejected   node/ip-10-0-37-12   Consolidation rejected: delete: [default-7xk2p], reason: churn (savings: $0.04)",
        "kubernetes-sigs/karpenter v1.9.1 pkg/controllers/disruption/validation.go",
    ).only_in(Releases::since(9)),
    normal(
        event("ConsolidationRejected", Text::Has(&["Consolidation rejected: ", ", reason: budget"])).id(MessageId::Blocked(Blocker::RejectedForBudget)),
        "4m (x6 over 9h)   Normal   ConsolidationRejected   node/ip-10-0-37-12   Consolidation rejected: replace: [default-7xk2p] -> [1 replacement], reason: budget (savings: $0.04)",
        "kubernetes-sigs/karpenter v1.9.1 pkg/controllers/disruption/validation.go",
    ).only_in(Releases::since(9)),
    normal(
        event("ConsolidationRejected", Text::Has(&["Consolidation rejected: ", ", reason: scheduling"])).id(MessageId::Blocked(Blocker::RejectedForScheduling)),
        "4m (x6 over 9h)   Normal   ConsolidationRejected   node/ip-10-0-37-12   Consolidation rejected: replace: [default-7xk2p] (part of 3-node consolidation), reason: scheduling (savings: $0.04)",
        "kubernetes-sigs/karpenter v1.9.1 pkg/controllers/disruption/validation.go",
    ).only_in(Releases::since(9)),
    normal(
        event("FailedTermination", Text::Any).id(MessageId::Blocked(Blocker::TerminationFailed)),
        "4m (x6 over 9h)   Warning   FailedTermination   node/ip-10-0-37-12   Failed terminating node",
        "kubernetes-sigs/karpenter v1.6.0 pkg/events/reason.go, which names the reason; no release writes it",
    ).only_in(Releases::since(6)),
    normal(
        event("ZonalShiftActive", Text::Starts("Zonal shift detected: ")).id(MessageId::Blocked(Blocker::ZonalShift)),
        "4m (x6 over 9h)   Warning   ZonalShiftActive   nodepool/default   Zonal shift detected: offerings in zone eu-west-1a (euw1-az1) are unavailable for this NodePool",
        "aws/karpenter-provider-aws v1.14.1 pkg/cloudprovider/events/events.go",
    ).only_in(Releases::since(14)),
    normal(
        event("ZonalShiftCleared", Text::Starts("Zonal shift cleared: ")).id(MessageId::Blocked(Blocker::ZonalShiftOver)),
        "4m (x6 over 9h)   Normal   ZonalShiftCleared   nodepool/default   Zonal shift cleared: offerings in zone eu-west-1a (euw1-az1) are restored for this NodePool",
        "aws/karpenter-provider-aws v1.14.1 pkg/cloudprovider/events/events.go",
    ).only_in(Releases::since(14)),
    // Other wordings.
    normal(
        event("Unconsolidatable", Text::HasBut(&[], &["SpotToSpotConsolidation"])),
        "4m (x6 over 9h)   Normal   Unconsolidatable   node/ip-10-0-37-12   Node has no price",
        "kubernetes-sigs/karpenter v1.8.2 pkg/controllers/disruption/events/events.go",
    ),
    normal(
        event("ConsolidationRejected", Text::Any),
        "4m (x6 over 9h)   Normal   ConsolidationRejected   node/ip-10-0-37-12   Consolidation rejected: delete: [default-7xk2p], reason: unknown (savings: $0.04)",
        "kubernetes-sigs/karpenter v1.9.1 pkg/controllers/disruption/events/events.go",
    )
    .only_in(Releases::since(9)),
];
