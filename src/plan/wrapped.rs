//! NodePools within objects of other controllers, such as an Object of Crossplane: their clusters, and the ones that get another such object.
//!
//! The controller deletes the objects that its object no longer has, so that the nodes of a NodePool go if it comes first.
//!
//! Sources: "Garbage collection" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator; docs/enhanced-provider-k8s.md of
//! crossplane-contrib/provider-kubernetes; `DeletePropagationPolicyType` in work/v1/types.go of open-cluster-management-io/api.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use karpenter::kind::Kind;
use objects::object::Object;
use objects::wrapper::{Wrapper, WrapperKind};

use super::PlanPair;
use super::change::PlanChange;
use super::retained;
use super::scope::{PlanScope, SideObject, is_planned, joined, without_start};

/// The objects of each variant of a side, by name.
type ObjectsByVariant<'d> = BTreeMap<String, Vec<SideObject<'d>>>;

/// Gives the objects that other controllers apply in clusters with names a folder for each of these, if objects of several have one name. Returns the
/// folders.
pub(super) fn tell_apart(sides: [&mut ObjectsByVariant<'_>; 2]) -> BTreeSet<String> {
    let cluster =
        |one: &SideObject<'_>| Wrapper::around(one.object).and_then(Wrapper::cluster).map(str::to_owned);
    let mut clusters: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for one in sides.iter().flat_map(|side| side.values().flatten()).filter(|one| is_planned(one.object)) {
        let known = clusters.entry((one.object.kind(), one.object.name())).or_default();
        known.extend(cluster(one));
    }
    if !clusters.values().any(|clusters| clusters.len() > 1) {
        return BTreeSet::new();
    }
    for one in sides.into_iter().flat_map(|side| side.values_mut().flatten()) {
        if let Some(cluster) = cluster(one) {
            one.file = joined(&cluster, &one.file);
        }
    }
    clusters.into_values().flatten().collect()
}

/// Weakens the removals of objects whose Object of Crossplane stays: it deletes only what it has, in the cluster that it names, when it is removed itself.
///
/// Source: `Delete` and `parseManifest` in internal/controller/cluster/object/object.go of crossplane-contrib/provider-kubernetes.
pub(super) fn weaken(changes: &mut [PlanChange<'_>], scopes: &[PlanScope<'_>]) {
    let is_of_crossplane = |wrapper: &Wrapper<'_>| wrapper.kind == WrapperKind::CrossplaneObject;
    let mut kept: BTreeSet<(&str, [&str; 3])> = BTreeSet::new();
    for scope in scopes {
        let wrappers = scope
            .new
            .iter()
            .filter_map(|object| Wrapper::around(*object).or_else(|| Wrapper::of(object.root())));
        let own = wrappers.filter(is_of_crossplane).map(Wrapper::identity);
        kept.extend(own.map(|identity| (scope.parts.overlay.as_str(), identity)));
    }
    for change in changes.iter_mut().filter(|change| change.change.change == ObjectChangeKind::Removed) {
        let around = change.change.old.and_then(Wrapper::around).filter(is_of_crossplane);
        let Some(identity) = around.map(Wrapper::identity) else { continue };
        let mut overlays = change.scopes.iter().filter_map(|index| Some(&scopes.get(*index)?.parts.overlay));
        if overlays.any(|overlay| kept.contains(&(overlay.as_str(), identity))) {
            let [kind, _, name] = identity;
            retained::set_open(change, &format!("{kind}/{name} deletes it only when it is removed itself"));
        }
    }
}

/// One change for each two objects of which one takes NodePools over from the other.
pub(super) fn changes(pair: PlanPair<'_>, scopes: &[PlanScope<'_>]) -> Vec<PlannedChange> {
    let mut found: BTreeMap<(String, String), (Object<'_>, BTreeSet<&str>)> = BTreeMap::new();
    for scope in scopes {
        let news: BTreeMap<&str, Object<'_>> = pools(&scope.new).map(|pool| (pool.name(), pool)).collect();
        for old in pools(&scope.old) {
            let Some(new) = news.get(old.name()).copied() else { continue };
            let [before, after] = [old, new].map(|pool| Wrapper::around(pool).map(Wrapper::identity));
            if before != after && retained::of_object(old).is_none() {
                let is_in_namespace = before
                    .zip(after)
                    .is_some_and(|([kind, _, name], [other, _, same])| (kind, name) == (other, same));
                let giver = shown(old, pair.old.folder, is_in_namespace);
                let giver = match before {
                    Some(_) => format!("{giver}, which"),
                    // Flux or Argo CD applies a file, or nothing that removes objects does.
                    None => format!("{giver}, and what applies {giver}"),
                };
                let names = (giver, shown(new, pair.new.folder, is_in_namespace));
                found.entry(names).or_insert_with(|| (new, BTreeSet::new())).1.insert(old.name());
            }
        }
    }
    let change = |((giver, taker), (pool, names)): ((String, String), (Object<'_>, BTreeSet<&str>))| {
        let source = pool.root().source();
        let line = source.position(pool.root().span().start).line;
        let (noun, them) = if names.len() == 1 { ("NodePool", "it") } else { ("NodePools", "them") };
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!(
            "{taker} takes over {noun} {names} from {giver} removes {them} with the nodes if it comes first"
        );
        PlannedChange::of_file(pair.name, ObjectChangeKind::Changed, (source.name(), line), message)
    };
    found.into_iter().map(change).collect()
}

fn pools<'s, 'd>(objects: &'s [Object<'d>]) -> impl Iterator<Item = Object<'d>> + 's {
    objects.iter().copied().filter(|object| object.is_in_any_version(Kind::NODE_POOL))
}

/// The object around a NodePool, with its namespace where that tells two objects apart, or its file.
fn shown(pool: Object<'_>, folder: &str, is_in_namespace: bool) -> String {
    match Wrapper::around(pool).map(Wrapper::identity) {
        Some([kind, namespace, name]) if is_in_namespace && !namespace.is_empty() => {
            format!("{kind}/{name} in {namespace}")
        }
        Some([kind, _, name]) => format!("{kind}/{name}"),
        None => without_start(pool.root().source().name(), folder).to_owned(),
    }
}
