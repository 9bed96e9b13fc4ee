//! The interruption queue, its messages, and instances that are terminated.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, anywhere, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "interruption-queue-stops-controller",
        severity: Severity::Error,
        summary: "the controller panics at start because it cannot look up the interruption queue",
        says: "the controller does not start: it panics because it cannot look up the queue in `settings.interruptionQueue`",
        remedy: "write the bare name of an SQS queue in this account and region into `settings.interruptionQueue` and allow the controller `sqs:GetQueueUrl` on it, or set it to an empty text; from 1.4 on the controller starts without the queue",
        cause: "
Up to 1.3 the controller looks up the queue before it starts anything, and a failure of this call is a panic: if the
queue does not exist, if the setting is an ARN or a URL, if the role lacks `sqs:GetQueueUrl`, or if SQS cannot be
reached. The pod restarts in a loop, and nothing is provisioned.
",
        rules: &["interruption-queue-malformed"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["panic: operation error SQS: GetQueueUrl"])),
                releases: Releases::until(3),
                detail: Detail::None,
                example: "panic: operation error SQS: GetQueueUrl, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed",
                source: "aws/karpenter-provider-aws v1.3.3 pkg/controllers/controllers.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["panic: fetching queue url, "])),
                releases: Releases::until(0),
                detail: Detail::None,
                example: "panic: fetching queue url, RequestError: send request failed",
                source: "kubernetes-sigs/karpenter#1013",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7951; kubernetes-sigs/karpenter#1799, #1013", "pkg/controllers/controllers.go of aws/karpenter-provider-aws at v1.0.0 and v1.3.3"],
    },
    Symptom {
        name: "interruption-queue-missing",
        severity: Severity::Error,
        summary: "the interruption queue does not exist",
        says: "the queue in `settings.interruptionQueue` does not exist, so that Karpenter does not notice interruptions",
        remedy: "write the bare name of an SQS queue in this account and region into `settings.interruptionQueue`, or leave it empty",
        cause: "
Karpenter looks up the queue by name in the controller's region; an ARN or a URL does not work. Without the queue,
spot interruptions and scheduled maintenance terminate nodes without warning.
",
        rules: &["interruption-queue-malformed"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["NonExistentQueue"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T12:49:31.839Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"interruption","namespace":"","name":"","reconcileID":"5a22aea7-3c5e-4b7a-9d21-7e4c001dd899","error":"getting messages from queue, receiving sqs messages, operation error SQS: ReceiveMessage, https response error StatusCode: 400, RequestID: 1b2c, AWS.SimpleQueueService.NonExistentQueue: The queue is not there"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/controllers/interruption/controller.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed to create valid sqs provider"), Text::Has(&["NonExistentQueue"])),
                releases: Releases::since(4),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T13:56:44.976Z","logger":"controller","message":"failed to create valid sqs provider","commit":"c8c45c1","controller":"interruption","namespace":"","name":"","reconcileID":"5a22b278-3c5e-4b7a-9d21-7e4c001df788","error":"operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: 1b2c, AWS.SimpleQueueService.NonExistentQueue: The queue is not there"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/controllers/interruption/controller.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["The specified queue does not exist"], &["NonExistentQueue"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T14:03:57.113Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"interruption","namespace":"","name":"","reconcileID":"5a22b649-3c5e-4b7a-9d21-7e4c001e1677","error":"creating sqs provider, fetching queue url, operation error SQS: GetQueueUrl, https response error StatusCode: 400, api error QueueDoesNotExist: The specified queue does not exist."}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/controllers/interruption/controller.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed to create valid sqs provider"), Text::HasBut(&["The specified queue does not exist"], &["NonExistentQueue"])),
                releases: Releases::since(4),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T15:10:10.250Z","logger":"controller","message":"failed to create valid sqs provider","commit":"e7e1327","controller":"interruption","namespace":"","name":"","reconcileID":"5a22ba1a-3c5e-4b7a-9d21-7e4c001e3566","error":"fetching queue url, operation error SQS: GetQueueUrl, https response error StatusCode: 400, api error QueueDoesNotExist: The specified queue does not exist."}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/controllers/interruption/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#1799, #2490; aws/karpenter-provider-aws#6024", "pkg/controllers/interruption/controller.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "interruption-message-unreadable",
        severity: Severity::Warning,
        summary: "Karpenter cannot parse messages in the interruption queue",
        says: "the interruption queue receives messages that are not EventBridge events in the form that Karpenter expects",
        remedy: "use the queue for Karpenter alone, with the rules of the getting-started template and without input transformers",
        cause: "
Karpenter parses the events of EC2 and AWS Health in the form in which EventBridge sends them, and deletes messages
that it cannot parse. Other users of the queue lose their messages.
",
        rules: &["interruption-queue-shared"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed parsing interruption message"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T16:17:23.387Z","logger":"controller","message":"failed parsing interruption message","commit":"0871602","controller":"interruption","namespace":"","name":"","reconcileID":"5a22bdeb-3c5e-4b7a-9d21-7e4c001e5455","queue":"prod","error":"parsing sqs message, unmarshalling the message as Metadata, invalid character 'h' looking for beginning of value"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/controllers/interruption/controller.go",
            }
        ],
        when: When::Often { count: 3, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/interruption/controller.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "interruption-queue-fails",
        severity: Severity::Warning,
        summary: "Karpenter cannot read the interruption queue",
        says: "Karpenter repeatedly cannot read the interruption queue",
        remedy: "check the network route to SQS: an interface endpoint in a private network, its security group, and the proxy settings of the controller",
        cause: "
Karpenter polls the queue without pause, twenty seconds per call. It retries a single failure at once. In a network
without a route to SQS every call fails.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["getting messages from queue, "], &["NonExistentQueue", "The specified queue does not exist", "is not authorized to perform: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T08:24:36.524Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"interruption","namespace":"","name":"","reconcileID":"5a22c1bc-3c5e-4b7a-9d21-7e4c001e7344","error":"getting messages from queue, receiving sqs messages, operation error SQS: ReceiveMessage, https response error StatusCode: 0, request send failed, dial tcp: lookup sqs.eu-west-1.amazonaws.com: i/o timeout"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/controllers/interruption/controller.go",
            }
        ],
        when: When::Often { count: 5, minutes: 30 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/interruption/controller.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "instance-status-denied",
        severity: Severity::Warning,
        summary: "the controller may not read the status of instances",
        says: "the controller may not call `ec2:DescribeInstanceStatus`, so that it does not notice failing instances",
        remedy: "allow the controller `ec2:DescribeInstanceStatus` and restart it",
        cause: "
From 1.12 on Karpenter also reads the status checks of EC2. The policies of earlier releases lack the action.
",
        rules: &["iam-tag-condition-mismatch"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("ec2:DescribeInstanceStatus permission is not allowed, update the IAM policy and restart the Karpenter deployment to enable instance status health checks"), Text::Any),
                releases: Releases::since(12),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-05-19T09:31:49.661Z","logger":"controller","message":"ec2:DescribeInstanceStatus permission is not allowed, update the IAM policy and restart the Karpenter deployment to enable instance status health checks","commit":"7ff7943","controller":"interruption.instancestatus","namespace":"","name":"","reconcileID":"5a22c58d-3c5e-4b7a-9d21-7e4c001e9233","error":"failed describing ec2 instance status checks, api error UnauthorizedOperation: denied"}"#,
                source: "aws/karpenter-provider-aws v1.12.0 pkg/controllers/interruption/instancestatus_controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/interruption/instancestatus_controller.go of aws/karpenter-provider-aws at v1.12.0"],
    },
    Symptom {
        name: "instances-fail-status-checks",
        severity: Severity::Warning,
        summary: "instances fail the EC2 status checks",
        says: "instances fail the EC2 status checks",
        remedy: "look at the instances in EC2 (`describe-instance-status`) and at the AWS Health Dashboard; if they always have the same type or zone, exclude it from the NodePool for a while",
        cause: "
From 1.13 on (also 1.12.2) the controller logs the failing instances of the cluster and replaces them. A single one is
normal.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Info, Text::Is("detected unhealthy instance owned by cluster"), Text::Any),
                releases: Releases::since_patch(12, 2),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2026-06-16T10:38:02.798Z","logger":"controller","message":"detected unhealthy instance owned by cluster","commit":"2be9554","controller":"interruption.instancestatus","namespace":"","name":"","reconcileID":"5a22c95e-3c5e-4b7a-9d21-7e4c001eb122","instance-id":"i-0a1b2c3d4e5f60718"}"#,
                source: "aws/karpenter-provider-aws v1.13.0 pkg/controllers/interruption/instancestatus_controller.go",
            }
        ],
        when: When::Often { count: 3, minutes: 60 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/interruption/instancestatus_controller.go of aws/karpenter-provider-aws at v1.13.0"],
    },
];

