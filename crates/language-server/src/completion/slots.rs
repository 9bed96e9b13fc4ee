//! The places of an object whose words come from elsewhere than its schema.

use karpenter::kind::Kind;

use crate::outline::EntryStep;
use crate::schema::{ends_with, spelled};

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
    /// Labels that the nodes of a NodePool have: well-known labels, and the labels of the NodePools in the folder.
    NodeLabels,
    /// Values of the label that the key next to it names.
    ValuesOfKeyBeside,
    /// Values of the label that is the key.
    ValuesOfKey,
    /// Keys of the taints of the NodePools in the folder.
    TaintKeys,
    /// Values of the taints with the key next to it.
    TaintValues,
    /// Names of the objects of a kind in the folder.
    NamesOf(Kind),
    /// Aliases of images.
    AmiAliases,
    /// Resources of nodes, including resources that only some nodes have.
    NodeResources,
    /// Resources that a container may request.
    ContainerResources,
    /// Resources that only some nodes have.
    ExtendedResources,
}

/// A place by its path and the kind of its object.
#[derive(Clone, Copy, Debug)]
struct WordSlot {
    /// The kinds of objects with this place; empty for any.
    kinds: &'static [&'static str],
    /// The end of the path; the whole path after a dot.
    path: &'static str,
    part: SlotPart,
    source: WordSource,
}

impl WordSlot {
    fn is_at(&self, kind: &str, path: &[EntryStep<'_>]) -> bool {
        let is_path = match self.path.strip_prefix('.') {
            Some(whole) => spelled(path) == whole,
            None => ends_with(path, self.path),
        };
        is_path && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }
}

/// The source of the words at a place of an object.
pub(super) fn source_at(part: SlotPart, kind: &str, path: &[EntryStep<'_>]) -> Option<WordSource> {
    SLOTS.iter().find(|slot| slot.part == part && slot.is_at(kind, path)).map(|slot| slot.source)
}

const fn keys(path: &'static str, source: WordSource) -> WordSlot {
    WordSlot { kinds: &[], path, part: SlotPart::Keys, source }
}

const fn value(path: &'static str, source: WordSource) -> WordSlot {
    WordSlot { kinds: &[], path, part: SlotPart::Value, source }
}

/// A place of the objects of some kinds.
const fn of(kinds: &'static [&'static str], slot: WordSlot) -> WordSlot {
    WordSlot { kinds, ..slot }
}

const fn words(path: &'static str, words: &'static [&'static str]) -> WordSlot {
    value(path, WordSource::Words(words))
}

/// The operators of node affinity. Source: `NodeSelectorOperator` in k8s.io/api core/v1 types.go.
const OPERATORS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
const TOPOLOGIES: &[&str] =
    &[karpenter::labels::ZONE, karpenter::labels::HOSTNAME, karpenter::labels::CAPACITY_TYPE];

/// Objects with requirements of nodes.
const NODES: &[&str] = &["NodePool", "NodeClaim", "NodeOverlay"];
const POOLS: &[&str] = &["NodePool", "NodeClaim"];
const CLASSES: &[&str] = &["EC2NodeClass"];
const CLAIMS: &[&str] = &["PersistentVolumeClaim"];
const STORAGE: WordSource = WordSource::Words(&["storage"]);

/// Objects whose annotations Karpenter reads: pods, NodeClaims and nodes, and those from whose templates they are made. A pod of a
/// DaemonSet that must not be disrupted would keep every node.
/// Source: website/content/en/docs/concepts/disruption.md of aws/karpenter-provider-aws at v1.14.1.
const DISRUPTED: &[&str] = &["Pod", "Node", "NodeClaim"];
const TEMPLATES: &[&str] = &[
    "CronJob",
    "Deployment",
    "Job",
    "NodePool",
    "PodTemplate",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "StatefulSet",
];

/// The places; of several that fit, the first one counts. Sources of the words: k8s.io/api core/v1 and storage/v1 types.go; `karpenter`
/// for the others.
const SLOTS: &[WordSlot] = &[
    // NodePools, NodeClaims and NodeOverlays
    of(NODES, value("requirements[].key", WordSource::NodeLabels)),
    of(NODES, value("requirements[].values[]", WordSource::ValuesOfKeyBeside)),
    of(POOLS, words("nodeClassRef.group", &["karpenter.k8s.aws"])),
    of(POOLS, words("nodeClassRef.kind", CLASSES)),
    of(POOLS, value("nodeClassRef.name", WordSource::NamesOf(Kind::NODE_CLASS))),
    of(&["NodePool"], keys(".spec.limits", WordSource::NodeResources)),
    of(&["NodeOverlay"], keys(".spec.capacity", WordSource::ExtendedResources)),
    // EC2NodeClasses
    of(CLASSES, value("amiSelectorTerms[].alias", WordSource::AmiAliases)),
    of(CLASSES, keys("kubelet.kubeReserved", WordSource::Words(&karpenter::api::RESERVABLE))),
    of(CLASSES, keys("kubelet.systemReserved", WordSource::Words(&karpenter::api::RESERVABLE))),
    of(CLASSES, keys("kubelet.evictionHard", WordSource::Words(&karpenter::api::SIGNALS))),
    of(CLASSES, keys("kubelet.evictionSoft", WordSource::Words(&karpenter::api::SIGNALS))),
    of(CLASSES, keys("kubelet.evictionSoftGracePeriod", WordSource::Words(&karpenter::api::SIGNALS))),
    // Pods, also in custom resources
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
    keys("containers[].resources.requests", WordSource::ContainerResources),
    keys("containers[].resources.limits", WordSource::ContainerResources),
    keys("initContainers[].resources.requests", WordSource::ContainerResources),
    keys("initContainers[].resources.limits", WordSource::ContainerResources),
    value("spec.priorityClassName", WordSource::NamesOf(Kind::PRIORITY_CLASS)),
    of(
        DISRUPTED,
        keys(
            ".metadata.annotations",
            WordSource::Words(&[karpenter::labels::DO_NOT_DISRUPT, rule::suppression::ANNOTATION]),
        ),
    ),
    of(
        TEMPLATES,
        keys("template.metadata.annotations", WordSource::Words(&[karpenter::labels::DO_NOT_DISRUPT])),
    ),
    // Objects of any kind
    keys(".metadata.annotations", WordSource::Words(&[rule::suppression::ANNOTATION])),
    // Volumes
    of(CLAIMS, keys(".spec.resources.requests", STORAGE)),
    of(CLAIMS, keys(".spec.resources.limits", STORAGE)),
    keys("volumeClaimTemplates[].spec.resources.requests", STORAGE),
    keys("volumeClaimTemplate.spec.resources.requests", STORAGE),
    of(&["PersistentVolume"], keys(".spec.capacity", STORAGE)),
    value("spec.storageClassName", WordSource::NamesOf(Kind::STORAGE_CLASS)),
    of(&["StorageClass"], words("volumeBindingMode", &["WaitForFirstConsumer", "Immediate"])),
];
