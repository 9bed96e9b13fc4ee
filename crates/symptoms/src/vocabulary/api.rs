//! Requests that the API server refuses or answers too late.

use super::message::{Detail, Message, Text, When, anywhere, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "nodeclaim-refused",
        severity: Severity::Error,
        summary: "the API server refuses NodeClaims",
        says: "the API server refuses NodeClaims: {see the error}",
        remedy: "upgrade the chart `karpenter-crd` to the release of the controller; if the message counts too many items, reduce the requirements of NodePool and pods",
        cause: "
The controller creates NodeClaims from NodePool and pods, and the CRD in the cluster validates them. With CRDs of
another release, a NodeClaim that is valid for the controller may be invalid for the CRD. The number of labels, taints
and requirements is limited.
",
        rules: &["too-many-requirements", "name-too-long"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating node claim, ", "NodeClaim.karpenter.sh \"", "\" is invalid: "], &["is restricted"])),
                releases: Releases::ALL,
                detail: Detail::Between("\" is invalid: ", ": "),
                example: r#"{"level":"ERROR","time":"2025-07-22T13:05:35.675Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"provisioner","namespace":"","name":"","reconcileID":"5a231983-3c5e-4b7a-9d21-7e4c00213abd","error":"creating node claim, NodeClaim.karpenter.sh \"default-7xk2p\" is invalid: spec.requirements: Too many: 104: must have at most 100 items"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/apis/v1/nodeclaim.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating node claim, ", "unknown field \""], &["is restricted"])),
                releases: Releases::ALL,
                detail: Detail::Between("unknown field \"", "\""),
                example: r#"{"level":"ERROR","time":"2026-02-10T14:12:48.812Z","logger":"controller","message":"Reconciler error","commit":"e7e1327","controller":"provisioner","namespace":"","name":"","reconcileID":"5a231d54-3c5e-4b7a-9d21-7e4c002159ac","error":"creating node claim, admission refused, unknown field \"spec.terminationGracePeriod\""}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#1208"],
    },
    Symptom {
        name: "admission-denied",
        severity: Severity::Error,
        summary: "an admission webhook denies requests of the controller",
        says: "the admission webhook {of another tool} denies requests of the controller",
        remedy: "read the reason in the message, and exclude Karpenter's ServiceAccount, or the kinds NodeClaim, Node and Pod eviction, from the policy",
        cause: "
The cluster's policies also apply to Karpenter's requests: creating NodeClaims, changing Nodes, evicting pods.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["admission webhook \"", "\" denied the request"])),
                releases: Releases::ALL,
                detail: Detail::Between("admission webhook \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-06-11T15:19:01.949Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"provisioner","namespace":"","name":"","reconcileID":"5a232125-3c5e-4b7a-9d21-7e4c0021789b","error":"creating node claim, admission webhook \"validate.policies.example.com\" denied the request: label team is required"}"#,
                source: "kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["failed calling webhook \""])),
                releases: Releases::ALL,
                detail: Detail::Between("failed calling webhook \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-10-21T16:26:14.086Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a2324f6-3c5e-4b7a-9d21-7e4c0021978a","error":"creating node claim, Internal error occurred: failed calling webhook \"mutate.policies.example.com\": failed to call webhook: Post \"https://policies.example.svc:443/mutate\": context deadline exceeded"}"#,
                source: "kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook"],
    },
    Symptom {
        name: "rbac-denied",
        severity: Severity::Error,
        summary: "the controller lacks an RBAC permission in the cluster",
        says: "the controller has no RBAC permission to {an action} in the cluster",
        remedy: "install the complete chart of the controller's release, including its ClusterRoles and Roles; two installations in one cluster use the same names for them",
        cause: "
The chart contains the controller's RBAC permissions, which change between releases. Some are missing if you upgrade
only the image, or if a second installation overwrites the ClusterRoles.
",
        rules: &["two-controllers"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["is forbidden: User \"system:serviceaccount:", "\" cannot "])),
                releases: Releases::ALL,
                detail: Detail::Between("\" cannot ", " in API group"),
                example: r#"{"level":"ERROR","time":"2025-07-22T08:33:27.223Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"provisioner","namespace":"","name":"","reconcileID":"5a2328c7-3c5e-4b7a-9d21-7e4c0021b679","error":"nodeclaims.karpenter.sh is forbidden: User \"system:serviceaccount:kube-system:karpenter\" cannot list resource \"nodeclaims\" in API group \"karpenter.sh\" at the cluster scope"}"#,
                source: "kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Failed to watch"), Text::Has(&["is forbidden: User \"system:serviceaccount:", "\" cannot "])),
                releases: Releases::ALL,
                detail: Detail::Between("\" cannot ", " in API group"),
                example: r#"{"level":"ERROR","time":"2025-10-21T09:40:40.360Z","logger":"controller","message":"Failed to watch","commit":"31fa2ea","error":"failed to list *v1.NodePool: nodepools.karpenter.sh is forbidden: User \"system:serviceaccount:karpenter:karpenter\" cannot list resource \"nodepools\" in API group \"karpenter.sh\" at the cluster scope"}"#,
                source: "k8s.io/client-go tools/cache/reflector.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#1767"],
    },
    Symptom {
        name: "conflicts-without-end",
        severity: Severity::Warning,
        summary: "the controller repeatedly runs into conflicting writes",
        says: "objects repeatedly change while the controller writes them",
        remedy: "look for a second controller that writes the same objects: another installation of Karpenter, a GitOps tool that reverts its changes, an agent that writes labels or taints in a loop",
        cause: "
The API server refuses a write to an outdated object, and the controller retries it. Some conflicts are normal when
many nodes come and go, because kubelet, the controllers of Kubernetes and Karpenter write the same objects. Dozens
within minutes mean that two writers undo each other's changes.
",
        rules: &["two-controllers", "two-autoscalers"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["Operation cannot be fulfilled on "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T10:47:53.497Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a233069-3c5e-4b7a-9d21-7e4c0021f457","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \"default-7xk2p\": the object has been modified; please apply your changes to the latest version and try again"}"#,
                source: "kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go",
            }
        ],
        when: When::Often { count: 60, minutes: 10 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/nodeclaim/lifecycle/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "api-server-slow",
        severity: Severity::Warning,
        summary: "the API server answers too slowly",
        says: "the API server answers the controller too slowly, or the controller's client throttles its own requests",
        remedy: "check the load of the API server and the network to it; for a large cluster raise `KUBE_CLIENT_QPS` and `KUBE_CLIENT_BURST` under `controller.env`",
        cause: "
Requests have a timeout, and the controller's client limits its requests per second. A few failures during an upgrade
of the control plane are normal.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["client rate limiter Wait returned an error"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T11:54:06.634Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a23343a-3c5e-4b7a-9d21-7e4c00221346","error":"client rate limiter Wait returned an error: context deadline exceeded"}"#,
                source: "k8s.io/client-go rest/request.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["etcdserver: request timed out"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T12:01:19.771Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a23380b-3c5e-4b7a-9d21-7e4c00223235","error":"etcdserver: request timed out"}"#,
                source: "etcd",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["the server was unable to return a response in the time allotted"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T13:08:32.908Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a233bdc-3c5e-4b7a-9d21-7e4c00225124","error":"the server was unable to return a response in the time allotted, but may still be processing the request (get nodeclaims.karpenter.sh)"}"#,
                source: "kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go",
            }
        ],
        when: When::Often { count: 10, minutes: 10 },
        confidence: Confidence::Possible,
        references: &["pkg/operator/operator.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "manifest-of-an-old-shape",
        severity: Severity::Error,
        summary: "a manifest uses fields of an old API version",
        says: "a manifest uses the fields of an old API version: {a field} is missing or unknown",
        remedy: "write the manifest for `karpenter.sh/v1`: `nodeClassRef` with `group`, `kind` and `name`, `disruption.consolidateAfter`, `expireAfter` under `template.spec`, limits without `resources`; run `karpwarden check` to see each location",
        cause: "
A manifest for `v1beta1` or older under `apiVersion: karpenter.sh/v1` lacks fields that `v1` requires, and has fields
that `v1` does not know.
",
        rules: &["api-required", "api-unknown-field"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["NodePool", "spec.disruption.consolidateAfter: Required value"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"The NodePool "default" is invalid: spec.disruption.consolidateAfter: Required value"#,
                source: "luminartech/helm-charts-public#380",
            },
            Message {
                pattern: anywhere(Text::Has(&["nodeClassRef.group: Required value"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"NodePool/default dry-run failed (Invalid): NodePool.karpenter.sh "default" is invalid: spec.template.spec.nodeClassRef.group: Required value"#,
                source: "fluxcd/kustomize-controller#1296",
            },
            Message {
                pattern: anywhere(Text::Has(&["strict decoding error: unknown field \"spec."])),
                releases: Releases::ALL,
                detail: Detail::Between("unknown field \"", "\""),
                example: r#"Error from server (BadRequest): error when creating "nodepool.yaml": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.limits.resources""#,
                source: "awslabs/cdk-eks-blueprints#959",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["luminartech/helm-charts-public#380; fluxcd/kustomize-controller#1296; awslabs/cdk-eks-blueprints#959"],
    },
];

/// NodeClaims that the API server refuses for a label: the correlation `nodeclaim-refused-label`.
pub(super) const REFUSED_LABEL: &[Message] = &[
    Message {
        pattern: line(
            LogLevel::Error,
            Text::Is("Reconciler error"),
            Text::Has(&["creating node claim, ", "label domain \"", "\" is restricted"]),
        ),
        releases: Releases::ALL,
        detail: Detail::Between("label domain \"", "\""),
        example: r#"{"level":"ERROR","time":"2025-04-23T11:51:09.401Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a2311e1-3c5e-4b7a-9d21-7e4c0020fcdf","error":"creating node claim, NodeClaim.karpenter.sh \"default-7xk2p\" is invalid: spec.requirements[4].key: Invalid value: \"string\": label domain \"kubernetes.io\" is restricted"}"#,
        source: "aws/karpenter-provider-aws#8022",
    },
    Message {
        pattern: line(
            LogLevel::Error,
            Text::Is("Reconciler error"),
            Text::Has(&["creating node claim, ", "label \"", "\" is restricted"]),
        ),
        releases: Releases::ALL,
        detail: Detail::Between("label \"", "\""),
        example: r#"{"level":"ERROR","time":"2025-10-21T12:58:22.538Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a2315b2-3c5e-4b7a-9d21-7e4c00211bce","error":"creating node claim, NodeClaim.karpenter.sh \"default-7xk2p\" is invalid: spec.requirements[2].key: Invalid value: \"string\": label \"kubernetes.io/hostname\" is restricted"}"#,
        source: "aws/karpenter-provider-aws#8022",
    },
];
