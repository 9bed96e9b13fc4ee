//! Volumes, addresses and metadata that pods wait for: messages of Kubernetes.

use super::id::MessageId;
use super::message::{Detail, Message, Text, When, anywhere, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "volume-in-another-zone",
        severity: Severity::Error,
        summary: "a volume is in a zone in which its pod cannot run",
        says: "volumes are in a zone in which their pods cannot run",
        remedy: "let a NodePool and the subnets of its node class include the zone of the volume, or move the data; set `volumeBindingMode: WaitForFirstConsumer` on the StorageClass, so that new volumes are created in the zone of their pods",
        cause: "
An EBS volume stays in the zone in which it was created. A StorageClass that binds immediately chooses the zone
without regard to the pod: its selectors, its topology spreads, and the zones of the NodePool.
",
        rules: &["storageclass-immediate", "storage-zone-unreachable"],
        messages: &[
            Message {
                pattern: event("FailedScheduling", Text::Has(&["volume node affinity conflict"])).id(MessageId::VolumeInOtherZone),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/data-0   0/6 nodes are available: 4 Insufficient cpu, 2 node(s) had volume node affinity conflict. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
                source: "kube-scheduler; aws/karpenter-provider-aws#2971",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("could not schedule pod"), Text::Has(&["incompatible volume requirements, "])),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T14:06:54.346Z","logger":"controller","message":"could not schedule pod","commit":"e7e1327","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22d8a2-3c5e-4b7a-9d21-7e4c001f2cde","Pod":{"name":"data-0","namespace":"shop"},"error":"incompatible volume requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-west-1c] not in topology.kubernetes.io/zone In [eu-west-1a eu-west-1b]"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/scheduling/existingnode.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#2971, #4407, #7800"],
    },
    Symptom {
        name: "volume-bound-before-its-pod",
        severity: Severity::Warning,
        summary: "volumes are created before their pods have a node",
        says: "pods wait for volumes that are created before a node is chosen",
        remedy: "set `volumeBindingMode: WaitForFirstConsumer` on the StorageClass (delete and recreate it: the field is immutable), or use such a StorageClass in the claim",
        cause: "
Without `volumeBindingMode` a StorageClass binds immediately. While the volume is being created, the pod has no zone.
Up to 1.6 Karpenter may create a node in the wrong zone and then a second node; from 1.7 on it waits for the volume.
If this lasts, the volume cannot be created at all.
",
        rules: &["storageclass-immediate", "pvc-unprovisionable"],
        messages: &[
            Message {
                pattern: event("FailedScheduling", Text::Has(&["unbound immediate PersistentVolumeClaims"])).id(MessageId::VolumeUnbound),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/data-0   0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
                source: "kube-scheduler; aws/karpenter-provider-aws#7800",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#7800; kubernetes-sigs/karpenter#2415"],
    },
    Symptom {
        name: "volume-claim-unusable",
        severity: Severity::Error,
        summary: "Karpenter cannot look up the volume of a pod",
        says: "Karpenter cannot look up the volume or the StorageClass of a claim, and its pods get no node",
        remedy: "create the PersistentVolumeClaim, StorageClass or volume that the field `error` names, or correct the name",
        cause: "
The zone of a node depends on the volumes of its pods. If Karpenter cannot look up a volume, it ignores the pod.
",
        rules: &["pvc-unprovisionable"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed getting volume topology requirements"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T15:13:07.483Z","logger":"controller","message":"failed getting volume topology requirements","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22dc73-3c5e-4b7a-9d21-7e4c001f4bcd","Pod":{"name":"data-0","namespace":"shop"},"error":"getting storage class \"fast\", StorageClass.storage.k8s.io \"fast\" not found"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &[MessageId::NodeClaimCreated] },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "in-tree-volume",
        severity: Severity::Warning,
        summary: "a volume uses an in-tree plugin whose limits Karpenter does not know",
        says: "volumes use an in-tree storage plugin of Kubernetes, whose limits Karpenter does not know",
        remedy: "move the data to volumes of a StorageClass with `ebs.csi.aws.com`",
        cause: "
Karpenter learns from the CSI driver how many volumes a node can attach. In-tree plugins do not report a limit, so
that Karpenter places more pods with volumes on a node than it can attach.
",
        rules: &["in-tree-storage"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["uses an in-tree storage plugin which is unsupported by Karpenter"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "PersistentVolume source 'AWSElasticBlockStore' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes.",
                source: "Karpenter's troubleshooting page",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["Karpenter's troubleshooting page"],
    },
    Symptom {
        name: "volume-attached-elsewhere",
        severity: Severity::Warning,
        summary: "a volume is still attached to another node",
        says: "volumes are still attached to another node when their pods start",
        remedy: "let the node pods of the CSI driver tolerate all taints (including `karpenter.sh/disrupted`), and use `strategy: Recreate` for a Deployment with a volume that only one node can mount",
        cause: "
A volume that only one node can mount moves with its pod. If the CSI driver leaves a draining node before the volume
is unmounted, Kubernetes force-detaches the volume after six minutes. A rolling update starts the second pod while the
first one still has the volume.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("FailedAttachVolume", Text::Has(&["Multi-Attach error for volume"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedAttachVolume   pod/data-0   Multi-Attach error for volume "pvc-7b1e" Volume is already exclusively attached to one node and can't be attached to another"#,
                source: "Kubernetes pkg/controller/volume/attachdetach",
            }
        ],
        when: When::Repeated { count: 3 },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/aws-ebs-csi-driver#2165"],
    },
    Symptom {
        name: "pod-addresses-used-up",
        severity: Severity::Error,
        summary: "pods get no IP address",
        says: "pods on a node get no IP address",
        remedy: "compare `maxPods` of the node class with the number of addresses that the network plugin can assign on the type (`settings.reservedENIs` counts the interfaces that it reserves), and look for free addresses in the subnets",
        cause: "
Karpenter places as many pods on a node as `maxPods` or the interfaces of the type allow. If the plugin assigns fewer
addresses, because of custom networking, security groups for pods or a full subnet, the last pods never start.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("FailedCreatePodSandBox", Text::Has(&["failed to assign an IP address to container"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   FailedCreatePodSandBox   pod/api-6d5f7c9b8-qk2vx   Failed to create pod sandbox: plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container"#,
                source: "aws/amazon-vpc-cni-k8s#2749",
            }
        ],
        when: When::Repeated { count: 5 },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#7318; aws/amazon-vpc-cni-k8s#2749, #3238"],
    },
    Symptom {
        name: "metadata-out-of-reach",
        severity: Severity::Error,
        summary: "pods cannot reach the instance metadata service",
        says: "pods cannot reach the instance metadata service that they need",
        remedy: "set `metadataOptions.httpPutResponseHopLimit: 2` in the node class, or pass the region and VPC to the agent as arguments and give it permissions by IRSA or Pod Identity",
        cause: "
With a hop limit of 1, Karpenter's default since 1.0, only processes in the host network reach the metadata service.
Controllers that ask it for VPC, region or credentials run into a timeout.
",
        rules: &[],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["failed to fetch VPC ID from instance metadata"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"error","ts":"2025-06-11T09:14:03Z","logger":"setup","msg":"unable to initialize AWS cloud","error":"failed to get VPC ID: failed to fetch VPC ID from instance metadata: error in fetching vpc id through ec2 metadata: context deadline exceeded"}"#,
                source: "kubernetes-sigs/aws-load-balancer-controller#3937",
            },
            Message {
                pattern: anywhere(Text::Has(&["no EC2 IMDS role found"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "could not create volume in EC2: operation error EC2: CreateVolume, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, canceled, context deadline exceeded",
                source: "kubernetes-sigs/aws-load-balancer-controller#3818",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/aws-load-balancer-controller#3937, #3818; aws/karpenter-provider-aws#7200"],
    },
    Symptom {
        name: "several-cluster-groups",
        severity: Severity::Error,
        summary: "several security groups have the cluster tag",
        says: "an instance has several security groups with the cluster tag, or several groups without it",
        remedy: "keep the tag `kubernetes.io/cluster/<name>` on one of the groups that `securityGroupSelectorTerms` selects",
        cause: "
The load balancer controller and the cloud controller use this tag to find the one group of a node that they may
change. They give up if there are two.
",
        rules: &["sg-cluster-tag-selector"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["expect exactly one securityGroup tagged with kubernetes.io/cluster/"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "targetGroupBinding: expect exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0a1b2c, got: [sg-0a sg-0b]",
                source: "terraform-aws-modules/terraform-aws-eks#2468",
            },
            Message {
                pattern: anywhere(Text::Has(&["ultiple untagged security groups found for instance"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "Error syncing load balancer: Multiple untagged security groups found for instance i-0a1b2c3d4e5f60718; ensure the k8s security group is tagged",
                source: "aws/karpenter-provider-aws#8257",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["terraform-aws-modules/terraform-aws-eks#2468; aws/karpenter-provider-aws#8257"],
    },
    Symptom {
        name: "image-of-another-architecture",
        severity: Severity::Error,
        summary: "a container image has another architecture than its node",
        says: "a container image has another architecture than the node on which it runs",
        remedy: "build the image for both architectures, or select `kubernetes.io/arch` in the pod",
        cause: "
A NodePool without a requirement on `kubernetes.io/arch` creates the cheapest nodes, including `arm64`, for pods that
do not select an architecture.
",
        rules: &[],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["exec format error"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "exec /usr/local/bin/docker-entrypoint.sh: exec format error",
                source: "aws/karpenter-provider-aws#1540",
            },
            Message {
                pattern: event("Failed", Text::Has(&["exec format error"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   Failed   pod/api-6d5f7c9b8-qk2vx   Error: failed to create containerd task: exec /app: exec format error: unknown",
                source: "aws/karpenter-provider-aws#1540",
            }
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#1540; xelalexv/dregsy#115"],
    },
];
