//! `karpenter.k8s.aws/v1` EC2NodeClass. Source: `pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml`, v1.0.0 to v1.14.1;
//! website/content/en/v1.15/concepts/nodeclasses.md for 1.15.

use super::metadata::CONDITIONS;
use super::pattern::{
    ACCOUNT_ID, AMI_ID, CAPACITY_RESERVATION_ID, EVICTION, PLACEMENT_GROUP_ID, QUANTITY, SECURITY_GROUP_ID,
    SUBNET_ID, VOLUME_SIZE,
};
use super::relations::{immutable, kubelet, network, node_class, nonempty, selector_terms, tags, volumes};
use super::schema::{
    ANY_TEXT, EnumValue, FieldSchema, KindSchema, Limit, OPEN_MAP, Schema, boolean, constraint, integer,
    integer_within, list, map, matching, max_items, max_properties, minimum, object, one_of, optional,
    required, text, value, value_since,
};
use super::stored::DefaultValue;
use crate::kind::Kind;
use crate::release::Releases;

/// The EC2NodeClass. The server accepts it without a `spec`, but it never becomes Ready.
pub(super) const EC2_NODE_CLASS: KindSchema = KindSchema {
    kind: Kind::NODE_CLASS,
    releases: Releases::ALL,
    spec: optional("spec", object(SPEC).with(node_class::SPEC)),
    status: STATUS,
    scale: Releases::NONE,
};

const SPEC: &[FieldSchema] = &[
    optional("amiFamily", text(&[one_of(AMI_FAMILIES)])),
    required(
        "amiSelectorTerms",
        list(&object(AMI_TERM), &[constraint(Limit::MinItems(1)), max_items(30)]).with(selector_terms::AMI),
    ),
    optional("associatePublicIPAddress", boolean()),
    optional(
        "blockDeviceMappings",
        list(&object(BLOCK_DEVICE_MAPPING), &[max_items(50)]).with(volumes::MAPPINGS),
    ),
    optional(
        "capacityReservationSelectorTerms",
        list(&object(CAPACITY_RESERVATION_TERM), &[max_items(30)]).with(selector_terms::CAPACITY_RESERVATION),
    )
    .since(3),
    optional("connectionTracking", object(CONNECTION_TRACKING).with(network::CONNECTION_TRACKING)).since(13),
    optional("context", ANY_TEXT),
    optional("cpuOptions", object(&[optional("nestedVirtualization", SWITCH)])).since(13),
    optional("detailedMonitoring", boolean()),
    // The page of 1.15 says that `enabled` is required. The definition of main does not require it, so neither does this table.
    optional("enclaveOptions", object(&[optional("enabled", boolean())])).since(15),
    optional("instanceProfile", ANY_TEXT.with(nonempty::ALWAYS)),
    optional("instanceStorePolicy", text(&[one_of(&[value("RAID0")])])),
    optional("ipPrefixCount", integer(&[minimum(0)])).since(8),
    optional("kubelet", object(KUBELET).with(kubelet::KUBELET)).until(14),
    optional("kubelet", OPEN_MAP).since(15),
    optional("metadataOptions", object(METADATA_OPTIONS)).or(DefaultValue::Object(&[
        ("httpEndpoint", DefaultValue::Text("enabled")),
        ("httpProtocolIPv6", DefaultValue::Text("disabled")),
        ("httpPutResponseHopLimit", DefaultValue::Int(1)),
        ("httpTokens", DefaultValue::Text("required")),
    ])),
    optional(
        "networkInterfaces",
        list(&object(NETWORK_INTERFACE), &[max_items(150)]).with(network::INTERFACES),
    )
    .since(11),
    optional("placementGroupSelector", object(PLACEMENT_GROUP).with(network::PLACEMENT_GROUP)).since(11),
    optional("role", ANY_TEXT.with(immutable::ROLE)),
    required(
        "securityGroupSelectorTerms",
        list(&object(SECURITY_GROUP_TERM), &[max_items(30)]).with(selector_terms::SECURITY_GROUP),
    ),
    required(
        "subnetSelectorTerms",
        list(&object(SUBNET_TERM), &[max_items(30)]).with(selector_terms::SUBNET),
    ),
    optional("tags", map(&ANY_TEXT, &[]).with(tags::OF_NODE_CLASS)),
    optional("userData", ANY_TEXT),
];

const AMI_FAMILIES: &[EnumValue] = &[
    value("AL2"),
    value("AL2023"),
    value("Bottlerocket"),
    value("Custom"),
    value("Windows2019"),
    value("Windows2022"),
    value_since(9, "Windows2025"),
];

const SWITCH: Schema = text(&[one_of(&[value("enabled"), value("disabled")])]);

/// The tags of a selector term.
const TERM_TAGS: FieldSchema = optional("tags", map(&ANY_TEXT, &[max_properties(20)]).with(tags::OF_TERM));

const AMI_TERM: &[FieldSchema] = &[
    optional("alias", text(&[constraint(Limit::MaxLength(30))]).with(selector_terms::ALIAS)),
    optional("id", text(&[matching(AMI_ID)])),
    optional("name", ANY_TEXT),
    optional("owner", ANY_TEXT),
    optional("ssmParameter", ANY_TEXT).since(4),
    TERM_TAGS,
];

const SUBNET_TERM: &[FieldSchema] = &[optional("id", text(&[matching(SUBNET_ID)])), TERM_TAGS];

