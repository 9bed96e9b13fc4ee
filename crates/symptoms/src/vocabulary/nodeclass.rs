//! Node classes that do not become ready.

use super::{Detail, Message, Seen, Text, When, condition, event, line};
use lint::finding::Severity;
use karpenter::release::{Interval, Releases};
use crate::entry::Level;
use lint::report::Confidence;
use crate::Symptom;

/// The symptoms of this part.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "subnets-not-found",
        severity: Severity::Error,
        summary: "a node class selects no subnet",
        says: "`subnetSelectorTerms` of the node class match no subnet",
        remedy: "compare the tags or ids in `subnetSelectorTerms` with the subnets of the VPC (`aws ec2 describe-subnets`): the same account and region, the value spelt the same, and no placeholder left in it",
        cause: "
All pairs of a term have to be on one subnet; terms add up. A tag that differs in a letter, a selector of another
cluster, or a list in one string matches nothing. If the controller may not call `ec2:DescribeSubnets`, its log says
so.
",
        rules: &["selector-cluster-mismatch", "selector-term-id-mixed"],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "SubnetsReady", "False", "SubnetsNotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"SubnetsReady","status":"False","reason":"SubnetsNotFound","message":"SubnetSelector did not match any Subnets"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/subnet.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["no subnets matched selector"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T10:23:17.633Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a221da1-3c5e-4b7a-9d21-7e4c0019411f","error":"launching nodeclaim, creating instance, getting subnets, no subnets matched selector [{map[karpenter.sh/discovery:prod] }]"}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/subnet/subnet.go",
            },
            Message {
                seen: condition("NodeClaim", "Launched", "Unknown", "SubnetResolutionFailed", Text::Any),
                releases: Releases::since(1),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"SubnetResolutionFailed","message":"Error getting subnets"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/providers/instance/instance.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["drift, no subnets are discovered"])),
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
        remedy: "compare the tags, names or ids in `securityGroupSelectorTerms` with the groups of the VPC (`aws ec2 describe-security-groups`); a `name` is that of the group, not its tag `Name`",
        cause: "
All pairs of a term have to be on one group; terms add up. The cluster's own group carries
`kubernetes.io/cluster/<name>: owned`, others only the tags that somebody put on them.
",
        rules: &["selector-cluster-mismatch", "sg-cluster-tag-selector"],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "SecurityGroupsReady", "False", "SecurityGroupsNotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"SecurityGroupsReady","status":"False","reason":"SecurityGroupsNotFound","message":"SecurityGroupSelector did not match any SecurityGroups"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/securitygroup.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["drift, no security groups are present in the status"])),
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
        summary: "a node class selects no image",
        says: "{the image} of the node class is not found",
        remedy: "name a version of the alias that is published for the Kubernetes version of the cluster (`family@latest` to try), or compare ids, names, tags and owner in `amiSelectorTerms` with `aws ec2 describe-images`; the controller needs `ssm:GetParameter` for aliases",
        cause: "
