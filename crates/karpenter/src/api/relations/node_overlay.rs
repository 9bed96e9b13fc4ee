//! What the fields of a NodeOverlay ask of one another.

use super::super::stored::members;
use super::{Breaches, Held, Relation, always};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[always(one_price)];

/// `spec.capacity`.
pub(in super::super) const CAPACITY: &[Relation] = &[always(no_standard_resource)];

fn one_price<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if let (Some(_), Some(adjustment)) = (held.get("price"), held.get("priceAdjustment")) {
        breaches.add_key(
            adjustment,
            "a NodeOverlay sets `price` and `priceAdjustment`",
            "keep `price` for a price of its own, or `priceAdjustment` for a change of the known one",
        );
    }
}

fn no_standard_resource<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (key, amount) in members(held.node) {
        if matches!(key, "cpu" | "memory" | "ephemeral-storage" | "pods") {
            breaches.add_key(
                amount,
                format!("a NodeOverlay gives nodes other `{key}` than their instance type has; only extended resources can be added"),
                format!("remove `capacity.{key}`"),
            );
        }
    }
}
