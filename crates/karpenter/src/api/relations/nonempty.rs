//! Strings that must not be empty.

use super::relation::{CheckedValue, Relation, Violations, always};

/// Since 1.1: the fields of `nodeClassRef`.
pub(in super::super) const SINCE_1_1: &[Relation] = &[always(reference).since(1)];

/// In every release: `instanceProfile`.
pub(in super::super) const ALWAYS: &[Relation] = &[always(identity)];

fn reference<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if checked.node.as_str() == Some("") {
        let name = checked.node.key();
        violations
            .add(
                checked.node,
                format!("`nodeClassRef.{name}` is empty"),
                format!("write the {name} of the node class; `group`, `kind` and `name` are required"),
            )
            .says(format!("{name} may not be empty"));
    }
}

/// `role` or `instanceProfile`.
pub(super) fn identity<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if checked.node.as_str() == Some("") {
        let name = checked.node.key();
        violations
            .add(
                checked.node,
                format!("`spec.{name}` is empty"),
                format!(
                    "write a name, or remove `{name}` and write the other one of `role` and `instanceProfile`"
                ),
            )
            .says(format!("{name} cannot be empty"));
    }
}
