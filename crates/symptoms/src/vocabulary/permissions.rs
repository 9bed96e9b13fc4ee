//! Missing permissions of the controller in AWS.

use super::message::{Detail, Message, Text, When, anywhere, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "controller-unauthorized",
        severity: Severity::Error,
        summary: "the controller lacks a permission in AWS",
        says: "the controller has no permission to call {an action} that it needs",
        remedy: "allow the action to the role of the controller: compare its policy with the policy in the getting-started guide of the release, the cluster name in its tag conditions with `settings.clusterName`, and the role in `iam:PassRole` with `spec.role`; if the policy allows it, look for service control policies that deny the dry run alone, and from 1.6.2 on turn the dry run off with `settings.disableDryRun: true`",
        cause: "
The policy of the controller allows each call only for resources with tags of the cluster, and `iam:PassRole` only for
the node role. A policy of an older release lacks actions; a policy of another cluster has the wrong name in its
conditions. `sts decode-authorization-message` shows the statement that decided.

From 1.3 on Karpenter validates a node class with dry-run calls; without these permissions the node class is not
Ready. Karpenter keeps the result for half an hour: change the node class to validate it again at once.

A dry run is not the same request as the launch: it lacks `ec2:MetadataHttpTokens`, so that a service control policy
that requires IMDSv2 denies the dry run of `ec2:RunInstances` and would allow the launch. From 1.6.2 on
`settings.disableDryRun` skips these calls.
",
        rules: &["iam-tag-condition-mismatch", "iam-passrole-mismatch", "selector-cluster-mismatch", "cluster-name-mismatch"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["is not authorized to perform: "], &["with an explicit deny in a service control policy"])),
                releases: Releases::ALL,
                detail: Detail::Between("is not authorized to perform: ", " "),
                example: r#"{"level":"ERROR","time":"2025-10-21T15:07:13.357Z","logger":"controller","message":"Reconciler error","commit":"f913f41","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fe8cd-3c5e-4b7a-9d21-7e4c00075ef3","aws-error-code":"UnauthorizedOperation","aws-operation-name":"CreateFleet","aws-request-id":"5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10","aws-service-name":"EC2","aws-status-code":403,"error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 403, RequestID: 5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1760000000000000000 is not authorized to perform: ec2:CreateFleet on resource: arn:aws:ec2:eu-west-1:111122223333:launch-template/lt-0a1b2c3d4e5f60718 because no identity-based policy allows the ec2:CreateFleet action. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.8.2 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["UnauthorizedOperation"], &["is not authorized to perform: ", "with an explicit deny in a service control policy"])),
                releases: Releases::ALL,
                detail: Detail::Field("aws-operation-name"),
                example: r#"{"level":"ERROR","time":"2025-07-22T16:14:26.494Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fec9e-3c5e-4b7a-9d21-7e4c00077de2","aws-error-code":"UnauthorizedOperation","aws-operation-name":"CreateFleet","aws-request-id":"5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10","aws-service-name":"EC2","aws-status-code":403,"error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 403, api error UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("unauthorized to call ec2:RunInstances"), Text::Any),
                releases: Releases::since(7),
                detail: Detail::First(&[Detail::Between("is not authorized to perform: ", " "), Detail::Field("aws-operation-name")]),
                example: r#"{"level":"ERROR","time":"2025-10-21T08:21:39.631Z","logger":"controller","message":"unauthorized to call ec2:RunInstances","commit":"f913f41","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a1ff06f-3c5e-4b7a-9d21-7e4c00079cd1","aws-error-code":"UnauthorizedOperation","aws-operation-name":"RunInstances","error":"operation error EC2: RunInstances, https response error StatusCode: 403, RequestID: 5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1760000000000000000 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod because no identity-based policy allows the iam:PassRole action. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.8.2 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("unauthorized to call ec2:CreateFleet"), Text::Any),
                releases: Releases::since(7),
                detail: Detail::First(&[Detail::Between("is not authorized to perform: ", " "), Detail::Field("aws-operation-name")]),
                example: r#"{"level":"ERROR","time":"2026-02-10T09:28:52.768Z","logger":"controller","message":"unauthorized to call ec2:CreateFleet","commit":"e7e1327","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a1ff440-3c5e-4b7a-9d21-7e4c0007bbc0","aws-error-code":"UnauthorizedOperation","aws-operation-name":"CreateFleet","error":"operation error EC2: CreateFleet, https response error StatusCode: 403, RequestID: 5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1760000000000000000 is not authorized to perform: ec2:CreateFleet on resource: arn:aws:ec2:eu-west-1:111122223333:launch-template/* because no identity-based policy allows the ec2:CreateFleet action. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("unauthorized to call ec2:CreateLaunchTemplate"), Text::Any),
                releases: Releases::since(7),
                detail: Detail::First(&[Detail::Between("is not authorized to perform: ", " "), Detail::Field("aws-operation-name")]),
                example: r#"{"level":"ERROR","time":"2025-09-09T10:35:05.905Z","logger":"controller","message":"unauthorized to call ec2:CreateLaunchTemplate","commit":"781485b","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a1ff811-3c5e-4b7a-9d21-7e4c0007daaf","aws-error-code":"UnauthorizedOperation","aws-operation-name":"CreateLaunchTemplate","error":"operation error EC2: CreateLaunchTemplate, https response error StatusCode: 403, RequestID: 5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1760000000000000000 is not authorized to perform: ec2:CreateLaunchTemplate on resource: arn:aws:ec2:eu-west-1:111122223333:launch-template/* because no identity-based policy allows the ec2:CreateLaunchTemplate action. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.7.1 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed to create valid sqs provider"), Text::HasBut(&["is not authorized to perform: "], &["with an explicit deny in a service control policy"])),
                releases: Releases::since(4),
                detail: Detail::Between("is not authorized to perform: ", " "),
                example: r#"{"level":"ERROR","time":"2025-07-22T11:42:18.042Z","logger":"controller","message":"failed to create valid sqs provider","commit":"c8c45c1","controller":"interruption","namespace":"","name":"","reconcileID":"5a1ffbe2-3c5e-4b7a-9d21-7e4c0007f99e","aws-error-code":"AccessDenied","error":"operation error SQS: GetQueueUrl, https response error StatusCode: 403, RequestID: 1b2c, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1 is not authorized to perform: sqs:getqueueurl on resource: arn:aws:sqs:eu-west-1:111122223333:prod because no identity-based policy allows the sqs:getqueueurl action"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/controllers/interruption/controller.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "RunInstancesAuthCheckFailed", Text::Any),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"RunInstancesAuthCheckFailed","message":"Controller isn't authorized to call ec2:RunInstances"}"#,
                source: "aws/karpenter-provider-aws v1.3.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "CreateFleetAuthCheckFailed", Text::Any),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"CreateFleetAuthCheckFailed","message":"Controller isn't authorized to call ec2:CreateFleet"}"#,
                source: "aws/karpenter-provider-aws v1.3.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("EC2NodeClass", "ValidationSucceeded", "False", "CreateLaunchTemplateAuthCheckFailed", Text::Any),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"CreateLaunchTemplateAuthCheckFailed","message":"Controller isn't authorized to call ec2:CreateLaunchTemplate"}"#,
                source: "aws/karpenter-provider-aws v1.3.0 pkg/controllers/nodeclass/validation.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "Unauthorized", Text::Has(&["no identity-based policy allows it"])),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"Unauthorized","message":"User is not authorized to perform this operation because no identity-based policy allows it"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6036, #1488, #7370, #9018; kubernetes-sigs/karpenter#2813", "charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.6.2, `disableDryRun`", "pkg/controllers/nodeclass/validation.go of aws/karpenter-provider-aws at v1.14.1", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "denied-by-organization",
        severity: Severity::Error,
        summary: "a service control policy or a permissions boundary denies the controller a call",
        says: "a service control policy or a permissions boundary denies the controller {a call}",
        remedy: "change the service control policy or the boundary to allow what the NodePool may launch (types, regions, volumes with or without encryption), or narrow the NodePool to what the policy allows; if only the dry run of a node class is denied, as by a policy that requires `ec2:MetadataHttpTokens`, set `settings.disableDryRun: true` (from 1.6.2 on)",
        cause: "
