//! Strings that may not be empty.

use super::{Breaches, Held, Relation, always};

/// From 1.1 on: the parts of `nodeClassRef`.
pub(in super::super) const SINCE_1_1: &[Relation] = &[always(reference).since(1)];

/// In every release: `instanceProfile`.
pub(in super::super) const ALWAYS: &[Relation] = &[always(identity)];

fn reference<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if held.node.as_str() == Some("") {
        let name = held.node.key();
        breaches.add(
            held.node,
            format!("`nodeClassRef.{name}` is empty"),
            format!("write the {name} of the node class: all three of `group`, `kind` and `name` are needed"),
        );
    }
}

/// `role` or `instanceProfile`.
pub(super) fn identity<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if held.node.as_str() == Some("") {
        let name = held.node.key();
        breaches.add(
            held.node,
            format!("`spec.{name}` is empty"),
            format!("write a name, or remove `{name}` and use the other of `role` and `instanceProfile`"),
        );
    }
}
