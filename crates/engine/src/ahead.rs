//! Computes indexes of inventories on all cores, before the rules run.
//!
//! Otherwise the first rule that needs an index computes it, on one core, while the rules on the other cores wait for it.

use manifest::parallel;

use cluster::inventory::Inventory;
use rule::settings::Settings;

/// Functions that compute the largest indexes. They run at the same time; only `identity` needs an index of another function,
/// `controllers`.
const INDEXES: [fn(&Inventory<'_>); 4] = [
    |inventory| {
        inventory.pools().has_placeholder();
        inventory.first_pool(None);
    },
    |inventory| {
        inventory.budgets();
    },
    |inventory| {
        inventory.zone_of_class("");
        inventory.controllers();
    },
    |inventory| {
        inventory.identity();
        inventory.passed_roles();
    },
];

/// Computes the largest indexes of each inventory. Does nothing on one core, or if the settings select some rules only, because
/// these may need no index.
pub(crate) fn compute<'i, 'd: 'i>(inventories: impl Iterator<Item = &'i Inventory<'d>>, settings: &Settings) {
    if !parallel::uses_several_cores() || !settings.select.is_empty() {
        return;
    }
    let work: Vec<_> = inventories.flat_map(|inventory| INDEXES.map(|index| (index, inventory))).collect();
    parallel::map(&work, |(index, inventory)| index(inventory));
}
