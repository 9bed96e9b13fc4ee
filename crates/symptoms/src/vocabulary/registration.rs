//! Instances that do not become nodes, and nodes that differ from Karpenter's expectation.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, anywhere, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::{Interval, Releases};
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "several-nodes-for-one-claim",
        severity: Severity::Error,
        summary: "several Nodes have the same instance",
        says: "several Node objects have the instance of one NodeClaim",
        remedy: "delete the Node objects that no longer exist, and look for images or scripts that change the host name between starts of kubelet",
        cause: "
Karpenter matches a NodeClaim and its Node by provider id. If kubelet registers again under another name, the first
Node object remains, and Karpenter does not choose between the two.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Registered", "False", "MultipleNodesFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Registered","status":"False","reason":"MultipleNodesFound","message":"Invariant violated, matched multiple nodes"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/nodeclaim/lifecycle/registration.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "startup-taint-stays",
        severity: Severity::Error,
        summary: "a startup taint is never removed",
        says: "the startup taint {of the NodePool} stays on nodes, which are therefore never initialized",
        remedy: "find the component that should remove the taint (a network agent, a CSI driver) and let it run on the node: its pods must tolerate the taint, and it must be configured to remove it; a taint that no component removes belongs under `taints`",
        cause: "
Karpenter adds startup taints to a node and waits until another component removes them. Until then the node is not
initialized: it gets no pods, and consolidation ignores it. This is normal for a minute or so after a node joins.
",
        rules: &["startup-taint-never-removed"],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Initialized", "Unknown", "StartupTaintsExist", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Between("StartupTaint \"", "\""),
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"StartupTaintsExist","message":"StartupTaint \"node.cilium.io/agent-not-ready:NoExecute\" still exists"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#1479", "pkg/controllers/nodeclaim/lifecycle/initialization.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "node-taint-stays",
        severity: Severity::Warning,
        summary: "a Kubernetes taint of a starting node is not removed",
        says: "the taint {of a starting node} stays on nodes, which are therefore not initialized",
        remedy: "check why the node is not ready (`kubectl describe node`): the network plugin for `not-ready`, the cloud controller for `uninitialized`",
        cause: "
