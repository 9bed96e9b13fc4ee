//! Overlays that build more objects than a plan compares: any change of the input may be one of a cluster that does not count.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;

use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// The first file that differs, as a change that may replace nodes.
pub(super) fn change(pair: PlanPair<'_>) -> Option<PlannedChange> {
    let (olds, news) = (texts(pair.old), texts(pair.new));
    let has_changed = |name: &&&str| olds.get(**name) != news.get(**name);
    let (file, change) = match news.keys().find(has_changed) {
        Some(name) => (*name, ObjectChangeKind::Changed),
        None => (*olds.keys().find(has_changed)?, ObjectChangeKind::Removed),
    };
    Some(PlannedChange::of_file(
        pair.name,
        change,
        (file, 1),
        format!("{file} has changed, and the overlays build too many NodePools to compare each cluster"),
    ))
}

/// The texts of the files of a side, by their names without the start of the side.
fn texts(side: PlanSide<'_>) -> BTreeMap<&str, &str> {
    let files = side.cluster.files.iter();
    files.map(|file| (without_start(file.source.name(), side.folder), file.source.text())).collect()
}
