//! Overlays that build more objects than a plan compares: any change of the input may be one of a cluster that does not count.

use std::collections::BTreeMap;

use answers::OrEmpty;
use answers::plan::PlannedChange;
use drift::{Effect, ObjectChangeKind};

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
    Some(PlannedChange {
        cluster: pair.name.to_owned(),
        kind: String::new(),
        name: String::new(),
        change,
        effect: Effect::Unknown,
        reason: OrEmpty(None),
        node_pools: Vec::new(),
        message: format!(
            "{file} has changed, and the overlays build too many NodePools to compare each cluster"
        ),
        file: file.to_owned(),
        line: 1,
        fields: Vec::new(),
    })
}

/// The texts of the files of a side, by their names without the start of the side.
fn texts(side: PlanSide<'_>) -> BTreeMap<&str, &str> {
    let files = side.cluster.files.iter();
    files.map(|file| (without_start(file.source.name(), side.folder), file.source.text())).collect()
}
