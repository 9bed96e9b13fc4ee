//! The nodes that a method considers, among the candidates.
//!
//! Source: the functions `ShouldDisrupt` in pkg/controllers/disruption of kubernetes-sigs/karpenter at v1.14.1, v1.8.2 and v1.4.1.

use karpenter::release::Release;
use values::duration::NillableDuration;

use super::Method;
use crate::behaviour::Behaviour;
use crate::blocked_by::BlockedBy;
use crate::candidate::Candidate;
use crate::cluster::{ZONE, consolidate_after, consolidation_policy};

/// Reason for which a method does not consider a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit<'d> {
    /// The NodePool has a fixed number of nodes.
    Static,
    /// The NodePool has no fixed number of nodes.
    NotStatic,
    /// The instance type is unknown.
    UnknownType(&'d str),
    /// The node lacks a label.
    NoLabel(&'static str),
    /// `consolidateAfter` of the NodePool is `Never`.
    Disabled(&'d str),
    /// The node keeps capacity free for a buffer.
    BufferPods(&'d str),
    /// Pods on the node need a place elsewhere.
    NotEmpty,
    /// The node is empty, which is the matter of another method.
    Empty,
    /// The policy of the NodePool disrupts empty nodes only.
    Policy(&'d str),
    /// The condition Consolidatable is not True.
    NotConsolidatable,
    /// The condition Drifted is not True.
    NotDrifted,
}

impl Unfit<'_> {
    /// The kind of obstacle; `None` for reasons that only say that another method is meant.
    pub const fn kind(&self) -> Option<BlockedBy> {
        match self {
            Self::Static => Some(BlockedBy::Static),
            Self::UnknownType(_) | Self::NoLabel(_) => Some(BlockedBy::NoInstanceType),
            Self::Disabled(_) | Self::NotConsolidatable => Some(BlockedBy::ConsolidateAfter),
            Self::Policy(_) => Some(BlockedBy::Policy),
            Self::BufferPods(_) => Some(BlockedBy::Condition),
            Self::NotStatic | Self::NotEmpty | Self::Empty | Self::NotDrifted => None,
        }
    }

    /// Karpenter's message; `None` where it says nothing.
    pub fn message(&self, release: Release) -> Option<String> {
        Some(match self {
            Self::UnknownType(name) => format!("Instance Type \"{name}\" not found"),
            Self::NoLabel(key) => format!("Node does not have label \"{key}\""),
            Self::Disabled(pool) => format!("NodePool \"{pool}\" has consolidation disabled"),
            Self::BufferPods(node) => format!("Node \"{node}\" has buffer pods"),
            Self::Policy(pool) if Behaviour::SAVINGS_RATIO.holds_in(release) => {
                format!("NodePool \"{pool}\" has consolidation policy WhenEmpty, but node is not empty")
            }
            Self::Policy(pool) => format!("NodePool \"{pool}\" has non-empty consolidation disabled"),
            _ => return None,
        })
    }
}

/// Whether a method considers a candidate.
pub(super) fn check<'o>(
    method: Method,
    candidate: &Candidate<'_, '_, 'o>,
    release: Release,
) -> Result<(), Unfit<'o>> {
    let is_static = candidate.is_static(release);
    match method {
        Method::StaticDrift if !is_static => Err(Unfit::NotStatic),
        Method::StaticDrift => drifted(candidate),
        _ if is_static => Err(Unfit::Static),
        Method::Drift => drifted(candidate),
        Method::Emptiness => empty(candidate, release),
        Method::MultiNodeConsolidation | Method::SingleNodeConsolidation => consolidation(candidate, release),
    }
}

fn require(holds: bool, otherwise: Unfit<'_>) -> Result<(), Unfit<'_>> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn drifted<'o>(candidate: &Candidate<'_, '_, 'o>) -> Result<(), Unfit<'o>> {
    require(candidate.node.is_drifted, Unfit::NotDrifted)
}

fn consolidatable<'o>(candidate: &Candidate<'_, '_, 'o>) -> Result<(), Unfit<'o>> {
    require(candidate.node.has_condition("Consolidatable"), Unfit::NotConsolidatable)
}

fn enabled<'o>(candidate: &Candidate<'_, '_, 'o>) -> Result<(), Unfit<'o>> {
    let is_never = consolidate_after(candidate.view) == NillableDuration::Never;
    require(!is_never, Unfit::Disabled(candidate.pool_name()))
}

fn empty<'o>(candidate: &Candidate<'_, '_, 'o>, release: Release) -> Result<(), Unfit<'o>> {
    enabled(candidate)?;
    let keeps_buffer = candidate.node.has_buffer_pods && Behaviour::BUFFERS.holds_in(release);
    require(!keeps_buffer, Unfit::BufferPods(candidate.name()))?;
    require(candidate.is_empty(release), Unfit::NotEmpty)?;
    consolidatable(candidate)
}

fn consolidation<'o>(candidate: &Candidate<'_, '_, 'o>, release: Release) -> Result<(), Unfit<'o>> {
    let name = candidate.instance_type();
    require(candidate.pool.has_type(name), Unfit::UnknownType(name))?;
    require(candidate.capacity_type().is_some(), Unfit::NoLabel(karpenter::labels::CAPACITY_TYPE))?;
    require(candidate.node.label(ZONE).is_some(), Unfit::NoLabel(ZONE))?;
    enabled(candidate)?;
    let policy = consolidation_policy(candidate.view);
    let is_allowed = if Behaviour::SAVINGS_RATIO.holds_in(release) {
        require(!candidate.is_empty(release), Unfit::Empty)?;
        policy != "WhenEmpty"
    } else {
        policy == "WhenEmptyOrUnderutilized"
    };
    require(is_allowed, Unfit::Policy(candidate.pool_name()))?;
    consolidatable(candidate)
}
