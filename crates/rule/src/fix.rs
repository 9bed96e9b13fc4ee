//! Fixes that rules offer.

use manifest::edit::Change;
use objects::object::{Object, Operation};
use objects::pod::{ExpressionOrigin, LabelExpression};

/// A fix of a finding.
#[derive(Clone, Debug)]
pub struct Fix<'d> {
    /// Title of a few words, such as `write the profile's name`.
    pub title: String,
    /// Whether the fix keeps the intent of the author, so that `--fix` applies it.
    pub safe: bool,
    /// The changes, which are applied together.
    pub changes: Vec<Change<'d>>,
    /// Other objects that the changes fix too. The fix is offered only if the findings about each of them, which the settings or the
    /// author may accept, offer it as well.
    pub partners: Vec<Object<'d>>,
}

impl<'d> Fix<'d> {
    /// A safe fix.
    pub fn safe(title: impl Into<String>, changes: Vec<Change<'d>>) -> Self {
        Self { title: title.into(), safe: true, changes, partners: Vec::new() }
    }

    /// A safe fix with one change.
    pub fn safe_one(title: impl Into<String>, change: Change<'d>) -> Self {
        Self::safe(title, vec![change])
    }

    /// An unsafe fix, which the author has to review.
    pub fn for_review(title: impl Into<String>, changes: Vec<Change<'d>>) -> Self {
        Self { safe: false, ..Self::safe(title, changes) }
    }

    /// The same fix, which also fixes other objects.
    pub fn with_partners(self, partners: Vec<Object<'d>>) -> Self {
        Self { partners, ..self }
    }
}

/// Returns a change that replaces the key of a label expression; `None` if the map already has the new key, or if the
/// object is in a cluster, where the API server refuses the change.
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
