//! Log lines of Karpenter itself: scheduling, the life of nodes, disruption.

use super::normal;
use crate::entry::LogLevel;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, line};
use karpenter::release::{Interval, Releases};

pub(super) const MESSAGES: &[Message] = &[
    normal(
        line(LogLevel::Info, Text::Is("found provisionable pod(s)"), Text::Any)
            .id(MessageId::PodsFound),
        r#"{"level":"INFO","time":"2024-10-15T14:15:45.385Z","logger":"controller","message":"found provisionable pod(s)","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a2090b9-3c5e-4b7a-9d21-7e4c000cb007","Pods":"shop/api-6d5f7c9b8-qk2vx, shop/api-6d5f7c9b8-zz8t4","duration":"12.3ms"}"#,
        "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/provisioning/provisioner.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("computed new nodeclaim(s) to fit pod(s)"), Text::Any)
            .id(MessageId::NodeClaimsComputed),
        r#"{"level":"INFO","time":"2025-04-23T15:22:58.522Z","logger":"controller","message":"computed new nodeclaim(s) to fit pod(s)","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a20948a-3c5e-4b7a-9d21-7e4c000ccef6","nodeclaims":1,"pods":2}"#,
        "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/scheduler.go",
    ),
    normal(
        line(LogLevel::Info, Text::Has(&[" unready node(s) will fit ", " pod(s)"]), Text::Any)
            .id(MessageId::PodsFitUnreadyNodes),
        r#"{"level":"INFO","time":"2024-12-10T16:29:11.659Z","logger":"controller","message":"computed 1 unready node(s) will fit 2 pod(s)","commit":"3298d91","controller":"provisioner","namespace":"","name":"","reconcileID":"5a20985b-3c5e-4b7a-9d21-7e4c000cede5"}"#,
        "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::until(2)),
    normal(
        line(LogLevel::Info, Text::Is("computed unready node(s) will fit pod(s)"), Text::Any)
            .id(MessageId::PodsFitUnreadyNodes),
        r#"{"level":"INFO","time":"2025-06-11T08:36:24.796Z","logger":"controller","message":"computed unready node(s) will fit pod(s)","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a209c2c-3c5e-4b7a-9d21-7e4c000d0cd4","nodes":1,"pods":2}"#,
        "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Info, Text::Is("computing pod scheduling..."), Text::Any),
        r#"{"level":"INFO","time":"2025-02-12T09:43:37.933Z","logger":"controller","message":"computing pod scheduling...","commit":"058c665","controller":"provisioner","namespace":"","name":"","reconcileID":"5a209ffd-3c5e-4b7a-9d21-7e4c000d2bc3","pods-scheduled":120,"pods-remaining":400}"#,
        "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::union(&[Interval::patch_to_minor(0, 7, 3)])),
    normal(
        line(
            LogLevel::Debug,
            Text::Is("computing scheduling decision for provisionable pod(s)"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-06-11T10:50:50.070Z","logger":"controller","message":"computing scheduling decision for provisionable pod(s)","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a20a3ce-3c5e-4b7a-9d21-7e4c000d4ab2","Pods":"shop/api-6d5f7c9b8-qk2vx, shop/api-6d5f7c9b8-zz8t4"}"#,
        "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/provisioner.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(
            LogLevel::Info,
            Text::Is(
                "deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity",
            ),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-07-22T11:57:03.207Z","logger":"controller","message":"deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity","commit":"c8c45c1","controller":"provisioner","namespace":"","name":"","reconcileID":"5a20a79f-3c5e-4b7a-9d21-7e4c000d69a1","Pods":"shop/api-6d5f7c9b8-qk2vx, shop/api-6d5f7c9b8-zz8t4"}"#,
        "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/provisioning/provisioner.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Info, Text::Is("created nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimCreated),
        r#"{"level":"INFO","time":"2025-10-21T12:04:16.344Z","logger":"controller","message":"created nodeclaim","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a20ab70-3c5e-4b7a-9d21-7e4c000d8890","NodePool":{"name":"default"},"NodeClaim":{"name":"default-7xk2p"},"requests":{"cpu":"380m","memory":"220Mi","pods":"6"},"instance-types":"c5.large, c6i.large, c7i.large and 42 other(s)"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("launched nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimLaunched),
        r#"{"level":"INFO","time":"2025-10-21T13:11:29.481Z","logger":"controller","message":"launched nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20af41-3c5e-4b7a-9d21-7e4c000da77f","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","instance-type":"c6i.large","zone":"eu-west-1a","capacity-type":"spot","allocatable":{"cpu":"1930m","memory":"3114Mi","pods":"29"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/launch.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("registered nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimRegistered),
        r#"{"level":"INFO","time":"2025-10-21T14:18:42.618Z","logger":"controller","message":"registered nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20b312-3c5e-4b7a-9d21-7e4c000dc66e","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("initialized nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimInitialized),
        r#"{"level":"INFO","time":"2025-10-21T15:25:55.755Z","logger":"controller","message":"initialized nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20b6e3-3c5e-4b7a-9d21-7e4c000de55d","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("awaiting registration hooks"), Text::Any),
        r#"{"level":"DEBUG","time":"2026-04-21T16:32:08.892Z","logger":"controller","message":"awaiting registration hooks","commit":"537b01a","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20bab4-3c5e-4b7a-9d21-7e4c000e044c","hooks":["placement-group"]}"#,
        "kubernetes-sigs/karpenter v1.11.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
    )
    .only_in(Releases::since(11)),
    normal(
        line(LogLevel::Info, Text::Is("annotated nodeclaim"), Text::Any),
        r#"{"level":"INFO","time":"2025-10-21T08:39:21.029Z","logger":"controller","message":"annotated nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20be85-3c5e-4b7a-9d21-7e4c000e233b","karpenter.sh/nodeclaim-termination-timestamp":"2025-10-21T12:00:00Z"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("deleted nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimDeleted),
        r#"{"level":"INFO","time":"2025-10-21T09:46:34.166Z","logger":"controller","message":"deleted nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20c256-3c5e-4b7a-9d21-7e4c000e422a","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("deleted node"), Text::Any).id(MessageId::NodeDeleted),
        r#"{"level":"INFO","time":"2025-10-21T10:53:47.303Z","logger":"controller","message":"deleted node","commit":"31fa2ea","controller":"node.termination","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a20c627-3c5e-4b7a-9d21-7e4c000e6119","NodeClaim":{"name":"default-7xk2p"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("tainted node"), Text::Any).id(MessageId::NodeTainted),
        r#"{"level":"INFO","time":"2025-10-21T11:00:00.440Z","logger":"controller","message":"tainted node","commit":"31fa2ea","controller":"node.termination","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a20c9f8-3c5e-4b7a-9d21-7e4c000e8008","NodeClaim":{"name":"default-7xk2p"},"taint.Key":"karpenter.sh/disrupted","taint.Value":"","taint.Effect":"NoSchedule"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/terminator/terminator.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("deleting pod"), Text::Any).id(MessageId::PodEvicted),
        r#"{"level":"DEBUG","time":"2025-07-22T12:07:13.577Z","logger":"controller","message":"deleting pod","commit":"c8c45c1","controller":"node.termination","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a20cdc9-3c5e-4b7a-9d21-7e4c000e9ef7","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"}}"#,
        "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/terminator/terminator.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("disrupting node(s)"), Text::Any)
            .id(MessageId::NodesDisrupted),
        r#"{"level":"INFO","time":"2025-10-21T13:14:26.714Z","logger":"controller","message":"disrupting node(s)","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a20d19a-3c5e-4b7a-9d21-7e4c000ebde6","command-id":"9b0e7f0a-1f0e-4c55-8c0e-0d5b7a5f8a11","reason":"underutilized","decision":"delete"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/queue.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Info, Text::Starts("disrupting nodeclaim(s) via "), Text::Any)
            .id(MessageId::NodesDisruptedInMessage),
        r#"{"level":"INFO","time":"2024-12-10T14:21:39.851Z","logger":"controller","message":"disrupting nodeclaim(s) via delete, terminating 1 nodes (2 pods) ip-10-0-37-12.eu-west-1.compute.internal/c6i.large/spot","commit":"3298d91","controller":"disruption","namespace":"","name":"","reconcileID":"5a20d56b-3c5e-4b7a-9d21-7e4c000edcd5","reason":"empty"}"#,
        "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/disruption/controller.go",
    )
    .only_in(Releases::until(2)),
    normal(
        line(LogLevel::Debug, Text::Is("command succeeded"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T15:28:52.988Z","logger":"controller","message":"command succeeded","commit":"31fa2ea","controller":"disruption.queue","namespace":"","name":"","reconcileID":"5a20d93c-3c5e-4b7a-9d21-7e4c000efbc4"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/queue.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts(
                "abandoning empty node consolidation attempt due to pod churn, command is no longer valid",
            ),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-02-12T16:35:05.125Z","logger":"controller","message":"abandoning empty node consolidation attempt due to pod churn, command is no longer valid","commit":"058c665","controller":"disruption","namespace":"","name":"","reconcileID":"5a20dd0d-3c5e-4b7a-9d21-7e4c000f1ab3"}"#,
        "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/disruption",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts(
                "abandoning multi-node consolidation attempt due to pod churn, command is no longer valid",
            ),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-02-12T08:42:18.262Z","logger":"controller","message":"abandoning multi-node consolidation attempt due to pod churn, command is no longer valid","commit":"058c665","controller":"disruption","namespace":"","name":"","reconcileID":"5a20e0de-3c5e-4b7a-9d21-7e4c000f39a2"}"#,
        "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/disruption",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts(
                "abandoning single-node consolidation attempt due to pod churn, command is no longer valid",
            ),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-02-12T09:49:31.399Z","logger":"controller","message":"abandoning single-node consolidation attempt due to pod churn, command is no longer valid","commit":"058c665","controller":"disruption","namespace":"","name":"","reconcileID":"5a20e4af-3c5e-4b7a-9d21-7e4c000f5891"}"#,
        "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/disruption",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts("stopping multi-node consolidation after timeout, returning last valid command"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-04-23T10:56:44.536Z","logger":"controller","message":"stopping multi-node consolidation after timeout, returning last valid command","commit":"0871602","controller":"disruption","namespace":"","name":"","reconcileID":"5a20e880-3c5e-4b7a-9d21-7e4c000f7780"}"#,
        "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/disruption/multinodeconsolidation.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts(
                "prioritizing nodepools that have not yet been considered due to timeouts in previous runs",
            ),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-07-22T11:03:57.673Z","logger":"controller","message":"prioritizing nodepools that have not yet been considered due to timeouts in previous runs: gpu","commit":"c8c45c1","controller":"disruption","namespace":"","name":"","reconcileID":"5a20ec51-3c5e-4b7a-9d21-7e4c000f966f"}"#,
        "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/disruption/singlenodeconsolidation.go",
    )
    .only_in(Releases::since(4)),
    normal(
        line(LogLevel::Debug, Text::Is("marking consolidatable"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T12:10:10.810Z","logger":"controller","message":"marking consolidatable","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20f022-3c5e-4b7a-9d21-7e4c000fb55e"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/consolidation.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Starts("removing consolidatable status condition"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T13:17:23.947Z","logger":"controller","message":"removing consolidatable status condition","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20f3f3-3c5e-4b7a-9d21-7e4c000fd44d"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/consolidation.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("removing drifted status condition, not drifted"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T14:24:36.084Z","logger":"controller","message":"removing drifted status condition, not drifted","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20f7c4-3c5e-4b7a-9d21-7e4c000ff33c"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/drift.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Is("removing drift status condition, isn't launched"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-10-21T15:31:49.221Z","logger":"controller","message":"removing drift status condition, isn't launched","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20fb95-3c5e-4b7a-9d21-7e4c0010122b"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/drift.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("deleting expired nodeclaim"), Text::Any)
            .id(MessageId::NodeClaimExpired),
        r#"{"level":"DEBUG","time":"2025-10-21T16:38:02.358Z","logger":"controller","message":"deleting expired nodeclaim","commit":"31fa2ea","controller":"nodeclaim.expiration","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20ff66-3c5e-4b7a-9d21-7e4c0010311a"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/expiration/controller.go",
    ),
    normal(
        line(
            LogLevel::Info,
            Text::Is("pod(s) have a preferred Anti-Affinity which can prevent consolidation"),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-10-21T08:45:15.495Z","logger":"controller","message":"pod(s) have a preferred Anti-Affinity which can prevent consolidation","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a210337-3c5e-4b7a-9d21-7e4c00105009","pods":"shop/api-6d5f7c9b8-qk2vx"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
    ),
    normal(
        line(
            LogLevel::Info,
            Text::Is("pod(s) have a preferred TopologySpreadConstraint which can prevent consolidation"),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-10-21T09:52:28.632Z","logger":"controller","message":"pod(s) have a preferred TopologySpreadConstraint which can prevent consolidation","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a210708-3c5e-4b7a-9d21-7e4c00106ef8","pods":"shop/api-6d5f7c9b8-qk2vx"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts("relaxing soft constraints for pod since it previously failed to schedule"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-10-21T10:59:41.769Z","logger":"controller","message":"relaxing soft constraints for pod since it previously failed to schedule, removing: spec.topologySpreadConstraints = {\"maxSkew\":1}","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a210ad9-3c5e-4b7a-9d21-7e4c00108de7"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/preferences.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Has(&[" instance types were excluded because they would breach limits"]),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2024-12-10T11:06:54.906Z","logger":"controller","message":"14 out of 120 instance types were excluded because they would breach limits","commit":"3298d91","controller":"provisioner","namespace":"","name":"","reconcileID":"5a210eaa-3c5e-4b7a-9d21-7e4c0010acd6","NodePool":{"name":"default"}}"#,
        "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::until(2)),
    normal(
        line(
            LogLevel::Info,
            Text::Has(&[" instance types were excluded because they would breach limits"]),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-06-11T12:13:07.043Z","logger":"controller","message":"14 out of 120 instance types were excluded because they would breach limits","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a21127b-3c5e-4b7a-9d21-7e4c0010cbc5","NodePool":{"name":"default"}}"#,
        "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::between(3, 9)),
    normal(
        line(
            LogLevel::Info,
            Text::Is("instance types were excluded because they would breach limits"),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2026-03-24T13:20:20.180Z","logger":"controller","message":"instance types were excluded because they would breach limits","commit":"d80cb86","controller":"provisioner","namespace":"","name":"","reconcileID":"5a21164c-3c5e-4b7a-9d21-7e4c0010eab4","NodePool":{"name":"default"},"excluded":14,"total":120}"#,
        "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/provisioning/scheduling/scheduler.go",
    )
    .only_in(Releases::since(10)),
    normal(
        line(LogLevel::Debug, Text::Is("skipping, awaiting nodeoverlay evaluation"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T14:27:33.317Z","logger":"controller","message":"skipping, awaiting nodeoverlay evaluation","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a211a1d-3c5e-4b7a-9d21-7e4c001109a3","NodePool":{"name":"default"}}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
    )
    .only_in(Releases::since(7)),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts("adding requirements derived from pod volumes, "),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-04-23T15:34:46.454Z","logger":"controller","message":"adding requirements derived from pod volumes, topology.kubernetes.io/zone In [eu-west-1a]","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a211dee-3c5e-4b7a-9d21-7e4c00112892"}"#,
        "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/volumetopology.go",
    )
    .only_in(Releases::until(8)),
    normal(
        line(LogLevel::Debug, Text::Is("getting requirements from pod volumes"), Text::Any),
        r#"{"level":"DEBUG","time":"2026-02-10T16:41:59.591Z","logger":"controller","message":"getting requirements from pod volumes","commit":"e7e1327","controller":"provisioner","namespace":"","name":"","reconcileID":"5a2121bf-3c5e-4b7a-9d21-7e4c00114781"}"#,
        "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/scheduling/volumetopology.go",
    )
    .only_in(Releases::since(9)),
    normal(
        line(
            LogLevel::Debug,
            Text::Starts("failed tracking CSI volume limits for volume with unbound PVC"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-10-21T08:48:12.728Z","logger":"controller","message":"failed tracking CSI volume limits for volume with unbound PVC, no storage class specified","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a212590-3c5e-4b7a-9d21-7e4c00116670"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/scheduling/volumeusage.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered karpenter version"), Text::Any)
            .id(MessageId::KarpenterVersion),
        r#"{"level":"DEBUG","time":"2025-10-21T15:46:34.386Z","logger":"controller","message":"discovered karpenter version","commit":"31fa2ea","version":"1.8.0"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/operator/operator.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("found and delete leaked lease"), Text::Any),
        r#"{"level":"DEBUG","time":"2024-10-15T16:53:47.523Z","logger":"controller","message":"found and delete leaked lease","commit":"6174c75","controller":"lease.garbagecollection","namespace":"","name":"","reconcileID":"5a21ab23-3c5e-4b7a-9d21-7e4c0015a11d"}"#,
        "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/leasegarbagecollection/controller.go",
    )
    .only_in(Releases::until(0)),
    normal(
        line(LogLevel::Debug, Text::Is("deleting nodeclaim"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T08:00:00.660Z","logger":"controller","message":"deleting nodeclaim","commit":"31fa2ea","controller":"static.deprovisioning","namespace":"","name":"","reconcileID":"5a21aef4-3c5e-4b7a-9d21-7e4c0015c00c"}"#,
        "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/static/deprovisioning/controller.go",
    )
    .only_in(Releases::since(8)),
    normal(
        line(LogLevel::Debug, Text::Is("consolidation score"), Text::Any),
        r#"{"level":"DEBUG","time":"2026-08-25T09:07:13.797Z","logger":"controller","message":"consolidation score","commit":"85eeae8","controller":"disruption","namespace":"","name":"","reconcileID":"5a21b2c5-3c5e-4b7a-9d21-7e4c0015defb"}"#,
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/balanced.go",
    )
    .only_in(Releases::since(14)),
    normal(
        line(LogLevel::Info, Text::Is("selected repair policy"), Text::Any),
        r#"{"level":"INFO","time":"2026-10-21T08:21:39.291Z","logger":"controller","message":"selected repair policy","controller":"disruption","namespace":"","name":"","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cdd"}"#,
        "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
    )
    .only_in(Releases::since(15)),
    normal(
        line(LogLevel::Info, Text::Is("committed node reboot"), Text::Any),
        r#"{"level":"INFO","time":"2026-10-21T08:21:39.291Z","logger":"controller","message":"committed node reboot","controller":"disruption","namespace":"","name":"","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cdd","NodeClaim":{"name":"default-7xk2p"}}"#,
        "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
    )
    .only_in(Releases::since(15)),
];
