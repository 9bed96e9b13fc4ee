//! Pods without a node: messages of the provisioner.

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
        name: "label-unknown-to-every-pool",
        severity: Severity::Error,
        summary: "pods require a label that no NodePool has",
        says: "pods require {a label} that no NodePool has, and get no node",
        remedy: "add the label to a NodePool under `spec.template.metadata.labels`, or remove it from the pod's `nodeSelector` and `nodeAffinity`; if the message suggests another label, correct the key",
        cause: "
Karpenter creates a node for a pod only if it knows in advance that the node will have every label that the pod
requires. It knows its own labels, and the labels that a NodePool sets in `labels` or `requirements`. For the labels of managed
node groups, of eksctl and of other autoscalers, see `node-group-label-required`.

Up to 1.8 Karpenter skips a pending pod that requires a label of the domains `kubernetes.io` or `k8s.io`, without this
message. From 1.9 on it gives this message for such a pod.
",
        rules: &["pod-no-matching-pool", "nodegroup-label-selector", "requirement-key-not-wellknown", "kubernetes-label-selector-opens"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["incompatible with nodepool ", "label \"", "\" does not have known values"])),
                releases: Releases::until(4),
                detail: Detail::Between("label \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-04-23T09:07:13.137Z","logger":"controller","message":"could not schedule pod","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f03d1-3c5e-4b7a-9d21-7e4c00001eef","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, incompatible requirements, label \"team.example.com/tier\" does not have known values"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/scheduling/requirements.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::HasBut(&["incompatible requirements, label \"", "\" does not have known values"], &["incompatible with nodepool "])),
                releases: Releases::since(5),
                detail: Detail::Between("label \"", "\""),
                example: r#"{"level":"ERROR","time":"2026-02-10T10:14:26.274Z","logger":"controller","message":"could not schedule pod","commit":"e7e1327","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f07a2-3c5e-4b7a-9d21-7e4c00003dde","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible requirements, label \"node-role.kubernetes.io/worker\" does not have known values (typo of \"node.kubernetes.io/windows-build\"?)"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/scheduling/requirements.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["label \"", "\" does not have known values"])),
                releases: Releases::ALL,
                detail: Detail::Between("label \"", "\""),
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, incompatible requirements, label "team" does not have known values"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#1162, #2123; aws/karpenter-provider-aws#7535", "pkg/scheduling/requirements.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "node-group-label-required",
        severity: Severity::Error,
        summary: "pods require the label of a node group, whose nodes Karpenter does not create",
        says: "pods require {a label} of a node group, and Karpenter creates no node for them",
        remedy: "if the pods belong on the node group, let it have room for them: Karpenter logs this for every pod that is pending, and leaves such pods to the node group; if they may run on Karpenter's nodes, remove the label from their `nodeSelector` and `nodeAffinity`, or select `karpenter.sh/nodepool` instead",
        cause: "
EKS, eksctl, kOps and other autoscalers label the nodes of their groups, such as `eks.amazonaws.com/nodegroup`. A node
of Karpenter belongs to no group. Pods that select such a label wait for a node of the group: for the cluster
autoscaler, for a person who raises its size, or for ever if the group is gone.
",
        rules: &["nodegroup-label-selector"],
        messages: &[],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7574, #2971", "pkg/scheduling/requirements.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "taint-not-tolerated",
        severity: Severity::Error,
        summary: "pods do not tolerate the taint of a NodePool",
        says: "pods do not tolerate {the taint} of a NodePool that could run them",
        remedy: "add a toleration for the taint to the pods, or remove the taint from `spec.template.spec.taints` of the NodePool; a taint that an agent removes belongs under `startupTaints`",
        cause: "
Karpenter creates a node of a NodePool for a pod only if the pod tolerates the taints of the NodePool. If a message
names several NodePools, it gives the reason of each. A taint is right on a NodePool for other pods; only one of the
NodePools has to match.

