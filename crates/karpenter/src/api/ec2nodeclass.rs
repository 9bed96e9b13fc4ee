//! `karpenter.k8s.aws/v1` EC2NodeClass. Source: `pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml`, v1.0.0 to v1.14.1.

use super::metadata::CONDITIONS;
use super::pattern::{
    ACCOUNT_ID, AMI_ID, CAPACITY_RESERVATION_ID, EVICTION, PLACEMENT_GROUP_ID, QUANTITY, SECURITY_GROUP_ID,
    SUBNET_ID, VOLUME_SIZE,
};
use super::relations::{immutable, kubelet, network, node_class, nonempty, selector_terms, tags, volumes};
use super::{
    ANY_TEXT, Field, Limit, Literal, Root, Schema, Word, at_least, boolean, fact, form, integer, list, map,
    most_items, most_members, object, one_of, optional, required, text, word, word_since,
};
use crate::kind::Kind;
use crate::release::Releases;

/// The EC2NodeClass. Without a `spec` it is accepted, and never becomes ready.
pub(super) const EC2_NODE_CLASS: Root = Root {
    kind: Kind::NODE_CLASS,
    releases: Releases::ALL,
    spec: optional("spec", object(SPEC).with(node_class::SPEC)),
    status: STATUS,
    scale: Releases::NONE,
};

const SPEC: &[Field] = &[
    optional("amiFamily", text(&[one_of(AMI_FAMILIES)])),
    required(
        "amiSelectorTerms",
        list(&object(AMI_TERM), &[fact(Limit::LeastItems(1)), most_items(30)]).with(selector_terms::AMI),
    ),
    optional("associatePublicIPAddress", boolean()),
    optional(
        "blockDeviceMappings",
        list(&object(BLOCK_DEVICE_MAPPING), &[most_items(50)]).with(volumes::MAPPINGS),
    ),
    optional(
        "capacityReservationSelectorTerms",
        list(&object(CAPACITY_RESERVATION_TERM), &[most_items(30)])
            .with(selector_terms::CAPACITY_RESERVATION),
    )
    .since(3),
    optional("connectionTracking", object(CONNECTION_TRACKING).with(network::CONNECTION_TRACKING)).since(13),
    optional("context", ANY_TEXT),
    optional("cpuOptions", object(&[optional("nestedVirtualization", SWITCH)])).since(13),
    optional("detailedMonitoring", boolean()),
    optional("instanceProfile", ANY_TEXT.with(nonempty::ALWAYS)),
    optional("instanceStorePolicy", text(&[one_of(&[word("RAID0")])])),
    optional("ipPrefixCount", integer(&[at_least(0)])).since(8),
    optional("kubelet", object(KUBELET).with(kubelet::KUBELET)),
    optional("metadataOptions", object(METADATA_OPTIONS)).or(Literal::Object(&[
        ("httpEndpoint", Literal::Text("enabled")),
        ("httpProtocolIPv6", Literal::Text("disabled")),
        ("httpPutResponseHopLimit", Literal::Int(1)),
        ("httpTokens", Literal::Text("required")),
    ])),
    optional(
        "networkInterfaces",
        list(&object(NETWORK_INTERFACE), &[most_items(150)]).with(network::INTERFACES),
    )
    .since(11),
    optional("placementGroupSelector", object(PLACEMENT_GROUP).with(network::PLACEMENT_GROUP)).since(11),
    optional("role", ANY_TEXT.with(immutable::ROLE)),
    required(
        "securityGroupSelectorTerms",
        list(&object(SECURITY_GROUP_TERM), &[most_items(30)]).with(selector_terms::SECURITY_GROUP),
    ),
    required(
        "subnetSelectorTerms",
        list(&object(SUBNET_TERM), &[most_items(30)]).with(selector_terms::SUBNET),
    ),
    optional("tags", map(&ANY_TEXT, &[]).with(tags::OF_NODE_CLASS)),
    optional("userData", ANY_TEXT),
];

const AMI_FAMILIES: &[Word] = &[
    word("AL2"),
    word("AL2023"),
    word("Bottlerocket"),
    word("Custom"),
    word("Windows2019"),
    word("Windows2022"),
    word_since(9, "Windows2025"),
];

const SWITCH: Schema = text(&[one_of(&[word("enabled"), word("disabled")])]);

/// The tags of a selector term.
const TERM_TAGS: Field = optional("tags", map(&ANY_TEXT, &[most_members(20)]).with(tags::OF_TERM));