An alias is looked up in SSM for the Kubernetes version of the cluster; a version that was never published for it, or
was removed, is not found. Images that others share are found only with their `owner`.
",
        rules: &["al2-end-of-life"],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "AMIsReady", "False", "AMINotFound", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"False","reason":"AMINotFound","message":"AMISelector did not match any AMIs"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/controllers/nodeclass/ami.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["failed to discover any AMIs for alias \""])),
                releases: Releases::until(4),
                detail: Detail::Between("for alias \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-02-12T13:44:56.044Z","logger":"controller","message":"Reconciler error","commit":"058c665","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a222914-3c5e-4b7a-9d21-7e4c00199dec","error":"getting amis, getting AMI queries, failed to discover any AMIs for alias \"al2023@v20990101\""}"#,
                source: "aws/karpenter-provider-aws v1.2.1 pkg/providers/amifamily/al2023.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["failed to discover any AMIs for alias (alias="])),
                releases: Releases::since(5),
                detail: Detail::Between("(alias=", ")"),
                example: r#"{"level":"ERROR","time":"2025-10-21T14:51:09.181Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a222ce5-3c5e-4b7a-9d21-7e4c0019bcdb","alias":"al2023@v20990101","error":"getting amis, getting AMI queries, failed to discover any AMIs for alias (alias=al2023@v20990101)"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/providers/amifamily/al2023.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["no amis exist given constraints"])),
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
        summary: "the alias of a node class has no images for the Kubernetes version",
        says: "the alias of the node class has no images for the Kubernetes version of the cluster",
        remedy: "write another family into `amiSelectorTerms`: `al2023` or `bottlerocket` in the place of `al2` from Kubernetes 1.33 on; for `windows2025` the cluster has to be 1.35 or newer",
        cause: "
AWS publishes images of a family for some versions of Kubernetes only: none of AL2 from 1.33 on, and those of Windows
Server 2025 from 1.35 on. To 1.5 of Karpenter no image is found; later it says why.
",
        rules: &["al2-alias-unsupported", "al2-end-of-life"],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "AMIsReady", "False", "UnsupportedAlias", Text::Any),
                releases: Releases::since(6),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"False","reason":"UnsupportedAlias","message":"AL2 aliases are no longer supported on EKS 1.33+"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/controllers/nodeclass/ami.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["AL2 aliases are no longer supported on EKS"])),
                releases: Releases::since(6),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T16:05:35.455Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223487-3c5e-4b7a-9d21-7e4c0019fab9","error":"terminal error: getting amis, getting AMI queries, AL2 aliases are no longer supported on EKS 1.33+"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/providers/amifamily/ami.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["Windows Server 2025 requires EKS version"])),
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
        remedy: "correct the name or id in `spec.placementGroupSelector`, make the group in this region, and allow `ec2:DescribePlacementGroups`",
        cause: "
From 1.11 on a node class may name a placement group, which has to exist before nodes are launched into it.
",
        rules: &[],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "PlacementGroupReady", "False", "PlacementGroupNotFound", Text::Any),
                releases: Releases::since(11),
                detail: Detail::Between("Placement group \"", "\""),
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"False","reason":"PlacementGroupNotFound","message":"Placement group \"training\" not found"}"#,
                source: "aws/karpenter-provider-aws v1.11.0 pkg/controllers/nodeclass/placementgroup.go",
            },
            Message {
                seen: condition("EC2NodeClass", "PlacementGroupReady", "False", "PlacementGroupResolutionFailed", Text::Any),
                releases: Releases::since(11),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"False","reason":"PlacementGroupResolutionFailed","message":"Failed to resolve placement group"}"#,
                source: "aws/karpenter-provider-aws v1.11.0 pkg/controllers/nodeclass/placementgroup.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["resolving placement group, "])),
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
        summary: "the address range of the cluster cannot be found out",
        says: "the address range of the cluster's services cannot be found out, and nodes of AL2023 need it",
        remedy: "allow `eks:DescribeCluster` for the cluster to the controller; outside EKS use `amiFamily: Custom` and write the range into the NodeConfig",
        cause: "