Under `startupTaints`, a taint that is removed once the node is ready, such as the taint of a network agent, does not
keep pods away.
",
        rules: &["pod-missing-toleration", "taint-should-be-startup-taint"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["incompatible with nodepool ", "did not tolerate "])),
                releases: Releases::until(4),
                detail: Detail::Between("did not tolerate ", ";"),
                example: r#"{"level":"ERROR","time":"2025-02-12T11:21:39.411Z","logger":"controller","message":"could not schedule pod","commit":"058c665","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f0b73-3c5e-4b7a-9d21-7e4c00005ccd","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, did not tolerate dedicated=batch:NoSchedule"}"#,
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/scheduling/taints.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["did not tolerate taint (taint="])),
                releases: Releases::since(5),
                detail: Detail::Between("(taint=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T12:28:52.548Z","logger":"controller","message":"could not schedule pod","commit":"f913f41","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f0f44-3c5e-4b7a-9d21-7e4c00007bbc","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"taint":"dedicated=batch:NoSchedule","error":"did not tolerate taint (taint=dedicated=batch:NoSchedule)"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/scheduling/taints.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["incompatible with nodepool ", "did not tolerate "])),
                releases: Releases::until(4),
                detail: Detail::Between("did not tolerate ", ";"),
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"180m","memory":"220Mi","pods":"6"}, did not tolerate dedicated=batch:NoSchedule"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/scheduling/taints.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["did not tolerate taint (taint="])),
                releases: Releases::since(5),
                detail: Detail::Between("(taint=", ")"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, did not tolerate taint (taint=dedicated=batch:NoSchedule)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/scheduling/taints.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#5101, #5293; kubernetes-sigs/karpenter#2441", "pkg/scheduling/taints.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "requirements-do-not-meet",
        severity: Severity::Error,
        summary: "pods require values that no NodePool allows",
        says: "pods require values of {a label} that no NodePool allows",
        remedy: "compare the values of the key in the pod's `nodeSelector` and `nodeAffinity`, or the zone of its volume, with `spec.template.spec.requirements` of the NodePool, and allow a common value",
        cause: "
The pod and the NodePool have the same label, but no value in common: a zone, an architecture, an instance type, a
capacity type. The values may also come from a volume, because its zone becomes a requirement of the pod.
",
        rules: &["pod-no-matching-pool", "storage-zone-unreachable", "requirement-value-unknown"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["incompatible with nodepool ", "incompatible requirements, key ", " not in "])),
                releases: Releases::until(4),
                detail: Detail::Between("incompatible requirements, key ", ","),
                example: r#"{"level":"ERROR","time":"2025-03-20T13:35:05.685Z","logger":"controller","message":"could not schedule pod","commit":"ad71530","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f1315-3c5e-4b7a-9d21-7e4c00009aab","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, incompatible requirements, key kubernetes.io/arch, kubernetes.io/arch In [arm64] not in kubernetes.io/arch In [amd64]"}"#,
                source: "kubernetes-sigs/karpenter v1.3.2 pkg/scheduling/requirements.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::HasBut(&["incompatible requirements, key ", " not in "], &["incompatible with nodepool "])),
                releases: Releases::since(5),
                detail: Detail::Between("incompatible requirements, key ", ","),
                example: r#"{"level":"ERROR","time":"2025-07-22T14:42:18.822Z","logger":"controller","message":"could not schedule pod","commit":"13242ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f16e6-3c5e-4b7a-9d21-7e4c0000b99a","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-west-1c] not in topology.kubernetes.io/zone In [eu-west-1a eu-west-1b]"}"#,
                source: "kubernetes-sigs/karpenter v1.6.2 pkg/scheduling/requirements.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["incompatible requirements, key ", " not in "])),
                releases: Releases::ALL,
                detail: Detail::Between("incompatible requirements, key ", ","),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, incompatible requirements, key karpenter.sh/capacity-type, karpenter.sh/capacity-type In [on-demand] not in karpenter.sh/capacity-type In [spot]",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#3075, #5101", "pkg/scheduling/requirements.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "requests-exceed-every-type",
        severity: Severity::Error,
        summary: "no allowed instance type is large enough for a pod",
        says: "pods request more than any allowed instance type has",
        remedy: "compare the requests of the pod and of the node's DaemonSets with the largest type that the NodePool allows; look for a wrong unit (`m` and `M`), for a resource that no type has, and for ephemeral storage beyond `blockDeviceMappings` of the node class",
        cause: "
The requests of the pod and of every DaemonSet must fit into one instance, minus the reservations of kubelet and
system. If the message mentions a CPU request of a million or more, someone wrote `M` instead of `m`.

Karpenter compares storage requests with the root volume of the node class. It knows an extended resource only for the
instance types that have it.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type satisfied resources ", "(no instance type has enough resources"])),
                releases: Releases::until(2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-10-15T15:49:31.959Z","logger":"controller","message":"could not schedule pod","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f1ab7-3c5e-4b7a-9d21-7e4c0000d889","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, no instance type satisfied resources {\"cpu\":\"96180m\",\"memory\":\"400Gi\",\"pods\":\"7\"} and requirements karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [default] (no instance type has enough resources)"}"#,
                source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type has enough resources", ", requirements="])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T16:56:44.096Z","logger":"controller","message":"could not schedule pod","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f1e88-3c5e-4b7a-9d21-7e4c0000f778","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type has enough resources, requirements=karpenter.sh/nodepool In [default], kubernetes.io/arch In [amd64], resources={\"cpu\":\"1000000180m\",\"memory\":\"1Gi\",\"pods\":\"7\"} (CPU request >= 1 Million, m vs M typo?)"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type satisfied resources ", "the required offering had the required resources"])),
                releases: Releases::until(2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-12-10T08:03:57.233Z","logger":"controller","message":"could not schedule pod","commit":"3298d91","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f2259-3c5e-4b7a-9d21-7e4c00011667","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, no instance type satisfied resources {\"cpu\":\"12\",\"nvidia.com/gpu\":\"8\",\"pods\":\"5\"} and requirements karpenter.sh/nodepool In [default] (no instance type which met the scheduling requirements and the required offering had the required resources)"}"#,
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["the required offering had the required resources", ", requirements="])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-04-21T09:10:10.370Z","logger":"controller","message":"could not schedule pod","commit":"537b01a","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f262a-3c5e-4b7a-9d21-7e4c00013556","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type which met the scheduling requirements and the required offering had the required resources, requirements=karpenter.sh/nodepool In [default], resources={\"cpu\":\"12\",\"nvidia.com/gpu\":\"8\",\"pods\":\"5\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.11.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type", "had the required resources"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type which met the scheduling requirements and the required offering had the required resources, requirements=karpenter.sh/nodepool In [default], resources={"cpu":"12","pods":"5"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type has enough resources"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type has enough resources, requirements=karpenter.sh/nodepool In [default], resources={"cpu":"512","pods":"5"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5588, #5169, #4533; kubernetes-sigs/karpenter#2414", "pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "no-type-meets-requirements",
        severity: Severity::Error,
        summary: "no allowed instance type meets the requirements of pods",
        says: "no instance type that the NodePool allows meets the requirements and the size of pods",
        remedy: "look for `failed launching nodeclaim` and `removing offering from offerings` (DEBUG) in the five minutes before: with them, EC2 had no capacity; without them, widen the requirements of the NodePool (families, sizes, zones) or of the pod",
        cause: "
The requirements of the pod and the NodePool contradict each other, or leave only types that are too small. Or
Karpenter excludes all matching types for a while: it does not request a type again for three minutes after EC2 had no
capacity, and it excludes types that would exceed a limit of the NodePool. The message is the same in each case, so
look at the minutes before it.
",
        rules: &["requirement-value-unknown", "min-values-impossible"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type satisfied resources ", "met the scheduling requirements)"])),
                releases: Releases::until(2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-10-15T10:17:23.507Z","logger":"controller","message":"could not schedule pod","commit":"a2875e3","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f29fb-3c5e-4b7a-9d21-7e4c00015445","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, no instance type satisfied resources {\"cpu\":\"2180m\",\"memory\":\"4Gi\",\"pods\":\"7\"} and requirements karpenter.k8s.aws/instance-family In [c7g], kubernetes.io/arch In [amd64] (no instance type which had enough resources and the required offering met the scheduling requirements)"}"#,
                source: "kubernetes-sigs/karpenter v1.0.5 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["met the scheduling requirements, requirements="])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-09-09T11:24:36.644Z","logger":"controller","message":"could not schedule pod","commit":"781485b","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f2dcc-3c5e-4b7a-9d21-7e4c00017334","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type which had enough resources and the required offering met the scheduling requirements, requirements=karpenter.k8s.aws/instance-family In [c7g], kubernetes.io/arch In [amd64], resources={\"cpu\":\"2180m\",\"memory\":\"4Gi\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.7.1 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type met all requirements"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T12:31:49.781Z","logger":"controller","message":"could not schedule pod","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f319d-3c5e-4b7a-9d21-7e4c00019223","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type met all requirements, requirements=karpenter.k8s.aws/instance-cpu In [3], karpenter.sh/nodepool In [default], resources={\"cpu\":\"500m\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type met the scheduling requirements or had enough resources"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-06-16T13:38:02.918Z","logger":"controller","message":"could not schedule pod","commit":"2be9554","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f356e-3c5e-4b7a-9d21-7e4c0001b112","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type met the scheduling requirements or had enough resources, requirements=karpenter.k8s.aws/instance-size In [nano], resources={\"cpu\":\"8\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.13.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type had enough resources or had a required offering"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-03-24T14:45:15.055Z","logger":"controller","message":"could not schedule pod","commit":"d80cb86","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f393f-3c5e-4b7a-9d21-7e4c0001d001","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type had enough resources or had a required offering, requirements=topology.kubernetes.io/zone In [eu-west-1c], resources={\"cpu\":\"64\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type met the requirements/resources/offering tuple"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T15:52:28.192Z","logger":"controller","message":"could not schedule pod","commit":"68643c6","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f3d10-3c5e-4b7a-9d21-7e4c0001eef0","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type met the requirements/resources/offering tuple, requirements=karpenter.sh/capacity-type In [spot], topology.kubernetes.io/zone In [eu-west-1c], resources={\"cpu\":\"31\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type", "met the scheduling requirements, requirements="])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type which had enough resources and the required offering met the scheduling requirements, requirements=karpenter.sh/nodepool In [default], resources={"cpu":"2"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type met "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type met all requirements, requirements=karpenter.k8s.aws/instance-cpu In [3], resources={"cpu":"500m","pods":"7"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Possible,
        references: &["kubernetes-sigs/karpenter#1212; aws/karpenter-provider-aws#5676, #5975", "pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "no-offering-left",
        severity: Severity::Error,
        summary: "matching instance types have no offering in the required zone and capacity type",
        says: "instance types that fit pods have no offering in the required zone and capacity type",
        remedy: "look for `failed launching nodeclaim` and `removing offering from offerings` (DEBUG) in the five minutes before: with them, EC2 had no capacity; without them, widen the requirements of the NodePool (families, sizes, zones) or of the pod; a single zone or a single type leaves no alternative",
        cause: "
An offering is an instance type in one zone with one capacity type. Either none exists, because EC2 does not offer the
type in the zone or the node class has no subnet there, or Karpenter excludes the existing ones for three minutes
because EC2 had no capacity. This is normal for a moment, but not for minutes.
",
        rules: &["requirement-value-unknown"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type satisfied resources ", "(no instance type has the required offering"])),
                releases: Releases::until(2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-02-12T16:59:41.329Z","logger":"controller","message":"could not schedule pod","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f40e1-3c5e-4b7a-9d21-7e4c00020ddf","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, no instance type satisfied resources {\"cpu\":\"1\",\"pods\":\"7\"} and requirements karpenter.sh/capacity-type In [spot], topology.kubernetes.io/zone In [eu-west-1c] (no instance type has the required offering)"}"#,
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type has the required offering, requirements="])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T08:06:54.466Z","logger":"controller","message":"could not schedule pod","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f44b2-3c5e-4b7a-9d21-7e4c00022cce","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, no instance type has the required offering, requirements=karpenter.sh/capacity-type In [spot], topology.kubernetes.io/zone In [eu-west-1c], resources={\"cpu\":\"1\",\"pods\":\"7\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["and had enough resources, had a required offering"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-05-19T09:13:07.603Z","logger":"controller","message":"could not schedule pod","commit":"7ff7943","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f4883-3c5e-4b7a-9d21-7e4c00024bbd","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type which met the scheduling requirements and had enough resources, had a required offering, requirements=karpenter.sh/capacity-type In [spot], node.kubernetes.io/instance-type In [p5.48xlarge], resources={\"nvidia.com/gpu\":\"8\",\"pods\":\"5\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.12.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["no instance type met the scheduling requirements or had a required offering"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T10:20:20.740Z","logger":"controller","message":"could not schedule pod","commit":"c8c45c1","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f4c54-3c5e-4b7a-9d21-7e4c00026aac","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"no instance type met the scheduling requirements or had a required offering, requirements=karpenter.k8s.aws/instance-family In [x9z], resources={\"cpu\":\"1\",\"pods\":\"5\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/provisioning/scheduling/nodeclaim.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type", "had a required offering"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type which met the scheduling requirements and had enough resources, had a required offering, requirements=karpenter.sh/capacity-type In [spot], resources={"cpu":"1"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["no instance type has the required offering"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, no instance type has the required offering, requirements=topology.kubernetes.io/zone In [eu-west-1c], resources={"cpu":"1"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Possible,
        references: &["kubernetes-sigs/karpenter#2470; aws/karpenter-provider-aws#5676", "pkg/controllers/provisioning/scheduling/nodeclaim.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/cache/unavailableofferings.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "topology-constraint-unsatisfiable",
        severity: Severity::Error,
        summary: "no new node can satisfy a topology spread or affinity",
        says: "no new node can satisfy a topology spread or an affinity over {a label}",
        remedy: "let the NodePools cover as many zones as the constraint needs, lower `minDomains`, relax the required affinity, or set `whenUnsatisfiable: ScheduleAnyway`; check that the pods that an affinity refers to are running",
        cause: "
The counts in the message are the domains that Karpenter knows, with the pods in each. Nodes that Karpenter does not
manage count as domains too: a zone with only such nodes has a count of 0 that no new node can raise. An affinity to
pods that are not running has no domain at all, and an affinity to a host whose node is full has no free domain.

Release 1.8.4 counts incorrectly and refuses pods that fit.
",
        rules: &["topology-spread-regression", "hostname-node-affinity"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["unsatisfiable topology constraint for ", ", key="])),
                releases: Releases::ALL,
                detail: Detail::Between(", key=", " ("),
                example: r#"{"level":"ERROR","time":"2025-04-23T09:16:04.836Z","logger":"controller","message":"could not schedule pod","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f6adc-3c5e-4b7a-9d21-7e4c00036224","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = map[eu-west-1a:1 eu-west-1b:1 eu-west-1c:0], podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [eu-west-1a eu-west-1b])"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/topology.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["unsatisfiable topology constraint for ", ", key="])),
                releases: Releases::ALL,
                detail: Detail::Between(", key=", " ("),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, unsatisfiable topology constraint for pod affinity, key=kubernetes.io/hostname (counts = map[], podDomains = kubernetes.io/hostname Exists, nodeDomains = kubernetes.io/hostname In [hostname-placeholder-0004])",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/topology.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#1306, #2257, #2785; aws/karpenter-provider-aws#8637, #8000", "pkg/controllers/provisioning/scheduling/topology.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
];

/// Pods that the provisioner skips: the correlation `pod-ignored`.
pub(super) const IGNORED_PODS: &[Message] = &[
    Message {
        pattern: line(LogLevel::Debug, Text::Starts("ignoring pod, "), Text::Any).id(MessageId::PodIgnored),
        releases: Releases::until(9),
        detail: Detail::Between("ignoring pod, ", ";"),
        example: r#"{"level":"DEBUG","time":"2025-03-20T12:43:37.713Z","logger":"controller","message":"ignoring pod, label node-role.kubernetes.io/worker is restricted; specify a well known label: [karpenter.sh/capacity-type karpenter.sh/nodepool kubernetes.io/arch], or a custom label that does not use a restricted domain: [k8s.io karpenter.k8s.aws karpenter.sh kubernetes.io]","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fbb01-3c5e-4b7a-9d21-7e4c0005ebbf","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"}}"#,
        source: "kubernetes-sigs/karpenter v1.3.0 pkg/controllers/provisioning/provisioner.go",
    },
    Message {
        pattern: line(LogLevel::Debug, Text::Is("ignoring pod"), Text::Any).id(MessageId::PodIgnored),
        releases: Releases::since(10),
        detail: Detail::Field("error"),
        example: r#"{"level":"DEBUG","time":"2026-03-24T13:50:50.850Z","logger":"controller","message":"ignoring pod","commit":"d80cb86","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fbed2-3c5e-4b7a-9d21-7e4c00060aae","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"failed to validate pvc, pvc with immediate volume binding mode must be bound (PersistentVolumeClaim=shop/data-0, StorageClass=gp3)"}"#,
        source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/provisioning/provisioner.go",
    },
    Message {
        pattern: event(
            "FailedScheduling",
            Text::Has(&[
                "Failed to schedule pod, ",
                " is not allowed as it might interfere with the internal provisioning logic",
            ]),
        ),
        releases: Releases::since(10),
        detail: Detail::Between("using label ", " "),
        example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, using label karpenter.sh/registered is not allowed as it might interfere with the internal provisioning logic; specify a well known label: [kubernetes.io/arch], or a custom label that does not use a restricted domain: [karpenter.sh]",
        source: "kubernetes-sigs/karpenter v1.10.0 pkg/apis/v1/labels.go",
    },
    Message {
        pattern: event("FailedScheduling", Text::Has(&["Failed to schedule pod, label", " is restricted"])),
        releases: Releases::between(7, 8),
        detail: Detail::Between("(label=", ","),
        example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, label is restricted; specify a well known label or a custom label that does not use a restricted domain (label=node-role.kubernetes.io/worker, restricted-labels=[], well-known-labels=[])",
        source: "kubernetes-sigs/karpenter v1.8.0 pkg/apis/v1/labels.go",
    },
    Message {
        pattern: event(
            "FailedScheduling",
            Text::Has(&["Failed to schedule pod, ", "failed to validate pvc"]),
        ),
        releases: Releases::since(7),
        detail: Detail::None,
        example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, failed to validate pvc, pvc with immediate volume binding mode must be bound (PersistentVolumeClaim=shop/data-0)",
        source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/provisioning/scheduling/volumetopology.go",
    },
    Message {
        pattern: event(
            "FailedScheduling",
            Text::Has(&["Failed to schedule pod, ", "node selector term with matchFields is not supported"]),
        ),
        releases: Releases::since(7),
        detail: Detail::None,
        example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, node selector term with matchFields is not supported",
        source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/provisioning/provisioner.go",
    },
    Message {
        pattern: event(
            "FailedScheduling",
            Text::Has(&["Failed to schedule pod, ", "persistentvolumeclaim "]),
        ),
        releases: Releases::since(7),
        detail: Detail::None,
        example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, persistentvolumeclaim bound to non-existent persistentvolume (PersistentVolume=pvc-7b1e, PersistentVolumeClaim=shop/data-0)",
        source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/provisioning/scheduling/volumetopology.go",
    },
];
