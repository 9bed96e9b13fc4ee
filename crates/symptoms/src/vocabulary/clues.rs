//! Patterns for the history alone: wider than the messages of the tables, or quotes within other messages.
//!
//! They give an entry an identity. They do not make it understood, and belong to no symptom.

use super::id::MessageId;
use super::message::{MessagePattern, Text, anywhere, condition, event, line};
use crate::entry::LogLevel;

/// All clues.
pub(super) const CLUES: &[MessagePattern] = &[
    // A launch fails with many errors, and only some of them have a symptom.
    // Source: pkg/controllers/nodeclaim/lifecycle/launch.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0.
    line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Any).id(MessageId::LaunchFailed),
    line(LogLevel::Error, RECONCILER_ERROR, Text::Has(&["launching nodeclaim"])).id(MessageId::LaunchFailed),
    event("InsufficientCapacityError", Text::Any).id(MessageId::LaunchFailed),
    event("NodeClassNotReady", Text::Any).id(MessageId::LaunchFailed),
    // `NodeClass` up to 1.6, `nodeclass` from 1.7 on: pkg/cloudprovider/cloudprovider.go of the provider.
    line(LogLevel::Error, RECONCILER_ERROR, Text::Has(&["is in Ready=Unknown, ValidationSucceeded=Unknown"]))
        .id(MessageId::NodeClassUndecided),
    line(LogLevel::Error, RECONCILER_ERROR, Text::Has(&["creating node claim"]))
        .id(MessageId::NodeClaimNotCreated),
    // The API server refuses the NodeClaim of a controller or of a user. Source: the CEL rules in
    // pkg/apis/crds/karpenter.sh_nodeclaims.yaml of the provider at v1.0.0 and v1.14.0.
    line(LogLevel::Error, Text::Any, RESTRICTED_LABEL).id(MessageId::LabelRestricted),
    line(LogLevel::Error, RESTRICTED_LABEL, Text::Any).id(MessageId::LabelRestricted),
    event("", RESTRICTED_LABEL).id(MessageId::LabelRestricted),
    anywhere(RESTRICTED_LABEL).id(MessageId::LabelRestricted),
    // With a reason other than this one the NodePool's instances were not even launched.
    // Source: pkg/controllers/nodeclaim/lifecycle/liveness.go of kubernetes-sigs/karpenter at v1.7.0.
    condition("NodePool", "NodeRegistrationHealthy", "", "RegistrationFailed", Text::Any)
        .id(MessageId::NodePoolUnhealthy),
    // The event of a pod that fits nowhere has the same start.
    // Source: pkg/controllers/provisioning/scheduling/events.go of kubernetes-sigs/karpenter at v1.7.0.
    event(
        "FailedScheduling",
        Text::HasBut(
            &["Failed to schedule pod, "],
            &["incompatible", "no instance type", "did not tolerate", "unsatisfiable", "would exceed"],
        ),
    )
    .id(MessageId::PodNotScheduled),
    // Old setups log the line in another form. Source: tools/leaderelection/leaderelection.go of k8s.io/client-go.
    anywhere(Text::Has(&["successfully acquired lease "])).id(MessageId::LeaseAcquired),
];

const RECONCILER_ERROR: Text = Text::Is("Reconciler error");

const RESTRICTED_LABEL: Text = Text::Has(&["NodeClaim.karpenter.sh", "label", " is restricted"]);
