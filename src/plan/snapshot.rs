//! Plans against a snapshot of a cluster: the nodes that drift, and why, in Karpenter's order.

use std::collections::{BTreeMap, BTreeSet};

use answers::OrEmpty;
use answers::plan::PlannedNode;
use drift::{
    DriftDecision, DriftQuestion, DriftReason, Effect, FieldChange, HashOptions, KnownInstance,
    ObjectChangeKind, StaticDrift, decide_with,
};
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::{Release, Releases};
use manifest::tree::{Node, items_of};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use values::timestamp::Timestamp;

use super::change::{PlanChange, set_effect};
use super::controller::is_gate_off;
use super::evidence::{drifts_by_ids, has_listed_image, shown_drift};
use super::scope::PlanScope;
use super::stamped::{self, HashDrift, StampedObject, drifted};

/// The text that `karpwarden collect` writes in place of a secret.
const REDACTED: &str = "REDACTED";

const NODE: Kind = Kind::of("", "v1", "Node");

/// The reason for which a node goes with its NodePool.
pub(super) const REMOVED: &str =
    "the NodePool is removed: the node is drained at once, without budgets and without a replacement first";

/// The fields with redacted values, by kind and name of their object.
pub(super) type RedactedFields<'d> = BTreeMap<(&'d str, &'d str), Vec<String>>;

/// Drops the fields that only a redaction changes, and the objects without a change. Returns the fields whose values are taken as
/// unchanged.
pub(super) fn without_redactions<'d>(
    changes: &mut Vec<PlanChange<'d>>,
    options: &HashOptions,
) -> RedactedFields<'d> {
    let mut redacted = RedactedFields::new();
    for change in changes.iter_mut().map(|change| &mut change.change) {
        let (Some(old), Some(new)) = (change.old, change.new) else { continue };
        if !change.fields.iter().any(is_redacted) {
            continue;
        }
        let all = std::mem::take(&mut change.fields);
        let (hidden, mut fields): (Vec<_>, Vec<_>) = all.into_iter().partition(is_redacted);
        let keeps_hash = stamped::keeps_hash(old, new, options);
        if keeps_hash == Some(false) && !fields.iter().any(is_hashed) {
            // Only the redacted values can make the difference.
            let different = hidden.into_iter().filter(is_hashed);
            fields.extend(different.map(|field| FieldChange { effect: Effect::ReplacesAll, ..field }));
        } else {
            let (kept, edited): (Vec<_>, Vec<_>) = hidden.into_iter().partition(fits_original);
            fields.extend(edited);
            if keeps_hash.is_none() {
                let paths = kept.into_iter().map(|field| field.path);
                redacted.entry((old.kind(), old.name())).or_default().extend(paths);
            }
        }
        change.fields = fields;
        set_effect(change);
    }
    changes.retain(|change| {
        let is_decided = change.change.effect != Effect::Unknown;
        change.change.change != ObjectChangeKind::Changed || !change.change.fields.is_empty() || !is_decided
    });
    redacted
}

/// Whether the snapshot has a text with redacted parts, and the files another text.
fn is_redacted(field: &FieldChange<'_>) -> bool {
    text(field.old).is_some_and(|old| old.contains(REDACTED)) && text(field.new).is_some()
}

/// Whether the text of the files can be the original of a redacted text.
fn fits_original(field: &FieldChange<'_>) -> bool {
    text(field.old).zip(text(field.new)).is_some_and(|(old, new)| fits(old, new))
}

/// Whether a change of the field changes the hash of a NodePool.
fn is_hashed(field: &FieldChange<'_>) -> bool {
    field.reason == Some(DriftReason::NodePoolDrifted)
}

fn text(node: Option<Node<'_>>) -> Option<&str> {
    node.and_then(Node::as_str)
}

/// Whether a text can be the original of a redacted text.
fn fits(redacted: &str, text: &str) -> bool {
    let mut parts = redacted.split(REDACTED);
    let Some(mut rest) = parts.next().and_then(|start| text.strip_prefix(start)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A NodeClaim that drifts, may drift, or goes.
#[derive(Clone, Debug)]
pub(super) struct DecidedNode<'d> {
    /// The name of the Node, else of the NodeClaim.
    pub(super) name: &'d str,
    /// The time from which the node is drifted; `None` if it is not, or not certainly.
    pub(super) since: Option<Timestamp>,
    pub(super) answer: PlannedNode,
}

/// Facts that decide about the drift of the nodes.
pub(super) struct DriftFacts<'f, 'd> {
    pub(super) scope: &'f PlanScope<'d>,
    pub(super) changes: &'f [PlanChange<'d>],
    pub(super) redacted: &'f RedactedFields<'d>,
    pub(super) hashes: &'f HashOptions,
    /// Whether the controller restarts with another release.
    pub(super) restarts: bool,
    /// Whether the CA bundle may be another one, which is a part of the hash of an EC2NodeClass.
    pub(super) may_change_bundle: bool,
    pub(super) release: Release,
    pub(super) at: Timestamp,
}

