//! Errors of the YAML parser.

use crate::limits::Exceeded;

/// An error in a YAML document, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// The byte at which parsing stopped.
    pub(crate) at: usize,
    /// The reason.
    pub(crate) problem: YamlProblem,
}

/// Reason why a YAML document cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlProblem {
    /// A syntax error, with what to write instead.
    #[error("not valid YAML: {0}")]
    Syntax(&'static str),
    /// `{{` in the place of a value: the mark of a Go template.
    #[error("template, not checked")]
    Template,
    /// A list or an object as a key.
    #[error("not valid in a manifest: this key is a list or an object; write a string")]
    KeyIsCollection,
    /// A null key, which JSON does not have.
    #[error("not valid in a manifest: a key is missing before `:`; add the key")]
    KeyIsNull,
    /// A number that JSON does not have.
    #[error("not valid in a manifest: JSON has no infinite number and no NaN; quote the value if it is text")]
    NotFinite,
    /// `<<` with a value other than a mapping or a list of mappings.
    #[error("not valid in a manifest: `<<` takes a mapping or a list of mappings; write an alias of one")]
    MergeNeedsMapping,
    /// A value that contains an alias of itself.
    #[error(
        "not valid in a manifest: this alias is inside the value of its own anchor; write the value instead"
    )]
    AliasOfItself,
    /// The document exceeds a bound.
    #[error(transparent)]
    Exceeded(Exceeded),
}
