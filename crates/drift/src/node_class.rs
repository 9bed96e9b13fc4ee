//! The hashed part of an EC2NodeClass: its spec without the selectors, `amiFamily` and `ipPrefixCount`.
//!
//! Source: aws/karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go, v1.0.9 to v1.14.1, and 88f489914 (between 1.14.1 and 1.15.0)
//! for 1.15.

use karpenter::release::Releases;

use crate::go::{GoStruct, GoType, plain, pointer};

pub(crate) const SPEC: GoStruct = GoStruct {
    name: "EC2NodeClassSpec",
    fields: &[
        pointer("placementGroupSelector", "PlacementGroupSelector", GoType::Struct(&PLACEMENT_GROUP)),
        pointer("associatePublicIPAddress", "AssociatePublicIPAddress", GoType::Bool),
        pointer("userData", "UserData", GoType::Text),
        plain("role", "Role", GoType::Text),
        pointer("instanceProfile", "InstanceProfile", GoType::Text),
        pointer("tags", "Tags", TEXTS),
        // 1.0 hashes it separately, 1.15 hashes its text.
        pointer("kubelet", "Kubelet", GoType::Struct(&KUBELET)).hashed_in(Releases::between(1, 14)),
        pointer("blockDeviceMappings", "BlockDeviceMappings", GoType::List(&GoType::Struct(&MAPPING))),
        pointer("instanceStorePolicy", "InstanceStorePolicy", GoType::Text),
        pointer("networkInterfaces", "NetworkInterfaces", GoType::List(&GoType::Struct(&INTERFACE))),
        pointer("detailedMonitoring", "DetailedMonitoring", GoType::Bool),
        pointer("metadataOptions", "MetadataOptions", GoType::Struct(&METADATA_OPTIONS)),
        pointer("enclaveOptions", "EnclaveOptions", GoType::Struct(&ENCLAVE_OPTIONS)),
        pointer("connectionTracking", "ConnectionTracking", GoType::Struct(&CONNECTION_TRACKING)),
        pointer("context", "Context", GoType::Text),
        pointer("cpuOptions", "CPUOptions", GoType::Struct(&CPU_OPTIONS)),
    ],
};

const TEXTS: GoType = GoType::Map(&GoType::Text);

const PLACEMENT_GROUP: GoStruct = GoStruct {
    name: "PlacementGroupSelector",
    fields: &[pointer("name", "Name", GoType::Text), pointer("id", "ID", GoType::Text)],
};

pub(crate) const KUBELET: GoStruct = GoStruct {
    name: "KubeletConfiguration",
    fields: &[
        pointer("clusterDNS", "ClusterDNS", GoType::List(&GoType::Text)),
        pointer("maxPods", "MaxPods", GoType::Int32),
        pointer("podsPerCore", "PodsPerCore", GoType::Int32),
        pointer("systemReserved", "SystemReserved", TEXTS),
        pointer("kubeReserved", "KubeReserved", TEXTS),
        pointer("evictionHard", "EvictionHard", TEXTS),
        pointer("evictionSoft", "EvictionSoft", TEXTS),
        pointer("evictionSoftGracePeriod", "EvictionSoftGracePeriod", GoType::Map(&GoType::Duration)),
        pointer("evictionMaxPodGracePeriod", "EvictionMaxPodGracePeriod", GoType::Int32),
        pointer("imageGCHighThresholdPercent", "ImageGCHighThresholdPercent", GoType::Int32),
        pointer("imageGCLowThresholdPercent", "ImageGCLowThresholdPercent", GoType::Int32),
        pointer("cpuCFSQuota", "CPUCFSQuota", GoType::Bool),
    ],
};

const MAPPING: GoStruct = GoStruct {
    name: "BlockDeviceMapping",
    fields: &[
        pointer("deviceName", "DeviceName", GoType::Text),
        pointer("ebs", "EBS", GoType::Struct(&EBS)),
        plain("rootVolume", "RootVolume", GoType::Bool),
    ],
};

const EBS: GoStruct = GoStruct {
    name: "BlockDevice",
    fields: &[
        pointer("deleteOnTermination", "DeleteOnTermination", GoType::Bool),
        pointer("encrypted", "Encrypted", GoType::Bool),
        pointer("iops", "IOPS", GoType::Int64),
        pointer("kmsKeyID", "KMSKeyID", GoType::Text),
        pointer("snapshotID", "SnapshotID", GoType::Text),
        pointer("throughput", "Throughput", GoType::Int64),
        pointer("volumeInitializationRate", "VolumeInitializationRate", GoType::Int32),
        pointer("volumeSize", "VolumeSize", GoType::Quantity),
        pointer("volumeType", "VolumeType", GoType::Text),
    ],
};

const INTERFACE: GoStruct = GoStruct {
    name: "NetworkInterface",
    fields: &[
        plain("networkCardIndex", "NetworkCardIndex", GoType::Int32),
        plain("deviceIndex", "DeviceIndex", GoType::Int32),
        plain("interfaceType", "InterfaceType", GoType::Text),
    ],
};

const METADATA_OPTIONS: GoStruct = GoStruct {
    name: "MetadataOptions",
    fields: &[
        pointer("httpEndpoint", "HTTPEndpoint", GoType::Text),
        pointer("httpProtocolIPv6", "HTTPProtocolIPv6", GoType::Text),
        pointer("httpPutResponseHopLimit", "HTTPPutResponseHopLimit", GoType::Int64),
        pointer("httpTokens", "HTTPTokens", GoType::Text),
    ],
};

const ENCLAVE_OPTIONS: GoStruct =
    GoStruct { name: "EnclaveOptions", fields: &[pointer("enabled", "Enabled", GoType::Bool)] };

const CONNECTION_TRACKING: GoStruct = GoStruct {
    name: "ConnectionTracking",
    fields: &[
        pointer("tcpEstablishedTimeout", "TCPEstablishedTimeout", GoType::Int32),
        pointer("udpStreamTimeout", "UDPStreamTimeout", GoType::Int32),
        pointer("udpTimeout", "UDPTimeout", GoType::Int32),
    ],
};

const CPU_OPTIONS: GoStruct = GoStruct {
    name: "CPUOptions",
    fields: &[pointer("nestedVirtualization", "NestedVirtualization", GoType::Text)],
};
