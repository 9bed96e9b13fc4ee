//! Strings that may not be empty.

use super::{Breaches, Held, Relation, always};

/// From 1.1 on: the parts of `nodeClassRef`.
pub(in super::super) const SINCE_1_1: &[Relation] = &[always(empty).since(1)];

/// In every release: `instanceProfile`.
pub(in super::super) const ALWAYS: &[Relation] = &[always(empty)];

pub(super) fn empty<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if held.node.as_str() == Some("") {
        let name = held.node.key();
        breaches.add(
            held.node,
            format!("`{name}` is empty"),
            format!("write a value, or leave `{name}` out where it is optional"),
        );
    }
}
