//! Volumes and addresses that pods wait for, as Kubernetes says it.

use super::{Detail, Message, Seen, Text, When, event, line};
use lint::finding::Severity;
use karpenter::release::Releases;
use crate::entry::Level;
use lint::report::Confidence;
use crate::Symptom;

/// The symptoms of this part.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "volume-in-another-zone",
        severity: Severity::Error,
        summary: "a volume is in a zone in which its pod cannot run",
        says: "volumes are in a zone in which their pods cannot run",
        remedy: "let a NodePool and the subnets of its node class cover the zone of the volume, or move the data; give the StorageClass `volumeBindingMode: WaitForFirstConsumer`, so that new volumes follow their pods",
        cause: "
A volume of EBS stays in the zone in which it was made. Where the class binds at once, the zone is drawn without
regard to where the pod may run: to selectors, spreads, and the zones of the NodePool.
",
        rules: &["storageclass-immediate", "storage-zone-unreachable"],
        messages: &[
            Message {
                seen: event("FailedScheduling", Text::Has(&["volume node affinity conflict"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/data-0   0/6 nodes are available: 4 Insufficient cpu, 2 node(s) had volume node affinity conflict. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
                source: "kube-scheduler; aws/karpenter-provider-aws#2971",
            },
            Message {
                seen: line(Level::Error, Text::Is("could not schedule pod"), Text::Has(&["incompatible volume requirements, "])),
                releases: Releases::since(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-02-10T14:06:54.346Z","logger":"controller","message":"could not schedule pod","commit":"e7e1327","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22d8a2-3c5e-4b7a-9d21-7e4c001f2cde","Pod":{"name":"data-0","namespace":"shop"},"error":"incompatible volume requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-west-1c] not in topology.kubernetes.io/zone In [eu-west-1a eu-west-1b]"}"#,
                source: "kubernetes-sigs/karpenter v1.9.0 pkg/controllers/provisioning/scheduling/existingnode.go",
            }
        ],
        when: When::Unresolved { minutes: 10, until: &["created nodeclaim"] },
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#2971, #4407, #7800"],
    },
    Symptom {
        name: "volume-bound-before-its-pod",
        severity: Severity::Warning,
        summary: "volumes are made before their pods have a node",
        says: "pods wait for volumes that are made before a node is chosen",
        remedy: "give the StorageClass `volumeBindingMode: WaitForFirstConsumer` (delete it and make it again: the field cannot be changed), or name one that has it in the claim",
        cause: "
Without `volumeBindingMode` a class binds at once. While the volume is being made the pod has no zone: to 1.6 a node
may be made in the wrong one, and a second follows; from 1.7 on Karpenter waits for the volume. If this lasts, the
volume cannot be made at all.
",
        rules: &["storageclass-immediate", "pvc-unprovisionable"],
        messages: &[
            Message {
                seen: event("FailedScheduling", Text::Has(&["unbound immediate PersistentVolumeClaims"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedScheduling   pod/data-0   0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
                source: "kube-scheduler; aws/karpenter-provider-aws#7800",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &["created nodeclaim"] },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#7800; kubernetes-sigs/karpenter#2415"],
    },
    Symptom {
        name: "volume-claim-unusable",
        severity: Severity::Error,
        summary: "the volume that a pod claims cannot be resolved",
        says: "the volume or the class of a claim cannot be looked up, and its pods get no node",
        remedy: "make the PersistentVolumeClaim, the StorageClass or the volume that the field `error` names, or correct their names",
        cause: "
The zone of a node depends on the volumes of its pods. If one cannot be looked up, the pod is left out.
",
        rules: &["pvc-unprovisionable"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("failed getting volume topology requirements"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-04-23T15:13:07.483Z","logger":"controller","message":"failed getting volume topology requirements","commit":"0871602","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22dc73-3c5e-4b7a-9d21-7e4c001f4bcd","Pod":{"name":"data-0","namespace":"shop"},"error":"getting storage class \"fast\", StorageClass.storage.k8s.io \"fast\" not found"}"#,
                source: "kubernetes-sigs/karpenter v1.4.0 pkg/controllers/provisioning/provisioner.go",
            }
        ],
        when: When::Unresolved { minutes: 5, until: &["created nodeclaim"] },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "in-tree-volume",
        severity: Severity::Warning,
        summary: "a volume uses a plug-in that Karpenter cannot count",
        says: "volumes use a storage plug-in of Kubernetes itself, whose limits Karpenter does not know",
        remedy: "move to a StorageClass of `ebs.csi.aws.com`",
        cause: "
How many volumes a node takes is known from its CSI driver. Plug-ins that were part of Kubernetes do not tell it, so
that more pods with volumes are put on a node than it can attach.
",
        rules: &["in-tree-storage"],
        messages: &[
            Message {
                seen: Seen::Words(Text::Has(&["uses an in-tree storage plugin which is unsupported by Karpenter"])),
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
        remedy: "let the node pods of the CSI driver tolerate all taints (`karpenter.sh/disrupted` too), and use `strategy: Recreate` for a Deployment with a volume that one node alone may mount",
        cause: "
A volume that one node alone may mount moves with its pod. If the CSI driver leaves a node that is drained before the
volume is unmounted, Kubernetes waits six minutes before it is detached by force. A rolling update starts the second
pod while the first still has the volume.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("FailedAttachVolume", Text::Has(&["Multi-Attach error for volume"])),
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
        summary: "pods get no address",
        says: "pods on a node get no address",
        remedy: "compare `maxPods` of the node class with what the network plug-in can give out on the type (`settings.reservedENIs` counts interfaces that it keeps), and look for free addresses in the subnets",
        cause: "
Karpenter puts as many pods on a node as `maxPods` or the interfaces of the type allow. If the plug-in gives out
fewer, because of custom networking, security groups for pods or a full subnet, the last ones never start.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("FailedCreatePodSandBox", Text::Has(&["failed to assign an IP address to container"])),
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
        summary: "pods cannot reach the instance metadata",
        says: "pods cannot reach the instance metadata that they ask for",
        remedy: "set `metadataOptions.httpPutResponseHopLimit: 2` in the node class, or give the agent its region and VPC by arguments and its rights by IRSA or Pod Identity",
        cause: "
With a hop limit of 1, the default of Karpenter from 1.0 on, only what runs in the network of the host reaches the
metadata service. Controllers that ask it for VPC, region or credentials run into a timeout.
",
        rules: &[],
        messages: &[
            Message {
                seen: Seen::Words(Text::Has(&["failed to fetch VPC ID from instance metadata"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"error","ts":"2025-06-11T09:14:03Z","logger":"setup","msg":"unable to initialize AWS cloud","error":"failed to get VPC ID: failed to fetch VPC ID from instance metadata: error in fetching vpc id through ec2 metadata: context deadline exceeded"}"#,
                source: "kubernetes-sigs/aws-load-balancer-controller#3937",
            },
            Message {
                seen: Seen::Words(Text::Has(&["no EC2 IMDS role found"])),
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
        summary: "several security groups carry the tag of the cluster",
        says: "an instance has several security groups with the tag of the cluster, or none can be told from the others",
        remedy: "leave the tag `kubernetes.io/cluster/<name>` on one of the groups that `securityGroupSelectorTerms` selects",
        cause: "
The load balancer controller and the cloud controller look for the one group of a node that they may change by this
tag, and give up if there are two.
",
        rules: &["sg-cluster-tag-selector"],
        messages: &[
            Message {
                seen: Seen::Words(Text::Has(&["expect exactly one securityGroup tagged with kubernetes.io/cluster/"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "targetGroupBinding: expect exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0a1b2c, got: [sg-0a sg-0b]",
                source: "terraform-aws-modules/terraform-aws-eks#2468",
            },
            Message {
                seen: Seen::Words(Text::Has(&["ultiple untagged security groups found for instance"])),
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
        summary: "a container image is for another architecture than its node",
        says: "a container image is for another architecture than the node that it runs on",
        remedy: "build the image for both architectures, or select `kubernetes.io/arch` in the pod",
        cause: "
A NodePool that does not name `kubernetes.io/arch` makes nodes of whatever is cheapest, `arm64` too, for pods that do
not say what they need.
",
        rules: &[],
        messages: &[
            Message {
                seen: Seen::Words(Text::Has(&["exec format error"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "exec /usr/local/bin/docker-entrypoint.sh: exec format error",
                source: "aws/karpenter-provider-aws#1540",
            },
            Message {
                seen: event("Failed", Text::Has(&["exec format error"])),
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
