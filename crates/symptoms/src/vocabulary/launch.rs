//! NodeClaims without an instance: errors of EC2 and the controller during a launch.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, anywhere, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use karpenter::release::Releases;
use lint::finding::Severity;
use lint::report::Confidence;

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
                releases: Releases::since(3),
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
    Symptom {
        name: "fallback-too-narrow",
        severity: Severity::Warning,
        summary: "too few instance types for the fallback to on-demand",
        says: "a NodePool that allows spot and on-demand has fewer than five instance types for the fallback to on-demand",
        remedy: "allow at least five instance types in the NodePool, preferably many families and sizes",
        cause: "
When spot capacity is missing, Karpenter launches an on-demand instance of a type that the NodePool allows. With only
a few types the fallback may meet the same shortage.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed while checking on-demand fallback"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T09:37:43.467Z","logger":"controller","message":"failed while checking on-demand fallback","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a205b4b-3c5e-4b7a-9d21-7e4c000afef5","error":"at least 5 instance types are recommended when flexible to spot but requesting on-demand, the current provisioning request only has 2 instance type options"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/providers/instance/instance.go",
            }
        ],
        when: When::Often { count: 2, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#9617, #5789", "pkg/providers/instance/instance.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "aws-calls-throttled",
        severity: Severity::Warning,
        summary: "AWS throttles the calls of the controller",
        says: "AWS throttles the calls of the controller",
        remedy: "look for other callers of EC2 in the account and region, spread node churn over time (`consolidateAfter`, budgets), and ask AWS for a higher rate",
        cause: "
EC2 limits the calls of an account and region, regardless of the caller. The controller batches its calls and retries
throttled ones; a few refusals are normal when many nodes launch.
",
        rules: &["two-controllers"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["RequestLimitExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T10:44:56.604Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a205f1c-3c5e-4b7a-9d21-7e4c000b1de4","error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, exceeded maximum number of attempts, 3, https response error StatusCode: 503, api error RequestLimitExceeded: Request limit exceeded."}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["Throttling"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T11:51:09.741Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2062ed-3c5e-4b7a-9d21-7e4c000b3cd3","error":"getting instance profile, operation error IAM: GetInstanceProfile, https response error StatusCode: 400, api error Throttling: Rate exceeded"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/providers/instanceprofile/instanceprofile.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "RequestLimitExceeded", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"RequestLimitExceeded","message":"Request limit exceeded"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            }
        ],
        when: When::Often { count: 10, minutes: 15 },
        confidence: Confidence::Likely,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "aws-internal-errors",
        severity: Severity::Warning,
        summary: "EC2 answers with internal errors",
        says: "EC2 answers launches with internal errors",
        remedy: "look at the AWS Health Dashboard for the region; if only one image or volume is affected, check the encryption of the volume",
        cause: "
The controller retries the call. In most cases the errors end by themselves. An instance whose volume cannot be
decrypted fails with the same error.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["api error InternalError"], &["launch template"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T12:58:22.878Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2066be-3c5e-4b7a-9d21-7e4c000b5bc2","error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 500, RequestID: 5b0c, api error InternalError: An internal error has occurred"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "InternalError", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"InternalError","message":"An internal error has occurred"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            }
        ],
        when: When::Often { count: 5, minutes: 30 },
        confidence: Confidence::Possible,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "account-restricted",
        severity: Severity::Error,
        summary: "the account may not launch such instances yet",
        says: "the account may not launch such instances in this region yet",
        remedy: "for a new account wait until EC2 has verified it for the region, or contact AWS; for an account on the Free Tier allow only instance types that the plan includes",
        cause: "
EC2 verifies an account at its first launch in a region, which takes minutes to hours, and refuses launches until
then. An account on the Free Tier plan may launch only a few types.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["PendingVerification"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T13:05:35.015Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a206a8f-3c5e-4b7a-9d21-7e4c000b7ab1","error":"launching nodeclaim, creating instance, with fleet error(s), PendingVerification: Your request for accessing resources in this region is being validated"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["not eligible for Free Tier"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-03-24T14:12:48.152Z","logger":"controller","message":"Reconciler error","commit":"d80cb86","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a206e60-3c5e-4b7a-9d21-7e4c000b99a0","error":"launching nodeclaim, creating instance, with fleet error(s), InvalidParameterCombination: The specified instance type is not eligible for Free Tier."}"#,
                source: "aws/karpenter-provider-aws v1.10.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "AccountPendingVerification", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"AccountPendingVerification","message":"An instance launch was requested but the request for launching resources in this region is still being verified"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "FreeTierIneligible", Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"FreeTierIneligible","message":"The specified instance type is not eligible for Free Tier"}"#,
                source: "aws/karpenter-provider-aws v1.10.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "launch-failed",
        severity: Severity::Error,
        summary: "a NodeClaim cannot be launched",
        says: "a NodeClaim cannot be launched, and its status does not give the reason",
        remedy: "look in the controller's log for `Reconciler error` of `nodeclaim.lifecycle` with the name of the NodeClaim: its field `error` has the answer of EC2",
        cause: "
EC2 refused the launch for a reason that Karpenter does not classify. From 1.7 on Karpenter deletes the NodeClaim
after five minutes.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "LaunchFailed", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"LaunchFailed","message":"Instance launch failed"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "InstanceTypeResolutionFailed", Text::Any),
                releases: Releases::since(1),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"InstanceTypeResolutionFailed","message":"Error resolving instance types"}"#,
                source: "aws/karpenter-provider-aws v1.1.0 pkg/cloudprovider/cloudprovider.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Possible,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
