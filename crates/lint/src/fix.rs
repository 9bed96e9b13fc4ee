//! Fixes that rules offer.

use manifest::edit::Change;
use objects::object::{Object, Operation};
use objects::pod::{ExpressionOrigin, LabelExpression};

/// An edit that mends a finding.
#[derive(Clone, Debug)]
pub struct Fix<'d> {
    /// What it does, in a few words: `write the profile's name`.
    pub title: String,
    /// Whether it means what the author meant, so that it may be made unasked.
    pub safe: bool,
    /// What changes; all of it or nothing.
    pub changes: Vec<Change<'d>>,
}

impl<'d> Fix<'d> {
    /// A fix that may be made unasked.
    pub fn safe(title: impl Into<String>, changes: Vec<Change<'d>>) -> Self {
        Self { title: title.into(), safe: true, changes }
    }

    /// A fix of one change that may be made unasked.
    pub fn safe_one(title: impl Into<String>, change: Change<'d>) -> Self {
        Self::safe(title, vec![change])
    }

    /// A fix that has to be looked at first.
    pub fn for_review(title: impl Into<String>, changes: Vec<Change<'d>>) -> Self {
        Self { title: title.into(), safe: false, changes }
    }
}

/// A change that replaces the key of a label expression; `None` if the map has that key already, or if the object exists
/// in a cluster and does not take the change.
pub fn rename_label<'d>(
    expression: LabelExpression<'d>,
    object: Object<'d>,
    key: &str,
) -> Option<Change<'d>> {
    if object.operation() == Operation::Update {
        return None;
    }
    if expression.origin == ExpressionOrigin::NodeSelector {
        let is_free = expression.node.parent().is_some_and(|map| map.get(key).is_none());
        return is_free.then(|| Change::Rename(expression.node, key.to_owned()));
    }
    Some(Change::Set(expression.key_node()?, key.to_owned()))
}
