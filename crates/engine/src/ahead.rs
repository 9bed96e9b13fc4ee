//! Computes indexes of inventories on all cores, before the rules run.
//!
//! Otherwise the first rule that needs an index computes it, on one core, while the rules on the other cores wait for it.

use cluster::inventory::Inventory;
use manifest::parallel;
use rule::registry::Registry;
use rule::settings::Settings;

/// Computes the largest indexes of each inventory. Does nothing on one core, or if the settings select some rules only, because
/// these may need no index.
pub(crate) fn compute<'i, 'd: 'i>(
    inventories: impl Iterator<Item = &'i Inventory<'d>>,
    registry: &Registry,
    settings: &Settings,
) {
    if !parallel::uses_several_cores() || !settings.select.is_empty() {
        return;
    }
    let indexes = |inventory| registry.large_indexes.iter().map(move |index| (index, inventory));
    let work: Vec<_> = inventories.flat_map(indexes).collect();
    parallel::map(&work, |(index, inventory)| index(inventory));
}