An explicit deny overrides everything that the role allows. Organisations restrict instance types, regions, public
images and unencrypted volumes. The dry-run launch of a node class uses one type of the NodePool, so that a deny for
other types shows only at a real launch. And the dry run lacks `ec2:MetadataHttpTokens`, so that a policy that requires
IMDSv2 denies the dry run alone.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["with an explicit deny in a service control policy"])),
                releases: Releases::ALL,
                detail: Detail::Between("is not authorized to perform: ", " "),
                example: r#"{"level":"ERROR","time":"2025-06-11T12:49:31.179Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fffb3-3c5e-4b7a-9d21-7e4c0008188d","aws-error-code":"UnauthorizedOperation","aws-operation-name":"CreateFleet","aws-request-id":"5b0c3a52-7e1d-4d0e-9d2b-3f6c1e8a9b10","aws-service-name":"EC2","aws-status-code":403,"error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 403, RequestID: 5b0c, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:eu-west-1:111122223333:instance/* with an explicit deny in a service control policy. Encoded authorization failure message: kq1Zb"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "Unauthorized", Text::Has(&["due to a permission boundary"])),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"Unauthorized","message":"User is not authorized to perform this operation due to a permission boundary"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "Unauthorized", Text::Has(&["due to a service control policy"])),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"Unauthorized","message":"User is not authorized to perform this operation due to a service control policy"}"#,
                source: "aws/karpenter-provider-aws v1.2.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7927, #9018", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1", "\"Troubleshoot access denied error messages\" in the IAM User Guide"],
    },
    Symptom {
        name: "controller-uses-node-role",
        severity: Severity::Error,
        summary: "the controller runs with the credentials of a node",
        says: "the controller calls AWS with the credentials of the node that it runs on, with the role {of nodes}, and not with a role of its own",
        remedy: "give the controller its own role by IRSA (annotate its ServiceAccount with `eks.amazonaws.com/role-arn`) or by EKS Pod Identity (an association for its namespace and ServiceAccount, and the agent on its node), and restart its pods; do not allow the action to the role of nodes",
        cause: "
Without IRSA or EKS Pod Identity, the AWS SDK falls back to the instance metadata service, which gives out the role of
the node. The session of such credentials is the id of the instance: `assumed-role/<role>/i-0123456789abcdef0`. This
happens if the ServiceAccount has no annotation, if the pods are older than the annotation or the association, or if
the pod identity agent does not run. Allowing the action to the role of nodes would give it to every pod on every node.

The same message comes if the annotation or the association names the role of nodes in place of the controller's.
",
        rules: &[],
        messages: &[],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#6036; terraform-aws-modules/terraform-aws-eks#3085", "\"Troubleshoot access denied error messages\" in the IAM User Guide", "\"IAM roles for service accounts\" and \"Learn how EKS Pod Identity grants pods access to AWS services\" in the Amazon EKS User Guide"],
    },
    Symptom {
        name: "trust-policy-refuses-controller",
        severity: Severity::Error,
        summary: "the trust policy of the controller's role refuses the controller",
        says: "the trust policy of the controller's role refuses the controller, which therefore has no credentials",
        remedy: "compare the trust policy with the cluster and the ServiceAccount: for IRSA, `Principal.Federated` is the ARN of the cluster's own OIDC provider, and the condition is `StringEquals` on `<provider>:sub` (without `arn:`) with `system:serviceaccount:<namespace>:<name>` and on `<provider>:aud` with `sts.amazonaws.com`; for EKS Pod Identity, `pods.eks.amazonaws.com` needs `sts:AssumeRole` and `sts:TagSession`",
        cause: "
STS compares the token of the controller's ServiceAccount with the trust policy of the role in the annotation
`eks.amazonaws.com/role-arn`. The token names the OIDC provider of the cluster, the namespace and the ServiceAccount. A
role of another cluster, a chart in another namespace, a `*` under `StringEquals`, or the provider's ARN in the place of
its address refuse every token.
",
        rules: &["controller-trust-policy-mismatch"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["Not authorized to perform sts:AssumeRoleWithWebIdentity"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "WebIdentityErr: failed to retrieve credentials, caused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity",
                source: "aws/karpenter-provider-aws#1666",
            },
            Message {
                pattern: anywhere(Text::Has(&["EKS does not have permissions to assume the associated role"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "(AccessDeniedException): EKS does not have permissions to assume the associated role.",
                source: "aws/eks-pod-identity-agent",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#1666, #2636", "\"IAM roles for service accounts\" in the Amazon EKS User Guide"],
    },
    Symptom {
        name: "role-assumption-refused",
        severity: Severity::Error,
        summary: "AWS refuses `sts:AssumeRole` to the controller",
        says: "AWS refuses `sts:AssumeRole` on the role {that the controller is to assume}, so that the controller has no credentials",
        remedy: "if it is the controller's own role, let it not assume any: IRSA or Pod Identity already gave the role to the controller, so remove `settings.assumeRoleARN` (up to 0.37) and any `role_arn` of a profile in `AWS_CONFIG_FILE`; if it is another role, allow `sts:AssumeRole` on it in the controller's policy, and name the controller's role as principal in its trust policy",
        cause: "
The controller has credentials already, and uses them to assume a second role: because a setting or an AWS profile says
so. If both are the same role, that role would have to trust itself, which IAM has not done implicitly since 2022.
Otherwise both sides must allow the call: the policy of the first role and the trust policy of the second.
",
        rules: &[],
        messages: &[],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5054", "charts/karpenter/values.yaml of aws/karpenter-provider-aws at v0.37.0, `assumeRoleARN`; aws/karpenter-provider-aws#6576"],
    },
    Symptom {
        name: "spot-role-missing",
        severity: Severity::Error,
        summary: "the account has no service-linked role for spot instances",
        says: "the account has no service-linked role for spot instances, and the controller may not create it",
        remedy: "create it once for the account: `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
        cause: "
The first launch of a spot instance in an account creates the role `AWSServiceRoleForEC2Spot` if the caller has the
permission. The controller does not have it.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["AuthFailure.ServiceLinkedRoleCreationNotPermitted"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T13:56:44.316Z","logger":"controller","message":"failed launching nodeclaim","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a200384-3c5e-4b7a-9d21-7e4c0008377c","error":"creating instance, insufficient capacity, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["AuthFailure.ServiceLinkedRoleCreationNotPermitted"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-02-12T14:03:57.453Z","logger":"controller","message":"Reconciler error","commit":"058c665","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a200755-3c5e-4b7a-9d21-7e4c0008566b","error":"launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."}"#,
                source: "aws/karpenter-provider-aws v1.2.1 pkg/errors/errors.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["AuthFailure.ServiceLinkedRoleCreationNotPermitted"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "SpotSLRCreationFailed", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"SpotSLRCreationFailed","message":"User does not have sufficient permission to create the Spot ServiceLinkedRole to launch spot instances"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/errors/errors.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7998; terraform-aws-modules/terraform-aws-eks#2565", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
