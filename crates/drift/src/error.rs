//! Why an object has no hash.

use karpenter::api::SchemaType;
use manifest::tree::Node;
use thiserror::Error;
use values::duration::DurationError;
use values::quantity::QuantityError;

/// A value that Karpenter cannot decode, so that its controller cannot read the object.
#[derive(Clone, Debug)]
pub struct HashError<'d> {
    /// The value.
    pub node: Node<'d>,
    /// The reason.
    pub problem: HashProblem,
}

/// Reason why Karpenter cannot decode a value.
#[derive(Clone, Debug, Error)]
pub enum HashProblem {
    /// The value has another type than the field.
    #[error("the value is not {}", .0.name())]
    Type(SchemaType),
    /// A number does not fit the field.
    #[error("the number does not fit the field")]
    Number,
    /// Go cannot parse the duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// The quantity is invalid.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// The text is not a date with a time.
    #[error("the text is not a date with a time, such as `2026-03-11T10:30:00Z`")]
    Time,
    /// Karpenter does not know the family of the AMI alias, and its controller ends.
    #[error("Karpenter does not know the family of the AMI alias")]
    Alias,
}
