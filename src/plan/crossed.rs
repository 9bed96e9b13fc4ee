//! Overlays and root modules of Terraform that tell clusters apart independently of each other: the names in both repeat.
//!
//! A NodePool of an overlay may use an EC2NodeClass of a root module, so that the objects of both are compared together. The input does not say which
//! overlay and which root module are of one cluster, unless their folders share a name, such as `k8s/prod` and `terraform/prod`.

use std::collections::{BTreeMap, BTreeSet};

use drift::Effect;
use karpenter::kind::Kind;
use objects::node_pool::NodePool;
use objects::object::Object;

use super::change::{self, PlanChange};
use super::cluster_names::words;
use super::scope::{PlanScope, place_key};

/// Reason for an effect that is not known.
const UNMATCHED: &str =
    "the input does not say which overlay and which root module of Terraform are of one cluster";

/// The overlay and the folder that tell a cluster apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeParts {
    /// The name of the overlay; empty if no overlay tells the cluster apart.
    pub(super) overlay: String,
    /// The environment, the folder or the file; empty if none tells the cluster apart.
    pub(super) folder: String,
    /// Whether the folder is a root module of Terraform, or is in one.
    pub(super) is_root: bool,
    /// Whether the input does not say that the overlay and the root module are of one cluster.
    pub(super) is_guessed: bool,
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
        for word in names.iter().flat_map(|name| parts_of_words(name).collect::<BTreeSet<_>>()) {
            *counts.entry(word).or_default() += 1;
        }
        counts.retain(|_, count| *count < names.len());
        counts.into_keys().map(str::to_owned).collect()
    };
    let of_overlays = distinguishing(&overlays);
    let common: BTreeSet<String> = distinguishing(&roots).intersection(&of_overlays).cloned().collect();
    let shared = |parts: &ScopeParts| {
        let own: BTreeSet<&str> =
            parts_of_words(&parts.overlay).filter(|word| common.contains(*word)).collect();
        own.intersection(&parts_of_words(&parts.folder).collect()).count()
    };
    let (mut of_overlay, mut of_root) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    for parts in crossed() {
        let count = shared(parts);
        for (best, name) in [(&mut of_overlay, &parts.overlay), (&mut of_root, &parts.folder)] {
            let known = best.entry(name).or_default();
            *known = count.max(*known);
        }
    }
    let is_matched = |parts: &ScopeParts| {
        let count = shared(parts);
        let best = [of_overlay.get(parts.overlay.as_str()), of_root.get(parts.folder.as_str())];
        count > 0 && best.into_iter().flatten().all(|best| *best == count)
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
    let is_crossed = |parts: &ScopeParts| parts.is_root && !parts.overlay.is_empty();
    let is_kept = |parts: &ScopeParts| !is_crossed(parts) || is_of_one_cluster(parts);
    let (mut roots_of, mut overlays_of) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    for parts in crossed().filter(|parts| is_kept(parts)) {
        *roots_of.entry(&parts.overlay).or_default() += 1;
        *overlays_of.entry(&parts.folder).or_default() += 1;
    }
    let is_guessed = |parts: &ScopeParts| {
        let (overlay, root) = (parts.overlay.as_str(), parts.folder.as_str());
        let others = [roots_of.get(overlay), overlays_of.get(root)];
        is_crossed(parts)
            && !matched.contains(&(overlay, root))
            && others.into_iter().flatten().any(|count| *count > 1)
    };
    let kept: Vec<(bool, bool)> =
        scopes.iter().map(|scope| (is_kept(&scope.parts), is_guessed(&scope.parts))).collect();
    let known = scopes.into_iter().zip(kept).filter(|(_, (is_kept, _))| *is_kept);
    known
        .map(|(scope, (_, is_guessed))| PlanScope {
            parts: ScopeParts { is_guessed, ..scope.parts },
            ..scope
        })
        .collect()
}

/// The names of the folders in a name, and the parts of such a name as `prod-eu`.
fn parts_of_words(name: &str) -> impl Iterator<Item = &str> {
    words(name).flat_map(|word| word.split('-')).filter(|part| !part.is_empty())
}

/// Whether a change is one that [`doubt_classes`] weakened.
pub(super) fn is_doubted(change: &PlanChange<'_>) -> bool {
    change.message == UNMATCHED
}

/// Weakens the changes of node classes whose NodePools are of the other part of the cluster: the overlay or the root module of each may be of another one.
pub(super) fn doubt_classes(changes: &mut [PlanChange<'_>], scope: &PlanScope<'_>) {
    let is_of_root = |object: Object<'_>| scope.modules.contains_key(&place_key(object));
    for change in changes {
        let class = change.change.object().filter(|object| !object.is_in_any_version(Kind::NODE_POOL));
        let Some(class) = class else { continue };
        let pools = scope.old.iter().chain(&scope.new).filter_map(|object| NodePool::of(*object));
        let mut concerned = pools.filter(|pool| change.change.node_pools.contains(pool.object().name()));
        let is_apart = concerned.all(|pool| is_of_root(pool.object()) != is_of_root(class));
        if is_apart && !change.change.node_pools.is_empty() && change.change.effect > Effect::Unknown {
            change::doubt(change);
            UNMATCHED.clone_into(&mut change.message);
        }
    }
}
