//! Immutable fields. The server checks a relation only if the value changed, so each of these reports every change.

use super::super::stored::StoredValue;
use super::nonempty::identity;
use super::relation::{CheckedValue, Relation, Violations, always, compared};

/// `spec` of a NodeClaim.
pub(in super::super) const NODE_CLAIM_SPEC: &[Relation] = &[compared(spec_changed)];

/// `spec.role` of an EC2NodeClass, which is immutable until 1.6.
pub(in super::super) const ROLE: &[Relation] = &[always(identity), compared(role_changed).until(6)];

fn spec_changed<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    violations
        .add(
            checked.node,
            "`spec` of a NodeClaim is immutable, but differs from the stored `spec`",
            "keep `spec` as it is, or delete the NodeClaim, so that Karpenter launches another node",
        )
        .says("spec is immutable");
}

fn role_changed<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let old = checked.old.and_then(StoredValue::as_str).unwrap_or_default();
    violations
        .add(
            checked.node,
            format!("`spec.role` changes from `{old}`, but is immutable until 1.6"),
            "create an EC2NodeClass with the new role, and refer to it in the NodePools",
        )
        .says("immutable field changed");
}
