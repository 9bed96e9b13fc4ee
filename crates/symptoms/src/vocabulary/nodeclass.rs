//! Node classes that do not become ready.

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
        name: "subnets-not-found",
        severity: Severity::Error,
        summary: "a node class selects no subnet",
        says: "`subnetSelectorTerms` of the node class match no subnet",
        remedy: "compare the tags or ids in `subnetSelectorTerms` with the subnets of the VPC (`aws ec2 describe-subnets`): same account and region, same spelling, no placeholder left in a value",
        cause: "
A subnet matches a term if it has every tag of the term; it is selected if it matches any term. A tag with a typo, the
selector of another cluster, or several values in one string match nothing. If the controller may not call
`ec2:DescribeSubnets`, its log contains the error.
",
        rules: &["selector-cluster-mismatch", "selector-term-id-mixed"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "SubnetsReady", "False", "SubnetsNotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"SubnetsReady","status":"False","reason":"SubnetsNotFound","message":"SubnetSelector did not match any Subnets"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/subnet.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["no subnets matched selector"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T10:23:17.633Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a221da1-3c5e-4b7a-9d21-7e4c0019411f","error":"launching nodeclaim, creating instance, getting subnets, no subnets matched selector [{map[karpenter.sh/discovery:prod] }]"}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/subnet/subnet.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "SubnetResolutionFailed", Text::Any),
                releases: Releases::since(1),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"SubnetResolutionFailed","message":"Error getting subnets"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["drift, no subnets are discovered"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T11:30:30.770Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a222172-3c5e-4b7a-9d21-7e4c0019600e","error":"getting drift, calculating subnet drift, no subnets are discovered"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/cloudprovider/drift.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#1558, #3341; kubernetes-sigs/karpenter#2992", "pkg/controllers/nodeclass/subnet.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "security-groups-not-found",
        severity: Severity::Error,
        summary: "a node class selects no security group",
        says: "`securityGroupSelectorTerms` of the node class match no security group",
        remedy: "compare the tags, names or ids in `securityGroupSelectorTerms` with the groups of the VPC (`aws ec2 describe-security-groups`); `name` is the group name, not the tag `Name`",
        cause: "
A group matches a term if it has every tag of the term; it is selected if it matches any term. The security group that
EKS creates for the cluster has the tag `kubernetes.io/cluster/<name>: owned`. Other groups have only the tags that
you set.
",
        rules: &["selector-cluster-mismatch", "sg-cluster-tag-selector"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "SecurityGroupsReady", "False", "SecurityGroupsNotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"SecurityGroupsReady","status":"False","reason":"SecurityGroupsNotFound","message":"SecurityGroupSelector did not match any SecurityGroups"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/securitygroup.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["drift, no security groups are present in the status"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T12:37:43.907Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a222543-3c5e-4b7a-9d21-7e4c00197efd","error":"getting drift, calculating securitygroup drift, no security groups are present in the status"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/cloudprovider/drift.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6650, #7436", "pkg/controllers/nodeclass/securitygroup.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "amis-not-found",
        severity: Severity::Error,
        summary: "a node class selects no AMI",
        says: "{the image} of the node class is not found",
        remedy: "use an alias version that is published for the Kubernetes version of the cluster (try `family@latest`), or compare ids, names, tags and owner in `amiSelectorTerms` with `aws ec2 describe-images`; aliases need the permission `ssm:GetParameter`",
        cause: "
Karpenter looks up an alias in SSM for the Kubernetes version of the cluster. It finds nothing if the alias version
was never published for that Kubernetes version, or was removed. Images that other accounts share are found only with
`owner`.
",
        rules: &["al2-end-of-life"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "AMIsReady", "False", "AMINotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"False","reason":"AMINotFound","message":"AMISelector did not match any AMIs"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/ami.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["failed to discover any AMIs for alias \""])),
                releases: Releases::until(4),
                detail: Detail::Between("for alias \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-02-12T13:44:56.044Z","logger":"controller","message":"Reconciler error","commit":"058c665","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a222914-3c5e-4b7a-9d21-7e4c00199dec","error":"getting amis, getting AMI queries, failed to discover any AMIs for alias \"al2023@v20990101\""}"#,
                source: "aws/karpenter-provider-aws v1.2.1 pkg/providers/amifamily/al2023.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["failed to discover any AMIs for alias (alias="])),
                releases: Releases::since(5),
                detail: Detail::Between("(alias=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T14:51:09.181Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a222ce5-3c5e-4b7a-9d21-7e4c0019bcdb","alias":"al2023@v20990101","error":"getting amis, getting AMI queries, failed to discover any AMIs for alias (alias=al2023@v20990101)"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/providers/amifamily/al2023.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["no amis exist given constraints"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T15:58:22.318Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2230b6-3c5e-4b7a-9d21-7e4c0019dbca","error":"getting drift, calculating ami drift, no amis exist given constraints"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/cloudprovider/drift.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7544", "pkg/controllers/nodeclass/ami.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "alias-not-for-this-kubernetes",
        severity: Severity::Error,
        summary: "the AMI alias has no images for the Kubernetes version",
        says: "the AMI alias of the node class has no images for the Kubernetes version of the cluster",
        remedy: "use another family in `amiSelectorTerms`: from Kubernetes 1.33 on `al2023` or `bottlerocket` instead of `al2`; `windows2025` needs Kubernetes 1.35 or newer",
        cause: "
AWS publishes each AMI family for some Kubernetes versions only: AL2 up to 1.32, Windows Server 2025 from 1.35 on. Up
to Karpenter 1.5 the controller finds no image; later releases give the reason.
",
        rules: &["al2-alias-unsupported", "al2-end-of-life"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "AMIsReady", "False", "UnsupportedAlias", Text::Any),
                releases: Releases::since(6),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"False","reason":"UnsupportedAlias","message":"AL2 aliases are no longer supported on EKS 1.33+"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/controllers/nodeclass/ami.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["AL2 aliases are no longer supported on EKS"])),
                releases: Releases::since(6),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T16:05:35.455Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223487-3c5e-4b7a-9d21-7e4c0019fab9","error":"terminal error: getting amis, getting AMI queries, AL2 aliases are no longer supported on EKS 1.33+"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/providers/amifamily/ami.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["Windows Server 2025 requires EKS version"])),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T08:12:48.592Z","logger":"controller","message":"Reconciler error","commit":"e7e1327","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223858-3c5e-4b7a-9d21-7e4c001a19a8","error":"terminal error: getting amis, getting AMI queries, Windows Server 2025 requires EKS version 1.35 or higher, current version: 1.34"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/providers/amifamily/ami.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#8151", "pkg/providers/amifamily/ami.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "placement-group-unresolved",
        severity: Severity::Error,
        summary: "the placement group of a node class is not found",
        says: "the placement group {of the node class} is not found",
        remedy: "correct the name or id in `spec.placementGroupSelector`, create the group in this region, and allow `ec2:DescribePlacementGroups`",
        cause: "
From 1.11 on a node class may name a placement group. The group must exist before Karpenter launches nodes into it.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "PlacementGroupReady", "False", "PlacementGroupNotFound", Text::Any),
                releases: Releases::since(11),
                detail: Detail::Between("Placement group \"", "\""),
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"False","reason":"PlacementGroupNotFound","message":"Placement group \"training\" not found"}"#,
                source: "aws/karpenter-provider-aws v1.11.0 pkg/controllers/nodeclass/placementgroup.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "PlacementGroupReady", "False", "PlacementGroupResolutionFailed", Text::Any),
                releases: Releases::since(11),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"False","reason":"PlacementGroupResolutionFailed","message":"Failed to resolve placement group"}"#,
                source: "aws/karpenter-provider-aws v1.11.0 pkg/controllers/nodeclass/placementgroup.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["resolving placement group, "])),
                releases: Releases::since(11),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-05-19T09:19:01.729Z","logger":"controller","message":"Reconciler error","commit":"7ff7943","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223c29-3c5e-4b7a-9d21-7e4c001a3897","error":"resolving placement group, describing placement groups, operation error EC2: DescribePlacementGroups, https response error StatusCode: 500"}"#,
                source: "aws/karpenter-provider-aws v1.12.0 pkg/controllers/nodeclass/placementgroup.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/nodeclass/placementgroup.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "cluster-cidr-unknown",
        severity: Severity::Error,
        summary: "the controller cannot determine the service CIDR of the cluster",
        says: "the controller cannot determine the service CIDR of the cluster, which AL2023 nodes need",
        remedy: "allow the controller `eks:DescribeCluster` for the cluster; outside EKS use `amiFamily: Custom` and write the CIDR into the NodeConfig",
        cause: "
