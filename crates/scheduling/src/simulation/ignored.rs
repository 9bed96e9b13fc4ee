//! Reasons for which Karpenter ignores a pod before it schedules.

use objects::location::Place;

/// Reason for which Karpenter ignores a pod.
#[derive(Clone, Debug)]
pub(crate) struct IgnoredReason<'d> {
    /// Karpenter's message.
    pub(crate) message: String,
    /// The field of the pod that Karpenter refuses, with the problem, if the reason is a field.
    pub(crate) field: Option<IgnoredField<'d>>,
}

/// Field of a pod that Karpenter refuses.
#[derive(Clone, Debug)]
pub struct IgnoredField<'d> {
    /// The place of the field.
    pub place: Place<'d>,
    /// The problem of the field.
    pub problem: FieldProblem<'d>,
}

/// Problem of a field for which Karpenter ignores a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldProblem<'d> {
    /// Pods may not select this label.
    RestrictedLabel(&'d str),
    /// No value of a well-known label is known.
    UnknownValue {
        /// The label.
        key: &'d str,
        /// The values of the pod.
        values: Vec<&'d str>,
        /// The values that Karpenter knows.
        known: &'static [&'static str],
    },
    /// The operator `In` has no value.
    NoValue(&'d str),
    /// The operator of this label needs one whole number.
    NotANumber(&'d str),
    /// The operator is unknown.
    UnknownOperator(&'d str),
    /// `matchFields`.
    MatchFields,
    /// The pod requires a node without the label `karpenter.sh/nodepool`.
    ExcludesKarpenter,
    /// Scheduling gates.
    Gated,
}

impl<'d> IgnoredReason<'d> {
    /// A reason that is in no field of the pod.
    pub(crate) fn because(message: impl Into<String>) -> Self {
        Self { message: message.into(), field: None }
    }

    /// A reason in a field.
    pub(crate) fn at(place: Place<'d>, problem: FieldProblem<'d>, message: impl Into<String>) -> Self {
        Self { message: message.into(), field: Some(IgnoredField { place, problem }) }
    }
}
