//! Conditions of Nodes and NodeClaims that only mean something together with others.

use super::message::{Detail, Message, Text, condition};
use karpenter::release::Releases;

/// A condition of a Node that node repair looks at.
const fn unhealthy(
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    example: &'static str,
    source: &'static str,
) -> Message {
    Message {
        pattern: condition("Node", kind, status, reason, Text::Any),
        releases: Releases::ALL,
        detail: Detail::None,
        example,
        source,
    }
}

/// The node monitoring agent writes these conditions.
const AGENT: &str =
    "pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.2.0, `RepairPolicies`";

/// Nodes that are not healthy: the correlation `unready-node-not-repaired`.
pub(super) const UNHEALTHY: &[Message] = &[
    unhealthy(
        "Ready",
        "Unknown",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status."}"#,
        "kubernetes/kubernetes v1.33.0 pkg/controller/nodelifecycle/node_lifecycle_controller.go",
    ),
    unhealthy(
        "Ready",
        "NotReady",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"Ready","status":"NotReady"}"#,
        "kubernetes/kubernetes v1.33.0 pkg/printers/internalversion/printers.go, `printNode`, which prints False and Unknown alike",
    ),
    unhealthy(
        "StorageReady",
        "False",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"StorageReady","status":"False","reason":"XFSSmallAverageClusterSize","message":"average cluster size is too small"}"#,
        AGENT,
    ),
    unhealthy(
        "NetworkingReady",
        "False",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"NetworkingReady","status":"False","reason":"InterfaceNotUp","message":"interface eth1 is down"}"#,
        AGENT,
    ),
    unhealthy(
        "KernelReady",
        "False",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"KernelReady","status":"False","reason":"ForkFailedOutOfPIDs","message":"a fork or exec call has failed"}"#,
        AGENT,
    ),
    unhealthy(
        "ContainerRuntimeReady",
        "False",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"ContainerRuntimeReady","status":"False","reason":"ContainerRuntimeFailed","message":"the container runtime has failed"}"#,
        AGENT,
    ),
    unhealthy(
        "AcceleratedHardwareReady",
        "False",
        "",
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"AcceleratedHardwareReady","status":"False","reason":"NvidiaXID79Error","message":"detected an XID error"}"#,
        AGENT,
    ),
];

/// Steps of a termination: the correlation `node-stays-terminating`.
pub(super) const TERMINATING: &[Message] = &[
    Message {
        pattern: condition("NodeClaim", "Drained", "Unknown", "Draining", Text::Any),
        releases: Releases::since(6),
        detail: Detail::None,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Drained","status":"Unknown","reason":"Draining","message":"Draining"}"#,
        source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/controller.go",
    },
    Message {
        pattern: condition("NodeClaim", "VolumesDetached", "Unknown", "AwaitingVolumeDetachment", Text::Any),
        releases: Releases::since(6),
        detail: Detail::None,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"VolumesDetached","status":"Unknown","reason":"AwaitingVolumeDetachment","message":"AwaitingVolumeDetachment"}"#,
        source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/controller.go",
    },
    Message {
        pattern: condition(
            "NodeClaim",
            "VolumesDetached",
            "False",
            "TerminationGracePeriodElapsed",
            Text::Any,
        ),
        releases: Releases::since(6),
        detail: Detail::None,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"VolumesDetached","status":"False","reason":"TerminationGracePeriodElapsed","message":"TerminationGracePeriodElapsed"}"#,
        source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/controller.go",
    },
];