Images of AL2023 do not ask the cluster themselves, as those of AL2 did: the NodeConfig has to name the range.
Karpenter asks EKS for it, once for its run. From 1.7 on (1.3.5, 1.4.1, 1.5.5 and 1.6.4 too) the condition says so.
",
        rules: &["userdata-nodeconfig-incomplete"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::HasBut(&["failed to detect the cluster CIDR, "], &["is not authorized to perform: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T10:26:14.866Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a223ffa-3c5e-4b7a-9d21-7e4c001a5786","error":"failed to detect the cluster CIDR, operation error EKS: DescribeCluster, https response error StatusCode: 404, ResourceNotFoundException: No cluster found for name: prod."}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                seen: condition("EC2NodeClass", "ValidationSucceeded", "False", "ClusterCIDRResolutionFailed", Text::Any),
                releases: Releases::union(&[
                    Interval::patches_from(3, 5),
                    Interval::patches_from(4, 1),
                    Interval::patches_from(5, 5),
                    Interval::since_patch(6, 4),
                ]),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"ClusterCIDRResolutionFailed","message":"Failed to detect the cluster CIDR"}"#,
                source: "aws/karpenter-provider-aws v1.7.0 pkg/controllers/nodeclass/validation.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/nodeclass/validation.go of aws/karpenter-provider-aws at v1.14.1", "pkg/providers/launchtemplate/launchtemplate.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "node-role-not-found",
        severity: Severity::Error,
        summary: "the role of the nodes does not exist",
        says: "the role {of the nodes} does not exist in the account",
        remedy: "make the role, or correct `spec.role` of the node class: the bare name of a role of this account",
        cause: "
Karpenter makes an instance profile for `spec.role` and puts the role into it. The role itself it never makes.
",
        rules: &["nodeclass-role-is-arn"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["The role with name ", " cannot be found"])),
                releases: Releases::ALL,
                detail: Detail::Between("The role with name ", " cannot be found"),
                example: r#"{"level":"ERROR","time":"2025-07-22T11:33:27.003Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2243cb-3c5e-4b7a-9d21-7e4c001a7675","error":"creating instance profile, adding role to instance profile, operation error IAM: AddRoleToInstanceProfile, https response error StatusCode: 404, NoSuchEntity: The role with name KarpenterNodeRole-prod cannot be found."}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/instanceprofile/instanceprofile.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating instance profile, ", "role not found, "], &["The role with name "])),
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
        summary: "an ARN or a path stands where the name of a role belongs",
        says: "`spec.role` of the node class is not the name of a role",
        remedy: "write what follows the last `/` of the ARN into `spec.role`",
        cause: "
IAM attaches a role by its bare name. To 1.1 the text is passed on as it is, and refused; from 1.2 on the part after
the last slash is used, so that an ARN works, but the comparison with the role in the profile never holds: the role is
put in again and again, and from 1.7 on new profiles are made.
",
        rules: &["nodeclass-role-is-arn", "role-path-makes-profiles"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["The specified value for roleName is invalid"])),
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
        summary: "the instance profile of a node class cannot be made",
        says: "the instance profile for `spec.role` of the node class cannot be made",
        remedy: "read the answer of IAM in the field `error`; in a network without a way to IAM name a profile that exists in `spec.instanceProfile` instead",
        cause: "
