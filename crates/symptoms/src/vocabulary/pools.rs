//! NodePools that make no node: limits, requirements, readiness.

use super::{Detail, Message, Text, When, condition, event, line};
use lint::finding::Severity;
use karpenter::release::Releases;
use crate::entry::Level;
use lint::report::Confidence;
use crate::Symptom;

/// The symptoms of this part.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "pool-limit-reached",
        severity: Severity::Error,
        summary: "a NodePool has reached its limits",
        says: "the NodePool {here} has reached `spec.limits`, and makes no more nodes",
        remedy: "raise `spec.limits` of the NodePool, or look for what fills it; memory is a quantity such as `1000Gi`, and CPU counts cores",
        cause: "
Before a node is made, what the nodes of the pool have is added to the smallest type that could serve, and compared
with `spec.limits`. A limit in a wrong unit (`1000` for memory is a thousand bytes) is reached at once.

From 1.11 on a limit on `nodes` is enforced before a NodeClaim is made; earlier it took effect only in the end.
",
        rules: &["node-limit-enforced", "limit-never-enforced"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool: \""])),
                releases: Releases::until(2),
                detail: Detail::Between("exceed limits for nodepool: \"", "\""),
                example: r#"{"level":"ERROR","time":"2024-10-15T11:27:33.877Z","logger":"controller","message":"could not schedule pod","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5025-3c5e-4b7a-9d21-7e4c0002899b","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"all available instance types exceed limits for nodepool: \"default\""}"#,
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool \""])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("exceed limits for nodepool \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-04-23T12:34:46.014Z","logger":"controller","message":"could not schedule pod","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f53f6-3c5e-4b7a-9d21-7e4c0002a88a","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"all available instance types exceed limits for nodepool \"default\""}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["exceed limits for nodepool (NodePool="])),
                releases: Releases::since(5),
                detail: Detail::Between("(NodePool=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T13:41:59.151Z","logger":"controller","message":"could not schedule pod","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f57c7-3c5e-4b7a-9d21-7e4c0002c779","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"NodePool":{"name":"default"},"error":"all available instance types exceed limits for nodepool (NodePool=default)"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["node limits have been exhausted for nodepool (NodePool="])),
                releases: Releases::since(11),
                detail: Detail::Between("(NodePool=", ")"),
                example: r#"{"level":"ERROR","time":"2026-04-21T14:48:12.288Z","logger":"controller","message":"could not schedule pod","commit":"77c1613","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5b98-3c5e-4b7a-9d21-7e4c0002e668","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"NodePool":{"name":"default"},"error":"node limits have been exhausted for nodepool (NodePool=default)"}"#,
                source: "kubernetes-sigs/karpenter v1.11.1 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["exceed limits for nodepool (NodePool="])),
                releases: Releases::since(5),
                detail: Detail::Between("(NodePool=", ")"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["exceed limits for nodepool \""])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("exceed limits for nodepool \"", "\""),
                example: r#"2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, all available instance types exceed limits for nodepool "default""#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["node limits have been exhausted for nodepool (NodePool="])),
                releases: Releases::since(11),
                detail: Detail::Between("(NodePool=", ")"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=default)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["creating node claim", " resource usage of ", " exceeds limit of "])),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T15:55:25.425Z","logger":"controller","message":"Reconciler error","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f5f69-3c5e-4b7a-9d21-7e4c00030557","error":"creating node claim, cpu resource usage of 104 exceeds limit of 100"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/apis/v1/nodepool.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["creating node claim, ", "resource usage exceeds limit ("])),
                releases: Releases::since(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T16:02:38.562Z","logger":"controller","message":"Reconciler error","commit":"51932b4","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f633a-3c5e-4b7a-9d21-7e4c00032446","limit":"100","resource-name":"cpu","usage":"104","error":"creating node claim, resource usage exceeds limit (limit=100, resource-name=cpu, usage=104)"}"#,
                source: "kubernetes-sigs/karpenter v1.8.2 pkg/apis/v1/nodepool.go",
            },
            Message {
                seen: line(Level::Info, Text::Is("nodepool node limit reached"), Text::Any),
                releases: Releases::since(8),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2026-03-24T08:09:51.699Z","logger":"controller","message":"nodepool node limit reached","commit":"d80cb86","controller":"static.provisioning","namespace":"","name":"","reconcileID":"5a1f670b-3c5e-4b7a-9d21-7e4c00034335","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/static/provisioning/controller.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &["created nodeclaim"] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5101, #5975; kubernetes-sigs/karpenter#2123", "pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "min-values-not-met",
        severity: Severity::Error,
        summary: "a NodePool asks for more values of a label than there are",
        says: "what is left of the instance types has fewer values of {a label} than `minValues` asks for",
        remedy: "lower `minValues` in the requirement, or allow more values of the key; from 1.6 on `settings.minValuesPolicy: BestEffort` lets it pass",
        cause: "
With `minValues` a NodePool asks that a node can be chosen from so many different values of a label. Types that are
too small for the pods, over a limit or without capacity at the moment are taken out first; the rest has to have that
many.
",
        rules: &["min-values-impossible"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for \""])),
                releases: Releases::until(4),
                detail: Detail::Between("minValues requirement is not met for \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-02-12T10:23:17.973Z","logger":"controller","message":"could not schedule pod","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f6ead-3c5e-4b7a-9d21-7e4c00038113","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"incompatible with nodepool \"default\", daemonset overhead={\"cpu\":\"180m\",\"memory\":\"220Mi\",\"pods\":\"6\"}, minValues requirement is not met for \"karpenter.k8s.aws/instance-family\""}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/cloudprovider/types.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for label (label="])),
                releases: Releases::between(5, 5),
                detail: Detail::Between("(label=", ")"),
                example: r#"{"level":"ERROR","time":"2025-06-11T11:30:30.110Z","logger":"controller","message":"could not schedule pod","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f727e-3c5e-4b7a-9d21-7e4c0003a002","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"label":"karpenter.k8s.aws/instance-family","error":"minValues requirement is not met for label (label=karpenter.k8s.aws/instance-family), requirements=karpenter.sh/nodepool In [default], resources={\"cpu\":\"1\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/cloudprovider/types.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["minValues requirement is not met for label(s) (label(s)=["])),
                releases: Releases::since(6),
                detail: Detail::Between("(label(s)=[", "]"),
                example: r#"{"level":"ERROR","time":"2025-07-22T12:37:43.247Z","logger":"controller","message":"could not schedule pod","commit":"13242ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f764f-3c5e-4b7a-9d21-7e4c0003bef1","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"minValues requirement is not met for label(s) (label(s)=[karpenter.k8s.aws/instance-family]), requirements=karpenter.sh/nodepool In [default], resources={\"cpu\":\"1\"}"}"#,
                source: "kubernetes-sigs/karpenter v1.6.2 pkg/cloudprovider/types.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["minValues requirement is not met for label(s) (label(s)=["])),
                releases: Releases::since(6),
                detail: Detail::Between("(label(s)=[", "]"),
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, minValues requirement is not met for label(s) (label(s)=[karpenter.k8s.aws/instance-family]), requirements=karpenter.sh/nodepool In [default]",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/cloudprovider/types.go",
            },
            Message {
                seen: event("NoCompatibleInstanceTypes", Text::Is("NodePool requirements filtered out all compatible available instance types due to minValues incompatibility")),
                releases: Releases::since(6),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   NoCompatibleInstanceTypes   nodepool/default   NodePool requirements filtered out all compatible available instance types due to minValues incompatibility",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &["created nodeclaim"] },
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#963", "pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "pool-filters-out-every-type",
        severity: Severity::Error,
        summary: "the requirements of a NodePool leave no instance type",
        says: "the requirements of the NodePool {here} leave no instance type to choose from",
        remedy: "read `spec.template.spec.requirements` of the NodePool together: look for two that exclude one another, for a value that no type has, for a zone in which the node class has no subnet, and for `Gt` and `Lt` in the wrong unit (memory counts MiB)",
        cause: "
Each requirement takes out types; all of them together took out every one. The NodePool is Ready all the same, as only
the provisioner puts them together. While EC2 has no capacity for any of the types, or while a node class has just
been made, it can come to this for some minutes.
",
        rules: &["requirement-value-unknown", "not-in-without-values"],
        messages: &[
            Message {
                seen: line(Level::Info, Text::Is("skipping, nodepool requirements filtered out all instance types"), Text::Any),
                releases: Releases::since(1),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2025-03-20T13:44:56.384Z","logger":"controller","message":"skipping, nodepool requirements filtered out all instance types","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f7a20-3c5e-4b7a-9d21-7e4c0003dde0","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.3.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: event("NoCompatibleInstanceTypes", Text::Is("NodePool requirements filtered out all compatible available instance types")),
                releases: Releases::since(2),
                detail: Detail::Object,
                example: "2m14s (x6 over 21m)   Warning   NoCompatibleInstanceTypes   nodepool/default   NodePool requirements filtered out all compatible available instance types",
                source: "kubernetes-sigs/karpenter v1.2.0 pkg/controllers/provisioning/scheduling/events.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["nodepool requirements filtered out all available instance types"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-09-09T14:51:09.521Z","logger":"controller","message":"could not schedule pod","commit":"54ada83","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f7df1-3c5e-4b7a-9d21-7e4c0003fccf","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"nodepool requirements filtered out all available instance types"}"#,
                source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["nodepool requirements filtered out all available instance types"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/api-6d5f7c9b8-qk2vx   Failed to schedule pod, nodepool requirements filtered out all available instance types",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/provisioning/scheduling/events.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &["created nodeclaim"] },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#2414", "pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "no-nodepool",
        severity: Severity::Error,
        summary: "there is no NodePool that nodes could be made from",
        says: "there is no NodePool that is ready, and pods wait",
        remedy: "make a NodePool, or look at the conditions of those that exist: `kubectl get nodepools` shows which are not ready",
        cause: "
Only NodePools that are Ready count. It is said after a list of those that were ignored, if there are any; without
such a list there is none at all. From 1.9 on NodePools with `spec.replicas` do not count either, as they make no
nodes for pods.
",
        rules: &["nodeclass-ref-dangling"],
        messages: &[
            Message {
                seen: line(Level::Info, Text::Is("no nodepools found"), Text::Any),
                releases: Releases::until(8),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-02-12T15:58:22.658Z","logger":"controller","message":"no nodepools found","commit":"93da438","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f81c2-3c5e-4b7a-9d21-7e4c00041bbe"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: line(Level::Info, Text::Is("no dynamic nodepools found"), Text::Any),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2026-02-10T16:05:35.795Z","logger":"controller","message":"no dynamic nodepools found","commit":"68643c6","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8593-3c5e-4b7a-9d21-7e4c00043aad"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &["created nodeclaim", "computed new nodeclaim(s) to fit pod(s)"] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7436", "pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "nodepool-not-ready",
        severity: Severity::Error,
        summary: "a NodePool is not ready and is passed over",
        says: "the NodePool {here} is not ready, and no nodes are made from it: most often its node class does not exist or is not ready itself",
        remedy: "look at the conditions of its node class (`kubectl describe ec2nodeclass`): the one that is not `True` names what is missing; then look at `ValidationSucceeded` of the NodePool itself",
        cause: "
A NodePool is Ready when its own validation succeeded and the node class it refers to exists and is Ready. Most often
it is the node class: a selector that matches nothing, a role or profile that cannot be used, a permission that the
controller lacks.

For a moment after the controller starts or a node class is made it is normal.
",
        rules: &["nodeclass-ref-dangling", "status-contradiction", "instance-profile-is-arn", "nodeclass-ref-unmanaged"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("ignoring nodepool, not ready"), Text::Any),
                releases: Releases::since(1),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2025-04-23T08:12:48.932Z","logger":"controller","message":"ignoring nodepool, not ready","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8964-3c5e-4b7a-9d21-7e4c0004599c","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("nodePool not ready"), Text::Any),
                releases: Releases::until(0),
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2024-10-15T09:19:01.069Z","logger":"controller","message":"nodePool not ready","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f8d35-3c5e-4b7a-9d21-7e4c0004788b","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: line(Level::Info, Text::Is("skipped nodePools, not ready"), Text::Any),
                releases: Releases::until(0),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2024-10-15T10:26:14.206Z","logger":"controller","message":"skipped nodePools, not ready","commit":"a2875e3","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f9106-3c5e-4b7a-9d21-7e4c0004977a","nodePools":{}}"#,
                source: "kubernetes-sigs/karpenter v1.0.5 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: condition("NodePool", "NodeClassReady", "Unknown", "NodeClassReadinessUnknown", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"Unknown","reason":"NodeClassReadinessUnknown","message":"Node Class Readiness Unknown"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            },
            Message {
                seen: condition("NodePool", "NodeClassReady", "False", "UnhealthyDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"False","reason":"UnhealthyDependents","message":"SubnetsReady=False"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            },
            Message {
                seen: condition("NodePool", "Ready", "False", "UnhealthyDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"Ready","status":"False","reason":"UnhealthyDependents","message":"NodeClassReady=False"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            },
            Message {
                seen: condition("NodePool", "Ready", "Unknown", "ReconcilingDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"NodeClassReady=Unknown"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            },
            Message {
                seen: condition("NodePool", "NodeClassReady", "False", "NodeClassTerminating", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"False","reason":"NodeClassTerminating","message":"NodeClass is Terminating"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &["created nodeclaim"] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#8072, #7436", "pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "nodepool-invalid",
        severity: Severity::Error,
        summary: "the controller refuses a NodePool that the API server took",
        says: "the controller refuses the NodePool {here}",
        remedy: "correct what the message of the condition `ValidationSucceeded` names: a label, a taint or a requirement under `spec.template`",
        cause: "
The API server takes a NodePool whose labels and taints the controller then checks more strictly. It sets
`ValidationSucceeded` to `False`, says nothing in its log, and passes the NodePool over until it is changed. Tools
that add their own labels to every object cause it too.
",
        rules: &["restricted-label", "malformed-label", "malformed-taint", "duplicate-taint", "requirement-value-unknown"],
        messages: &[
            Message {
                seen: condition("NodePool", "ValidationSucceeded", "False", "NodePoolValidationFailed", Text::Any),
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
        summary: "a NodePool names a value that its label cannot have",
        says: "a requirement on {a label} names values that the label cannot have, and goes on without them",
        remedy: "correct or remove the values that the field `invalid-values` lists; `valid-values` lists those that there are",
        cause: "
From 1.5 on the values of some labels, such as `karpenter.sh/capacity-type`, are compared with those that there are.
If some are right the wrong ones are passed over; if none is, the NodePool is not ready.
",
        rules: &["requirement-value-unknown"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("please correct found invalid values, proceeding with valid values"), Text::Any),
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
        summary: "the instance types of a NodePool cannot be determined",
        says: "the instance types of the NodePool {here} cannot be determined",
        remedy: "read the error beside it: correct `nodeClassRef` of the NodePool, the subnet selector of the node class, or the permissions `ec2:DescribeInstanceTypes`, `ec2:DescribeInstanceTypeOfferings` and `ec2:DescribeSubnets` of the controller",
        cause: "
What can be launched is worked out from the node class, its subnets and what EC2 offers in their zones. If the node
class is missing, has no subnets yet or EC2 does not answer, the NodePool is passed over. Right after a start it
happens for a moment.
",
        rules: &["nodeclass-ref-dangling", "selector-cluster-mismatch"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("skipping, unable to resolve instance types"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"ERROR","time":"2025-10-21T12:40:40.480Z","logger":"controller","message":"skipping, unable to resolve instance types","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f98a8-3c5e-4b7a-9d21-7e4c0004d558","NodePool":{"name":"default"},"error":"no subnets found"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: line(Level::Info, Text::Is("skipping, no resolved instance types found"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::Field("NodePool"),
                example: r#"{"level":"INFO","time":"2025-06-11T13:47:53.617Z","logger":"controller","message":"skipping, no resolved instance types found","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1f9c79-3c5e-4b7a-9d21-7e4c0004f447","NodePool":{"name":"default"}}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &["created nodeclaim"] },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/providers/instancetype/instancetype.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "overlays-not-applied",
        severity: Severity::Warning,
        summary: "NodeOverlays are not applied to a NodePool",
        says: "NodeOverlays are not applied, and the NodePool is left out of disruption until they are",
        remedy: "look at the condition `ValidationSucceeded` of the NodeOverlays, and at whether their CRD is installed",
        cause: "
With the gate `NodeOverlay` a NodePool is used only after overlays were evaluated for it. This is a matter of seconds
after a start; if it lasts, an overlay or its CRD is in the way.
",
        rules: &["overlay-conflict", "overlay-of-known-capacity", "feature-gate-needed"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("skipping, node overlies are not applied"), Text::Any),
                releases: Releases::between(7, 11),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T14:54:06.754Z","logger":"controller","message":"skipping, node overlies are not applied","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a1fa04a-3c5e-4b7a-9d21-7e4c00051336","error":"nodepool \"default\" is awaiting evaluation"}"#,
                source: "kubernetes-sigs/karpenter v1.11.2 pkg/controllers/disruption/helpers.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("skipping, node overlays are not applied"), Text::Any),
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
        summary: "pods with resource claims are passed over",
        says: "pods that use ResourceClaims are passed over",
        remedy: "give these pods nodes that Karpenter does not make, or, from 1.14 on, set `settings.ignoreDRARequests` to `false`",
        cause: "
Karpenter does not know what devices a node will have for a ResourceClaim before it exists. From 1.7 on it leaves such
pods alone instead of making nodes that may not serve them; a setting decides from 1.8 on.
",
        rules: &["resource-claims-ignored"],
        messages: &[
            Message {
                seen: line(Level::Info, Text::Is("skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter"), Text::Any),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-10-21T16:08:32.028Z","logger":"controller","message":"skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1fa7ec-3c5e-4b7a-9d21-7e4c00055114","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"}}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/provisioning/scheduling/scheduler.go",
            },
            Message {
                seen: event("FailedScheduling", Text::Has(&["pod has Dynamic Resource Allocation requirements"])),
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
        summary: "working out where pods go takes too long",
        says: "working out where pods go takes longer than its time, again and again",
        remedy: "give the controller more CPU (`controller.resources`), and look for soft constraints on very many pods: from 1.4 on `settings.preferencePolicy: Ignore` leaves them out",
        cause: "
A simulation gets a minute; what has not found its place by then waits for the next one. Many pods with affinities and
spreads, many NodePools and few CPU shares make it slow.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Debug, Text::Is("scheduling simulation timed out"), Text::Any),
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
        summary: "the controller waits for its picture of the cluster to become complete",
        says: "the controller has waited for minutes for its picture of the cluster, and makes no nodes meanwhile",
        remedy: "look for NodeClaims that have no `status.providerID` (`kubectl get nodeclaims -o wide`), for what keeps them from launching, and for errors of the API server in the log",
        cause: "
Nodes are planned only when every NodeClaim and Node of the API server is known to the controller and every NodeClaim
has been launched. One NodeClaim that cannot be launched and is not given up holds up everything, as does an API
server that answers slowly.

From 1.5 on it is said at level ERROR after half a minute and then every ten seconds; before that only at DEBUG, also
for the moments in which it is normal.
",
        rules: &["instance-profile-is-arn"],
        messages: &[
            Message {
                seen: line(Level::Debug, Text::Is("waiting on cluster sync"), Text::Any),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-03-20T09:22:58.302Z","logger":"controller","message":"waiting on cluster sync","commit":"ff59416","controller":"provisioner","namespace":"","name":"","reconcileID":"5a1faf8e-3c5e-4b7a-9d21-7e4c00058ef2"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("cluster is waiting on sync for extended duration"), Text::Any),
                releases: Releases::since(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T10:29:11.439Z","logger":"controller","message":"cluster is waiting on sync for extended duration","commit":"e7e1327","controller":"disruption","namespace":"","name":"","reconcileID":"5a1fb35f-3c5e-4b7a-9d21-7e4c0005ade1","duration":"2m30s","error":"waiting on cluster sync"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/state/cluster.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("failed checking cluster state sync"), Text::Any),
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