/// Outcome for a NodeClaim.
enum Outcome {
    Drifted(DriftReason),
    May(DriftReason),
    Stays,
}

impl<'d> DriftFacts<'_, 'd> {
    /// The number of NodeClaims that Karpenter manages.
    pub(super) fn count(&self) -> usize {
        self.claims().count()
    }

    /// The number of nodes that static NodePools have beyond their `replicas` after the change.
    ///
    /// Source: pkg/controllers/static/deprovisioning/controller.go of kubernetes-sigs/karpenter at v1.14.1.
    pub(super) fn surplus(&self) -> usize {
        if !Releases::since(8).contains(self.release) || is_gate_off(&self.scope.old, "StaticCapacity") {
            return 0;
        }
        let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
        for pool in self.claims().filter_map(pool_of) {
            *nodes.entry(pool).or_default() += 1;
        }
        let beyond = |pool: NodePool<'_>| {
            let replicas = usize::try_from(pool.replicas()?.as_int()?).ok()?;
            Some(nodes.get(pool.object().name())?.saturating_sub(replicas))
        };
        self.scope.new.iter().filter_map(|object| beyond(NodePool::of(*object)?)).sum()
    }

    /// The objects without the NodePools whose EC2NodeClass is removed. Karpenter then does not find a NodePool's instance types, and so not
    /// the NodePool, although the finalizer keeps the EC2NodeClass until its nodes are gone.
    ///
    /// Source: `resolveNodeClassFromNodePool` in pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws, and
    /// `BuildNodePoolMap` in pkg/controllers/disruption/helpers.go of kubernetes-sigs/karpenter, at v1.14.1.
    pub(super) fn usable<'o>(&self, objects: &[Object<'o>]) -> Vec<Object<'o>> {
        let classes = |objects: &[Object<'d>]| -> BTreeSet<&'d str> {
            objects.iter().filter(|one| one.is(Kind::NODE_CLASS)).map(|one| one.name()).collect()
        };
        let (old, new) = (classes(&self.scope.old), classes(&self.scope.new));
        let is_usable = |object: &&Object<'o>| {
            let class = NodePool::of(**object).and_then(|pool| pool.node_class_ref()?.name()?.as_str());
            class.is_none_or(|class| !old.contains(class) || new.contains(class))
        };
        objects.iter().filter(is_usable).copied().collect()
    }

    /// The objects of before, with only the NodePools that are left without their EC2NodeClass, whose nodes stay.
    pub(super) fn stranded(&self, usable: &[Object<'_>]) -> Vec<Object<'d>> {
        fn pools<'o>(objects: &[Object<'o>]) -> BTreeSet<&'o str> {
            objects.iter().filter_map(|one| NodePool::of(*one)).map(|pool| pool.object().name()).collect()
        }
        let (new, usable) = (pools(&self.scope.new), pools(usable));
        let is_stranded = |name: &str| new.contains(name) && !usable.contains(name);
        let old = self.scope.old.iter().copied();
        let found = old.filter(|one| NodePool::of(*one).is_none_or(|pool| is_stranded(pool.object().name())));
        found.collect()
    }

    /// Whether the snapshot lacks NodeClaims that a cluster has: it has Nodes of NodePools, or no Nodes at all.
    pub(super) fn misses_claims(&self) -> bool {
        let mut nodes = self.scope.old.iter().filter(|object| object.is(NODE)).peekable();
        let is_of_pool = |node: &Object<'_>| node.metadata().label(labels::NODEPOOL).is_some();
        !self.scope.old.iter().any(|object| object.is(Kind::NODE_CLAIM))
            && (nodes.peek().is_none() || nodes.any(is_of_pool))
    }

    fn claims(&self) -> impl Iterator<Item = Object<'d>> {
        let is_going = |object: &Object<'_>| object.at(&["metadata", "deletionTimestamp"]).is_some();
        self.scope.old.iter().copied().filter(move |object| object.is(Kind::NODE_CLAIM) && !is_going(object))
    }

    /// Decides about each NodeClaim of the cluster. NodeClaims that stay are left out.
    pub(super) fn decide(&self) -> Vec<DecidedNode<'d>> {
        let by_name = |objects: &[Object<'d>], kind: Kind| -> BTreeMap<&'d str, Object<'d>> {
            objects.iter().filter(|object| object.is(kind)).map(|object| (object.name(), *object)).collect()
        };
        let old_pools = by_name(&self.scope.old, Kind::NODE_POOL);
        let new_pools = by_name(&self.scope.new, Kind::NODE_POOL);
        let old_classes = by_name(&self.scope.old, Kind::NODE_CLASS);
        let new_classes = by_name(&self.scope.new, Kind::NODE_CLASS);
        let fields = self.fields();
        let fields_of =
            |object: Object<'d>| fields.get(&(object.kind(), object.name())).copied().unwrap_or_default();
        let stamped = |old: &BTreeMap<&'d str, Object<'d>>, new: &BTreeMap<&'d str, Object<'d>>| {
            let all = new.iter().filter_map(|(name, after)| {
                let before = *old.get(name)?;
                let is_redacted = self.redacted.contains_key(&(before.kind(), *name));
                let one = StampedObject::new(before, *after, fields_of(*after), is_redacted, self.hashes)?;
                Some((*name, one))
            });
            all.collect::<BTreeMap<&'d str, StampedObject>>()
        };
        let (pools, classes) = (stamped(&old_pools, &new_pools), stamped(&old_classes, &new_classes));
        let mut found = Vec::new();
        for claim in self.claims() {
            let Some(pool_name) = pool_of(claim) else { continue };
            let Some(pool) = new_pools.get(pool_name) else {
                if old_pools.contains_key(pool_name) {
                    found.push(self.removed(claim, pool_name));
                }
                continue;
            };
            let class_name = NodePool::of(*pool).and_then(|pool| pool.node_class_ref()?.name()?.as_str());
            let class_name = class_name.unwrap_or_default();
            // The status is in the cluster.
            let class = old_classes.get(class_name).or_else(|| new_classes.get(class_name)).copied();
            let class = class.filter(|_| new_classes.contains_key(class_name));
            let of_pool = pools.get(pool_name).map_or(HashDrift::No, |one| one.drift(claim));
            let of_class = classes.get(class_name).filter(|_| class.is_some());
            let of_class = of_class.map_or(HashDrift::No, |one| one.drift(claim));
            let question = DriftQuestion {
                node_claim: claim,
                node_pool: *pool,
                node_class: class,
                instance_types: None,
                instance: KnownInstance::default(),
                placement_group: None,
                now: self.at,
                release: self.release,
            };
            let changed = new_classes.get(class_name).map(|class| fields_of(*class)).unwrap_or_default();
            let outcome = self.outcome(&question, of_pool, of_class, changed);
            found.extend(self.decided(claim, pool_name, &outcome));
        }
        found
    }

    /// The changed fields of each object, by kind and name.
    fn fields(&self) -> BTreeMap<(&'d str, &'d str), &[FieldChange<'d>]> {
        let changed = self.changes.iter().filter_map(|change| {
            let object = change.change.new?;
            Some(((object.kind(), object.name()), change.change.fields.as_slice()))
        });
        changed.collect()
    }

    fn outcome(
        &self,
        question: &DriftQuestion<'_, 'd>,
        of_pool: HashDrift,
        of_class: HashDrift,
        changed: &[FieldChange<'d>],
    ) -> Outcome {
        let hashes =
            StaticDrift { node_pool: of_pool == HashDrift::Yes, node_class: of_class == HashDrift::Yes };
        let decision = decide_with(question, hashes);
        if let DriftDecision::Drifted(reason) = decision {
            return Outcome::Drifted(reason);
        }
        let is_launched = items_of(question.node_claim.at(&["status", "conditions"]))
            .any(|one| one.str_at(&["type"]) == Some("Launched") && one.str_at(&["status"]) == Some("True"));
        if !is_launched {
            return Outcome::Stays;
        }
        if of_pool == HashDrift::Unknown {
            return Outcome::May(DriftReason::NodePoolDrifted);
        }
        let requirements = NodePool::of(question.node_pool).and_then(|pool| pool.requirements().node());
        if requirements.is_some_and(has_placeholder_below) {
            return Outcome::May(DriftReason::RequirementsDrifted);
        }
        if of_class == HashDrift::Unknown || (self.may_change_bundle && question.node_class.is_some()) {
            return Outcome::May(DriftReason::NodeClassDrift);
        }
        let dynamic = changed
            .iter()
            .filter(|field| field.reason.is_some_and(|reason| reason != DriftReason::NodeClassDrift));
        if let Some(reason) = shown_drift(question.node_claim, question.node_class, changed) {
            return Outcome::Drifted(reason);
        }
        // Karpenter keeps its decision about facts that do not change.
        let marked = drifted(question.node_claim).and_then(|condition| dynamic_reason(condition.reason));
        let mut known = marked;
        let mut possible = None;
        for field in dynamic.filter(|field| may_have(question.node_claim, field.reason)) {
            if drifts_by_ids(question.node_claim, question.node_class, field) == Some(false) {
                if marked != field.reason {
                    continue;
                }
                // The terms select the image of the node.
                if marked == Some(DriftReason::AmiDrift) {
                    known = None;
                    continue;
                }
            }
            match (field.effect, field.reason) {
                // The image of the node may be the one that the EC2NodeClass selects again.
                (Effect::ReplacesAll, Some(DriftReason::AmiDrift))
                    if has_listed_image(question.node_claim, question.node_class) == Some(false) =>
                {
                    possible = possible.or(field.reason);
                }
                (Effect::ReplacesAll, Some(reason)) => return Outcome::Drifted(reason),
                (Effect::Unknown | Effect::ReplacesSome, reason) => possible = possible.or(reason),
                _ => {}
            }
        }
        match (known, possible) {
            (_, Some(reason)) => Outcome::May(reason),
            (Some(reason), None) => Outcome::Drifted(reason),
            (None, None) if self.restarts && has_latest_alias(question.node_class) => {
                Outcome::May(DriftReason::AmiDrift)
            }
            (None, None) => Outcome::Stays,
        }
    }

    fn decided(&self, claim: Object<'d>, pool: &str, outcome: &Outcome) -> Option<DecidedNode<'d>> {
        let before = drifted(claim);
        let (reason, is_certain) = match outcome {
            Outcome::Drifted(reason) => (*reason, true),
            Outcome::May(reason) => (*reason, false),
            Outcome::Stays => return None,
        };
        let time = before.and_then(|condition| condition.node.str_at(&["lastTransitionTime"]));
        let since = time.and_then(Timestamp::parse).unwrap_or(self.at);
        Some(DecidedNode {
            name: node_name(claim),
            since: is_certain.then_some(since),
            answer: PlannedNode {
                drifted: is_certain,
                uncertain: !is_certain,
                reason: OrEmpty(Some(reason)),
                drifted_before: before.is_some(),
                ..planned(claim, pool)
            },
        })
    }

    fn removed(&self, claim: Object<'d>, pool: &str) -> DecidedNode<'d> {
        DecidedNode {
            name: node_name(claim),
            since: None,
            answer: PlannedNode {
                start: OrEmpty(Some(self.at.into())),
                because: vec![REMOVED.to_owned()],
                ..planned(claim, pool)
            },
        }
    }
}

/// A node without a decision.
fn planned(claim: Object<'_>, pool: &str) -> PlannedNode {
    PlannedNode {
        cluster: String::new(),
        node_claim: claim.name().to_owned(),
        node: claim.str_at(&["status", "nodeName"]).unwrap_or_default().to_owned(),
        node_pool: pool.to_owned(),
        drifted: false,
        uncertain: false,
        reason: OrEmpty(None),
        drifted_before: false,
        start: OrEmpty(None),
        end: OrEmpty(None),
        never: false,
        because: Vec::new(),
    }
}

fn pool_of(claim: Object<'_>) -> Option<&str> {
    claim.metadata().label(labels::NODEPOOL)?.as_str()
}

fn node_name(claim: Object<'_>) -> &str {
    claim.str_at(&["status", "nodeName"]).filter(|name| !name.is_empty()).unwrap_or(claim.name())
}

/// The reason of a condition, if it depends on facts that only EC2 has.
fn dynamic_reason(reason: &str) -> Option<DriftReason> {
    const DYNAMIC: [DriftReason; 6] = [
        DriftReason::InstanceTypeNotFound,
        DriftReason::AmiDrift,
        DriftReason::SecurityGroupDrift,
        DriftReason::SubnetDrift,
        DriftReason::CapacityReservationDrift,
        DriftReason::PlacementGroupDrift,
    ];
    DYNAMIC.into_iter().find(|one| one.name() == reason)
}

/// Whether a node can drift for a reason. A spot or on-demand instance has no capacity reservation.
///
/// Source: `isCapacityReservationDrifted` in pkg/cloudprovider/drift.go and `NewInstance` in pkg/providers/instance/types.go of
/// aws/karpenter-provider-aws at v1.14.1.
fn may_have(claim: Object<'_>, reason: Option<DriftReason>) -> bool {
    let capacity = claim.metadata().label(labels::CAPACITY_TYPE).and_then(Node::as_str);
    reason != Some(DriftReason::CapacityReservationDrift) || !matches!(capacity, Some("spot" | "on-demand"))
}

fn has_latest_alias(class: Option<Object<'_>>) -> bool {
    let terms = class.map(|class| items_of(class.at(&["spec", "amiSelectorTerms"])));
    let mut aliases = terms.into_iter().flatten().filter_map(|term| term.get("alias")?.as_str());
    aliases.any(|alias| alias.ends_with("@latest"))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_redacted_text_fits_its_original() {
        assert!(fits("a REDACTED b", "a secret b"));
        assert!(fits("a REDACTED b REDACTED", "a secret b other"));
        assert!(fits("same", "same"));
        assert!(!fits("a REDACTED b", "a secret c"));
        assert!(!fits("b REDACTED", "a secret"));
        assert!(!fits("same", "same and more"));
    }
}
