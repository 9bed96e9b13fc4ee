//! Anchors, tag handles and the version that one document declares.

use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Declarations<'t> {
    /// The number of the latest anchor of each name.
    pub(super) anchors: BTreeMap<&'t str, usize>,
    /// Tag handles of `%TAG` directives, with the byte at which the prefix starts.
    pub(super) handles: BTreeMap<&'t str, usize>,
    /// A `%YAML` directive was read.
    pub(super) version: bool,
}

impl Declarations<'_> {
    /// Forgets the directives: they apply to one document only.
    pub(super) fn forget_directives(&mut self) {
        self.handles = BTreeMap::new();
        self.version = false;
    }
}