const AMI_TERM: &[Field] = &[
    optional("alias", text(&[fact(Limit::MostLetters(30))]).with(selector_terms::ALIAS)),
    optional("id", text(&[form(AMI_ID)])),
    optional("name", ANY_TEXT),
    optional("owner", ANY_TEXT),
    optional("ssmParameter", ANY_TEXT).since(4),
    TERM_TAGS,
];

const SUBNET_TERM: &[Field] = &[optional("id", text(&[form(SUBNET_ID)])), TERM_TAGS];

const SECURITY_GROUP_TERM: &[Field] =
    &[optional("id", text(&[form(SECURITY_GROUP_ID)])), optional("name", ANY_TEXT), TERM_TAGS];

const CAPACITY_RESERVATION_TERM: &[Field] = &[
    optional("id", text(&[form(CAPACITY_RESERVATION_ID)])),
    optional("ownerID", text(&[form(ACCOUNT_ID)])),
    optional("instanceMatchCriteria", text(&[one_of(&[word("open"), word("targeted")])])).since(8),
    TERM_TAGS,
];

const BLOCK_DEVICE_MAPPING: &[Field] = &[
    optional("deviceName", ANY_TEXT),
    optional("rootVolume", boolean()),
    optional("ebs", object(EBS).with(volumes::EBS)),
];

const EBS: &[Field] = &[
    optional("deleteOnTermination", boolean()),
    optional("encrypted", boolean()),
    optional("iops", integer(&[])),
    optional("kmsKeyID", ANY_TEXT),
    optional("snapshotID", ANY_TEXT),
    optional("throughput", integer(&[])),
    optional("volumeInitializationRate", super::integer_within!(100, 300)).since(5),
    optional("volumeSize", text(&[form(VOLUME_SIZE)])),
    optional("volumeType", text(&[one_of(VOLUME_TYPES)])),
];

const VOLUME_TYPES: &[Word] =
    &[word("standard"), word("io1"), word("io2"), word("gp2"), word("sc1"), word("st1"), word("gp3")];

const KUBELET: &[Field] = &[
    optional("clusterDNS", list(&ANY_TEXT, &[])),
    optional("cpuCFSQuota", boolean()),
    optional("evictionHard", THRESHOLDS),
    optional("evictionMaxPodGracePeriod", integer(&[])),
    optional("evictionSoft", THRESHOLDS),
    optional("evictionSoftGracePeriod", map(&ANY_TEXT, &[]).with(kubelet::EVICTION_SIGNALS)),
    optional("imageGCHighThresholdPercent", super::integer_within!(0, 100)),
    optional("imageGCLowThresholdPercent", super::integer_within!(0, 100)),
    optional("kubeReserved", RESERVED),
    optional("maxPods", integer(&[at_least(0)])),
    optional("podsPerCore", integer(&[at_least(0)])),
    optional("systemReserved", RESERVED),
];

const THRESHOLDS: Schema = map(&text(&[form(EVICTION)]), &[]).with(kubelet::EVICTION_SIGNALS);

const RESERVED: Schema = map(&text(&[form(QUANTITY)]), &[]).with(kubelet::RESERVED);

const METADATA_OPTIONS: &[Field] = &[
    optional("httpEndpoint", SWITCH).or(Literal::Text("enabled")),
    optional("httpProtocolIPv6", SWITCH).or(Literal::Text("disabled")),
    optional("httpPutResponseHopLimit", super::integer_within!(1, 64)).or(Literal::Int(1)),
    optional("httpTokens", text(&[one_of(&[word("required"), word("optional")])]))
        .or(Literal::Text("required")),
];

const CONNECTION_TRACKING: &[Field] = &[
    optional("tcpEstablishedTimeout", super::integer_within!(60, 432_000)),
    optional("udpStreamTimeout", super::integer_within!(60, 180)),
    optional("udpTimeout", super::integer_within!(30, 60)),
];

const NETWORK_INTERFACE: &[Field] = &[
    required("deviceIndex", integer(&[at_least(0)])),
    required("interfaceType", text(&[one_of(&[word("interface"), word("efa-only")])])),
    required("networkCardIndex", integer(&[at_least(0)])),
];

const PLACEMENT_GROUP: &[Field] = &[
    optional("id", text(&[form(PLACEMENT_GROUP_ID)])),
    optional("name", text(&[fact(Limit::LeastLetters(1))])),
];

const STATUS: &[Field] = &[
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

const STATUS_AMI: &[Field] = &[
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

const STATUS_RESERVATION: &[Field] = &[
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