/// Instances and NodeClaims that are garbage-collected: the correlation `foreign-collection`.
pub(super) const COLLECTED: &[Message] = &[
    Message {
        pattern: line(LogLevel::Debug, Text::Is("garbage collected cloudprovider instance"), Text::Any)
            .id(MessageId::InstanceCollected),
        releases: Releases::ALL,
        detail: Detail::None,
        example: r#"{"level":"DEBUG","time":"2025-10-21T11:45:15.935Z","logger":"controller","message":"garbage collected cloudprovider instance","commit":"31fa2ea","controller":"instance.garbagecollection","namespace":"","name":"","reconcileID":"5a22cd2f-3c5e-4b7a-9d21-7e4c001ed011","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718"}"#,
        source: "aws/karpenter-provider-aws v1.8.0 pkg/controllers/nodeclaim/garbagecollection/controller.go",
    },
    Message {
        pattern: line(LogLevel::Debug, Text::Is("garbage collected node"), Text::Any)
            .id(MessageId::NodeCollected),
        releases: Releases::ALL,
        detail: Detail::None,
        example: r#"{"level":"DEBUG","time":"2025-10-21T12:52:28.072Z","logger":"controller","message":"garbage collected node","commit":"31fa2ea","controller":"instance.garbagecollection","namespace":"","name":"","reconcileID":"5a22d100-3c5e-4b7a-9d21-7e4c001eef00","provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","Node":{"name":"ip-10-0-37-12"}}"#,
        source: "aws/karpenter-provider-aws v1.8.0 pkg/controllers/nodeclaim/garbagecollection/controller.go",
    },
    Message {
        pattern: line(
            LogLevel::Debug,
            Text::Is("garbage collecting nodeclaim with no cloudprovider representation"),
            Text::Any,
        )
        .id(MessageId::InstanceGone),
        releases: Releases::ALL,
        detail: Detail::None,
        example: r#"{"level":"DEBUG","time":"2025-07-22T13:59:41.209Z","logger":"controller","message":"garbage collecting nodeclaim with no cloudprovider representation","commit":"c8c45c1","controller":"nodeclaim.garbagecollection","namespace":"","name":"","reconcileID":"5a22d4d1-3c5e-4b7a-9d21-7e4c001f0def","NodeClaim":{"name":"default-7xk2p"},"provider-id":"aws:///eu-west-1a/i-0a1b2c3d4e5f60718","Node":{"name":"ip-10-0-37-12"}}"#,
        source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/nodeclaim/garbagecollection/controller.go",
    },
];
