//! Objects whose names have placeholders: of an object that goes and one that comes, both may be the same.

use std::collections::BTreeMap;

use drift::{ObjectChange, ObjectChangeKind};
use objects::object::Object;
use values::placeholder::has_placeholder;

/// The added objects of each kind.
#[derive(Debug, Default)]
pub(super) struct AddedObjects<'d>(BTreeMap<&'d str, AddedNames<'d>>);

/// The names of the added objects of a kind.
#[derive(Debug, Default)]
struct AddedNames<'d> {
    first: &'d str,
    /// The first name with a placeholder.
    unknown: Option<&'d str>,
}

impl<'d> AddedObjects<'d> {
    pub(super) fn of(changes: &[ObjectChange<'d>]) -> Self {
        let mut all: BTreeMap<&'d str, AddedNames<'d>> = BTreeMap::new();
        let added = changes.iter().filter(|change| change.change == ObjectChangeKind::Added);
        for object in added.filter_map(|change| change.new) {
            let name = object.name();
            let names = all.entry(object.kind()).or_insert(AddedNames { first: name, unknown: None });
            if names.unknown.is_none() && has_placeholder(name) {
                names.unknown = Some(name);
            }
        }
        Self(all)
    }

    /// The reason why a removed object may stay: an added object may have its name.
    pub(super) fn reason(&self, change: &ObjectChange<'d>) -> Option<String> {
        let removed: Object<'d> = change.old.filter(|_| change.change == ObjectChangeKind::Removed)?;
        let names = self.0.get(removed.kind())?;
        let other = if has_placeholder(removed.name()) { names.first } else { names.unknown? };
        Some(format!(
            "its name or the one of {other} has a placeholder: both may be the same {}",
            removed.kind()
        ))
    }
}
