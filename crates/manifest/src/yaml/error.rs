//! Errors of the YAML parser.

use core::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum YamlProblem {
    /// A syntax error, with what to write instead.
    Syntax(&'static str),
    /// `{{` in the place of a value: the mark of a Go template.
    Template,
    /// A list or an object as a key.
    KeyIsCollection,
    /// A null key, which JSON does not have.
    KeyIsNull,
    /// A number that JSON does not have.
    NotFinite,
    /// `<<` with a value other than a mapping or a list of mappings.
    MergeNeedsMapping,
    /// A value that contains an alias of itself.
    AliasOfItself,
    /// The document exceeds a bound.
    Exceeded(Exceeded),
}

impl fmt::Display for YamlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => write!(f, "not valid YAML: {message}"),
            Self::Template => f.write_str("template, not checked"),
            Self::KeyIsCollection => {
                f.write_str("not valid in a manifest: this key is a list or an object; write a string")
            }
            Self::KeyIsNull => f.write_str("not valid in a manifest: a key is missing before `:`; add the key"),
            Self::NotFinite => f.write_str(
                "not valid in a manifest: JSON has no infinite number and no NaN; quote the value if it is text",
            ),
            Self::MergeNeedsMapping => f.write_str(
                "not valid in a manifest: `<<` takes a mapping or a list of mappings; write an alias of one",
            ),
            Self::AliasOfItself => f.write_str(
                "not valid in a manifest: this alias is inside the value of its own anchor; write the value instead",
            ),
            Self::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}