AL2 images ask the cluster for the CIDR; AL2023 images do not, so the NodeConfig must contain it. Karpenter asks EKS
once per run. From 1.7 on (also 1.3.5, 1.4.1, 1.5.5 and 1.6.4) the condition `ValidationSucceeded` reports the failure;
earlier releases write it into `Ready`, and may leave it there after the lookup succeeded.
",
        rules: &["userdata-nodeconfig-incomplete"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["failed to detect the cluster CIDR, "], &["is not authorized to perform: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T10:26:14.866Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223ffa-3c5e-4b7a-9d21-7e4c001a5786","error":"failed to detect the cluster CIDR, operation error EKS: DescribeCluster, https response error StatusCode: 404, ResourceNotFoundException: No cluster found for name: prod."}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "ClusterCIDRResolutionFailed", Text::Any),
                releases: Releases::union(&[
                    Interval::patches_from(3, 5),
                    Interval::patches_from(4, 1),
                    Interval::patches_from(5, 5),
                    Interval::since_patch(6, 4),
                ]),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"ClusterCIDRResolutionFailed","message":"Failed to detect the cluster CIDR"}"#,
                source: "aws/karpenter-provider-aws v1.7.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "Ready", "False", "NodeClassNotReady", Text::Is("Failed to detect the cluster CIDR")),
                releases: Releases::union(&[
                    Interval::until(2),
                    Interval::patches(3, 0, 4),
                    Interval::patches(4, 0, 0),
                    Interval::patches(5, 0, 4),
                    Interval::patches(6, 0, 3),
                ]),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"Ready","status":"False","reason":"NodeClassNotReady","message":"Failed to detect the cluster CIDR"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/controllers/nodeclass/readiness.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7875", "pkg/controllers/nodeclass/validation.go of aws/karpenter-provider-aws at v1.14.1", "pkg/providers/launchtemplate/launchtemplate.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "node-role-not-found",
        severity: Severity::Error,
        summary: "the node role does not exist",
        says: "the node role {of the node class} does not exist in the account",
        remedy: "create the role, or correct `spec.role` of the node class: the bare name of a role in this account",
        cause: "
