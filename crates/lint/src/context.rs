//! The input of a rule besides the object that it checks.

use std::cell::OnceCell;

use objects::object::Object;
use objects::validation::{self, Refusal};

use crate::inventory::Inventory;
use crate::settings::Settings;

/// The input of a rule besides the object that it checks.
#[derive(Debug)]
pub struct Context<'c, 'd> {
    /// The settings of the check.
    pub settings: &'c Settings,
    /// The objects of the same cluster.
    pub inventory: &'c Inventory<'d>,
    /// All clusters of the check, including this one.
    pub clusters: &'c [Inventory<'d>],
    /// Whether the object comes from a text. An object from an API server has been pruned already.
    pub is_text: bool,
    /// The object that the rules check.
    object: Object<'d>,
    /// Its refusals, computed when a rule first asks for them.
    refusals: OnceCell<Vec<Refusal<'d>>>,
}

impl<'c, 'd> Context<'c, 'd> {
    /// The context of one object among the objects of its cluster.
    pub(crate) fn new(
        settings: &'c Settings,
        inventory: &'c Inventory<'d>,
        clusters: &'c [Inventory<'d>],
        object: Object<'d>,
        is_text: bool,
    ) -> Self {
        Self { settings, inventory, clusters, is_text, object, refusals: OnceCell::new() }
    }

    /// The refusals of the API server for the object that the rules check, in every release.
    pub fn refusals(&self) -> &[Refusal<'d>] {
        self.refusals.get_or_init(|| validation::refusals(self.object, self.is_text))
    }
}
