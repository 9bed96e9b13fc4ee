//! The objects of Karpenter that have requirements, for rules that check all of them alike.

use crate::node_claim::{NodeClaim, NodeClaimSpec};
use crate::node_overlay::NodeOverlay;
use crate::node_pool::NodePool;
use crate::object::Object;
use crate::requirement::RequirementList;

/// An object with requirements on instance types.
#[derive(Clone, Copy, Debug)]
pub enum RequirementHolder<'d> {
    /// A NodePool, whose template has the requirements.
    Pool(NodePool<'d>),
    /// A NodeClaim.
    Claim(NodeClaim<'d>),
    /// A NodeOverlay.
    Overlay(NodeOverlay<'d>),
}

impl<'d> RequirementHolder<'d> {
    /// The object as one of the three kinds.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let pool = || NodePool::of(object).map(Self::Pool);
        let claim = || NodeClaim::of(object).map(Self::Claim);
        let overlay = || NodeOverlay::of(object).map(Self::Overlay);
        pool().or_else(claim).or_else(overlay)
    }

    /// The requirements.
    pub fn requirements(self) -> RequirementList<'d> {
        match self {
            Self::Pool(pool) => pool.requirements(),
            Self::Claim(claim) => {
                claim.spec().map_or(RequirementList::new(None), NodeClaimSpec::requirements)
            }
            Self::Overlay(overlay) => overlay.requirements(),
        }
    }

    /// The group of the node class; empty for a NodeOverlay, which names none.
    pub fn node_class_group(self) -> &'d str {
        let reference = match self {
            Self::Pool(pool) => pool.node_class_ref(),
            Self::Claim(claim) => claim.spec().and_then(NodeClaimSpec::node_class_ref),
            Self::Overlay(_) => None,
        };
        reference.map_or("", |reference| reference.group_text())
    }
}
