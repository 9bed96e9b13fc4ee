//! Relations between the fields of a NodeOverlay.

use super::super::stored::{may_be_absent, members};
use super::relation::{CheckedValue, Relation, Violations, always};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[always(one_price)];

/// `spec.capacity`.
pub(in super::super) const CAPACITY: &[Relation] = &[always(no_standard_resource)];

fn one_price<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if let (Some(_), Some(adjustment)) = (checked.certain("price"), checked.certain("priceAdjustment")) {
        violations
            .add_key(
                adjustment,
                "the NodeOverlay sets both `price` and `priceAdjustment`",
                "keep `price` to set the price, or `priceAdjustment` to change the known price",
            )
            .says("cannot set both 'price' and 'priceAdjustment'");
    }
}

fn no_standard_resource<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (key, amount) in members(checked.node).filter(|(_, amount)| !may_be_absent(*amount)) {
        if matches!(key, "cpu" | "memory" | "ephemeral-storage" | "pods") {
            violations.add_key(
                amount,
                format!("a NodeOverlay cannot change `{key}` of an instance type; it can only add extended resources"),
                format!("remove `capacity.{key}`"),
            ).says("invalid resource restricted");
        }
    }
}
