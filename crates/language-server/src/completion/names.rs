//! Names that the objects of the folder give.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;

use super::suggestion::{Suggestion, SuggestionKind};

/// The names of the objects of a kind, in whatever version.
pub(super) fn of_kind(objects: &[Object<'_>], kind: Kind) -> Vec<Suggestion> {
    let own = objects.iter().filter(|object| object.kind() == kind.name && object.group() == kind.group);
    named(own.map(|object| object.name()).filter(|name| !name.is_empty()).collect(), kind.name)
}

/// The names of all objects, each with the kind of the first object of this name.
pub(super) fn of_all(objects: &[Object<'_>]) -> Vec<Suggestion> {
    let mut kinds = BTreeMap::new();
    for object in objects.iter().filter(|object| !object.name().is_empty()) {
        kinds.entry(object.name()).or_insert(object.kind());
    }
    let name = |(name, kind): (&str, &str)| {
        Suggestion::new(SuggestionKind::Name, name.to_owned()).detail(kind.to_owned())
    };
    kinds.into_iter().map(name).collect()
}

/// The namespaces of the objects.
pub(super) fn of_namespaces(objects: &[Object<'_>]) -> Vec<Suggestion> {
    let own = objects.iter().map(|object| object.namespace());
    named(own.filter(|name| !name.is_empty()).collect(), "namespace")
}

/// The keys of the taints of the NodePools.
pub(super) fn taint_keys(objects: &[Object<'_>]) -> Vec<Suggestion> {
    named(taints(objects).into_iter().map(|(key, _)| key).collect(), "taint of a NodePool")
}

/// The values of the taints with a key.
pub(super) fn taint_values(objects: &[Object<'_>], key: &str) -> Vec<Suggestion> {
    let own = taints(objects).into_iter().filter(|(known, _)| *known == key);
    named(own.map(|(_, value)| value).filter(|value| !value.is_empty()).collect(), "taint of a NodePool")
}

fn taints<'d>(objects: &[Object<'d>]) -> Vec<(&'d str, &'d str)> {
    let pools = objects.iter().filter_map(|object| NodePool::of(*object));
    let items = pools.flat_map(|pool| pool.taints(TaintField::Taints));
    items
        .filter_map(|item| Some((item.key()?, item.value_node().and_then(Node::as_str).unwrap_or_default())))
        .collect()
}

fn named(names: BTreeSet<&str>, detail: &str) -> Vec<Suggestion> {
    let name = |name: &str| Suggestion::new(SuggestionKind::Name, name.to_owned()).detail(detail);
    names.into_iter().map(name).collect()
}
