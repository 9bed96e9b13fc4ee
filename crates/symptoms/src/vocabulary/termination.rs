//! Nodes that do not end.

use super::{Detail, Message, Text, When, event, line};
use lint::finding::Severity;
use karpenter::release::Releases;
use crate::entry::Level;
use lint::report::Confidence;
use crate::Symptom;

/// The symptoms of this part.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "node-does-not-drain",
        severity: Severity::Error,
        summary: "a node that has to go is not drained",
        says: "a node that has to go is not drained: pods on it cannot be evicted",
        remedy: "look at the pods that are left on the node: a PodDisruptionBudget that allows nothing, `karpenter.sh/do-not-disrupt`, a finaliser or a long `terminationGracePeriodSeconds`; `spec.template.spec.terminationGracePeriod` of the NodePool bounds the wait",
        cause: "
A node that is deleted (by expiry, interruption or hand) is drained first, and draining waits for budgets and for the
annotation without end unless the NodePool sets a `terminationGracePeriod`. Such a node takes no new pods and costs.
For some minutes it is normal.
",
        rules: &["expiry-ignores-budgets"],
        messages: &[
            Message {
                seen: event("FailedDraining", Text::Has(&["Failed to drain node, ", " pods are waiting to be evicted"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x412 over 3d)   Warning   FailedDraining   node/ip-10-0-37-12   Failed to drain node, 2 pods are waiting to be evicted",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/terminator/events/events.go",
            },
            Message {
                seen: event("FailedDraining", Text::Has(&["Failed to drain node, evicting pod ", " violates a PDB"])),
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
        summary: "a node waits for its volumes to be detached",
        says: "nodes that are drained wait for volumes that are not detached",
        remedy: "look at the VolumeAttachments of the node and at the CSI driver: its node pods have to tolerate `karpenter.sh/disrupted`, so that they are there until the last volume is unmounted",
        cause: "
From 1.6 on an event says that a node waits for its VolumeAttachments. They go once the CSI driver has unmounted the
volume; if its pod on the node is gone first, this takes more than six minutes, as a volume that is still mounted is
then detached by force.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("AwaitingVolumeDetachment", Text::Starts("Awaiting deletion of bound volumeattachments ")),
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
        summary: "pods cannot be evicted",
        says: "pods cannot be evicted, with answers that are not about budgets",
        remedy: "read the answer in the field `error`: most often an admission webhook refuses, or does not answer",
        cause: "
The API server asks admission webhooks about evictions too. A node cannot be drained while they refuse.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("failed evicting pod"), Text::HasBut(&["admission webhook"], &[])),
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
