//! The rules for each object of an input. Objects that are alike have the same rules, which are selected once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use objects::object::Object;

use rule::registry::Registry;
use rule::{Rule, Subject};

/// The rules for the objects so far.
pub(crate) struct Selection<'r, 'd> {
    registry: &'r Registry,
    selected: Mutex<BTreeMap<Subject<'d>, Arc<[&'static Rule]>>>,
}

impl<'r, 'd> Selection<'r, 'd> {
    pub(crate) fn new(registry: &'r Registry) -> Self {
        Self { registry, selected: Mutex::default() }
    }

    /// The rules that read an object, in the order in which they are listed.
    pub(crate) fn rules_on(&self, object: Object<'d>) -> Arc<[&'static Rule]> {
        let subject = Subject::of(object);
        let mut selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(selected.entry(subject).or_insert_with(|| self.registry.rules_on_subject(subject).into()))
    }
}
