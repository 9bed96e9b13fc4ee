//! Reasons why a step of a build cannot be applied. The result of the build is then not known.

use crate::steps::TooLarge;

/// Reason why a patch of an object cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchFailure {
    /// The document is no patch.
    #[error("it is neither a strategic merge patch nor a JSON patch")]
    Form,
    /// A JSON patch names a missing path.
    #[error("it names a path that the object does not have")]
    MissingPath,
    /// The operation `test` of a JSON patch.
    #[error("its operation `test` fails")]
    Test,
    /// A JSON patch has an unknown operation, or an operation with a missing field.
    #[error("it has an operation that is not one of RFC 6902")]
    Operation,
    /// A strategic merge patch has an unknown `$patch`.
    #[error("it has an unknown `$patch`")]
    Directive,
    /// A strategic merge patch has another kind of value than the object.
    #[error("it has a list, an object or a scalar where the object has another kind of value")]
    Shape,
    /// The patch copies more than the limits allow.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// Reason why a replacement has no source or no target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplacementFailure {
    /// The field `source` is missing.
    #[error("uses a replacement without `source`")]
    NoSource,
    /// The source selects no object, or several.
    #[error("uses a replacement whose source is not one object of the input")]
    Source,
    /// The object of the source is not known for certain.
    #[error("uses a replacement whose source is not known for certain")]
    DoubtfulSource,
    /// The object of the source lacks the field.
    #[error("uses a replacement whose source has no such field")]
    SourceField,
    /// An expression of a target does not parse.
    #[error("uses a replacement whose target is not a valid expression")]
    Target,
    /// The replacement copies more than the limits allow.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// Reason why a replacement cannot write a field of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldFailure {
    /// The object lacks the field.
    #[error("it has no such field")]
    Missing,
    /// A delimiter with a value that is no scalar.
    #[error("a delimiter needs two scalars")]
    Delimiter,
    /// The value has another type than the field.
    #[error("the type of the new value is not known")]
    Type,
    /// The replacement copies more than the limits allow.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}
