//! Nodes that go after a change although none drifts: consolidation, and the drift of before.
//!
//! Source: `ShouldDisrupt` in pkg/controllers/disruption/consolidation.go and emptiness.go, and `GetAllowedDisruptionsByReason` in
//! pkg/apis/v1/nodepool.go of kubernetes-sigs/karpenter at v1.14.1; website/content/en/docs/concepts/disruption.md of
//! aws/karpenter-provider-aws at v1.14.1.

use std::collections::BTreeMap;

use disruption::allowance::DisruptionReason;
use drift::{Effect, FieldChange};
use karpenter::kind::Kind;
use karpenter::release::Release;
use manifest::tree::Node;
use objects::node_pool::{Disruption, NodePool};
use values::duration::{Duration, NillableDuration};
use values::timestamp::Timestamp;

use super::change::PlanChange;
use super::pool::opens;
use super::scope::PlanScope;

/// Nodes that go after a change, from the weakest to the strongest consequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaterRemoval {
    /// The nodes that have drifted before the change.
    DriftedBefore,
    /// Empty nodes: consolidation removes them.
    Empty,
    /// Any nodes: consolidation replaces them.
    Consolidated,
}

impl LaterRemoval {
    /// The consequence in a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::DriftedBefore => "nodes that have drifted already may go",
            Self::Empty => "consolidation may remove empty nodes",
            Self::Consolidated => "consolidation may replace nodes",
        }
    }
}

/// The strongest consequence of the changes of a scope.
pub(super) fn of_changes<'d>(
    scope: &PlanScope<'d>,
    changes: &[&PlanChange<'d>],
    (release, at): (Release, Timestamp),
) -> Option<LaterRemoval> {
    let pools = scope.new.iter().filter_map(|object| NodePool::of(*object));
    let pools: BTreeMap<&str, NodePool<'d>> = pools.map(|pool| (pool.object().name(), pool)).collect();
    let consolidation = |pool: NodePool<'_>| of_pool(pool, release, at);
    let of_change = |one: &&PlanChange<'d>| {
        let change = &one.change;
        if change.effect == Effect::ActsAtOnce
            && change.object().is_some_and(|object| object.is(Kind::NODE_OVERLAY))
        {
            let own = change.node_pools.iter().filter_map(|name| pools.get(name));
            return own
                .filter_map(|pool| consolidation(*pool))
                .max()
                .filter(|one| *one == LaterRemoval::Consolidated);
        }
        let (old, new) = change.old.zip(change.new)?;
        let (old, new) = (NodePool::of(old)?, NodePool::of(new)?);
        let of_field = |field: &FieldChange<'_>| match field.path.as_str() {
            "spec.disruption.consolidateAfter" => consolidation(new).filter(|_| !waits_longer(old, new)),
            "spec.disruption.consolidationPolicy" => {
                consolidation(new).filter(|one| *one == LaterRemoval::Consolidated)
            }
            // Nodes of types that were not allowed before may be cheaper.
            "spec.template.spec.requirements" if field.effect == Effect::NewNodes => {
                consolidation(new).filter(|one| *one == LaterRemoval::Consolidated)
            }
            "spec.disruption.budgets" => {
                let is_open = |pool, reason| opens(pool, release, at, reason);
                let drifted = is_open(new, DisruptionReason::Drifted).then_some(LaterRemoval::DriftedBefore);
                consolidation(new).filter(|one| !is_open(old, one.reason())).or(drifted)
            }
            _ => None,
        };
        change.fields.iter().filter_map(of_field).max()
    };
    changes.iter().filter_map(of_change).max()
}

impl LaterRemoval {
    /// The reason that budgets limit.
    const fn reason(self) -> DisruptionReason {
        match self {
            Self::DriftedBefore => DisruptionReason::Drifted,
            Self::Empty => DisruptionReason::Empty,
            Self::Consolidated => DisruptionReason::Underutilized,
        }
    }
}

/// Whether consolidation waits as long as before, or longer.
fn waits_longer(old: NodePool<'_>, new: NodePool<'_>) -> bool {
    const ENDLESS: Duration = Duration::from_nanoseconds(i64::MAX);
    let wait = |pool: NodePool<'_>| {
        let text = pool.disruption().and_then(Disruption::consolidate_after).and_then(Node::as_str);
        // The default of the API server: pkg/apis/crds/karpenter.sh_nodepools.yaml at v1.14.1.
        NillableDuration::parse(text.unwrap_or("0s")).ok().map(|wait| match wait {
            NillableDuration::After(time) => time,
            NillableDuration::Never => ENDLESS,
        })
    };
    wait(old).zip(wait(new)).is_some_and(|(old, new)| new >= old)
}

/// The nodes of a NodePool that consolidation may take.
fn of_pool(pool: NodePool<'_>, release: Release, at: Timestamp) -> Option<LaterRemoval> {
    let after = pool.disruption().and_then(Disruption::consolidate_after).and_then(Node::as_str);
    let policy = pool.disruption().and_then(Disruption::consolidation_policy).and_then(Node::as_str);
    if pool.replicas().is_some() || after == Some("Never") {
        return None;
    }
    let all: &[LaterRemoval] = match policy {
        Some("WhenEmpty") => &[LaterRemoval::Empty],
        _ => &[LaterRemoval::Consolidated, LaterRemoval::Empty],
    };
    all.iter().copied().find(|one| opens(pool, release, at, one.reason()))
}
