//! Modules of Terraform that no root module calls any more: their folders look like root modules, which nobody applies.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{joined, parent};
use manifest::is_terraform;

use super::blocks::parts;
use super::scope::{SideObject, folder_of_root, without_start};
use super::terraform::{is_local, text_of};
use super::{PlanPair, PlanSide};

/// Leaves out the objects of the new side whose module another one called before, if the text of the module is the same: it does not become a
/// root module.
pub(super) fn leave_out<'d>(
    pair: PlanPair<'_>,
    olds: &BTreeMap<String, Vec<SideObject<'d>>>,
    news: &mut BTreeMap<String, Vec<SideObject<'d>>>,
) {
    let root_of = |one: &SideObject<'d>, side: PlanSide<'_>| {
        one.module.map(|module| folder_of_root(&module.root, side.folder).to_owned())
    };
    let roots: BTreeSet<String> = olds.values().flatten().filter_map(|one| root_of(one, pair.old)).collect();
    let mut all: BTreeSet<String> =
        news.values().flatten().filter_map(|one| root_of(one, pair.new)).collect();
    all.retain(|root| !roots.contains(root));
    if all.is_empty() {
        return;
    }
    let called = called(pair.old);
    let is_uncalled =
        |root: &&String| called.contains(*root) && texts(pair.old, root) == texts(pair.new, root);
    let uncalled: BTreeSet<&String> = all.iter().filter(is_uncalled).collect();
    if !uncalled.is_empty() {
        for objects in news.values_mut() {
            objects.retain(|one| root_of(one, pair.new).is_none_or(|root| !uncalled.contains(&root)));
        }
    }
}

/// The folders of the local modules that the configurations of a side call.
fn called(side: PlanSide<'_>) -> BTreeSet<String> {
    let files = side.cluster.files.iter().filter(|file| is_terraform(file.source.name()));
    let calls = files.flat_map(|file| {
        let folder = parent(without_start(file.source.name(), side.folder)).unwrap_or_default();
        let modules =
            parts(file.source.text()).into_iter().filter(|part| part.address.starts_with("module."));
        let arguments = modules.flat_map(|part| part.arguments).filter(|given| given.name == "source");
        let folders = arguments.filter_map(|given| {
            let source = text_of(&given.text, "source").filter(|source| is_local(source))?;
            Some(joined(folder, source))
        });
        folders.collect::<Vec<_>>()
    });
    calls.collect()
}

/// The texts of the configurations of a folder, by their names.
fn texts<'p>(side: PlanSide<'p>, folder: &str) -> BTreeMap<&'p str, &'p str> {
    let files = side.cluster.files.iter().filter(|file| is_terraform(file.source.name()));
    let files = files.map(|file| (without_start(file.source.name(), side.folder), file.source.text()));
    files.filter(|(name, _)| parent(name) == Some(folder)).collect()
}
