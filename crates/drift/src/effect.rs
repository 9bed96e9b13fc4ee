//! The effect on nodes of a changed field.

use karpenter::kind::Kind;

use crate::decision::DriftReason;

/// Effect of a change on nodes, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum Effect {
    /// Nothing.
    None,
    /// It counts for new nodes only.
    NewNodes,
    /// Karpenter acts on it at once, without a replacement of nodes for this reason.
    ActsAtOnce,
    /// Something outside of the input decides whether it replaces nodes.
    Unknown,
    /// The nodes that no longer fit are replaced.
    ReplacesSome,
    /// The nodes go, and no replacement is made first.
    RemovesNodes,
    /// Every node is replaced.
    ReplacesAll,
}

/// Way to compare two values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldComparison {
    /// By the hash.
    Hash,
    /// As the API server stores them.
    Stored,
    /// As the API server stores them, without the order of the items.
    Unordered,
    /// Numbers of nodes: fewer remove nodes.
    Replicas,
    /// Quantities by amount.
    Quantities,
    /// Durations by length.
    Duration,
    /// Requirements by the labels that they accept.
    Requirements,
    /// Selector terms, each of which adds to what is selected.
    Terms,
    /// Selector terms whose whole result must be equal.
    WholeTerms,
    /// Selector terms of images.
    Images,
}

/// Effect of the changes of a field.
#[derive(Clone, Copy, Debug)]
pub struct FieldEffect {
    /// The kind of the object.
    pub kind: Kind,
    /// The path of the field. Fields below it have the same effect.
    pub path: &'static str,
    /// The effect of a change.
    pub effect: Effect,
    /// The reason of drift, if the change can replace nodes.
    pub reason: Option<DriftReason>,
    /// The effect in a sentence.
    pub sentence: &'static str,
    /// The reason why a change that asks for less of the nodes replaces none; empty if the field has no such change.
    pub kept: &'static str,
    pub(crate) comparison: FieldComparison,
}

/// The hash of the NodePool.
const fn pool_hash(path: &'static str) -> FieldEffect {
    FieldEffect {
        kind: Kind::NODE_POOL,
        path,
        effect: Effect::ReplacesAll,
        reason: Some(DriftReason::NodePoolDrifted),
        sentence: "part of the hash: changing it replaces every node of this NodePool",
        kept: "",
        comparison: FieldComparison::Hash,
    }
}

const fn pool(path: &'static str, sentence: &'static str, comparison: FieldComparison) -> FieldEffect {
    FieldEffect {
        kind: Kind::NODE_POOL,
        path,
        effect: Effect::ActsAtOnce,
        reason: None,
        sentence,
        kept: "",
        comparison,
    }
}

const fn class(
    path: &'static str,
    effect: Effect,
    reason: Option<DriftReason>,
    sentence: &'static str,
    comparison: FieldComparison,
) -> FieldEffect {
    let kept = match comparison {
        FieldComparison::Terms => "what was selected is selected as before",
        _ => "",
    };
    FieldEffect { kind: Kind::NODE_CLASS, path, effect, reason, sentence, kept, comparison }
}

const fn overlay(path: &'static str) -> FieldEffect {
    FieldEffect {
        kind: Kind::NODE_OVERLAY,
        path,
        effect: Effect::ActsAtOnce,
        reason: None,
        kept: "",
        sentence: "Karpenter launches and consolidates with the new prices and resources; no node is replaced because of drift",
        comparison: FieldComparison::Stored,
    }
}

