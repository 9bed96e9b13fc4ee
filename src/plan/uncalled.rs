//! Modules of Terraform that no root module calls any more: their folders look like root modules, which nobody applies.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{folders_of, parent};
use manifest::is_terraform;

use super::scope::{SideObject, without_start};
use super::{PlanPair, PlanSide};

/// Leaves out the objects of the new side whose module another one called before, if the text of the module is the same: it does not become a
/// root module.
pub(super) fn leave_out<'d>(
    pair: PlanPair<'_>,
    olds: &BTreeMap<String, Vec<SideObject<'d>>>,
    news: &mut BTreeMap<String, Vec<SideObject<'d>>>,
) {
    let root_of = |one: &SideObject<'d>, side: PlanSide<'_>| {
        one.module.map(|module| folder_of_root(&module.root, side.folder))
    };
    let (mut roots, mut called) = (BTreeSet::new(), BTreeSet::new());
    for one in olds.values().flatten() {
        roots.extend(root_of(one, pair.old));
        if one.module.is_some_and(|module| !module.address.is_empty()) {
            let file = without_start(one.object.root().source().name(), pair.old.folder);
            called.extend(folders_of(file).map(str::to_owned));
        }
    }
    let all: BTreeSet<String> = news.values().flatten().filter_map(|one| root_of(one, pair.new)).collect();
    let is_uncalled = |root: &&String| {
        !roots.contains(*root) && called.contains(*root) && texts(pair.old, root) == texts(pair.new, root)
    };
    let uncalled: BTreeSet<&String> = all.iter().filter(is_uncalled).collect();
    if !uncalled.is_empty() {
        for objects in news.values_mut() {
            objects.retain(|one| root_of(one, pair.new).is_none_or(|root| !uncalled.contains(&root)));
        }
    }
}

/// The folder of a root module without the start of its side.
fn folder_of_root(root: &str, start: &str) -> String {
    // The folder of a side is a root module without the slash at the end of the start.
    let name = if root == "." { "main.tf".to_owned() } else { format!("{root}/main.tf") };
    parent(without_start(&name, start)).unwrap_or_default().to_owned()
}

/// The texts of the configurations of a folder, by their names.
fn texts<'p>(side: PlanSide<'p>, folder: &str) -> BTreeMap<&'p str, &'p str> {
    let files = side.cluster.files.iter().filter(|file| is_terraform(file.source.name()));
    let files = files.map(|file| (without_start(file.source.name(), side.folder), file.source.text()));
    files.filter(|(name, _)| parent(name) == Some(folder)).collect()
}
