//! NodePools that go from one object of Flux or Argo CD to another, such as a folder that gets its own Kustomization: if the first deletes
//! them before the second applies them, their nodes go. NodePools that go to a folder that nothing applies are deleted.
//!
//! Source: `prune` in `internal/controller/kustomization_controller.go` of fluxcd/kustomize-controller deletes what its Kustomization no longer
//! has if the labels of the object still name the Kustomization; docs/user-guide/resource_tracking.md of argoproj/argo-cd.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use cluster::appliers::Applier;
use drift::ObjectChangeKind;
use karpenter::kind::Kind;
use objects::object::Object;

use super::PlanPair;
use super::applied_objects::{AppliedObjects, name_of};
use super::retained;

/// One change for each two objects of which one hands NodePools over to the other.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
) -> Vec<PlannedChange> {
    let (olds, news) = (AppliedPools::of(old), AppliedPools::of(new));
    let mut found: BTreeMap<(String, String), (&Applier<'_>, Vec<&str>)> = BTreeMap::new();
    for (key, (pool, before)) in &olds.0 {
        let deletes = |one: &&&Applier<'_>| {
            new.counterpart(one, old).is_some_and(|same| retained::of_kept(same).is_none())
        };
        let giver = || before.iter().find(deletes).copied().filter(|_| retained::of_object(*pool).is_none());
        let Some((_, after)) = news.get(*key, &olds) else {
            if let Some((giver, at)) = giver()
                .filter(|_| new.has_moved(*pool, old))
                .and_then(|giver| Some((giver, new.counterpart(giver, old)?)))
            {
                found
                    .entry((shown(giver), String::new()))
                    .or_insert_with(|| (at, Vec::new()))
                    .1
                    .push(pool.name());
            }
            continue;
        };
        let now = |one: &&Applier<'_>| {
            let same = new.counterpart(one, old);
            same.is_some_and(|same| after.iter().any(|other| other.root == same.root))
        };
        let (Some(taker), false) = (after.first(), before.iter().any(now)) else { continue };
        let Some(giver) = giver() else { continue };
        let entry = found.entry((shown(giver), shown(taker))).or_insert_with(|| (*taker, Vec::new()));
        entry.1.push(pool.name());
    }
    found.into_iter().map(|((giver, taker), (at, pools))| change(pair, &giver, &taker, at, &pools)).collect()
}

/// Name and file of a NodePool. The file has no start of a side.
type PoolKey<'p> = (&'p str, &'p str);

/// The NodePools of a side, each with the objects of Flux and Argo CD that apply it.
struct AppliedPools<'p>(BTreeMap<PoolKey<'p>, (Object<'p>, Vec<&'p Applier<'p>>)>);

impl<'p> AppliedPools<'p> {
    fn of(objects: &'p AppliedObjects<'p>) -> Self {
        let mut found: BTreeMap<PoolKey<'p>, (Object<'p>, Vec<&'p Applier<'p>>)> = BTreeMap::new();
        for applier in objects.appliers.all() {
            let pools =
                objects.objects_of(applier).filter(|object| object.is_in_any_version(Kind::NODE_POOL));
            for pool in pools {
                let key = (pool.name(), objects.file_of_object(pool));
                found.entry(key).or_insert_with(|| (pool, Vec::new())).1.push(applier);
            }
        }
        Self(found)
    }

    /// The NodePool with a key of the other side: in the same file, else the only one with its name on both sides.
    fn get(&self, (name, file): PoolKey<'p>, other: &Self) -> Option<&(Object<'p>, Vec<&'p Applier<'p>>)> {
        let named = |side: &'_ Self| side.0.range((name, "")..).take_while(|(key, _)| key.0 == name).count();
        let only = || {
            let own = self.0.range((name, "")..).next().filter(|(key, _)| key.0 == name);
            own.map(|(_, pool)| pool).filter(|_| named(self) == 1 && named(other) == 1)
        };
        self.0.get(&(name, file)).or_else(only)
    }
}

fn shown(applier: &Applier<'_>) -> String {
    let (kind, _, name) = name_of(applier);
    format!("{kind}/{name}")
}

fn change(pair: PlanPair<'_>, giver: &str, taker: &str, at: &Applier<'_>, pools: &[&str]) -> PlannedChange {
    let place = at.root.at_path(&["metadata", "name"]).unwrap_or(at.root);
    let source = place.source();
    let (noun, them) = if pools.len() == 1 { ("NodePool", "it") } else { ("NodePools", "them") };
    let pools = pools.join(", ");
    let message = if taker.is_empty() {
        format!("{giver} no longer applies {noun} {pools}, and removes {them} with the nodes")
    } else {
        format!(
            "{taker} takes over {noun} {pools} from {giver}, which removes {them} with the nodes if it comes first"
        )
    };
    PlannedChange::of_file(
        pair.name,
        ObjectChangeKind::Changed,
        (source.name(), source.position(place.span().start).line),
        message,
    )
}
