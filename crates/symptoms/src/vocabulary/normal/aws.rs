//! Log lines of the AWS provider: instances, launch templates, discovered resources, prices.

use super::normal;
use crate::entry::LogLevel;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, line};
use karpenter::release::Releases;

pub(super) const MESSAGES: &[Message] = &[
    normal(
        line(LogLevel::Debug, Text::Is("removing offering from offerings"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T09:55:25.865Z","logger":"controller","message":"removing offering from offerings","commit":"31fa2ea","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a212961-3c5e-4b7a-9d21-7e4c0011855f","reason":"UnfulfillableCapacity","instance-type":"c6i.large","zone":"eu-west-1a","capacity-type":"spot","ttl":"3m0s"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/cache/unavailableofferings.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("filtered out instance types from launch"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T10:02:38.002Z","logger":"controller","message":"filtered out instance types from launch","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a212d32-3c5e-4b7a-9d21-7e4c0011a44e"}"#,
        "aws/karpenter-provider-aws v1.6.0 pkg/providers/instance/instance.go",
    )
    .only_in(Releases::since(5)),
    normal(
        line(LogLevel::Debug, Text::Is("marking capacity reservation unavailable"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T11:09:51.139Z","logger":"controller","message":"marking capacity reservation unavailable","commit":"c8c45c1","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a213103-3c5e-4b7a-9d21-7e4c0011c33d"}"#,
        "aws/karpenter-provider-aws v1.6.0 pkg/providers/instance/instance.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Debug, Text::Is("updated capacity type for nodeclaims"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T12:16:04.276Z","logger":"controller","message":"updated capacity type for nodeclaims","commit":"c8c45c1","controller":"nodeclaim.capacityreservation","namespace":"","name":"","reconcileID":"5a2134d4-3c5e-4b7a-9d21-7e4c0011e22c"}"#,
        "aws/karpenter-provider-aws v1.6.0 pkg/controllers/capacityreservation/capacitytype/controller.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Info, Text::Is("initiating delete from interruption message"), Text::Any)
            .id(MessageId::Interrupted),
        r#"{"level":"INFO","time":"2025-10-21T13:23:17.413Z","logger":"controller","message":"initiating delete from interruption message","commit":"31fa2ea","controller":"interruption","namespace":"","name":"","reconcileID":"5a2138a5-3c5e-4b7a-9d21-7e4c0012011b","queue":"prod","messageKind":"spot_interrupted","NodeClaim":{"name":"default-7xk2p"},"action":"CordonAndDrain","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"}}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/controllers/interruption/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("initiating delete for capacity block expiration"), Text::Any),
        r#"{"level":"INFO","time":"2025-10-21T14:30:30.550Z","logger":"controller","message":"initiating delete for capacity block expiration","commit":"31fa2ea","controller":"capacityreservation.expiration","namespace":"","name":"","reconcileID":"5a213c76-3c5e-4b7a-9d21-7e4c0012200a"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/controllers/capacityreservation/expiration/controller.go",
    )
    .only_in(Releases::since(6)),
    normal(
        line(LogLevel::Debug, Text::Is("watching interruption queue"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T15:37:43.687Z","logger":"controller","message":"watching interruption queue","commit":"31fa2ea","controller":"interruption","namespace":"","name":"","reconcileID":"5a214047-3c5e-4b7a-9d21-7e4c00123ef9","queue":"prod"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/controllers/interruption/controller.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered amis"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T16:44:56.824Z","logger":"controller","message":"discovered amis","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/controllers/nodeclass/ami.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered subnets"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T08:51:09.961Z","logger":"controller","message":"discovered subnets","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/subnet/subnet.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered security groups"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T09:58:22.098Z","logger":"controller","message":"discovered security groups","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/securitygroup/securitygroup.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered launch template"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T10:05:35.235Z","logger":"controller","message":"discovered launch template","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("created launch template"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T11:12:48.372Z","logger":"controller","message":"created launch template","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("deleted launch template"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T12:19:01.509Z","logger":"controller","message":"deleted launch template","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("deleted launch templates"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T13:26:14.646Z","logger":"controller","message":"deleted launch templates","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("hydrated launch template cache"), Text::Any)
            .id(MessageId::LaunchTemplatesHydrated),
        r#"{"level":"DEBUG","time":"2025-07-22T14:33:27.783Z","logger":"controller","message":"hydrated launch template cache","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered cluster CIDR"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T15:40:40.920Z","logger":"controller","message":"discovered cluster CIDR","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/launchtemplate/launchtemplate.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered instance types"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T16:47:53.057Z","logger":"controller","message":"discovered instance types","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/instancetype.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered offerings for instance types"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T08:54:06.194Z","logger":"controller","message":"discovered offerings for instance types","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/instancetype.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered zones"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T09:01:19.331Z","logger":"controller","message":"discovered zones","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/instancetype.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("updated on-demand pricing"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T10:08:32.468Z","logger":"controller","message":"updated on-demand pricing","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/pricing/pricing.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Is("updated spot pricing with instance types and offerings"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-07-22T11:15:45.605Z","logger":"controller","message":"updated spot pricing with instance types and offerings","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/pricing/pricing.go",
    ),
    normal(
        line(
            LogLevel::Debug,
            Text::Is("running in an isolated VPC, on-demand pricing information will not be updated"),
            Text::Any,
        ),
        r#"{"level":"DEBUG","time":"2025-07-22T12:22:58.742Z","logger":"controller","message":"running in an isolated VPC, on-demand pricing information will not be updated","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/pricing/pricing.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered kubernetes version"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T13:29:11.879Z","logger":"controller","message":"discovered kubernetes version","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/version/version.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered region"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T14:36:24.016Z","logger":"controller","message":"discovered region","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/operator/operator.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered cluster endpoint"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T15:43:37.153Z","logger":"controller","message":"discovered cluster endpoint","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/operator/operator.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("discovered kube dns"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T16:50:50.290Z","logger":"controller","message":"discovered kube dns","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/operator/operator.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("retrieving region from IMDS"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T08:57:03.427Z","logger":"controller","message":"retrieving region from IMDS","commit":"13242ea"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/operator/operator.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("discovered ssm parameter"), Text::Any),
        r#"{"level":"INFO","time":"2025-07-22T09:04:16.564Z","logger":"controller","message":"discovered ssm parameter","commit":"13242ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a21906c-3c5e-4b7a-9d21-7e4c0014c894","parameter":"/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/ssm/provider.go",
    ),
    normal(
        line(LogLevel::Debug, Text::Is("updating discovered capacity cache"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-07-22T10:11:29.701Z","logger":"controller","message":"updating discovered capacity cache","commit":"13242ea","controller":"providers.instancetype.capacity","namespace":"","name":"","reconcileID":"5a21943d-3c5e-4b7a-9d21-7e4c0014e783"}"#,
        "aws/karpenter-provider-aws v1.6.3 pkg/providers/instancetype/instancetype.go",
    )
    .only_in(Releases::since(1)),
    normal(
        line(LogLevel::Debug, Text::Is("discovered capacity reservations"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T11:18:42.838Z","logger":"controller","message":"discovered capacity reservations","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a21980e-3c5e-4b7a-9d21-7e4c00150672"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/controllers/nodeclass/capacityreservation.go",
    )
    .only_in(Releases::since(3)),
    normal(
        line(LogLevel::Debug, Text::Is("discovered placement group"), Text::Any),
        r#"{"level":"DEBUG","time":"2026-04-21T12:25:55.975Z","logger":"controller","message":"discovered placement group","commit":"537b01a","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a219bdf-3c5e-4b7a-9d21-7e4c00152561"}"#,
        "aws/karpenter-provider-aws v1.11.0 pkg/controllers/nodeclass/placementgroup.go",
    )
    .only_in(Releases::since(11)),
    normal(
        line(LogLevel::Debug, Text::Is("deleted instance profile"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T13:32:08.112Z","logger":"controller","message":"deleted instance profile","commit":"31fa2ea","controller":"instanceprofile.garbagecollection","namespace":"","name":"","reconcileID":"5a219fb0-3c5e-4b7a-9d21-7e4c00154450","instance-profile":"prod_1234567890"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/controllers/nodeclass/garbagecollection/controller.go",
    )
    .only_in(Releases::since(7)),
    normal(
        line(LogLevel::Debug, Text::Is("parameter not found"), Text::Any),
        r#"{"level":"DEBUG","time":"2025-10-21T14:39:21.249Z","logger":"controller","message":"parameter not found","commit":"31fa2ea","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a21a381-3c5e-4b7a-9d21-7e4c0015633f"}"#,
        "aws/karpenter-provider-aws v1.8.0 pkg/providers/amifamily/ami.go",
    )
    .only_in(Releases::since(4)),
    normal(
        line(LogLevel::Debug, Text::Starts("successfully updated zonal shifts "), Text::Any),
        r#"{"level":"DEBUG","time":"2026-05-19T10:14:26.934Z","logger":"controller","message":"successfully updated zonal shifts map[string]bool{}","commit":"15781e3","controller":"arczonalshift","namespace":"","name":"","reconcileID":"5a21b696-3c5e-4b7a-9d21-7e4c0015fdea"}"#,
        "aws/karpenter-provider-aws v1.12.1 pkg/providers/arczonalshift/arczonalshift.go",
    )
    .only_in(Releases::since(12)),
];
