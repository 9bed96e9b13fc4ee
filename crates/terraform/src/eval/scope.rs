//! Names that expressions refer to.

use super::traversal::TraversalSteps;
use crate::place::TextPlace;
use crate::value::EvaluatedValue;

/// Names of a loop, a block or a template, which hide the names of the blocks around it.
#[derive(Clone, Copy)]
pub(crate) struct NameScope<'s> {
    names: &'s [(&'s str, EvaluatedValue)],
    outer: Option<&'s Self>,
}

impl<'s> NameScope<'s> {
    /// The scope without names.
    pub(crate) const ROOT: Self = Self { names: &[], outer: None };

    pub(crate) const fn within(outer: &'s Self, names: &'s [(&'s str, EvaluatedValue)]) -> Self {
        Self { names, outer: Some(outer) }
    }

    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&EvaluatedValue> {
        let own = self.names.iter().find(|(known, _)| *known == name);
        own.map(|(_, value)| value).or_else(|| self.outer?.get(name))
    }
}

/// The meaning of references in a module.
pub(crate) trait References {
    /// The value of a variable, at its default or its definition; none if it is not declared.
    fn variable(&self, name: &str) -> Option<EvaluatedValue>;

    /// The value of a local; none if it is not declared.
    fn local(&self, name: &str, place: TextPlace) -> Option<EvaluatedValue>;

    /// The outputs of a local module, an object, or a list or map of such objects; none for another module. If the steps behind the
    /// reference lead to one output, only this one is evaluated.
    fn module(&self, name: &str, steps: TraversalSteps<'_>) -> Option<EvaluatedValue>;
}
