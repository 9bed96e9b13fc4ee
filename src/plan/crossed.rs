//! Overlays and root modules of Terraform that tell clusters apart independently of each other: the names in both repeat.
//!
//! A NodePool of an overlay may use an EC2NodeClass of a root module, so that the objects of both are compared together. The input does not say which
//! overlay and which root module are of one cluster, unless their folders share a name, such as `k8s/prod` and `terraform/prod`.

use std::collections::{BTreeMap, BTreeSet};

use super::PlanPair;
use super::cluster_names::words;
use super::scope::{PlanScope, joined};

/// The overlay and the folder that tell a cluster apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeParts {
    /// The name of the overlay; empty if no overlay tells the cluster apart.
    pub(super) overlay: String,
    /// The environment, the folder or the file; empty if none tells the cluster apart.
    pub(super) folder: String,
    /// Whether the folder is a root module of Terraform, or is in one.
    pub(super) is_root: bool,
}

/// The scopes, without the ones of an overlay with a root module of another cluster, as the names of folders show.
pub(super) fn matched(scopes: Vec<PlanScope<'_>>) -> Vec<PlanScope<'_>> {
    let crossed = || {
        let parts = scopes.iter().map(|scope| &scope.parts);
        parts.filter(|parts| parts.is_root && !parts.overlay.is_empty())
    };
    let overlays: BTreeSet<&str> = crossed().map(|parts| parts.overlay.as_str()).collect();
    let roots: BTreeSet<&str> = crossed().map(|parts| parts.folder.as_str()).collect();
    let distinguishing = |names: &BTreeSet<&str>| -> BTreeSet<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in names.iter().flat_map(|name| words(name).collect::<BTreeSet<_>>()) {
            *counts.entry(word).or_default() += 1;
        }
        counts.retain(|_, count| *count < names.len());
        counts.into_keys().map(str::to_owned).collect()
    };
    let of_overlays = distinguishing(&overlays);
    let common: BTreeSet<String> = distinguishing(&roots).intersection(&of_overlays).cloned().collect();
    let shared = |parts: &ScopeParts| {
        let own: BTreeSet<&str> = words(&parts.overlay).filter(|word| common.contains(*word)).collect();
        own.intersection(&words(&parts.folder).collect()).count()
    };
    let mut best: BTreeMap<&str, usize> = BTreeMap::new();
    for parts in crossed() {
        let known = best.entry(&parts.overlay).or_default();
        *known = shared(parts).max(*known);
    }
    let is_matched = |parts: &ScopeParts| {
        let count = shared(parts);
        count > 0 && best.get(parts.overlay.as_str()) == Some(&count)
    };
    let matched: BTreeSet<(&str, &str)> = crossed()
        .filter(|parts| is_matched(parts))
        .map(|parts| (parts.overlay.as_str(), parts.folder.as_str()))
        .collect();
    let matched_overlays: BTreeSet<&str> = matched.iter().map(|(overlay, _)| *overlay).collect();
    let matched_roots: BTreeSet<&str> = matched.iter().map(|(_, root)| *root).collect();
    let (is_overlay_left, is_root_left) =
        (matched_overlays.len() < overlays.len(), matched_roots.len() < roots.len());
    // What shares no name with the other side is of any cluster that is left, and else of any cluster.
    let is_of_one_cluster = |parts: &ScopeParts| {
        let (overlay, root) = (parts.overlay.as_str(), parts.folder.as_str());
        match (matched_overlays.contains(overlay), matched_roots.contains(root)) {
            (true, true) => matched.contains(&(overlay, root)),
            (true, false) => !is_overlay_left,
            (false, true) => !is_root_left,
            (false, false) => true,
        }
    };
    let kept: Vec<bool> = scopes
        .iter()
        .map(|scope| {
            !scope.parts.is_root || scope.parts.overlay.is_empty() || is_of_one_cluster(&scope.parts)
        })
        .collect();
    scopes.into_iter().zip(kept).filter_map(|(scope, is_kept)| is_kept.then_some(scope)).collect()
}

/// The names of some of the scopes: the name of the pair for all, of an overlay for all of its scopes, and of a root module for all of its scopes.
pub(super) fn named(pair: PlanPair<'_>, scopes: &[PlanScope<'_>], own: &BTreeSet<usize>) -> String {
    if scopes.len() > 1 && own.len() == scopes.len() {
        return pair.name.to_owned();
    }
    let all = |part: fn(&ScopeParts) -> &str| {
        let mut found: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (index, scope) in scopes.iter().enumerate() {
            found.entry(part(&scope.parts)).or_default().insert(index);
        }
        found.retain(|name, all| !name.is_empty() && all.len() > 1 && all.is_subset(own));
        found
    };
    let overlays = all(|parts| &parts.overlay);
    let roots = all(|parts| if parts.is_root { &parts.folder } else { "" });
    let name = |index: &usize| {
        let scope = scopes.get(*index)?;
        let whole = [(&overlays, &scope.parts.overlay), (&roots, &scope.parts.folder)];
        let whole = whole
            .into_iter()
            .find(|(all, name)| all.get(name.as_str()).is_some_and(|all| all.contains(index)));
        Some(whole.map_or_else(|| scope.name.clone(), |(_, name)| joined(pair.name, name)))
    };
    let mut names: Vec<String> = own.iter().filter_map(name).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.join(", ")
}