/// The fields, by kind and path. A row that is more exact comes first.
///
/// Source: kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go (`Hash`) and pkg/controllers/nodeclaim/disruption/drift.go,
/// aws/karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go (`Hash`) and pkg/cloudprovider/drift.go, v1.0.6 to v1.14.1.
pub const FIELD_EFFECTS: &[FieldEffect] = &[
    FieldEffect {
        kind: Kind::NODE_POOL,
        path: "spec.template.spec.requirements",
        effect: Effect::ReplacesSome,
        reason: Some(DriftReason::RequirementsDrifted),
        sentence: "not part of the hash: the nodes whose labels no longer meet the requirements are replaced; wider requirements count for \
                   new nodes only",
        kept: "nodes that met the requirements still meet them",
        comparison: FieldComparison::Requirements,
    },
    pool_hash("spec.template.metadata.labels"),
    pool_hash("spec.template.metadata.annotations"),
    pool_hash("spec.template.spec.taints"),
    pool_hash("spec.template.spec.startupTaints"),
    pool_hash("spec.template.spec.nodeClassRef"),
    pool_hash("spec.template.spec.terminationGracePeriod"),
    pool_hash("spec.template.spec.expireAfter"),
    pool(
        "spec.disruption.consolidateAfter",
        "Karpenter waits the new time before it consolidates",
        FieldComparison::Duration,
    ),
    pool(
        "spec.disruption.consolidationPolicy",
        "Karpenter consolidates by the new policy",
        FieldComparison::Stored,
    ),
    pool(
        "spec.disruption.budgets",
        "the next disruption obeys the new budgets; a rollout that waits may start, or stop",
        FieldComparison::Unordered,
    ),
    pool(
        "spec.limits",
        "Karpenter launches no node beyond the new limits, and removes none because of them",
        FieldComparison::Quantities,
    ),
    pool("spec.weight", "the next pods try the NodePools in the new order", FieldComparison::Stored),
    pool(
        "spec.replicas",
        "Karpenter launches or removes nodes until there are as many",
        FieldComparison::Replicas,
    ),
    class(
        "spec.amiSelectorTerms",
        Effect::Unknown,
        Some(DriftReason::AmiDrift),
        "not part of the hash: the nodes with another image than the new terms select for their instance type are replaced",
        FieldComparison::Images,
    ),
    class(
        "spec.subnetSelectorTerms",
        Effect::Unknown,
        Some(DriftReason::SubnetDrift),
        "not part of the hash: the nodes in subnets that are no longer selected are replaced",
        FieldComparison::Terms,
    ),
    class(
        "spec.securityGroupSelectorTerms",
        Effect::Unknown,
        Some(DriftReason::SecurityGroupDrift),
        "not part of the hash: every node is replaced if other security groups are selected",
        FieldComparison::WholeTerms,
    ),
    class(
        "spec.capacityReservationSelectorTerms",
        Effect::Unknown,
        Some(DriftReason::CapacityReservationDrift),
        "not part of the hash: the nodes in reservations that are no longer selected are replaced",
        FieldComparison::Terms,
    ),
    class(
        "spec.ipPrefixCount",
        Effect::NewNodes,
        None,
        "not part of the hash: new nodes have the new number of prefixes",
        FieldComparison::Stored,
    ),
    class(
        "spec",
        Effect::ReplacesAll,
        Some(DriftReason::NodeClassDrift),
        "part of the hash: changing it replaces every node of the NodePools that use this EC2NodeClass",
        FieldComparison::Hash,
    ),
    overlay("spec"),
];

impl FieldEffect {
    /// The row of a path of an object, the field itself or one that it is below of.
    pub fn of(kind: Kind, path: &str) -> Option<&'static Self> {
        FIELD_EFFECTS.iter().find(|row| {
            let rest = (row.kind == kind).then(|| path.strip_prefix(row.path)).flatten();
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }
}

impl FieldEffect {
    /// The row of a path that is a part of a hash. A family that follows from an alias has the path `spec.amiFamily`.
    pub(crate) fn hashed(kind: Kind, path: &str) -> Option<&'static Self> {
        Self::of(kind, path).filter(|row| row.comparison == FieldComparison::Hash)
    }

    /// Whether the value at a path is a part of a hash, or has a part of a hash in it.
    pub fn is_in_hash(kind: Kind, path: &str) -> bool {
        let is_above = |row: &Self| row.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        let mut hashed =
            FIELD_EFFECTS.iter().filter(|row| row.kind == kind && row.comparison == FieldComparison::Hash);
        Self::hashed(kind, path).is_some() || hashed.any(is_above)
    }
}

impl Effect {
    /// The effect in a few words, such as `replaces every node`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "changes nothing",
            Self::NewNodes => "counts for new nodes only",
            Self::ActsAtOnce => "acts at once; no node drifts",
            Self::Unknown => "may replace nodes",
            Self::ReplacesSome => "replaces the nodes that no longer fit",
            Self::RemovesNodes => "removes the nodes, without a replacement first",
            Self::ReplacesAll => "replaces every node",
        }
    }

    /// The effect as programs read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NewNodes => "new-nodes",
            Self::ActsAtOnce => "acts-at-once",
            Self::Unknown => "unknown",
            Self::ReplacesSome => "replaces-some",
            Self::RemovesNodes => "removes-nodes",
            Self::ReplacesAll => "replaces-all",
        }
    }
}
