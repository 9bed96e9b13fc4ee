//! Go's types as hashstructure sees them. The tables in `node_pool` and `node_class` consist of them.

use karpenter::release::Releases;

/// A struct. The order of its fields matters.
#[derive(Debug)]
pub(crate) struct GoStruct {
    /// The name of the Go type, which is a part of the hash.
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [GoField],
}

/// A hashed field of a struct.
#[derive(Debug)]
pub(crate) struct GoField {
    /// The key in JSON.
    pub(crate) key: &'static str,
    /// The name in Go, which is a part of the hash.
    pub(crate) name: &'static str,
    pub(crate) kind: GoType,
    /// Whether Go's zero value counts as absent. A pointer to a zero value does not.
    pub(crate) skips_zero: bool,
    /// The releases in which the field is a part of the hash.
    pub(crate) releases: Releases,
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GoType {
    Text,
    Bool,
    Int32,
    Int64,
    /// `metav1.Duration`: a struct with nanoseconds.
    Duration,
    /// A duration, or `Never`, which is the zero value.
    NillableDuration,
    /// A quantity that is hashed as its canonical text.
    Quantity,
    /// `metav1.Time`.
    Time,
    /// A map from strings.
    Map(&'static Self),
    /// A list, which is hashed as a set: two equal items vanish.
    List(&'static Self),
    Struct(&'static GoStruct),
}

/// A field whose absence and zero value have different hashes: a pointer, a list or a map.
pub(crate) const fn pointer(key: &'static str, name: &'static str, kind: GoType) -> GoField {
    GoField { key, name, kind, skips_zero: false, releases: Releases::ALL }
}

/// A field of which the zero value is the same as absence.
pub(crate) const fn plain(key: &'static str, name: &'static str, kind: GoType) -> GoField {
    GoField { key, name, kind, skips_zero: true, releases: Releases::ALL }
}

impl GoField {
    pub(crate) const fn hashed_in(mut self, releases: Releases) -> Self {
        self.releases = releases;
        self
    }
}