Kubernetes taints a starting node, and removes the taints when the network is up and the cloud controller knows the
node. Until then Karpenter does not treat the node as initialized.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Initialized", "Unknown", "KnownEphemeralTaintsExist", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Between("KnownEphemeralTaint \"", "\""),
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"KnownEphemeralTaintsExist","message":"KnownEphemeralTaint \"node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule\" still exists"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Possible,
        references: &["pkg/controllers/nodeclaim/lifecycle/initialization.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "node-not-ready",
        severity: Severity::Error,
        summary: "a node joined but is not ready",
        says: "a node joined the cluster but does not become ready",
        remedy: "look at the conditions of the Node (`kubectl describe node`) and at the pods of the network plugin on it; the kubelet log on the instance has the details",
        cause: "
The node has registered, so its identity and its connection to the API server work. Most often the network plugin does
not start because it may not run on the node or gets no addresses. This is normal for a minute after a node joins.
",
        rules: &["startup-taint-never-removed"],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Initialized", "Unknown", "NodeNotReady", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"NodeNotReady","message":"Node status is NotReady"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
            },
            Message {
                pattern: condition("Node", "Ready", "False", "KubeletNotReady", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"Ready","status":"False","reason":"KubeletNotReady","message":"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"}"#,
                source: "kubernetes/kubernetes v1.33.0 pkg/kubelet/nodestatus/setters.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Possible,
        references: &["pkg/controllers/nodeclaim/lifecycle/initialization.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "resource-not-registered",
        severity: Severity::Error,
        summary: "a node does not offer a resource that it was created for",
        says: "nodes do not offer {the resource} that they were created for, and are not initialized",
        remedy: "run the device plugin on these nodes: its DaemonSet must select and tolerate them, and the image must contain the driver",
        cause: "
A node offers an extended resource, such as a GPU, only after its device plugin has started. Karpenter waits for it
because pods cannot start earlier; meanwhile the node costs money. Some minutes are normal for drivers that are
installed at start.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Initialized", "Unknown", "ResourceNotRegistered", Text::Any),
                releases: Releases::ALL,
                detail: Detail::Between("Resource \"", "\""),
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"ResourceNotRegistered","message":"Resource \"nvidia.com/gpu\" was requested but not registered"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
            },
            Message {
                pattern: event("FailedConsistencyCheck", Text::Has(&["Expected resource \"", "didn't register on the node"])),
                releases: Releases::ALL,
                detail: Detail::Between("Expected resource \"", "\""),
                example: r#"2m14s (x6 over 21m)   Warning   FailedConsistencyCheck   nodeclaim/default-7xk2p   Expected resource "nvidia.com/gpu" didn't register on the node"#,
                source: "aws/karpenter-provider-aws#3794",
            },
            Message {
                pattern: condition("NodeClaim", "Initialized", "Unknown", "DRADriverPoolsNotPublished", Text::Any),
                releases: Releases::since(14),
                detail: Detail::Between("DRA driver \"", "\""),
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"DRADriverPoolsNotPublished","message":"DRA driver \"gpu.nvidia.com\" has not published a complete resource pool"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#3794", "pkg/controllers/nodeclaim/lifecycle/initialization.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "node-smaller-than-expected",
        severity: Severity::Warning,
        summary: "nodes have fewer resources than Karpenter expected of their type",
        says: "nodes have less {of a resource} than Karpenter expected of their instance type",
        remedy: "compare the kubelet reservations on the node with `spec.kubelet` of the node class, raise `settings.vmMemoryOverheadPercent`, and look for memory that the image reserves (huge pages, crash kernels)",
        cause: "
Karpenter places pods according to the expected resources of a type. If the real node has less, some pods do not fit,
and Karpenter creates another node for them. It does not know settings that reach kubelet only through user data.
",
        rules: &["userdata-overridden"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("consistency error"), Text::Has(&[" of resource ", ", but found "])),
                releases: Releases::until(7),
                detail: Detail::Between(" of resource ", ","),
                example: r#"{"level":"ERROR","time":"2025-06-11T11:54:06.974Z","logger":"controller","message":"consistency error","commit":"9458bb5","controller":"nodeclaim.consistency","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a208546-3c5e-4b7a-9d21-7e4c000c533a","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"error":"expected 15Gi of resource memory, but found 12Gi (80.0% of expected)"}"#,
                source: "kubernetes-sigs/karpenter v1.7.0 pkg/controllers/nodeclaim/consistency/controller.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Starts("failed consistency check, expected "), Text::Any),
                releases: Releases::between(8, 9),
                detail: Detail::Between(" of resource ", ","),
                example: r#"{"level":"INFO","time":"2025-10-21T12:01:19.111Z","logger":"controller","message":"failed consistency check, expected 15Gi of resource memory, but found 12Gi (80.0% of expected)","commit":"31fa2ea","controller":"nodeclaim.consistency","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a208917-3c5e-4b7a-9d21-7e4c000c7229","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"}}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/consistency/controller.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("failed consistency check"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::First(&[Detail::Between(" of resource ", ","), Detail::Field("resource")]),
                example: r#"{"level":"INFO","time":"2026-04-21T13:08:32.248Z","logger":"controller","message":"failed consistency check","commit":"537b01a","controller":"nodeclaim.consistency","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a208ce8-3c5e-4b7a-9d21-7e4c000c9118","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"issue":"expected 15Gi of resource memory, but found 12Gi (80.0% of expected)"}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/nodeclaim/consistency/controller.go",
            },
            Message {
                pattern: event("FailedConsistencyCheck", Text::Has(&["expected ", " of resource ", ", but found "])),
                releases: Releases::ALL,
                detail: Detail::Between(" of resource ", ","),
                example: "2m14s (x6 over 21m)   Warning   FailedConsistencyCheck   nodeclaim/default-7xk2p   expected 15Gi of resource memory, but found 12Gi (80.0% of expected)",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/consistency/events.go",
            },
            Message {
                pattern: condition("NodeClaim", "ConsistentStateFound", "False", "ConsistencyCheckFailed", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"ConsistentStateFound","status":"False","reason":"ConsistencyCheckFailed","message":"Consistency Check Failed"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/consistency/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#6177", "pkg/controllers/nodeclaim/consistency/nodeshape.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "kubelet-refused",
        severity: Severity::Error,
        summary: "the API server rejects kubelet",
        says: "the API server rejects kubelet, so that nodes never join",
        remedy: "give the node role an access entry of type `EC2_LINUX` (or `EC2_WINDOWS`), or an entry in `aws-auth` with the user name `system:node:{{EC2PrivateDNSName}}` and the groups `system:bootstrappers` and `system:nodes`",
        cause: "
Kubelet authenticates with the role of its instance, which the cluster must know. Without a mapping kubelet is
unauthorized. With a wrong user name or wrong groups it can authenticate but not register the node.
",
        rules: &[],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["Unable to register node with API server", "Unauthorized"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"Nov 12 09:14:03 ip-10-0-37-12 kubelet[2311]: E1112 09:14:03.112233 2311 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized" node="ip-10-0-37-12.eu-west-1.compute.internal""#,
                source: "aws/karpenter-provider-aws#6973",
            },
            Message {
                pattern: anywhere(Text::Has(&[" is not allowed to modify node "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"kubelet[2311]: nodes "ip-10-0-37-12.eu-west-1.compute.internal" is forbidden: node "i-0a1b2c3d4e5f60718" is not allowed to modify node "ip-10-0-37-12.eu-west-1.compute.internal""#,
                source: "aws/karpenter-provider-aws#7508",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6973, #7508, #7469"],
    },
    Symptom {
        name: "nodeadm-failed",
        severity: Severity::Error,
        summary: "nodeadm cannot set up the node",
        says: "nodeadm cannot set up the node, so that it never joins",
        remedy: "read `journalctl -u nodeadm-config` on the instance: correct the NodeConfig in `spec.userData` or its MIME parts, or use an image that contains nodeadm",
        cause: "
On AL2023 nodeadm sets up the node from a NodeConfig in the user data. Kubelet does not start if nodeadm cannot parse
the NodeConfig, if it lacks the cluster's name, endpoint, certificate or CIDR, or if it is missing.
",
        rules: &["userdata-nodeconfig-incomplete", "userdata-mime-malformed", "userdata-family-mismatch"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["Failed to start nodeadm-config"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "[FAILED] Failed to start nodeadm-config.service - EKS Nodeadm Config.",
                source: "aws/karpenter-provider-aws#7889",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7889; awslabs/amazon-eks-ami#2318"],
    },
];

/// Nodes without the registration taint: the correlation `registration-taint-absent`.
pub(super) const TAINT_ABSENT: &[Message] = &[
    Message {
        pattern: line(
            LogLevel::Error,
            Text::Is("Reconciler error"),
            Text::Has(&["missing required startup taint, karpenter.sh/unregistered"]),
        )
        .id(MessageId::RegistrationTaintRequired),
        releases: Releases::union(&[
            Interval::patches(0, 0, 8),
            Interval::patches(1, 0, 3),
            Interval::patches(2, 0, 1),
        ]),
        detail: Detail::Object,
        example: r#"{"level":"ERROR","time":"2024-10-15T15:19:01.289Z","logger":"controller","message":"Reconciler error","commit":"6174c75","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a207231-3c5e-4b7a-9d21-7e4c000bb88f","error":"missing required startup taint, karpenter.sh/unregistered"}"#,
        source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/nodeclaim/lifecycle/registration.go",
    },
    Message {
        pattern: line(
            LogLevel::Error,
            Text::Is("node claim registration error"),
            Text::Has(&[
                "missing karpenter.sh/unregistered taint which prevents registration related race conditions",
            ]),
        )
        .id(MessageId::RegistrationTaintMissing),
        releases: Releases::union(&[
            Interval::patches_from(0, 9),
            Interval::patches_from(1, 4),
            Interval::patch_to_minor(2, 2, 4),
        ]),
        detail: Detail::Object,
        example: r#"{"level":"ERROR","time":"2025-04-23T16:26:14.426Z","logger":"controller","message":"node claim registration error","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a207602-3c5e-4b7a-9d21-7e4c000bd77e","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","error":"missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes"}"#,
        source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
    },
    Message {
        pattern: line(
            LogLevel::Error,
            Text::Is("node claim registration error"),
            Text::Has(&["missing taint prevents registration-related race conditions"]),
        )
        .id(MessageId::RegistrationTaintMissing),
        releases: Releases::since(5),
        detail: Detail::Object,
        example: r#"{"level":"ERROR","time":"2025-10-21T08:33:27.563Z","logger":"controller","message":"node claim registration error","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2079d3-3c5e-4b7a-9d21-7e4c000bf66d","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","taint":"karpenter.sh/unregistered","error":"missing taint prevents registration-related race conditions on Karpenter-managed nodes"}"#,
        source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
    },
    Message {
        pattern: event("UnregisteredTaintMissing", Text::Starts("Missing karpenter.sh/unregistered taint"))
            .id(MessageId::RegistrationTaintMissing),
        releases: Releases::union(&[
            Interval::patches_from(0, 9),
            Interval::patches_from(1, 4),
            Interval::since_patch(2, 2),
        ]),
        detail: Detail::Object,
        example: "2m14s (x6 over 21m)   Warning   UnregisteredTaintMissing   nodeclaim/default-7xk2p   Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes",
        source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/nodeclaim/lifecycle/events.go",
    },
    Message {
        pattern: condition("NodeClaim", "Registered", "False", "UnregisteredTaintNotFound", Text::Any)
            .id(MessageId::RegistrationTaintRequired),
        releases: Releases::union(&[
            Interval::patches(0, 0, 8),
            Interval::patches(1, 0, 3),
            Interval::patches(2, 0, 1),
        ]),
        detail: Detail::Object,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Registered","status":"False","reason":"UnregisteredTaintNotFound","message":"Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes"}"#,
        source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/nodeclaim/lifecycle/registration.go",
    },
];

/// Instances that never become a node: the correlation `node-never-joined`.
pub(super) const NEVER_JOINED: &[Message] = &[
    Message {
        pattern: line(LogLevel::Debug, Text::Is("terminating due to registration ttl"), Text::Any)
            .id(MessageId::NodeClaimTimedOut),
        releases: Releases::until(6),
        detail: Detail::Object,
        example: r#"{"level":"DEBUG","time":"2025-06-11T09:40:40.700Z","logger":"controller","message":"terminating due to registration ttl","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a207da4-3c5e-4b7a-9d21-7e4c000c155c","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","ttl":"15m0s"}"#,
        source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/nodeclaim/lifecycle/liveness.go",
    },
    Message {
        pattern: line(LogLevel::Debug, Text::Is("terminating due to timeout"), Text::Any)
            .id(MessageId::NodeClaimTimedOut),
        releases: Releases::since(7),
        detail: Detail::Object,
        example: r#"{"level":"DEBUG","time":"2025-10-21T10:47:53.837Z","logger":"controller","message":"terminating due to timeout","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a208175-3c5e-4b7a-9d21-7e4c000c344b","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","timeout":"15m0s","reason":"registration_timeout"}"#,
        source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/lifecycle/liveness.go",
    },
    Message {
        pattern: condition("NodeClaim", "Registered", "Unknown", "NodeNotFound", Text::Any)
            .id(MessageId::NodeNotFound),
        releases: Releases::ALL,
        detail: Detail::Object,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Registered","status":"Unknown","reason":"NodeNotFound","message":"Node not registered with cluster"}"#,
        source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/registration.go",
    },
    Message {
        pattern: condition("NodePool", "NodeRegistrationHealthy", "False", "", Text::Any),
        releases: Releases::since(4),
        detail: Detail::Object,
        example: r#"{"kind":"NodePool","name":"default","type":"NodeRegistrationHealthy","status":"False","reason":"RegistrationFailed","message":"Failed to register node"}"#,
        source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/nodeclaim/lifecycle/liveness.go",
    },
];
