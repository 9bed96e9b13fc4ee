//! The places of an object whose words come from elsewhere than its schema.

/// Part of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotPart {
    /// The keys of the object at the path.
    Keys,
    /// The value at the path.
    Value,
}

/// Source of the words at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordSource {
    /// Words in their order, the likeliest first.
    Words(&'static [&'static str]),
    /// Labels that the nodes of a NodePool have: well-known ones, and those of the NodePools in the folder.
    NodeLabels,
    /// Values of the label that the key beside it names.
    ValuesOfKeyBeside,
    /// Values of the label that is the key.
    ValuesOfKey,
    /// Keys of the taints of the NodePools in the folder.
    TaintKeys,
    /// Values of the taints with the key beside it.
    TaintValues,
    /// Names of the objects of a kind in the folder: the group and the kind.
    NamesOf(&'static str, &'static str),
    /// Aliases of images.
    AmiAliases,
    /// Resources of nodes, with those that instance types have.
    Resources,
    /// Resources that only some nodes have.
    ExtendedResources,
}

/// A place by the end of its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordSlot {
    pub(super) path: &'static str,
    pub(super) part: SlotPart,
    pub(super) source: WordSource,
}

const fn keys(path: &'static str, source: WordSource) -> WordSlot {
    WordSlot { path, part: SlotPart::Keys, source }
}

const fn value(path: &'static str, source: WordSource) -> WordSlot {
    WordSlot { path, part: SlotPart::Value, source }
}

const fn words(path: &'static str, words: &'static [&'static str]) -> WordSlot {
    value(path, WordSource::Words(words))
}

/// The operators of node affinity. Source: `NodeSelectorOperator` in k8s.io/api core/v1 types.go.
const OPERATORS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
const TOPOLOGIES: &[&str] =
    &[karpenter::labels::ZONE, karpenter::labels::HOSTNAME, karpenter::labels::CAPACITY_TYPE];

/// The places. Sources of the words: k8s.io/api core/v1 and storage/v1 types.go; `karpenter` for the others.
pub(super) const SLOTS: &[WordSlot] = &[
    // NodePools, NodeClaims and NodeOverlays
    value("requirements[].key", WordSource::NodeLabels),
    value("requirements[].values[]", WordSource::ValuesOfKeyBeside),
    words("nodeClassRef.group", &["karpenter.k8s.aws"]),
    words("nodeClassRef.kind", &["EC2NodeClass"]),
    value("nodeClassRef.name", WordSource::NamesOf("karpenter.k8s.aws", "EC2NodeClass")),
    keys("spec.limits", WordSource::Resources),
    keys("spec.capacity", WordSource::ExtendedResources),
    // EC2NodeClasses
    value("amiSelectorTerms[].alias", WordSource::AmiAliases),
    keys("kubelet.kubeReserved", WordSource::Words(&karpenter::api::RESERVABLE)),
    keys("kubelet.systemReserved", WordSource::Words(&karpenter::api::RESERVABLE)),
    keys("kubelet.evictionHard", WordSource::Words(&karpenter::api::SIGNALS)),
    keys("kubelet.evictionSoft", WordSource::Words(&karpenter::api::SIGNALS)),
    keys("kubelet.evictionSoftGracePeriod", WordSource::Words(&karpenter::api::SIGNALS)),
    // Pods
    keys("nodeSelector", WordSource::NodeLabels),
    value("nodeSelector.*", WordSource::ValuesOfKey),
    value("nodeSelectorTerms[].matchExpressions[].key", WordSource::NodeLabels),
    value("preference.matchExpressions[].key", WordSource::NodeLabels),
    value("nodeSelectorTerms[].matchExpressions[].values[]", WordSource::ValuesOfKeyBeside),
    value("preference.matchExpressions[].values[]", WordSource::ValuesOfKeyBeside),
    words("nodeSelectorTerms[].matchExpressions[].operator", OPERATORS),
    words("preference.matchExpressions[].operator", OPERATORS),
    value("tolerations[].key", WordSource::TaintKeys),
    value("tolerations[].value", WordSource::TaintValues),
    words("tolerations[].operator", &["Equal", "Exists"]),
    words("tolerations[].effect", EFFECTS),
    words("topologySpreadConstraints[].topologyKey", TOPOLOGIES),
    words("topologySpreadConstraints[].whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"]),
    words("podAffinityTerm.topologyKey", TOPOLOGIES),
    words("requiredDuringSchedulingIgnoredDuringExecution[].topologyKey", TOPOLOGIES),
    keys("resources.requests", WordSource::Resources),
    keys("resources.limits", WordSource::Resources),
    value("spec.priorityClassName", WordSource::NamesOf("scheduling.k8s.io", "PriorityClass")),
    keys(
        "metadata.annotations",
        WordSource::Words(&[karpenter::labels::DO_NOT_DISRUPT, rule::suppression::ANNOTATION]),
    ),
    // Volumes
    value("spec.storageClassName", WordSource::NamesOf("storage.k8s.io", "StorageClass")),
    words("volumeBindingMode", &["WaitForFirstConsumer", "Immediate"]),
];
