//! Nodes that are not terminated.

use super::blocker::Blocker;
use super::id::MessageId;
use super::message::{Detail, Message, Text, When, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "node-does-not-drain",
        severity: Severity::Error,
        summary: "a deleted node does not drain",
        says: "a deleted node does not drain: pods on it cannot be evicted",
        remedy: "look at the pods that remain on the node: a PodDisruptionBudget that allows no eviction, `karpenter.sh/do-not-disrupt`, a finalizer or a long `terminationGracePeriodSeconds`; `spec.template.spec.terminationGracePeriod` of the NodePool limits the wait",
        cause: "
Karpenter drains a deleted node first (after expiry, interruption or by hand). Draining waits for PodDisruptionBudgets
and for the annotation without limit, unless the NodePool sets a `terminationGracePeriod`. Such a node takes no new
pods but costs money. For some minutes this is normal.
",
        rules: &["expiry-ignores-budgets"],
        messages: &[
            Message {
                pattern: event("FailedDraining", Text::Has(&["Failed to drain node, ", " pods are waiting to be evicted"])).id(MessageId::Blocked(Blocker::PodsRemain)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x412 over 3d)   Warning   FailedDraining   node/ip-10-0-37-12   Failed to drain node, 2 pods are waiting to be evicted",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/terminator/events/events.go",
            },
            Message {
                pattern: event("FailedDraining", Text::Has(&["Failed to drain node, evicting pod ", " violates a PDB"])).id(MessageId::Blocked(Blocker::EvictionRefused)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x412 over 3d)   Warning   FailedDraining   node/ip-10-0-37-12   Failed to drain node, evicting pod shop/api-6d5f7c9b8-qk2vx violates a PDB",
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/node/termination/terminator/eviction.go",
            }
        ],
        when: When::Repeated { count: 15 },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#1789; aws/karpenter-provider-aws#7521", "pkg/controllers/node/termination/terminator/events/events.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "volumes-do-not-detach",
        severity: Severity::Warning,
        summary: "a drained node waits until its volumes are detached",
        says: "drained nodes wait for volumes that are not detached",
        remedy: "look at the VolumeAttachments of the node and at the CSI driver: its node pods must tolerate `karpenter.sh/disrupted`, so that they run until the last volume is unmounted",
        cause: "
From 1.6 on an event reports that a node waits for its VolumeAttachments. They disappear after the CSI driver has
unmounted the volume. If the driver's pod on the node stops first, this takes more than six minutes, because
Kubernetes then force-detaches the mounted volume.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("AwaitingVolumeDetachment", Text::Starts("Awaiting deletion of bound volumeattachments ")),
                releases: Releases::since(6),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Normal   AwaitingVolumeDetachment   node/ip-10-0-37-12   Awaiting deletion of bound volumeattachments (csi-0a1b2c)",
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/terminator/events/events.go",
            }
        ],
        when: When::Repeated { count: 10 },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/aws-ebs-csi-driver#2165", "pkg/controllers/node/termination/terminator/events/events.go of kubernetes-sigs/karpenter at v1.6.0"],
    },
    Symptom {
        name: "pods-not-evicted",
        severity: Severity::Warning,
        summary: "the API server refuses evictions of pods",
        says: "the API server refuses evictions of pods, and not because of PodDisruptionBudgets",
        remedy: "read the field `error`: most often an admission webhook denies the eviction or does not answer",
        cause: "
The API server also calls admission webhooks for evictions. A node cannot be drained while they deny evictions.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed evicting pod"), Text::HasBut(&["admission webhook"], &[])),
                releases: Releases::until(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T11:42:18.702Z","logger":"controller","message":"failed evicting pod","commit":"0871602","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"admission webhook \"guard.example.com\" denied the request: not now"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/node/termination/terminator/eviction.go",
            }
        ],
        when: When::Often { count: 20, minutes: 30 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/node/termination/terminator/eviction.go of kubernetes-sigs/karpenter at v1.4.0"],
    },
];