Karpenter creates an instance profile for `spec.role` and adds the role to it. It never creates the role.
",
        rules: &["nodeclass-role-is-arn"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["The role with name ", " cannot be found"])),
                releases: Releases::ALL,
                detail: Detail::Between("The role with name ", " cannot be found"),
                example: r#"{"level":"ERROR","time":"2025-07-22T11:33:27.003Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2243cb-3c5e-4b7a-9d21-7e4c001a7675","error":"creating instance profile, adding role to instance profile, operation error IAM: AddRoleToInstanceProfile, https response error StatusCode: 404, NoSuchEntity: The role with name KarpenterNodeRole-prod cannot be found."}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/instanceprofile/instanceprofile.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating instance profile, ", "role not found, "], &["The role with name "])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T12:40:40.140Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a22479c-3c5e-4b7a-9d21-7e4c001a9564","error":"creating instance profile, role not found, operation error IAM: AddRoleToInstanceProfile, https response error StatusCode: 404"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/providers/instanceprofile/instanceprofile.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/providers/instanceprofile/instanceprofile.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "node-role-is-no-name",
        severity: Severity::Error,
        summary: "`spec.role` contains an ARN or a path instead of a role name",
        says: "`spec.role` of the node class is not the name of a role",
        remedy: "write what follows the last `/` of the ARN into `spec.role`",
        cause: "
