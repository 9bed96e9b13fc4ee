//! NodeClaims without an instance because capacity, quota or addresses are used up.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "capacity-unavailable",
        severity: Severity::Warning,
        summary: "EC2 has no capacity for NodeClaims",
        says: "EC2 has no capacity for the instance types, zones and capacity type of NodeClaims",
        remedy: "allow more instance families, sizes and zones in `spec.template.spec.requirements` of the NodePool, and `on-demand` beside `spot`; for a workload that needs one specific type, reserve capacity",
        cause: "
A launch asks EC2 for one of up to sixty types in several zones. If EC2 has none of them, Karpenter deletes the
NodeClaim, excludes these offerings for three minutes and tries others. This is normal now and then. If it continues,
the NodePool allows too few types, or types in high demand.

During these minutes the same shortage appears for pods as `no instance type …`, which otherwise means a limit or a
contradiction.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["UnfulfillableCapacity"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-10-15T14:57:03.987Z","logger":"controller","message":"failed launching nodeclaim","commit":"6174c75","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fc2a3-3c5e-4b7a-9d21-7e4c0006299d","error":"creating instance, insufficient capacity, with fleet error(s), UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."}"#,
                source: "aws/karpenter-provider-aws v1.0.6 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["InsufficientInstanceCapacity"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T15:04:16.124Z","logger":"controller","message":"failed launching nodeclaim","commit":"13242ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fc674-3c5e-4b7a-9d21-7e4c0006488c","error":"creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested (eu-west-1c). Our system will be working on provisioning additional capacity."}"#,
                source: "aws/karpenter-provider-aws v1.6.3 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["ReservationCapacityExceeded"])),
                releases: Releases::since(3),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T16:11:29.261Z","logger":"controller","message":"failed launching nodeclaim","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fca45-3c5e-4b7a-9d21-7e4c0006677b","error":"creating instance, insufficient capacity, with fleet error(s), ReservationCapacityExceeded: The requested reservation does not have sufficient compatible and available capacity for this request."}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["Unsupported: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T08:18:42.398Z","logger":"controller","message":"failed launching nodeclaim","commit":"e7e1327","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fce16-3c5e-4b7a-9d21-7e4c0006866a","error":"creating instance, insufficient capacity, with fleet error(s), Unsupported: Your requested instance type (c7i.large) is not supported in your requested Availability Zone (us-east-1e)."}"#,
                source: "aws/karpenter-provider-aws v1.9.0 pkg/errors/errors.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::HasBut(&["all requested instance types were unavailable during launch"], &["with fleet error"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T09:25:55.535Z","logger":"controller","message":"failed launching nodeclaim","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fd1e7-3c5e-4b7a-9d21-7e4c0006a559","error":"creating instance, insufficient capacity, all requested instance types were unavailable during launch"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["no capacity offerings are currently available given the constraints"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T10:32:08.672Z","logger":"controller","message":"failed launching nodeclaim","commit":"9458bb5","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fd5b8-3c5e-4b7a-9d21-7e4c0006c448","error":"creating instance, getting launch template configs, no capacity offerings are currently available given the constraints"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/providers/instance/instance.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::HasBut(&["insufficient capacity, "], &["resolving nodeclass", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "MaxFleetCountExceeded", "InsufficientFreeAddressesInSubnet", "ServiceLinkedRole"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration.",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            }
        ],
        when: When::Unresolved { minutes: 15, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#5578; kubernetes-sigs/karpenter#2470", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1", "pkg/controllers/nodeclaim/lifecycle/launch.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "spot-quota-exceeded",
        severity: Severity::Error,
        summary: "the account's quota for spot instances is used up",
        says: "the account's quota for spot instances is used up",
        remedy: "ask for a higher quota of \"All … Spot Instance Requests\" in Service Quotas, allow `on-demand`, or allow families of another quota",
        cause: "
EC2 counts the vCPUs of spot instances in quotas of the account and region, one for each group of families. Karpenter
treats the refusal as missing capacity and keeps trying.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["MaxSpotInstanceCountExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T11:39:21.809Z","logger":"controller","message":"failed launching nodeclaim","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fd989-3c5e-4b7a-9d21-7e4c0006e337","error":"creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/errors/errors.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["MaxSpotInstanceCountExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "SpotQuotaExceeded", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"SpotQuotaExceeded","message":"A spot instance launch was requested but this would exceed your spot instance quota"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5789", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "vcpu-quota-exceeded",
        severity: Severity::Error,
        summary: "the account's vCPU quota is used up",
        says: "the account's vCPU quota is used up",
        remedy: "ask for a higher quota of \"Running On-Demand … instances\" in Service Quotas, or allow families of another quota",
        cause: "
EC2 counts the vCPUs of running instances in quotas of the account and region, one for each group of families.
Karpenter treats the refusal as missing capacity and keeps trying.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["VcpuLimitExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T12:46:34.946Z","logger":"controller","message":"failed launching nodeclaim","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fdd5a-3c5e-4b7a-9d21-7e4c00070226","error":"creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/errors/errors.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["VcpuLimitExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to.",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "VCPULimitExceeded", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"VCPULimitExceeded","message":"An instance was requested that would exceed your VCPU quota"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#5789", "pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "fleet-quota-exceeded",
        severity: Severity::Error,
        summary: "the account's fleet quota is used up",
        says: "the account's quota for fleets is used up",
        remedy: "ask for a higher fleet quota, and look for other software that creates fleets in the account",
        cause: "
Each launch creates an instant fleet, which counts until the launch is complete. Many launches at once, or other
software that keeps fleets, use up the quota.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["MaxFleetCountExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T13:53:47.083Z","logger":"controller","message":"failed launching nodeclaim","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fe12b-3c5e-4b7a-9d21-7e4c00072115","error":"creating instance, insufficient capacity, with fleet error(s), MaxFleetCountExceeded: Fleet request quota exceeded"}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/errors/errors.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["MaxFleetCountExceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), MaxFleetCountExceeded: Fleet request quota exceeded",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "FleetQuotaExceeded", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"FleetQuotaExceeded","message":"A fleet launch was requested but this would exceed your fleet request quota"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Certain,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "subnet-out-of-addresses",
        severity: Severity::Error,
        summary: "a subnet has no free IP addresses",
        says: "the subnets of the node class have too few free IP addresses for an instance",
        remedy: "let `subnetSelectorTerms` of the node class select more subnets with free addresses, or give pods addresses from another range (prefix delegation, custom networking)",
        cause: "
An instance takes an address when it starts, and the VPC CNI plugin takes more for pods. In each zone Karpenter
prefers the selected subnet with the most free addresses; it does not use other subnets.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed launching nodeclaim"), Text::Has(&["InsufficientFreeAddressesInSubnet"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T14:00:00.220Z","logger":"controller","message":"failed launching nodeclaim","commit":"0871602","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a1fe4fc-3c5e-4b7a-9d21-7e4c00074004","error":"creating instance, insufficient capacity, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet subnet-0a1b2c3d4e5f60718 to satisfy the requested number of instances."}"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/errors/errors.go",
            },
            Message {
                pattern: event("InsufficientCapacityError", Text::Has(&["InsufficientFreeAddressesInSubnet"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   InsufficientCapacityError   nodeclaim/default-7xk2p   NodeClaim default-7xk2p event: creating instance, insufficient capacity, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet subnet-0a1b2c3d4e5f60718 to satisfy the requested number of instances.",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/events.go",
            },
            Message {
                pattern: condition("NodeClaim", "Launched", "Unknown", "InsufficientFreeAddressesInSubnet", Text::Any),
                releases: Releases::since(2),
                detail: Detail::None,
                example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"InsufficientFreeAddressesInSubnet","message":"There are not enough free IP addresses to launch an instance in this subnet"}"#,
                source: "aws/karpenter-provider-aws v1.14.1 pkg/errors/errors.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimLaunched] },
        confidence: Confidence::Certain,
        references: &["pkg/errors/errors.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
