//! NodeClaims without an instance: node classes that are not ready, and launch templates.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, anywhere, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "instance-profile-not-found",
        severity: Severity::Error,
        summary: "the instance profile of a node class does not exist",
        says: "EC2 does not find the instance profile {in the node class}",
        remedy: "write the bare name of an existing profile into `spec.instanceProfile`, not its ARN and not the name of a role; `aws iam list-instance-profiles` lists them; or name a role in `spec.role`, so that Karpenter creates the profile",
        cause: "
Karpenter copies `spec.instanceProfile` into the status without looking it up, and sets `InstanceProfileReady` to
`True` for any value. EC2 refuses an unknown profile when an instance is launched. From 1.3.1 on the dry-run launch
fails first. Karpenter assumes that the profile does not exist yet, logs nothing, and the node class stays `Unknown`.

With `settings.disableDryRun`, up to 1.3.0, and if the profile is deleted later, the error appears at a launch.
",
        rules: &["instance-profile-is-arn", "status-contradiction"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["iamInstanceProfile.name is invalid"])),
                releases: Releases::ALL,
                detail: Detail::Between("Value (", ")"),
                example: r#"{"level":"ERROR","time":"2024-12-10T15:10:10.590Z","logger":"controller","message":"Reconciler error","commit":"3298d91","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a200b26-3c5e-4b7a-9d21-7e4c0008755a","error":"launching nodeclaim, creating instance, with fleet error(s), InvalidParameterValue: Value (arn:aws:iam::111122223333:instance-profile/KarpenterNodes) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"}"#,
                source: "aws/karpenter-provider-aws v1.1.1 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["iamInstanceProfile.name is invalid"])),
                releases: Releases::ALL,
                detail: Detail::Between("Value (", ")"),
                example: r#"{"level":"ERROR","time":"2024-10-15T16:17:23.727Z","logger":"controller","message":"failed launching nodeclaim","commit":"6174c75","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a200ef7-3c5e-4b7a-9d21-7e4c00089449","error":"creating instance, insufficient capacity, with fleet error(s), InvalidParameterValue: Value (KarpenterNodes) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"}"#,
                source: "aws/karpenter-provider-aws v1.0.6 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "InstanceProfileNameInvalid", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"InstanceProfileNameInvalid","message":"Instance profile name used from EC2NodeClass status does not exist"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "InstanceProfileNotFound", Text::Any),
                releases: Releases::since(15),
                detail: Detail::Between("Instance profile \"", "\""),
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"InstanceProfileNotFound","message":"Instance profile \"arn:aws:iam::111122223333:instance-profile/KarpenterNodes\" not found"}"#,
                source: "aws/karpenter-provider-aws#9390",
            },
            Message {
                pattern: anywhere(Text::Has(&["Invalid IAM Instance Profile name"])),
                releases: Releases::ALL,
                detail: Detail::Between("Value (", ")"),
                example: "An error occurred (InvalidParameterValue) when calling the RunInstances operation: Value (KarpenterNodes) for parameter iamInstanceProfile.name. Invalid IAM Instance Profile name",
                source: "aws/karpenter-provider-aws#8538",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#8072, #8312, #8538, #9390", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "networks-do-not-match",
        severity: Severity::Error,
        summary: "security groups and subnets of a node class are in different VPCs",
        says: "a security group and a subnet of the node class are in different VPCs",
        remedy: "narrow `securityGroupSelectorTerms` and `subnetSelectorTerms` to the resources of this cluster: a tag with the cluster name in its value, or ids",
        cause: "
Selectors match every resource with a tag in the account and region. If two clusters share a tag, Karpenter combines
security groups of one VPC with subnets of another, and EC2 refuses the launch.
",
        rules: &["selector-cluster-mismatch", "selector-not-cluster-specific", "sg-cluster-tag-selector"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["belong to different networks"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T08:24:36.864Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2012c8-3c5e-4b7a-9d21-7e4c0008b338","error":"launching nodeclaim, creating instance, creating fleet request, with fleet error(s), InvalidParameter: Security group sg-0a1b2c3d and subnet subnet-0f9e8d7c belong to different networks."}"#,
                source: "aws/karpenter-provider-aws v1.12.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["belong to different networks"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T09:31:49.001Z","logger":"controller","message":"failed launching nodeclaim","commit":"ad71530","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a201699-3c5e-4b7a-9d21-7e4c0008d227","error":"creating instance, insufficient capacity, with fleet error(s), InvalidParameter: Security group sg-0a1b2c3d and subnet subnet-0f9e8d7c belong to different networks."}"#,
                source: "aws/karpenter-provider-aws v1.12.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "SecurityGroupSubnetVPCMismatch", Text::Any),
                releases: Releases::since(12),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"SecurityGroupSubnetVPCMismatch","message":"Security groups and subnets must be in the same VPC."}"#,
                source: "aws/karpenter-provider-aws v1.12.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#3390, #3007", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "launch-template-deleted",
        severity: Severity::Warning,
        summary: "launch templates are deleted before they are used",
        says: "launch templates that the controller created are deleted before it uses them",
        remedy: "give every cluster its own `settings.clusterName` and look for another controller with the same name in the account; CloudTrail (`DeleteLaunchTemplate`) shows who deletes the templates",
        cause: "
A controller finds launch templates by the tag with its cluster name, and deletes those that it does not use. Two
controllers with the same name delete each other's templates. Occasionally a template is missing because it was just
deleted; the controller then creates it again.
",
        rules: &["cluster-name-shared", "clustername-empty", "two-controllers"],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Is("invalidating launch template in the cache because it no longer exists"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-10-21T10:38:02.138Z","logger":"controller","message":"invalidating launch template in the cache because it no longer exists","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"karpenter.k8s.aws/1234567890123456789","reconcileID":"5a201a6a-3c5e-4b7a-9d21-7e4c0008f116","id":"lt-0a1b2c3d4e5f60718"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/providers/launchtemplate/launchtemplate.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["InvalidLaunchTemplateId.NotFound"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T11:45:15.275Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a201e3b-3c5e-4b7a-9d21-7e4c00091005","error":"launching nodeclaim, creating instance, creating fleet request, with fleet error(s), InvalidLaunchTemplateId.NotFound: The specified launch template, with template ID lt-0a1b2c3d4e5f60718, does not exist."}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["launch templates not found when creating fleet request"])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T12:52:28.412Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a20220c-3c5e-4b7a-9d21-7e4c00092ef4","error":"launching nodeclaim, creating instance, launch templates not found when creating fleet request, operation error EC2: CreateFleet, api error InvalidLaunchTemplateName.NotFoundException: At least one of the launch templates specified in the request does not exist."}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "LaunchTemplateNotFound", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"LaunchTemplateNotFound","message":"Launch template used for instance launch wasn't found"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            }
        ],
        when: When::Often { count: 3, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["pkg/providers/launchtemplate/launchtemplate.go of aws/karpenter-provider-aws at v1.14.1", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "volume-key-unusable",
        severity: Severity::Error,
        summary: "EC2 cannot use the encryption key of the node volumes",
        says: "EC2 cannot use the encryption key of the node volumes, and instances stop while they start",
        remedy: "let the key policy allow the controller role and `AWSServiceRoleForEC2Spot` to use the key and to create grants on it, and check that the key is enabled and in the same region",
        cause: "
EC2 encrypts the volume of an instance with the key in `blockDeviceMappings`, or with the account's key. The launch
succeeds, but the instance stops within seconds if EC2 cannot use the key. The NodeClaim disappears as if someone had
terminated the instance.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["Client.InvalidKMSKey.InvalidState"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-09-09T13:59:41.549Z","logger":"controller","message":"Reconciler error","commit":"781485b","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2025dd-3c5e-4b7a-9d21-7e4c00094de3","error":"launching nodeclaim, creating instance, with fleet error(s), Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"}"#,
                source: "aws/karpenter-provider-aws#3767",
            },
            Message {
                pattern: anywhere(Text::Has(&["Client.InternalError: Client error on launch"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "StateReason: Client.InternalError: Client error on launch",
                source: "aws/karpenter-provider-aws#1407",
            },
            Message {
                pattern: anywhere(Text::Has(&["Client.InvalidKMSKey.InvalidState"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "StateReason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state",
                source: "aws/karpenter-provider-aws#3767",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#1407, #3767"],
    },
    Symptom {
        name: "nodeclass-never-decided",
        severity: Severity::Error,
        summary: "the readiness of a node class stays `Unknown`",
        says: "the readiness of the node class stays `Unknown`, and Karpenter launches no node from it",
        remedy: "look at the conditions of the EC2NodeClass: the condition in the message is not decided; if it is `ValidationSucceeded` with `AwaitingReconciliation`, first check that `spec.instanceProfile` is the bare name of an existing profile",
        cause: "
A node class is Ready when all its parts are. A part stays `Unknown` while Karpenter repeats its calls to AWS without
a log line: on throttling, on service errors, and from 1.3.1 on for an instance profile that EC2 does not know,
because it may appear soon. Right after a node class is created this is normal for some seconds.
",
        rules: &["instance-profile-is-arn", "status-contradiction"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["resolving NodeClass readiness, NodeClass is in Ready=Unknown"])),
                releases: Releases::until(6),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T14:06:54.686Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2029ae-3c5e-4b7a-9d21-7e4c00096cd2","error":"launching nodeclaim, resolving NodeClass readiness, NodeClass is in Ready=Unknown, ValidationSucceeded=Unknown"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["resolving nodeclass readiness, nodeclass is in Ready=Unknown"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T15:13:07.823Z","logger":"controller","message":"Reconciler error","commit":"e7e1327","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a202d7f-3c5e-4b7a-9d21-7e4c00098bc1","error":"launching nodeclaim, resolving nodeclass readiness, nodeclass is in Ready=Unknown, ValidationSucceeded=Unknown"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "NodeClassReadinessUnknown", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"NodeClassReadinessUnknown","message":"NodeClass is in Ready=Unknown"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "Ready", "Unknown", "ReconcilingDependents", Text::Has(&["Ready=Unknown"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"InstanceProfileReady=Unknown, ValidationSucceeded=Unknown"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#8072, #8312", "pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "nodeclass-not-ready",
        severity: Severity::Error,
        summary: "a node class is not ready, and Karpenter deletes its NodeClaims",
        says: "the node class is not ready, and Karpenter launches no node from it: {its conditions say why}",
        remedy: "look at the conditions of the EC2NodeClass (`kubectl describe ec2nodeclass`): the condition that is `False` names the problem",
        cause: "
A node class is Ready when it has subnets, security groups, images and an instance profile, and from 1.2 on passes a
validation. Karpenter deletes a NodeClaim whose node class is not Ready, and creates another one for the next pods.
This can happen once after a change of the node class.
",
        rules: &["status-contradiction", "selector-cluster-mismatch"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["NodeClassRef not ready, "])),
                releases: Releases::ALL,
                detail: Detail::Between("NodeClassRef not ready, ", ""),
                example: r#"{"level":"ERROR","time":"2025-06-11T16:20:20.960Z","logger":"controller","message":"failed launching nodeclaim","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a203150-3c5e-4b7a-9d21-7e4c0009aab0","error":"NodeClassRef not ready, SubnetsReady=False"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/nodeclaim/lifecycle/launch.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "Ready", "False", "UnhealthyDependents", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"Ready","status":"False","reason":"UnhealthyDependents","message":"SubnetsReady=False, ValidationSucceeded=False"}"#,
                source: "awslabs/operatorpkg status/condition_set.go",
            },
            Message {
                pattern: event("NodeClassNotReady", Text::Has(&["NodeClassRef not ready, "])),
                releases: Releases::until(7),
                detail: Detail::Between("NodeClassRef not ready, ", ""),
                example: "2m14s (x6 over 21m)   Warning   NodeClassNotReady   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: NodeClassRef not ready, SubnetsReady=False",
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Certain,
        references: &["pkg/cloudprovider/types.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "nodeclass-missing",
        severity: Severity::Error,
        summary: "a NodePool refers to a node class that does not exist",
        says: "the node class {of the NodePool} in `nodeClassRef` does not exist",
        remedy: "create the EC2NodeClass, or correct `group`, `kind` and `name` in `spec.template.spec.nodeClassRef` of the NodePool",
        cause: "
A NodePool refers to its node class by group, kind and name. Without the node class Karpenter cannot launch anything:
the NodePool is not Ready, and existing NodeClaims are deleted as if EC2 had no capacity.
",
        rules: &["nodeclass-ref-dangling", "nodeclass-ref-unmanaged"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["resolving nodeclass, ", "\" not found"])),
                releases: Releases::ALL,
                detail: Detail::Between(".karpenter.k8s.aws \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-10-21T08:27:33.097Z","logger":"controller","message":"failed launching nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a203521-3c5e-4b7a-9d21-7e4c0009c99f","error":"insufficient capacity, resolving nodeclass, ec2nodeclasses.karpenter.k8s.aws \"default\" not found"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["resolving node class, ", "\" not found"])),
                releases: Releases::until(5),
                detail: Detail::Between(".karpenter.k8s.aws \"", "\""),
                example: r#"{"level":"ERROR","time":"2024-10-15T09:34:46.234Z","logger":"controller","message":"failed launching nodeclaim","commit":"6174c75","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2038f2-3c5e-4b7a-9d21-7e4c0009e88e","error":"insufficient capacity, resolving node class, ec2nodeclasses.karpenter.k8s.aws \"default\" not found"}"#,
                source: "aws/karpenter-provider-aws v1.0.6 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["resolving nodeclass, ", "\" not found"])),
                releases: Releases::ALL,
                detail: Detail::Between(".karpenter.k8s.aws \"", "\""),
                example: r#"2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: insufficient capacity, resolving nodeclass, ec2nodeclasses.karpenter.k8s.aws "default" not found"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/cloudprovider/cloudprovider.go",
            },
            Message {
                pattern: event("", Text::Is("Failed resolving NodeClass")),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning      nodepool/default   Failed resolving NodeClass",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/cloudprovider/events/events.go",
            },
            Message {
                pattern: condition("NodePool", "NodeClassReady", "False", "NodeClassNotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"False","reason":"NodeClassNotFound","message":"NodeClass not found on cluster"}"#,
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodepool/readiness/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws-samples/eks-workshop-v2#1859", "pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