IAM attaches a role by its bare name. Up to 1.1 Karpenter passes the text to IAM unchanged, and IAM refuses it. From
1.2 on Karpenter uses the part after the last slash, so that an ARN works. But the comparison with the role in the
profile always fails: Karpenter adds the role again and again, and from 1.7 on creates new profiles.
",
        rules: &["nodeclass-role-is-arn", "role-path-makes-profiles"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["The specified value for roleName is invalid"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-12-10T13:47:53.277Z","logger":"controller","message":"Reconciler error","commit":"3298d91","controller":"nodeclass.status","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a224b6d-3c5e-4b7a-9d21-7e4c001ab453","error":"creating instance profile, adding role \"arn:aws:iam::111122223333:role/KarpenterNodeRole-prod\" to instance profile \"prod_1234567890\", operation error IAM: AddRoleToInstanceProfile, https response error StatusCode: 400, api error ValidationError: The specified value for roleName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"}"#,
                source: "aws/karpenter-provider-aws v1.1.1 pkg/providers/instanceprofile/instanceprofile.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6650", "pkg/providers/instanceprofile/instanceprofile.go of aws/karpenter-provider-aws at v1.1.0"],
    },
    Symptom {
        name: "instance-profile-not-made",
        severity: Severity::Error,
        summary: "Karpenter cannot create the instance profile of a node class",
        says: "Karpenter cannot create the instance profile for `spec.role` of the node class",
        remedy: "read the error of IAM in the field `error`; in a network without a route to IAM, name an existing profile in `spec.instanceProfile` instead",
        cause: "
With `spec.role` the controller creates an instance profile and adds the role to it, which takes several calls to IAM.
Private networks often have no endpoint for IAM, and accounts have a quota of instance profiles.
",
        rules: &["role-path-makes-profiles"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating instance profile, "], &["is not authorized to perform: ", "The role with name ", "role not found, ", "The specified value for roleName", "Throttling", "RequestLimitExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T14:54:06.414Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a224f3e-3c5e-4b7a-9d21-7e4c001ad342","error":"creating instance profile, operation error IAM: CreateInstanceProfile, https response error StatusCode: 0, RequestID: , request send failed, dial tcp: i/o timeout"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/controllers/nodeclass/instanceprofile.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["getting instance profile "], &["is not authorized to perform: ", "The role with name ", "role not found, ", "The specified value for roleName", "Throttling", "RequestLimitExceeded"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T15:01:19.551Z","logger":"controller","message":"Reconciler error","commit":"e7e1327","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a22530f-3c5e-4b7a-9d21-7e4c001af231","error":"getting instance profile prod_1234567890, operation error IAM: GetInstanceProfile, https response error StatusCode: 0, request send failed, dial tcp: i/o timeout"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/controllers/nodeclass/instanceprofile.go",
            }
        ],
        when: When::Often { count: 3, minutes: 30 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/nodeclass/instanceprofile.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "tags-refused",
        severity: Severity::Error,
        summary: "a node class sets tags that are reserved for Karpenter",
        says: "the node class sets tags that are reserved for Karpenter: {see its condition}",
        remedy: "remove these keys from `spec.tags`: Karpenter sets `kubernetes.io/cluster/…`, `karpenter.sh/nodepool`, `karpenter.sh/nodeclaim`, `karpenter.k8s.aws/ec2nodeclass` and `eks:eks-cluster-name` itself",
        cause: "
Karpenter finds its instances by these tags, and its permissions depend on them. The API server refuses most of these
tags; the controller refuses the rest from 1.2 on.
",
        rules: &["restricted-tags"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "TagValidationFailed", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"TagValidationFailed","message":"tags failed validation requirements (tags=\"eks:eks-cluster-name\")"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["tag does not pass tag validation requirements"])),
                releases: Releases::between(2, 2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-02-12T16:08:32.688Z","logger":"controller","message":"Reconciler error","commit":"058c665","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2256e0-3c5e-4b7a-9d21-7e4c001b1120","error":"terminal error: validating tags, \"eks:eks-cluster-name\" tag does not pass tag validation requirements"}"#,
                source: "aws/karpenter-provider-aws v1.2.1 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["validating tags, the following tags failed validation requirements ("])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("requirements (", ")"),
                example: r#"{"level":"ERROR","time":"2025-04-23T08:15:45.825Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a225ab1-3c5e-4b7a-9d21-7e4c001b300f","error":"terminal error: validating tags, the following tags failed validation requirements (\"eks:eks-cluster-name\")"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/utils/utils.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["validating tags, tags failed validation requirements (tags="])),
                releases: Releases::since(5),
                detail: Detail::Between("(tags=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T09:22:58.962Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a225e82-3c5e-4b7a-9d21-7e4c001b4efe","tags":"\"eks:eks-cluster-name\"","error":"terminal error: validating tags, tags failed validation requirements (tags=\"eks:eks-cluster-name\")"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/utils/utils.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/utils/utils.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "nodeclass-waits-for-nodes",
        severity: Severity::Warning,
        summary: "a deleted node class waits for its NodeClaims",
        says: "a deleted node class waits for NodeClaims that still use it",
        remedy: "delete the NodeClaims, or let them drift to another node class; if a GitOps tool deletes and recreates the node class, make it update the class in place",
        cause: "
Karpenter removes a node class only when no NodeClaim uses it. Until then NodePools that refer to it are not ready,
and you cannot create a node class with the same name.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("WaitingOnNodeClaimTermination", Text::Starts("Waiting on NodeClaim termination for ")),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Normal   WaitingOnNodeClaimTermination   ec2nodeclass/default   Waiting on NodeClaim termination for default-7xk2p, default-b9wqz",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/events.go",
            }
        ],
        when: When::Repeated { count: 3 },
        confidence: Confidence::Certain,
        references: &["pkg/controllers/nodeclass/events.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "bottlerocket-setting-unknown",
        severity: Severity::Warning,
        summary: "the Bottlerocket user data has an unknown setting",
        says: "the Bottlerocket user data has an unknown setting under `settings.kubernetes`",
        remedy: "correct the key in the field `reason`; Bottlerocket settings are written with hyphens",
        cause: "
Karpenter parses `[settings.kubernetes]` to add its own settings. It drops keys that it does not know, and reports
them from 1.9 on.
",
        rules: &["userdata-toml-invalid"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Unknown parameter in userData K8s settings"), Text::Any),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T10:29:11.099Z","logger":"controller","message":"Unknown parameter in userData K8s settings","commit":"e7e1327","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a226253-3c5e-4b7a-9d21-7e4c001b6ded","reason":"1| max_pods = 58\\n | ~~~~~~~~ missing field","error":"strict mode: fields in the document are missing in the target struct"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/providers/amifamily/bootstrap/bottlerocketsettings.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["pkg/providers/amifamily/bootstrap/bottlerocketsettings.go of aws/karpenter-provider-aws at v1.9.0"],
    },
    Symptom {
        name: "kubelet-quantity-unreadable",
        severity: Severity::Error,
        summary: "a quantity in the kubelet settings is invalid",
        says: "a quantity under `spec.kubelet` of a node class is invalid, and stops the provisioner",
        remedy: "correct `kubeReserved`, `systemReserved` and the thresholds in `evictionHard` and `evictionSoft`: write `100Mi` and `5%` without a space",
        cause: "
The API server accepts any text for these quantities. The controller panics on a text that it cannot parse: up to 1.0
it crashes, later every attempt to resolve instance types fails, which stops provisioning for every NodePool.
",
        rules: &["kubelet-config-invalid"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["quantities must match the regular expression"])),
                releases: Releases::between(1, 14),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T11:36:24.236Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a226624-3c5e-4b7a-9d21-7e4c001b8cdc","error":"panic: cannot parse '100 Mi': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' [recovered]"}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/types.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["quantities must match the regular expression"])),
                releases: Releases::until(14),
                detail: Detail::None,
                example: "panic: cannot parse '100 Mi': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                source: "aws/karpenter-provider-aws v1.0.6 pkg/providers/instancetype/types.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "kubelet-settings-refused",
        severity: Severity::Error,
        summary: "Karpenter refuses the kubelet settings of a node class",
        says: "Karpenter refuses `spec.kubelet` of the node class: {see its condition}",
        remedy: "correct the field that the condition names; a field that the AMI family cannot apply belongs in `spec.userData`",
        cause: "
Since 1.15 the API server accepts everything below `spec.kubelet`, and Karpenter validates it. Only AL2023 takes every
field of the kubelet's configuration. The node class is not ready, and no nodes launch from it.
",
        rules: &["kubelet-config-invalid", "kubelet-field-unknown", "kubelet-field-unsupported"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "InvalidKubeletConfiguration", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"InvalidKubeletConfiguration","message":"spec.kubelet: unknown field \"maxPod\""}"#,
                source: "aws/karpenter-provider-aws 88f4899 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "UnsupportedKubeletConfiguration", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"UnsupportedKubeletConfiguration","message":"spec.kubelet has fields not applied by the Bottlerocket AMI family that would be silently dropped: podsPerCore"}"#,
                source: "aws/karpenter-provider-aws v1.15.0 website/content/en/v1.15/concepts/nodeclasses.md",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws"],
    },
    Symptom {
        name: "kubelet-expression-refused",
        severity: Severity::Error,
        summary: "Karpenter refuses an expression in the kubelet settings",
        says: "Karpenter refuses an expression under `spec.kubelet` of the node class: {see its condition}",
        remedy: "turn on the feature gate `NodeClassCEL`, correct the expression, or write a plain value",
        cause: "
Since 1.15 `maxPods`, `kubeReserved` and `systemReserved` may be expressions, if the feature gate `NodeClassCEL` is on.
Karpenter compiles each expression and evaluates it for every instance type. The node class is not ready until all
expressions give a number of at least 0. The documentation and the source name the last reason differently.
",
        rules: &["kubelet-expression-invalid", "kubelet-expressions-disabled"],
        messages: &[
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "KubeletExpressionsDisabled", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"KubeletExpressionsDisabled","message":"spec.kubelet contains a CEL expression, but the NodeClassCEL feature gate is disabled"}"#,
                source: "aws/karpenter-provider-aws v1.15.0 website/content/en/v1.15/concepts/nodeclasses.md",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "KubeletExpressionInvalid", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"KubeletExpressionInvalid","message":"validating expression, compiling expression, ERROR: <input>:1:1: undeclared reference to 'vcpu'"}"#,
                source: "aws/karpenter-provider-aws v1.15.0 website/content/en/v1.15/concepts/nodeclasses.md",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "KubeletExpressionEvaluationFailed", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"KubeletExpressionEvaluationFailed","message":"maxPods expression evaluated to a value outside the valid range [0, 2147483647]"}"#,
                source: "aws/karpenter-provider-aws 88f4899 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "KubeletExpressionEvalFailed", Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"KubeletExpressionEvalFailed","message":"kubelet resource expression evaluated to a negative value"}"#,
                source: "aws/karpenter-provider-aws v1.15.0 website/content/en/v1.15/concepts/nodeclasses.md",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed to evaluate kubelet resource expression"), Text::Any),
                releases: Releases::since(15),
                detail: Detail::Field("expression"),
                example: r#"{"level":"ERROR","time":"2026-10-21T08:21:39.291Z","logger":"controller","message":"failed to evaluate kubelet resource expression","controller":"nodeclass","namespace":"","name":"default","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cde","key":"cpu","expression":"vcpus / (ips_per_eni - 10)","instance-type":"t3.medium","vcpus":2,"memory-mib":4096,"default-enis":3,"ips-per-eni":6,"max-pods":17,"error":"evaluating expression, division by zero"}"#,
                source: "aws/karpenter-provider-aws main before v1.15.0 pkg/cel/environment.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("kubelet resource expression evaluated to an invalid value"), Text::Any),
                releases: Releases::since(15),
                detail: Detail::Field("expression"),
                example: r#"{"level":"ERROR","time":"2026-10-21T08:21:39.291Z","logger":"controller","message":"kubelet resource expression evaluated to an invalid value","controller":"nodeclass","namespace":"","name":"default","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cde","key":"memory","expression":"memory_mib - 8192","instance-type":"t3.medium","result":-4096,"error":"result is negative"}"#,
                source: "aws/karpenter-provider-aws main before v1.15.0 pkg/cel/environment.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws"],
    },
];

/// A node class of which only the validation is undecided: the rule `status-contradiction` judges its status.
pub(super) const UNDECIDED: &[Message] = &[Message {
    pattern: condition(
        "EC2NodeClass",
        "Ready",
        "Unknown",
        "ReconcilingDependents",
        Text::Is("ValidationSucceeded=Unknown"),
    )
    .id(MessageId::NodeClassUndecided),
    releases: Releases::ALL,
    detail: Detail::None,
    example: r#"{"kind":"EC2NodeClass","name":"default","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"ValidationSucceeded=Unknown"}"#,
    source: "awslabs/operatorpkg status/condition_set.go",
}];
