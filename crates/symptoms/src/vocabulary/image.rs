//! NodeClaims without an instance: images and user data.

use super::message::{Detail, Message, Text, When, condition, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "ami-unusable",
        severity: Severity::Error,
        summary: "EC2 cannot launch the AMI of a node class",
        says: "the AMI that the node class selects does not exist in the region or cannot be used",
        remedy: "check the ids in `amiSelectorTerms`: the image must be in this region and shared with the account, together with its snapshot and encryption key",
        cause: "
An AMI belongs to one region and one account. EC2 may list an AMI but not launch it: because it was deregistered
since, because it is shared without its encrypted snapshot, or because the controller's policy does not allow it.
",
        rules: &["selector-term-id-mixed"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["InvalidAMIID."])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-09-09T10:41:59.371Z","logger":"controller","message":"Reconciler error","commit":"781485b","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a203cc3-3c5e-4b7a-9d21-7e4c000a077d","error":"launching nodeclaim, creating instance, with fleet error(s), InvalidAMIID.NotFound: The image id '[ami-0a1b2c3d4e5f60718]' does not exist"}"#,
                source: "aws/karpenter-provider-aws v1.7.1 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["Not authorized for images"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T11:48:12.508Z","logger":"controller","message":"Reconciler error","commit":"e7e1327","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a204094-3c5e-4b7a-9d21-7e4c000a266c","error":"launching nodeclaim, creating instance, with fleet error(s), AuthFailure: Not authorized for images: [ami-0a1b2c3d4e5f60718]"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "InvalidAMIID", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"InvalidAMIID","message":"AMI used for instance launch is invalid"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "AMINotFound", Text::Any),
                releases: Releases::since(6),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"AMINotFound","message":"AMI used for instance launch either does not exist or you don't have permissions to use it"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "AMIAuthorizationFailure", Text::Any),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"AMIAuthorizationFailure","message":"User is not authorized for AMI used in instance launch"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "ami-fits-no-type",
        severity: Severity::Error,
        summary: "no AMI of a node class fits the instance types",
        says: "no AMI {of the node class} fits the architecture or accelerators of the instance types",
        remedy: "add an AMI for the architecture to `amiSelectorTerms` (or use an alias, which has all architectures), or restrict `kubernetes.io/arch` of the NodePool to the architecture of the AMI",
        cause: "
An AMI has one architecture, and AMIs with accelerator drivers fit only types with the accelerators. If a NodePool
allows only `arm64` and the node class has only `amd64` images, no type remains.
",
        rules: &["requirement-value-unknown"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["no instance types satisfy requirements of amis ["])),
                releases: Releases::ALL,
                detail: Detail::Between("of amis [", "]"),
                example: r#"{"level":"ERROR","time":"2025-04-23T12:55:25.645Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a204465-3c5e-4b7a-9d21-7e4c000a455b","error":"launching nodeclaim, creating instance, getting launch template configs, getting launch templates, no instance types satisfy requirements of amis [ami-0a1b2c3d4e5f60718]"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/providers/amifamily/resolver.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7211, #6168", "pkg/providers/amifamily/resolver.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "user-data-refused",
        severity: Severity::Error,
        summary: "EC2 or Karpenter rejects the user data of nodes",
        says: "EC2 rejects the user data of nodes, or Karpenter cannot parse it",
        remedy: "shorten `spec.userData`, so that it stays below 16 KiB together with Karpenter's own part, or correct its format for the `amiFamily`: MIME parts, a NodeConfig, TOML for Bottlerocket",
        cause: "
Karpenter merges `spec.userData` with its own part, which starts the node. It must be able to parse the format, and
EC2 accepts at most 16 KiB before base64. From 1.14.1 on a node class whose user data is too long is not Ready, and a
warning appears when it comes near the limit.
",
        rules: &["userdata-too-large", "userdata-mime-malformed", "userdata-toml-invalid", "userdata-nodeconfig-incomplete"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["User data is limited to"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T13:02:38.782Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a204836-3c5e-4b7a-9d21-7e4c000a644a","error":"launching nodeclaim, creating instance, getting launch template configs, getting launch templates, creating launch template, operation error EC2: CreateLaunchTemplate, https response error StatusCode: 400, api error InvalidUserData.Malformed: User data is limited to 16384 bytes"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("ec2:CreateLaunchTemplate rejected the rendered user data as exceeding the size limit"), Text::Any),
                releases: Releases::since_patch(14, 1),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-08-25T14:09:51.919Z","logger":"controller","message":"ec2:CreateLaunchTemplate rejected the rendered user data as exceeding the size limit","commit":"bde0065","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a204c07-3c5e-4b7a-9d21-7e4c000a8339","error":"operation error EC2: CreateLaunchTemplate, api error InvalidUserData.Malformed: the request is too large"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("rendered user data is approaching the EC2 user data size limit"), Text::Any),
                releases: Releases::since_patch(14, 1),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2026-08-25T15:16:04.056Z","logger":"controller","message":"rendered user data is approaching the EC2 user data size limit","commit":"bde0065","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a204fd8-3c5e-4b7a-9d21-7e4c000aa228","userdata-bytes":15800,"warn-threshold":14745,"limit":16384}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/providers/launchtemplate/launchtemplate.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "UserDataSizeLimitExceeded", Text::Any),
                releases: Releases::since_patch(14, 1),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"UserDataSizeLimitExceeded","message":"Rendered user data exceeds the EC2 user data size limit"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "UserDataSizeLimitExceeded", Text::Any),
                releases: Releases::since_patch(14, 1),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"UserDataSizeLimitExceeded","message":"ec2:CreateLaunchTemplate rejected the rendered user data as too large: Rendered user data exceeds the EC2 user data size limit"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["parsing custom UserData, "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T16:23:17.193Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2053a9-3c5e-4b7a-9d21-7e4c000ac117","error":"validating ec2:CreateLaunchTemplate authorization, parsing custom UserData, parsing content, unmarshalling NodeConfig, error unmarshaling JSON"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/providers/amifamily/bootstrap/nodeadm.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["invalid UserData "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T08:30:30.330Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20577a-3c5e-4b7a-9d21-7e4c000ae006","error":"launching nodeclaim, creating instance, getting launch template configs, invalid UserData toml: line 3 (last key \"settings\"): expected value"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/providers/amifamily/bootstrap/bottlerocket.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1", "pkg/controllers/nodeclass/validation.go of aws/karpenter-provider-aws at v1.14.1", "pkg/providers/amifamily/bootstrap/nodeadm.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