With `spec.role` the controller makes an instance profile and puts the role into it, which takes several calls to IAM.
Private networks seldom have an endpoint for IAM; accounts have a quota of profiles.
",
        rules: &["role-path-makes-profiles"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::HasBut(&["creating instance profile, "], &["is not authorized to perform: ", "The role with name ", "role not found, ", "The specified value for roleName", "Throttling", "RequestLimitExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T14:54:06.414Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a224f3e-3c5e-4b7a-9d21-7e4c001ad342","error":"creating instance profile, operation error IAM: CreateInstanceProfile, https response error StatusCode: 0, RequestID: , request send failed, dial tcp: i/o timeout"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/controllers/nodeclass/instanceprofile.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::HasBut(&["getting instance profile "], &["is not authorized to perform: ", "The role with name ", "role not found, ", "The specified value for roleName", "Throttling", "RequestLimitExceeded"])),
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
        summary: "a node class sets tags that belong to Karpenter",
        says: "the node class sets tags that Karpenter sets itself: {see its condition}",
        remedy: "take these keys out of `spec.tags`: `kubernetes.io/cluster/…`, `karpenter.sh/nodepool`, `karpenter.sh/nodeclaim`, `karpenter.k8s.aws/ec2nodeclass` and `eks:eks-cluster-name` are set for you",
        cause: "
Karpenter finds its instances by these tags, and its permissions depend on them. The API server refuses them in most
cases; what slips through is refused by the controller from 1.2 on.
",
        rules: &["restricted-tags"],
        messages: &[
            Message {
                seen: condition("EC2NodeClass", "ValidationSucceeded", "False", "TagValidationFailed", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"TagValidationFailed","message":"tags failed validation requirements (tags=\"eks:eks-cluster-name\")"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["tag does not pass tag validation requirements"])),
                releases: Releases::between(2, 2),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-02-12T16:08:32.688Z","logger":"controller","message":"Reconciler error","commit":"058c665","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a2256e0-3c5e-4b7a-9d21-7e4c001b1120","error":"terminal error: validating tags, \"eks:eks-cluster-name\" tag does not pass tag validation requirements"}"#,
                source: "aws/karpenter-provider-aws v1.2.1 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["validating tags, the following tags failed validation requirements ("])),
                releases: Releases::between(3, 4),
                detail: Detail::Between("requirements (", ")"),
                example: r#"{"level":"ERROR","time":"2025-04-23T08:15:45.825Z","logger":"controller","message":"Reconciler error","commit":"0871602","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a225ab1-3c5e-4b7a-9d21-7e4c001b300f","error":"terminal error: validating tags, the following tags failed validation requirements (\"eks:eks-cluster-name\")"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/utils/utils.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["validating tags, tags failed validation requirements (tags="])),
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
        summary: "a node class that is deleted waits for its NodeClaims",
        says: "a node class is being deleted and waits for NodeClaims that use it",
        remedy: "delete the NodeClaims, or let them move to another node class; if a GitOps tool deletes and makes the node class again, have it change the class in place",
        cause: "
A node class is removed only when no NodeClaim uses it. Until then NodePools that refer to it are not ready, and a new
one of the same name cannot be made.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("WaitingOnNodeClaimTermination", Text::Starts("Waiting on NodeClaim termination for ")),
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
        summary: "the user data of Bottlerocket names a setting that there is not",
        says: "the user data for Bottlerocket names a setting under `settings.kubernetes` that there is not",
        remedy: "correct the key that the field `reason` shows; settings of Bottlerocket are written with hyphens",
        cause: "
Karpenter reads `[settings.kubernetes]` to put its own settings beside yours. A key that it does not know is passed
over, and from 1.9 on it says so.
",
        rules: &["userdata-toml-invalid"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Unknown parameter in userData K8s settings"), Text::Any),
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
        summary: "a quantity in the kubelet settings cannot be read",
        says: "a quantity under `spec.kubelet` of a node class cannot be read, and stops the provisioner",
        remedy: "correct `kubeReserved`, `systemReserved` and the thresholds of `evictionHard` and `evictionSoft`: `100Mi` without a blank, `5%` without one",
        cause: "
The API server takes any text for these quantities. The controller panics on one that it cannot read: to 1.0 it
crashes, later each attempt to work out instance types fails, which stops provisioning for every NodePool.
",
        rules: &["kubelet-config-invalid"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["quantities must match the regular expression"])),
                releases: Releases::since(1),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T11:36:24.236Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"provisioner","namespace":"","name":"","reconcileID":"5a226624-3c5e-4b7a-9d21-7e4c001b8cdc","error":"panic: cannot parse '100 Mi': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' [recovered]"}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/types.go",
            },
            Message {
                seen: Seen::Words(Text::Has(&["quantities must match the regular expression"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "panic: cannot parse '100 Mi': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                source: "aws/karpenter-provider-aws v1.0.6 pkg/providers/instancetype/types.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];

/// A node class of which only the validation is undecided: the rule `status-contradiction` judges its status.
pub(super) const UNDECIDED: &[Message] = &[Message {
    seen: condition(
        "EC2NodeClass",
        "Ready",
        "Unknown",
        "ReconcilingDependents",
        Text::Is("ValidationSucceeded=Unknown"),
    ),
    releases: Releases::ALL,
    detail: Detail::None,
    example: r#"{"kind":"EC2NodeClass","name":"default","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"ValidationSucceeded=Unknown"}"#,
    source: "awslabs/operatorpkg status/condition_set.go",
}];
