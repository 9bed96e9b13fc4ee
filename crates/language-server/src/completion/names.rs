//! Names that the objects of the folder give.

use std::collections::BTreeSet;

use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;

use super::suggestion::{Suggestion, SuggestionKind};
use crate::folder::objects_of;
use crate::workspace::FolderView;

/// The names of the objects of a kind.
pub(super) fn of_kind(folder: Option<&dyn FolderView>, group: &str, kind: &str) -> Vec<Suggestion> {
    let objects = objects_of(folder, group, kind);
    let names: BTreeSet<&str> =
        objects.iter().map(|object| object.name()).filter(|name| !name.is_empty()).collect();
    named(names, kind)
}

/// The keys of the taints of the NodePools.
pub(super) fn taint_keys(folder: Option<&dyn FolderView>) -> Vec<Suggestion> {
    named(taints(folder).into_iter().map(|(key, _)| key).collect(), "taint of a NodePool")
}

/// The values of the taints with a key.
pub(super) fn taint_values(folder: Option<&dyn FolderView>, key: &str) -> Vec<Suggestion> {
    let own = taints(folder).into_iter().filter(|(known, _)| *known == key);
    named(own.map(|(_, value)| value).filter(|value| !value.is_empty()).collect(), "taint of a NodePool")
}

fn taints(folder: Option<&dyn FolderView>) -> Vec<(&str, &str)> {
    let pools = objects_of(folder, Kind::NODE_POOL.group, Kind::NODE_POOL.name).into_iter();
    let items = pools.filter_map(NodePool::of).flat_map(|pool| pool.taints(TaintField::Taints));
    items
        .filter_map(|item| Some((item.key()?, item.value_node().and_then(Node::as_str).unwrap_or_default())))
        .collect()
}

fn named(names: BTreeSet<&str>, detail: &str) -> Vec<Suggestion> {
    let name = |name: &str| Suggestion::new(SuggestionKind::Name, name.to_owned()).detail(detail);
    names.into_iter().map(name).collect()
}
