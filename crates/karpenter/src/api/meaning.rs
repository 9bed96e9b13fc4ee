//! The meaning of each field, in one or two sentences, for editors.
//!
//! Sources: website/content/en/docs/concepts/nodepools.md, nodeclasses.md, nodeoverlays.md and disruption.md of aws/karpenter-provider-aws
//! at v1.14.1, and the page of 1.15 for fields since 1.15.

/// Meaning of a field. `path` is the end of the path of the field; `[]` is an item of a list.
struct FieldMeaning {
    path: &'static str,
    meaning: &'static str,
}

const fn of(path: &'static str, meaning: &'static str) -> FieldMeaning {
    FieldMeaning { path, meaning }
}

/// The meaning of the field at a path, such as `spec.template.spec.taints[].key`; `None` for a path that is no field, such as a label.
pub fn meaning(path: &str) -> Option<&'static str> {
    let is_end = |one: &&FieldMeaning| {
        let before = path.strip_suffix(one.path);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    MEANINGS.iter().find(is_end).map(|one| one.meaning)
}

/// The meanings. Of several paths that fit, the first one counts.
const MEANINGS: &[FieldMeaning] = &[
    // NodePool
    of(
        "disruption.consolidateAfter",
        "The time without a change of its pods after which a node may be consolidated. `Never` turns consolidation off.",
    ),
    of(
        "disruption.consolidationPolicy",
        "The nodes that consolidation considers: only empty ones, all that cost more than they must, or, with `Balanced`, those whose savings outweigh the disruption.",
    ),
    of(
        "disruption.budgets[].nodes",
        "The number or percentage of the NodePool's nodes that may be disrupted at the same time. A percentage is rounded up.",
    ),
    of(
        "disruption.budgets[].schedule",
        "The cron schedule, in UTC, of the moments at which the budget becomes active. It needs a `duration`.",
    ),
    of(
        "disruption.budgets[].duration",
        "The time for which the budget stays active after each moment of its `schedule`.",
    ),
    of(
        "disruption.budgets[].reasons",
        "The reasons for disruption that the budget limits. Without a list it limits every reason.",
    ),
    of(
        "disruption.budgets",
        "Limits on how many nodes are disrupted at the same time. Of all active budgets the strictest one counts.",
    ),
    of("disruption", "When and how fast Karpenter replaces and removes the nodes of this NodePool."),
    of("template.metadata.labels", "Labels of every node of this NodePool. Pods can select them."),
    of("template.metadata.annotations", "Annotations of every node of this NodePool."),
    of("template.metadata", "Labels and annotations of the nodes."),
    of("template.spec", "The nodes that this NodePool launches."),
    of(
        "template",
        "The NodeClaims from which this NodePool makes its nodes. Most changes in it replace nodes.",
    ),
    of(
        "spec.limits",
        "The amounts of resources at which this NodePool launches no more nodes. They remove no node.",
    ),
    of(
        "spec.replicas",
        "The number of nodes that a static NodePool keeps, whether or not pods need them. Needs the feature gate `StaticCapacity`.",
    ),
    // Nodes
    of("nodeClassRef.group", "The API group of the node class: `karpenter.k8s.aws`."),
    of("nodeClassRef.kind", "The kind of the node class: `EC2NodeClass`."),
    of("nodeClassRef.name", "The name of the EC2NodeClass that describes the instances."),
    of("nodeClassRef", "The EC2NodeClass that describes the instances: image, network, disks and role."),
    of("requirements[].key", "The label of the nodes that the requirement is about."),
    of("requirements[].operator", "How the label is compared with the values."),
    of("requirements[].values[]", "A value of the label."),
    of(
        "requirements[].values",
        "The values for the operator: any number for `In` and `NotIn`, one whole number for `Gt`, `Lt`, `Gte` and `Lte`, none for `Exists` and `DoesNotExist`.",
    ),
    of(
        "requirements[].minValues",
        "The number of different values of the label that the instance types for a node must offer at least. More choice makes spot interruptions rarer.",
    ),
    of(
        "spec.requirements",
        "What the instances must have: types, zones, capacity types and architecture. Karpenter chooses among all that fit, together with the demands of the pods.",
    ),
    of("taints[].key", "The key of the taint, which tolerations name."),
    of("taints[].value", "The value of the taint."),
    of(
        "taints[].effect",
        "What happens to pods without a toleration: they are not scheduled, are avoided, or are evicted too.",
    ),
    of("taints[].timeAdded", "The time of the taint, which Kubernetes itself sets."),
    of("startupTaints[].key", "The key of the taint, which a daemon removes when the node is ready."),
    of("startupTaints[].value", "The value of the taint."),
    of("startupTaints[].effect", "What happens to pods as long as the taint is there."),
    of("startupTaints[].timeAdded", "The time of the taint, which Kubernetes itself sets."),
    of(
        "startupTaints",
        "Taints that a daemon removes when the node is ready. Pods need no toleration, because Karpenter expects the taints to go.",
    ),
    of("taints", "Taints of every node: only pods that tolerate them are scheduled there."),
    of(
        "expireAfter",
        "The age at which a node is drained and removed, whatever the budgets say. `Never` turns expiry off.",
    ),
    of(
        "terminationGracePeriod",
        "The time that a drain may take. Then Karpenter deletes the remaining pods, whatever their PodDisruptionBudgets and annotations say.",
    ),
    of("spec.resources.requests", "The resources that the node needs at least."),
    of("spec.resources", "The resources that the node needs."),
    // NodeOverlay
    of(
        "spec.priceAdjustment",
        "The change of the price in Karpenter's comparisons: an amount or a percentage, with its sign.",
    ),
    of("spec.price", "The price per hour in Karpenter's comparisons, instead of the price of AWS."),
    of(
        "spec.capacity",
        "Further resources that Karpenter expects of the instances, such as resources of a device plugin.",
    ),
    of(
        "spec.weight",
        "The precedence among objects that fit at the same time: the greatest weight comes first.",
    ),
    // EC2NodeClass
    of(
        "amiFamily",
        "The kind of image, which decides how a node is bootstrapped: the form of the user data, the devices and the defaults. An alias implies its family.",
    ),
    of(
        "amiSelectorTerms[].alias",
        "A family of EKS images with a version, such as `al2023@v20250807`. With `@latest` every new image replaces the nodes. The term must be the only one.",
    ),
    of("amiSelectorTerms[].id", "The ID of an image."),
    of(
        "amiSelectorTerms[].name",
        "The name of images; `*` matches any text. Without an owner only images of Amazon and of the own account count.",
    ),
    of("amiSelectorTerms[].owner", "The account that owns the images, or `self` or `amazon`."),
    of(
        "amiSelectorTerms[].ssmParameter",
        "The name or ARN of the SSM parameter that holds the ID of an image.",
    ),
    of("amiSelectorTerms[].tags", "Tags of the images. `*` matches any value; an empty value is refused."),
    of(
        "amiSelectorTerms",
        "The images to choose from. A term needs all its fields, and the images of all terms count; the newest one that fits is used.",
    ),
    of(
        "associatePublicIPAddress",
        "Whether the first network interface gets a public IP address. By default the subnet decides.",
    ),
    of("blockDeviceMappings[].deviceName", "The name of the device, such as `/dev/xvda`."),
    of(
        "blockDeviceMappings[].rootVolume",
        "Whether the device holds the file system of the kubelet and of the containers.",
    ),
    of("ebs.deleteOnTermination", "Whether the volume is deleted with the instance."),
    of("ebs.encrypted", "Whether the volume is encrypted."),
    of("ebs.iops", "The number of I/O operations per second, for `gp3`, `io1` and `io2`."),
    of("ebs.kmsKeyID", "The key that encrypts the volume."),
    of("ebs.snapshotID", "The snapshot from which the volume is made."),
    of("ebs.throughput", "The throughput in MiB per second, for `gp3`."),
    of(
        "ebs.volumeInitializationRate",
        "The rate in MiB per second at which blocks of the snapshot are fetched.",
    ),
    of("ebs.volumeSize", "The size of the volume in `Gi`, `G`, `Ti` or `T`."),
    of("ebs.volumeType", "The type of the volume."),
    of("blockDeviceMappings[].ebs", "The EBS volume of the device."),
    of("blockDeviceMappings", "The disks of the instances. Without a list the family of the image decides."),
    of("capacityReservationSelectorTerms[].id", "The ID of a capacity reservation."),
    of("capacityReservationSelectorTerms[].ownerID", "The account that owns the capacity reservations."),
    of(
        "capacityReservationSelectorTerms[].instanceMatchCriteria",
        "Whether reservations count that any instance uses (`open`), or only those that an instance names (`targeted`).",
    ),
    of(
        "capacityReservationSelectorTerms[].tags",
        "Tags of the capacity reservations. `*` matches any value; an empty value is refused.",
    ),
    of(
        "capacityReservationSelectorTerms",
        "The capacity reservations that nodes may use, with the capacity type `reserved`.",
    ),
    of(
        "connectionTracking.tcpEstablishedTimeout",
        "The seconds after which an idle TCP connection is forgotten.",
    ),
    of(
        "connectionTracking.udpStreamTimeout",
        "The seconds after which an idle UDP flow with several packets is forgotten.",
    ),
    of("connectionTracking.udpTimeout", "The seconds after which a UDP flow in one direction is forgotten."),
    of("connectionTracking", "How long the network interfaces remember idle connections."),
    of("spec.context", "A field of the request that EC2 reserves; Karpenter passes it on."),
    of("cpuOptions.nestedVirtualization", "Whether virtual machines may run on the instances."),
    of("cpuOptions", "Options of the processors."),
    of("detailedMonitoring", "Whether CloudWatch gets metrics each minute."),
    of("enclaveOptions.enabled", "Whether the instances can run Nitro Enclaves."),
    of("enclaveOptions", "Nitro Enclaves on the instances."),
    of(
        "instanceProfile",
        "The name of the instance profile that the instances use, instead of one that Karpenter makes for `role`.",
    ),
    of(
        "instanceStorePolicy",
        "The use of local disks: `RAID0` joins them into one volume for the kubelet and the containers.",
    ),
    of("ipPrefixCount", "The number of IPv4 prefixes that the first network interface gets."),
    of("kubelet.clusterDNS", "The addresses of the DNS servers of the cluster."),
    of("kubelet.cpuCFSQuota", "Whether CPU limits of containers are enforced by quotas."),
    of("kubelet.evictionHard", "The thresholds at which the kubelet evicts pods at once."),
    of(
        "kubelet.evictionMaxPodGracePeriod",
        "The longest grace period, in seconds, of a pod that is evicted at a soft threshold.",
    ),
    of("kubelet.evictionSoftGracePeriod", "The times for which a soft threshold must be exceeded."),
    of("kubelet.evictionSoft", "The thresholds at which the kubelet evicts pods after a grace period."),
    of(
        "kubelet.imageGCHighThresholdPercent",
        "The usage of the disk, in percent, at which unused images are removed.",
    ),
    of(
        "kubelet.imageGCLowThresholdPercent",
        "The usage of the disk, in percent, below which no image is removed.",
    ),
    of(
        "kubelet.kubeReserved",
        "The resources that pods leave to the kubelet and the container runtime. Karpenter subtracts them from what a node offers to pods.",
    ),
    of("kubelet.maxPods", "The largest number of pods on a node."),
    of("kubelet.podsPerCore", "The largest number of pods per vCPU. `maxPods` limits it."),
    of(
        "kubelet.systemReserved",
        "The resources that pods leave to the system. Karpenter subtracts them from what a node offers to pods.",
    ),
    of(
        "spec.kubelet",
        "The settings of the kubelet. Karpenter takes them into account when it chooses instance types.",
    ),
    of("metadataOptions.httpEndpoint", "Whether the metadata service of the instance answers."),
    of("metadataOptions.httpProtocolIPv6", "Whether the metadata service has an IPv6 address."),
    of(
        "metadataOptions.httpPutResponseHopLimit",
        "The number of network hops that a token of the metadata service survives. With 1, pods without host networking cannot reach the service.",
    ),
    of("metadataOptions.httpTokens", "Whether the metadata service demands a token (IMDSv2)."),
    of("metadataOptions", "The metadata service of the instances."),
    of("networkInterfaces[].deviceIndex", "The position of the interface on its card."),
    of("networkInterfaces[].interfaceType", "Whether the interface carries IP traffic, or only EFA."),
    of("networkInterfaces[].networkCardIndex", "The network card of the interface."),
    of("networkInterfaces", "The network interfaces of the instances, for several cards and EFA."),
    of("placementGroupSelector.id", "The ID of the placement group."),
    of("placementGroupSelector.name", "The name of the placement group."),
    of("placementGroupSelector", "The placement group in which the instances are launched."),
    of("spec.role", "The IAM role of the nodes, by its name. Karpenter makes an instance profile for it."),
    of("securityGroupSelectorTerms[].id", "The ID of a security group."),
    of("securityGroupSelectorTerms[].name", "The name of a security group; this is not its `Name` tag."),
    of(
        "securityGroupSelectorTerms[].tags",
        "Tags of the security groups. `*` matches any value; an empty value is refused.",
    ),
    of(
        "securityGroupSelectorTerms",
        "The security groups of the instances. A term needs all its fields, and the groups of all terms are attached.",
    ),
    of("subnetSelectorTerms[].id", "The ID of a subnet."),
    of(
        "subnetSelectorTerms[].tags",
        "Tags of the subnets. `*` matches any value; an empty value is refused.",
    ),
    of(
        "subnetSelectorTerms",
        "The subnets in which nodes may be launched, and so their zones. A term needs all its fields, and the subnets of all terms count.",
    ),
    of("spec.tags", "Tags of the instances, their volumes and their network interfaces."),
    of(
        "userData",
        "What the instances run at their start, in the form of the image's family. Karpenter merges it with its own part, except for `Custom`.",
    ),
    of("spec", "The desired state of the object."),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api::{FieldSchema, KIND_SCHEMAS, Schema, SchemaType};

    fn add(field: &'static FieldSchema, holder: &str, paths: &mut BTreeSet<String>) {
        let path = if holder.is_empty() { field.name.to_owned() } else { format!("{holder}.{}", field.name) };
        add_below(&field.schema, &path, paths);
        paths.insert(path);
    }

    fn add_below(schema: &'static Schema, path: &str, paths: &mut BTreeSet<String>) {
        match schema.shape {
            SchemaType::Object(fields) => fields.iter().for_each(|field| add(field, path, paths)),
            SchemaType::List(items) => add_below(items, &format!("{path}[]"), paths),
            _ => {}
        }
    }

    #[test]
    fn every_field_has_a_meaning_and_every_meaning_a_field() {
        let mut paths = BTreeSet::new();
        for kind in KIND_SCHEMAS {
            add(&kind.spec, "", &mut paths);
        }
        let without: Vec<_> = paths.iter().filter(|path| meaning(path).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
        let used: BTreeSet<_> = paths.iter().filter_map(|path| meaning(path)).collect();
        let unused = MEANINGS.iter().filter(|one| !used.contains(one.meaning) && !one.path.ends_with("[]"));
        let unused: Vec<_> = unused.map(|one| one.path).collect();
        assert!(unused.is_empty(), "{unused:?}");
        // `spec` alone must not explain a field below it.
        for path in paths.iter().filter(|path| path.contains('.')) {
            assert_ne!(meaning(path), meaning("spec"), "{path}");
        }
    }

    #[test]
    fn says_of_every_selector_that_it_refuses_empty_tags() {
        let mut paths = BTreeSet::new();
        for kind in KIND_SCHEMAS {
            add(&kind.spec, "", &mut paths);
        }
        let of_terms: Vec<_> = paths.iter().filter(|path| path.ends_with("SelectorTerms[].tags")).collect();
        assert_eq!(of_terms.len(), 4);
        for path in of_terms {
            let ending = "`*` matches any value; an empty value is refused.";
            assert!(meaning(path).is_some_and(|meaning| meaning.ends_with(ending)), "{path}");
        }
    }

    #[test]
    fn compares_whole_names() {
        assert_eq!(meaning("metadata.labels.xexpireAfter"), None);
        assert_eq!(meaning("template.spec.startupTaints[].key"), meaning("startupTaints[].key"));
        assert_ne!(
            meaning("spec.template.spec.taints[].key"),
            meaning("spec.template.spec.startupTaints[].key")
        );
    }
}
