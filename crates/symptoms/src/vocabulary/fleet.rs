//! NodeClaims without an instance: errors of EC2 during a launch.

use super::message::{Detail, Message, Text, When, condition, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
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
