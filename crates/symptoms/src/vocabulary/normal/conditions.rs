//! Conditions in the status of objects.

use super::normal;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, condition, event};
use karpenter::release::Releases;

pub(super) const MESSAGES: &[Message] = &[
    normal(
        event("Scheduled", Text::Any).id(MessageId::PodBound),
        "2m14s (x6 over 21m)   Normal   Scheduled   pod/api-6d5f7c9b8-qk2vx   Successfully assigned shop/api-6d5f7c9b8-qk2vx to ip-10-0-37-12",
        "Kubernetes",
    ),
    normal(
        event("Pulling", Text::Any),
        r#"2m14s (x6 over 21m)   Normal   Pulling   pod/api-6d5f7c9b8-qk2vx   Pulling image "nginx""#,
        "Kubernetes",
    ),
    normal(
        event("Pulled", Text::Any),
        r#"2m14s (x6 over 21m)   Normal   Pulled   pod/api-6d5f7c9b8-qk2vx   Successfully pulled image "nginx""#,
        "Kubernetes",
    ),
    normal(
        event("Created", Text::Any),
        "2m14s (x6 over 21m)   Normal   Created   pod/api-6d5f7c9b8-qk2vx   Created container api",
        "Kubernetes",
    ),
    normal(
        event("Started", Text::Any),
        "2m14s (x6 over 21m)   Normal   Started   pod/api-6d5f7c9b8-qk2vx   Started container api",
        "Kubernetes",
    ),
    normal(
        event("Killing", Text::Any),
        "2m14s (x6 over 21m)   Normal   Killing   pod/api-6d5f7c9b8-qk2vx   Stopping container api",
        "Kubernetes",
    ),
    normal(
        event("SuccessfulCreate", Text::Any),
        "2m14s (x6 over 21m)   Normal   SuccessfulCreate   pod/api-6d5f7c9b8-qk2vx   Created pod: api-6d5f7c9b8-qk2vx",
        "Kubernetes",
    ),
    normal(
        event("ScalingReplicaSet", Text::Any),
        "2m14s (x6 over 21m)   Normal   ScalingReplicaSet   pod/api-6d5f7c9b8-qk2vx   Scaled up replica set api-6d5f7c9b8 to 2",
        "Kubernetes",
    ),
    normal(
        event("NodeReady", Text::Any),
        "2m14s (x6 over 21m)   Normal   NodeReady   pod/api-6d5f7c9b8-qk2vx   Node ip-10-0-37-12 status is now: NodeReady",
        "Kubernetes",
    ),
    normal(
        event("RegisteredNode", Text::Any),
        "2m14s (x6 over 21m)   Normal   RegisteredNode   pod/api-6d5f7c9b8-qk2vx   Node ip-10-0-37-12 event: Registered Node ip-10-0-37-12 in Controller",
        "Kubernetes",
    ),
    normal(
        event("RemovingNode", Text::Any),
        "2m14s (x6 over 21m)   Normal   RemovingNode   pod/api-6d5f7c9b8-qk2vx   Node ip-10-0-37-12 event: Removing Node ip-10-0-37-12 from Controller",
        "Kubernetes",
    ),
    normal(
        event("", Text::Starts("Status condition transitioned, Type: ")),
        "2m14s   Normal   Launched   nodeclaim/default-7xk2p   Status condition transitioned, Type: Launched, …",
        "awslabs/operatorpkg status/controller.go",
    ),
    normal(
        event("LeaderElection", Text::Any),
        "2m14s (x6 over 21m)   Normal   LeaderElection   pod/api-6d5f7c9b8-qk2vx   karpenter-7c9 became leader",
        "Kubernetes",
    ),
    normal(
        condition("", "Launched", "True", "", Text::Any).id(MessageId::NodeClaimLaunched),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"True","reason":"Launched","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Launched", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Launched","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Registered", "True", "", Text::Any).id(MessageId::NodeClaimRegistered),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Registered","status":"True","reason":"Registered","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Registered", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Registered","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Initialized", "True", "", Text::Any).id(MessageId::NodeClaimInitialized),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"True","reason":"Initialized","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Initialized", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Ready", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Ready","status":"True","reason":"Ready","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Ready", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Ready","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Consolidatable", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Consolidatable","status":"True","reason":"Consolidatable","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Consolidatable", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Consolidatable","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "ConsistentStateFound", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"ConsistentStateFound","status":"True","reason":"ConsistentStateFound","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "ConsistentStateFound", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"ConsistentStateFound","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "SubnetsReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"SubnetsReady","status":"True","reason":"SubnetsReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "SubnetsReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"SubnetsReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "SecurityGroupsReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"SecurityGroupsReady","status":"True","reason":"SecurityGroupsReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "SecurityGroupsReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"SecurityGroupsReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "AMIsReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"True","reason":"AMIsReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "AMIsReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"AMIsReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "InstanceProfileReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"InstanceProfileReady","status":"True","reason":"InstanceProfileReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "InstanceProfileReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"InstanceProfileReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "ValidationSucceeded", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"True","reason":"ValidationSucceeded","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "ValidationSucceeded", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "NodeClassReady", "True", "", Text::Any),
        r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"True","reason":"NodeClassReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "NodeClassReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodePool","name":"default","type":"NodeClassReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "NodeRegistrationHealthy", "True", "", Text::Any),
        r#"{"kind":"NodePool","name":"default","type":"NodeRegistrationHealthy","status":"True","reason":"NodeRegistrationHealthy","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "NodeRegistrationHealthy", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodePool","name":"default","type":"NodeRegistrationHealthy","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "CapacityReservationsReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"CapacityReservationsReady","status":"True","reason":"CapacityReservationsReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "CapacityReservationsReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"CapacityReservationsReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "PlacementGroupReady", "True", "", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"True","reason":"PlacementGroupReady","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "PlacementGroupReady", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"PlacementGroupReady","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Drained", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Drained","status":"True","reason":"Drained","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "Drained", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Drained","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "VolumesDetached", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"VolumesDetached","status":"True","reason":"VolumesDetached","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "VolumesDetached", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"VolumesDetached","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "InstanceTerminating", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"InstanceTerminating","status":"True","reason":"InstanceTerminating","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "InstanceTerminating", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"InstanceTerminating","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "DisruptionReason", "True", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"DisruptionReason","status":"True","reason":"DisruptionReason","message":""}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "DisruptionReason", "Unknown", "AwaitingReconciliation", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"DisruptionReason","status":"Unknown","reason":"AwaitingReconciliation","message":"object is awaiting reconciliation"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("EC2NodeClass", "ValidationSucceeded", "False", "DependenciesNotReady", Text::Any),
        r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"False","reason":"DependenciesNotReady","message":"Awaiting AMI, Instance Profile, Security Group, and Subnet resolution"}"#,
        "aws/karpenter-provider-aws v1.3.0 pkg/controllers/nodeclass/validation.go",
    )
    .only_in(Releases::since(3)),
    normal(
        condition(
            "EC2NodeClass",
            "ValidationSucceeded",
            "Unknown",
            "DependenciesNotReady",
            Text::Any,
        ),
        r#"{"kind":"EC2NodeClass","name":"default","type":"ValidationSucceeded","status":"Unknown","reason":"DependenciesNotReady","message":"Awaiting AMI, Instance Profile, Security Group, and Subnet resolution"}"#,
        "aws/karpenter-provider-aws v1.3.0 pkg/controllers/nodeclass/validation.go",
    )
    .only_in(Releases::since(3)),
    normal(
        condition("NodeClaim", "Initialized", "Unknown", "NodeNotFound", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Initialized","status":"Unknown","reason":"NodeNotFound","message":"Node not registered with cluster"}"#,
        "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/lifecycle/initialization.go",
    ),
    normal(
        condition("NodeClaim", "Ready", "Unknown", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Ready","status":"Unknown","reason":"ReconcilingDependents","message":"Initialized=Unknown, Registered=Unknown"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("NodeClaim", "Ready", "False", "", Text::Any),
        r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Ready","status":"False","reason":"UnhealthyDependents","message":"Registered=False"}"#,
        "awslabs/operatorpkg status/condition_set.go",
    ),
    normal(
        condition("", "MemoryPressure", "False", "", Text::Any),
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"MemoryPressure","status":"False","reason":"KubeletHasSufficientMemory","message":"kubelet has no pressure"}"#,
        "kubelet",
    ),
    normal(
        condition("", "DiskPressure", "False", "", Text::Any),
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"DiskPressure","status":"False","reason":"KubeletHasSufficientDiskPr","message":"kubelet has no pressure"}"#,
        "kubelet",
    ),
    normal(
        condition("", "PIDPressure", "False", "", Text::Any),
        r#"{"kind":"Node","name":"ip-10-0-37-12.eu-west-1.compute.internal","type":"PIDPressure","status":"False","reason":"KubeletHasSufficientPIDPre","message":"kubelet has no pressure"}"#,
        "kubelet",
    ),
    normal(
        condition("", "PodScheduled", "True", "", Text::Any),
        r#"{"kind":"Pod","name":"api-6d5f7c9b8-qk2vx","type":"PodScheduled","status":"True","reason":"","message":""}"#,
        "kubelet",
    ),
    normal(
        condition("", "ContainersReady", "True", "", Text::Any),
        r#"{"kind":"Pod","name":"api-6d5f7c9b8-qk2vx","type":"ContainersReady","status":"True","reason":"","message":""}"#,
        "kubelet",
    ),
    normal(
        condition("", "PodReadyToStartContainers", "True", "", Text::Any),
        r#"{"kind":"Pod","name":"api-6d5f7c9b8-qk2vx","type":"PodReadyToStartContainers","status":"True","reason":"","message":""}"#,
        "kubelet",
    ),
];
