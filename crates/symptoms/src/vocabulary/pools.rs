//! NodePools from which Karpenter creates no nodes: limits, requirements, readiness.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "pool-limit-reached",
        severity: Severity::Error,
        summary: "a NodePool has reached its limits",
        says: "the NodePool {here} has reached `spec.limits`, and gets no more nodes",
        remedy: "raise `spec.limits` of the NodePool, or check what uses it up; memory is a quantity such as `1000Gi`, and CPU counts cores",
        cause: "
Before it creates a node, Karpenter adds the smallest matching type to the resources of the NodePool's nodes, and
compares the sum with `spec.limits`. A limit with a wrong unit (`1000` for memory is a thousand bytes) is reached at
once.

From 1.11 on Karpenter checks a limit on `nodes` before it creates a NodeClaim; earlier releases check it later.
",
        rules: &["node-limit-enforced", "limit-never-enforced"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool: \""])),
                releases: Releases::until(2),
                detail: Detail::Between("exceed limits for nodepool: \"", "\""),
                example: r#"{"level":"ERROR","time":"2024-10-15T11:27:33.877Z","logger":"controller","message":"could not schedule pod","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5025-3c5e-4b7a-9d21-7e4c0002899b","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"all available instance types exceed limits for nodepool: \"default\""}"#,
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool \""])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("exceed limits for nodepool \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-04-23T12:34:46.014Z","logger":"controller","message":"could not schedule pod","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f53f6-3c5e-4b7a-9d21-7e4c0002a88a","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"all available instance types exceed limits for nodepool \"default\""}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool (NodePool="])),
                releases: Releases::since(5),
                detail: Detail::Between("(NodePool=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T13:41:59.151Z","logger":"controller","message":"could not schedule pod","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f57c7-3c5e-4b7a-9d21-7e4c0002c779","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"NodePool":{"name":"default"},"error":"all available instance types exceed limits for nodepool (NodePool=default)"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["node limits have been exhausted for nodepool (NodePool="])),
                releases: Releases::since(11),
                detail: Detail::Between("(NodePool=", ")"),
                example: r#"{"level":"ERROR","time":"2026-04-21T14:48:12.288Z","logger":"controller","message":"could not schedule pod","commit":"77c1613","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5b98-3c5e-4b7a-9d21-7e4c0002e668","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"NodePool":{"name":"default"},"error":"node limits have been exhausted for nodepool (NodePool=default)"}"#,
                source: "kubernetes-sigs/karpenter v1.11.1 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["exceed limits for nodepool (NodePool="])),
                releases: Releases::since(5),
                detail: Detail::Between("(NodePool=", ")"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::HasBut(&["exceed limits for nodepool"], &["for nodepool (", "for nodepool \"", "for nodepool: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, all available instance types exceed limits for nodepool",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["exceed limits for nodepool \""])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("exceed limits for nodepool \"", "\""),
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, all available instance types exceed limits for nodepool "default""#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["node limits have been exhausted for nodepool (NodePool="])),
                releases: Releases::since(11),
                detail: Detail::Between("(NodePool=", ")"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=default)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["creating node claim", " resource usage of ", " exceeds limit of "])),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T15:55:25.425Z","logger":"controller","message":"Reconciler error","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5f69-3c5e-4b7a-9d21-7e4c00030557","error":"creating node claim, cpu resource usage of 104 exceeds limit of 100"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/apis/v1/nodepool.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["creating node claim, ", "resource usage exceeds limit ("])),
                releases: Releases::since(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T16:02:38.562Z","logger":"controller","message":"Reconciler error","commit":"51932b4","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f633a-3c5e-4b7a-9d21-7e4c00032446","limit":"100","resource-name":"cpu","usage":"104","error":"creating node claim, resource usage exceeds limit (limit=100, resource-name=cpu, usage=104)"}"#,
                source: "kubernetes-sigs/karpenter v1.8.2 pkg/apis/v1/nodepool.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("nodepool node limit reached"), Text::Any),
                releases: Releases::since(8),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2026-03-24T08:09:51.699Z","logger":"controller","message":"nodepool node limit reached","commit":"d80cb86","controller":"static.provisioning","namespace":"","name":"","reconcileID":"5a1f670b-3c5e-4b7a-9d21-7e4c00034335","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/static/provisioning/controller.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5101, #5975; kubernetes-sigs/karpenter#2123", "pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "min-values-not-met",
        severity: Severity::Error,
        summary: "`minValues` requires more values of a label than are available",
        says: "the available instance types have fewer values of {a label} than `minValues` requires",
        remedy: "lower `minValues` in the requirement, or allow more values of the key; from 1.6 on you can relax it with `settings.minValuesPolicy: BestEffort`",
        cause: "
With `minValues` a NodePool requires a choice of at least that many values of a label. Karpenter first excludes types
that are too small for the pods, exceed a limit or have no capacity at the moment; the remaining types must have
enough values.
",
        rules: &["min-values-impossible"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for \""])),
                releases: Releases::until(4),
                detail: Detail::Between("minValues requirement is not met for \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-02-12T10:23:17.973Z","logger":"controller","message":"could not schedule pod","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f6ead-3c5e-4b7a-9d21-7e4c00038113","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, minValues requirement is not met for \"karpenter.k8s.aws/instance-family\""}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/cloudprovider/types.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for label (label="])),
                releases: Releases::between(5, 5),
                detail: Detail::Between("(label=", ")"),
                example: r#"{"level":"ERROR","time":"2025-06-11T11:30:30.110Z","logger":"controller","message":"could not schedule pod","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f727e-3c5e-4b7a-9d21-7e4c0003a002","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"label":"karpenter.k8s.aws/instance-family","error":"minValues requirement is not met for label (label=karpenter.k8s.aws/instance-family), requirements=karpenter.sh/nodepool In [default], resources={\"cpu\":\"1\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/cloudprovider/types.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for label(s) (label(s)=["])),
                releases: Releases::since(6),
                detail: Detail::Between("(label(s)=[", "]"),
                example: r#"{"level":"ERROR","time":"2025-07-22T12:37:43.247Z","logger":"controller","message":"could not schedule pod","commit":"13242ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f764f-3c5e-4b7a-9d21-7e4c0003bef1","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"minValues requirement is not met for label(s) (label(s)=[karpenter.k8s.aws/instance-family]), requirements=karpenter.sh/nodepool In [default], resources={\"cpu\":\"1\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.6.2 pkg/cloudprovider/types.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["minValues requirement is not met for label(s) (label(s)=["])),
                releases: Releases::since(6),
                detail: Detail::Between("(label(s)=[", "]"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, minValues requirement is not met for label(s) (label(s)=[karpenter.k8s.aws/instance-family]), requirements=karpenter.sh/nodepool In [default]",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/cloudprovider/types.go",
            },
            Message {
                pattern: event("NoCompatibleInstanceTypes", Text::Is("NodePool requirements filtered out all compatible available instance types due to minValues incompatibility")),
                releases: Releases::since(6),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   NoCompatibleInstanceTypes   nodepool/default   NodePool requirements filtered out all compatible available instance types due to minValues incompatibility",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#963", "pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "pool-filters-out-every-type",
        severity: Severity::Error,
        summary: "the requirements of a NodePool leave no instance type",
        says: "the requirements of the NodePool {here} leave no instance type",
        remedy: "read `spec.template.spec.requirements` of the NodePool as a whole: look for two requirements that exclude each other, for a value that no type has, for a zone without a subnet of the node class, and for `Gt` and `Lt` with a wrong unit (memory counts MiB)",
        cause: "
Each requirement excludes types; together they exclude all of them. The NodePool is Ready nevertheless, because only
the provisioner combines the requirements. It can also happen for some minutes while EC2 has no capacity for any of
the types, or right after a node class is created.
",
        rules: &["requirement-value-unknown", "not-in-without-values"],
        messages: &[
            Message {
                pattern: line(LogLevel::Info, Text::Is("skipping, nodepool requirements filtered out all instance types"), Text::Any),
                releases: Releases::since(1),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2025-03-20T13:44:56.384Z","logger":"controller","message":"skipping, nodepool requirements filtered out all instance types","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f7a20-3c5e-4b7a-9d21-7e4c0003dde0","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.3.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: event("NoCompatibleInstanceTypes", Text::Is("NodePool requirements filtered out all compatible available instance types")),
                releases: Releases::since(2),
                detail: Detail::Object,
                example: "2m14s (x6 over 21m)   Warning   NoCompatibleInstanceTypes   nodepool/default   NodePool requirements filtered out all compatible available instance types",
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["nodepool requirements filtered out all available instance types"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-09-09T14:51:09.521Z","logger":"controller","message":"could not schedule pod","commit":"54ada83","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f7df1-3c5e-4b7a-9d21-7e4c0003fccf","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"nodepool requirements filtered out all available instance types"}"#,
                source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["nodepool requirements filtered out all available instance types"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, nodepool requirements filtered out all available instance types",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#2414", "pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "no-nodepool",
        severity: Severity::Error,
        summary: "no NodePool is ready",
        says: "no NodePool is ready, and pods wait",
        remedy: "create a NodePool, or look at the conditions of the existing ones: `kubectl get nodepools` shows which are not ready",
        cause: "
Only NodePools that are Ready count. If NodePools exist, the controller first lists those that it ignores; without
that list there is no NodePool at all. From 1.9 on NodePools with `spec.replicas` do not count either, because they
create no nodes for pods.
",
        rules: &["nodeclass-ref-dangling"],
        messages: &[
            Message {
                pattern: line(LogLevel::Info, Text::Is("no nodepools found"), Text::Any),
                releases: Releases::until(8),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-02-12T15:58:22.658Z","logger":"controller","message":"no nodepools found","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f81c2-3c5e-4b7a-9d21-7e4c00041bbe"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("no dynamic nodepools found"), Text::Any),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2026-02-10T16:05:35.795Z","logger":"controller","message":"no dynamic nodepools found","commit":"68643c6","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8593-3c5e-4b7a-9d21-7e4c00043aad"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimCreated, MessageId::NodeClaimsComputed] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7436", "pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "nodepool-not-ready",
        severity: Severity::Error,
        summary: "a NodePool is not ready and is ignored",
        says: "the NodePool {here} is not ready, so that Karpenter creates no nodes from it: most often its node class does not exist or is not ready",
        remedy: "look at the conditions of its node class (`kubectl describe ec2nodeclass`): the condition that is not `True` names the problem; then look at `ValidationSucceeded` of the NodePool",
        cause: "
A NodePool is Ready when its validation succeeded and its node class exists and is Ready. Most often the node class is
the problem: a selector that matches nothing, a role or profile that cannot be used, a permission that the controller
lacks.

It is normal for a moment after the controller starts or a node class is created.
",
        rules: &["nodeclass-ref-dangling", "status-contradiction", "instance-profile-is-arn", "nodeclass-ref-unmanaged"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("ignoring nodepool, not ready"), Text::Any).id(MessageId::NodePoolNotReady),
                releases: Releases::since(1),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2025-04-23T08:12:48.932Z","logger":"controller","message":"ignoring nodepool, not ready","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8964-3c5e-4b7a-9d21-7e4c0004599c","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("nodePool not ready"), Text::Any),
                releases: Releases::until(0),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2024-10-15T09:19:01.069Z","logger":"controller","message":"nodePool not ready","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8d35-3c5e-4b7a-9d21-7e4c0004788b","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("skipped nodePools, not ready"), Text::Any),
                releases: Releases::until(0),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2024-10-15T10:26:14.206Z","logger":"controller","message":"skipped nodePools, not ready","commit":"a2875e3","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f9106-3c5e-4b7a-9d21-7e4c0004977a","nodePools":{}}"#,
                source: "kubernetes-sigs/karpenter v1.0.5 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: condition("NodePool", "NodeClassReady", "Unknown", "NodeClassReadinessUnknown", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"Unknown","reason":"NodeClassReadinessUnknown","message":"Node Class Readiness Unknown"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            },
            Message {
                pattern: condition("NodePool", "NodeClassReady", "False", "UnhealthyDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"False","reason":"UnhealthyDependents","message":"SubnetsReady=False"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            },
            Message {
                pattern: condition("NodePool", "Ready", "False", "UnhealthyDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"Ready","status":"False","reason":"UnhealthyDependents","message":"NodeClassReady=False"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            },
            Message {
                pattern: condition("NodePool", "Ready", "Unknown", "ReconcilingDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"NodeClassReady=Unknown"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            },
            Message {
                pattern: condition("NodePool", "NodeClassReady", "False", "NodeClassTerminating", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"False","reason":"NodeClassTerminating","message":"NodeClass is Terminating"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#8072, #7436", "pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "nodepool-invalid",
        severity: Severity::Error,
        summary: "the controller rejects a NodePool that the API server accepted",
        says: "the controller rejects the NodePool {here}",
        remedy: "correct the label, taint or requirement under `spec.template` that the condition `ValidationSucceeded` names",
        cause: "
The controller validates labels and taints more strictly than the API server. It sets `ValidationSucceeded` to
`False`, logs nothing, and ignores the NodePool until you change it. Tools that add their own labels to every object
are a possible cause.
",
        rules: &["restricted-label", "malformed-label", "malformed-taint", "duplicate-taint", "requirement-value-unknown"],
        messages: &[
            Message {
                pattern: condition("NodePool", "ValidationSucceeded", "False", "NodePoolValidationFailed", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"ValidationSucceeded","status":"False","reason":"NodePoolValidationFailed","message":"invalid key name \"app.kubernetes.io/managed-by\" in labels, label app.kubernetes.io/managed-by is restricted"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodepool/validation/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6495, #6618", "pkg/controllers/nodepool/validation/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "pool-value-invalid",
        severity: Severity::Warning,
        summary: "a NodePool has a value that its label cannot have",
        says: "a requirement on {a label} has values that the label cannot have, and Karpenter ignores them",
        remedy: "correct or remove the values in the field `invalid-values`; the field `valid-values` lists the possible ones",
        cause: "
From 1.5 on Karpenter compares the values of some labels, such as `karpenter.sh/capacity-type`, with the known values.
If some values are valid, it ignores the others; if no value is valid, the NodePool is not ready.
",
        rules: &["requirement-value-unknown"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("please correct found invalid values, proceeding with valid values"), Text::Any),
                releases: Releases::since(5),
                detail: Detail::Field("key"),
                example: r#"{"level":"ERROR","time":"2025-07-22T11:33:27.343Z","logger":"controller","message":"please correct found invalid values, proceeding with valid values","commit":"13242ea","controller":"nodepool.hash","controllerGroup":"karpenter.sh","controllerKind":"NodePool","NodePool":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a1f94d7-3c5e-4b7a-9d21-7e4c0004b669","key":"karpenter.sh/capacity-type","valid-values":["spot"],"invalid-values":["ondemand"],"error":"invalid values found for key"}"#,
                source: "kubernetes-sigs/karpenter v1.6.2 pkg/apis/v1/nodeclaim_validation.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/apis/v1/nodeclaim_validation.go of kubernetes-sigs/karpenter at v1.5.0"],
    },
    Symptom {
        name: "instance-types-unresolved",
        severity: Severity::Error,
        summary: "Karpenter cannot determine the instance types of a NodePool",
        says: "Karpenter cannot determine the instance types of the NodePool {here}",
        remedy: "read the error in the same line: correct `nodeClassRef` of the NodePool, the subnet selector of the node class, or the controller's permissions `ec2:DescribeInstanceTypes`, `ec2:DescribeInstanceTypeOfferings` and `ec2:DescribeSubnets`",
        cause: "
Karpenter determines the instance types from the node class, its subnets and the EC2 offerings in their zones. If the
node class is missing or has no subnets yet, or if EC2 does not answer, Karpenter ignores the NodePool. This is normal
for a moment after a start.
",
        rules: &["nodeclass-ref-dangling", "selector-cluster-mismatch"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("skipping, unable to resolve instance types"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2025-10-21T12:40:40.480Z","logger":"controller","message":"skipping, unable to resolve instance types","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f98a8-3c5e-4b7a-9d21-7e4c0004d558","NodePool":{"name":"default"},"error":"no subnets found"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("skipping, no resolved instance types found"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2025-06-11T13:47:53.617Z","logger":"controller","message":"skipping, no resolved instance types found","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f9c79-3c5e-4b7a-9d21-7e4c0004f447","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/providers/instancetype/instancetype.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "overlays-not-applied",
        severity: Severity::Warning,
        summary: "Karpenter has not applied NodeOverlays to a NodePool",
        says: "Karpenter has not applied NodeOverlays, and excludes the NodePool from disruption until it has",
        remedy: "look at the condition `ValidationSucceeded` of the NodeOverlays, and check that their CRD is installed",
        cause: "
With the feature gate `NodeOverlay` Karpenter uses a NodePool only after it has evaluated the overlays. This takes
seconds after a start; if it lasts, an overlay or the CRD is the cause.
",
        rules: &["overlay-conflict", "overlay-of-known-capacity", "feature-gate-needed"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("skipping, node overlies are not applied"), Text::Any),
                releases: Releases::between(7, 11),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T14:54:06.754Z","logger":"controller","message":"skipping, node overlies are not applied","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a1fa04a-3c5e-4b7a-9d21-7e4c00051336","error":"nodepool \"default\" is awaiting evaluation"}"#,
                source: "kubernetes-sigs/karpenter v1.11.2 pkg/controllers/disruption/helpers.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("skipping, node overlays are not applied"), Text::Any),
                releases: Releases::since(12),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-05-19T15:01:19.891Z","logger":"controller","message":"skipping, node overlays are not applied","commit":"7ff7943","controller":"disruption","namespace":"","name":"","reconcileID":"5a1fa41b-3c5e-4b7a-9d21-7e4c00053225","error":"nodepool \"default\" is awaiting evaluation"}"#,
                source: "kubernetes-sigs/karpenter v1.12.0 pkg/controllers/disruption/helpers.go",
            }
        ],
        when: When::Lasting { minutes: 5 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter at v1.12.0"],
    },
    Symptom {
        name: "resource-claims-skipped",
        severity: Severity::Warning,
        summary: "Karpenter ignores pods with ResourceClaims",
        says: "Karpenter ignores pods that use ResourceClaims",
        remedy: "run these pods on nodes that Karpenter does not manage, or, from 1.14 on, set `settings.ignoreDRARequests` to `false`",
        cause: "
Karpenter does not know which devices a node will have for a ResourceClaim. From 1.7 on it ignores such pods instead
of creating nodes that may not run them; from 1.8 on a setting decides.
",
        rules: &["resource-claims-ignored"],
        messages: &[
            Message {
                pattern: line(LogLevel::Info, Text::Is("skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter"), Text::Any),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-10-21T16:08:32.028Z","logger":"controller","message":"skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fa7ec-3c5e-4b7a-9d21-7e4c00055114","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"}}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                pattern: event("FailedScheduling", Text::Has(&["pod has Dynamic Resource Allocation requirements"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[] },
        confidence: Confidence::Certain,
        references: &["pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.7.0"],
    },
    Symptom {
        name: "scheduling-times-out",
        severity: Severity::Warning,
        summary: "scheduling simulations time out",
        says: "scheduling simulations repeatedly time out",
        remedy: "give the controller more CPU (`controller.resources`), and look for soft constraints on very many pods: from 1.4 on `settings.preferencePolicy: Ignore` ignores them",
        cause: "
A scheduling simulation has one minute; the remaining pods wait for the next one. Many pods with affinities and
topology spreads, many NodePools, and a low CPU limit make it slow.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Is("scheduling simulation timed out"), Text::Any),
                releases: Releases::since(4),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-07-22T08:15:45.165Z","logger":"controller","message":"scheduling simulation timed out","commit":"c8c45c1","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fabbd-3c5e-4b7a-9d21-7e4c00057003"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            }
        ],
        when: When::Often { count: 5, minutes: 30 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.4.0"],
    },
    Symptom {
        name: "cluster-state-not-synced",
        severity: Severity::Error,
        summary: "the controller waits for its cluster state to become complete",
        says: "the controller has waited for minutes for its cluster state to become complete, and creates no nodes meanwhile",
        remedy: "look for NodeClaims without `status.providerID` (`kubectl get nodeclaims -o wide`), for the reason why they do not launch, and for errors of the API server in the log",
        cause: "
The controller schedules only when it knows every NodeClaim and Node of the API server and every NodeClaim is
launched. One NodeClaim that cannot launch and is not deleted blocks everything, and so does a slow API server.

From 1.5 on the controller logs this at ERROR after half a minute and then every ten seconds. Earlier releases log it
only at DEBUG, also for the moments in which it is normal.
",
        rules: &["instance-profile-is-arn"],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Is("waiting on cluster sync"), Text::Any),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-03-20T09:22:58.302Z","logger":"controller","message":"waiting on cluster sync","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1faf8e-3c5e-4b7a-9d21-7e4c00058ef2"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("cluster is waiting on sync for extended duration"), Text::Any),
                releases: Releases::since(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T10:29:11.439Z","logger":"controller","message":"cluster is waiting on sync for extended duration","commit":"e7e1327","controller":"disruption","namespace":"","name":"","reconcileID":"5a1fb35f-3c5e-4b7a-9d21-7e4c0005ade1","duration":"2m30s","error":"waiting on cluster sync"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/state/cluster.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed checking cluster state sync"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-02-12T11:36:24.576Z","logger":"controller","message":"failed checking cluster state sync","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fb730-3c5e-4b7a-9d21-7e4c0005ccd0","error":"Get \"https://172.20.0.1:443/apis/karpenter.sh/v1/nodeclaims\": context deadline exceeded"}"#,
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/state/cluster.go",
            }
        ],
        when: When::Lasting { minutes: 5 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/state/cluster.go of kubernetes-sigs/karpenter at v1.5.0"],
    },
];
