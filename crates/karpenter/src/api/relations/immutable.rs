//! What may not change once it is stored. A value that stays the same is never asked, so these find every change.

use super::nonempty::identity;
use super::{Breaches, Held, Relation, always, compared};

/// A NodeClaim's `spec`.
pub(in super::super) const NODE_CLAIM_SPEC: &[Relation] = &[compared(spec_changed)];

/// An EC2NodeClass's `role`, which may change from 1.7 on.
pub(in super::super) const ROLE: &[Relation] = &[always(identity), compared(role_changed).until(6)];

fn spec_changed<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    breaches.add(
        held.node,
        "`spec` of a NodeClaim differs from what the cluster holds, and never changes",
        "delete the NodeClaim, so that Karpenter launches another node, or leave `spec` as it is",
    );
}

fn role_changed<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let old = held.old.and_then(super::Stored::as_str).unwrap_or_default();
    breaches.add(
        held.node,
        format!("`spec.role` changes from `{old}`, and up to 1.6 it never changes"),
        "make another EC2NodeClass with the new role and refer to it in the NodePools",
    );
}