const SECURITY_GROUP_TERM: &[FieldSchema] =
    &[optional("id", text(&[matching(SECURITY_GROUP_ID)])), optional("name", ANY_TEXT), TERM_TAGS];

const CAPACITY_RESERVATION_TERM: &[FieldSchema] = &[
    optional("id", text(&[matching(CAPACITY_RESERVATION_ID)])),
    optional("ownerID", text(&[matching(ACCOUNT_ID)])),
    optional("instanceMatchCriteria", text(&[one_of(&[value("open"), value("targeted")])])).since(8),
    TERM_TAGS,
];

const BLOCK_DEVICE_MAPPING: &[FieldSchema] = &[
    optional("deviceName", ANY_TEXT),
    optional("rootVolume", boolean()),
    optional("ebs", object(EBS).with(volumes::EBS)),
];

const EBS: &[FieldSchema] = &[
    optional("deleteOnTermination", boolean()),
    optional("encrypted", boolean()),
    optional("iops", integer(&[])),
    optional("kmsKeyID", ANY_TEXT),
    optional("snapshotID", ANY_TEXT),
    optional("throughput", integer(&[])),
    optional("volumeInitializationRate", integer_within!(100, 300)).since(5),
    optional("volumeSize", text(&[matching(VOLUME_SIZE)])),
    optional("volumeType", text(&[one_of(VOLUME_TYPES)])),
];

const VOLUME_TYPES: &[EnumValue] =
    &[value("standard"), value("io1"), value("io2"), value("gp2"), value("sc1"), value("st1"), value("gp3")];

const KUBELET: &[FieldSchema] = &[
    optional("clusterDNS", list(&ANY_TEXT, &[])),
    optional("cpuCFSQuota", boolean()),
    optional("evictionHard", THRESHOLDS),
    optional("evictionMaxPodGracePeriod", integer(&[])),
    optional("evictionSoft", THRESHOLDS),
    optional("evictionSoftGracePeriod", map(&ANY_TEXT, &[]).with(kubelet::EVICTION_SIGNALS)),
    optional("imageGCHighThresholdPercent", integer_within!(0, 100)),
    optional("imageGCLowThresholdPercent", integer_within!(0, 100)),
    optional("kubeReserved", RESERVED),
    optional("maxPods", integer(&[minimum(0)])),
    optional("podsPerCore", integer(&[minimum(0)])),
    optional("systemReserved", RESERVED),
];

const THRESHOLDS: Schema = map(&text(&[matching(EVICTION)]), &[]).with(kubelet::EVICTION_SIGNALS);

const RESERVED: Schema = map(&text(&[matching(QUANTITY)]), &[]).with(kubelet::RESERVED);

const METADATA_OPTIONS: &[FieldSchema] = &[
    optional("httpEndpoint", SWITCH).or(DefaultValue::Text("enabled")),
    optional("httpProtocolIPv6", SWITCH).or(DefaultValue::Text("disabled")),
    optional("httpPutResponseHopLimit", integer_within!(1, 64)).or(DefaultValue::Int(1)),
    optional("httpTokens", text(&[one_of(&[value("required"), value("optional")])]))
        .or(DefaultValue::Text("required")),
];

const CONNECTION_TRACKING: &[FieldSchema] = &[
    optional("tcpEstablishedTimeout", integer_within!(60, 432_000)),
    optional("udpStreamTimeout", integer_within!(60, 180)),
    optional("udpTimeout", integer_within!(30, 60)),
];

const NETWORK_INTERFACE: &[FieldSchema] = &[
    required("deviceIndex", integer(&[minimum(0)])),
    required("interfaceType", text(&[one_of(&[value("interface"), value("efa-only")])])),
    required("networkCardIndex", integer(&[minimum(0)])),
];

const PLACEMENT_GROUP: &[FieldSchema] = &[
    optional("id", text(&[matching(PLACEMENT_GROUP_ID)])),
    optional("name", text(&[constraint(Limit::MinLength(1))])),
];

const STATUS: &[FieldSchema] = &[
    CONDITIONS,
    optional("instanceProfile", ANY_TEXT),
    optional("amis", list(&object(STATUS_AMI), &[])),
    optional("capacityReservations", list(&object(STATUS_RESERVATION), &[])).since(3),
    optional("securityGroups", list(&object(&[optional("id", ANY_TEXT), optional("name", ANY_TEXT)]), &[])),
    optional(
        "subnets",
        list(
            &object(&[optional("id", ANY_TEXT), optional("zone", ANY_TEXT), optional("zoneID", ANY_TEXT)]),
            &[],
        ),
    ),
];

const STATUS_AMI: &[FieldSchema] = &[
    optional("deprecated", boolean()).since(1),
    optional("id", ANY_TEXT),
    optional("name", ANY_TEXT),
    optional(
        "requirements",
        list(
            &object(&[
                optional("key", ANY_TEXT),
                optional("operator", ANY_TEXT),
                optional("values", list(&ANY_TEXT, &[])),
            ]),
            &[],
        ),
    ),
];

const STATUS_RESERVATION: &[FieldSchema] = &[
    optional("availabilityZone", ANY_TEXT),
    optional("endTime", ANY_TEXT),
    optional("id", ANY_TEXT),
    optional("instanceMatchCriteria", ANY_TEXT),
    optional("instanceType", ANY_TEXT),
    optional("interruptible", boolean()).since(10),
    optional("ownerID", ANY_TEXT),
    optional("reservationType", ANY_TEXT).since(6),
    optional("state", ANY_TEXT).since(6),
];
