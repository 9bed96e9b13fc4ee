//! The effect of the changes on each NodePool, its instance types before and after, and what prevents a rollout.

use std::collections::{BTreeMap, BTreeSet};

use answers::PricedType;
use answers::plan::{ControllerChange, PlannedPool};
use disruption::allowance::{DisruptionReason, PoolBudgets};
use disruption::calendar::{Calendar, WEEK};
use drift::{Effect, ObjectChangeKind};
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Release;
use objects::node_pool::NodePool;
use objects::object::Object;
use scheduling::simulation::PoolTypes;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::PlanPair;
use super::change::PlanChange;
use super::cluster_names;
use super::controller;
use super::kubernetes::ClassesByName;
use super::scope::{PlaceKey, PlanScope, place_key};
use crate::simulate::{DeducedSettings, region_of};

/// The number of nodes of a NodePool: percentages read as numbers.
const ASSUMED_NODES: usize = 100;

/// Number of weeks in which a budget that never opens stays closed, so that schedules of a month and of most years count.
const WEEKS: i64 = 53;

/// The settings of a simulation before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct BothSettings<'s> {
    pub(super) old: &'s DeducedSettings,
    pub(super) new: &'s DeducedSettings,
}

/// The NodePools of a scope that the changes concern, by name.
pub(super) fn pools(
    scope: &PlanScope<'_>,
    changes: &[&PlanChange<'_>],
    of_controller: &[ControllerChange],
    settings: BothSettings<'_>,
    at: Timestamp,
) -> Vec<PlannedPool> {
    let effects = effects(scope, changes, of_controller);
    if effects.is_empty() {
        return Vec::new();
    }
    let [mut old, mut new] = if scope.is_whole {
        [types(&scope.old, settings.old), types(&scope.new, settings.new)]
    } else {
        [BTreeMap::new(), BTreeMap::new()]
    };
    // The zones of another region have no instance types in the region of the simulation, which says nothing about the NodePool.
    for (objects, side) in [(&scope.old, settings.old), (&scope.new, settings.new)] {
        for pool in objects.iter().filter_map(|object| NodePool::of(*object)) {
            if is_elsewhere(pool, &side.settings.region) {
                old.remove(pool.object().name());
                new.remove(pool.object().name());
            }
        }
    }
    let release = settings.new.settings.release;
    let is_pool = |object: &&Object<'_>| object.is(Kind::NODE_POOL);
    let objects: BTreeMap<&str, Object<'_>> =
        scope.new.iter().filter(is_pool).map(|object| (object.name(), *object)).collect();
    let pool = |(name, effect): (&str, Effect)| {
        let (before, after) = (old.get(name).cloned(), new.get(name).cloned());
        let rolls = matches!(effect, Effect::ReplacesAll | Effect::ReplacesSome | Effect::Unknown);
        let object = objects.get(name).copied().filter(|_| rolls);
        let blocked = object.and_then(|object| blocked(object, release, at));
        let never = blocked.as_ref().is_some_and(|blocked| blocked.never);
        let (instance_types_before, cheapest_before) = before.unzip();
        let (instance_types_after, cheapest_after) = after.unzip();
        PlannedPool {
            cluster: scope.name.clone(),
            name: name.to_owned(),
            effect,
            instance_types_before,
            instance_types_after,
            cheapest_before: cheapest_before.unwrap_or_default(),
            cheapest_after: cheapest_after.unwrap_or_default(),
            never,
            blocked: blocked.into_iter().map(|blocked| blocked.reason).collect(),
        }
    };
    effects.into_iter().map(pool).collect()
}

/// The NodePools, with one entry for an object that several clusters share only because nothing tells the clusters apart. An object that
/// overlays have is a NodePool in the cluster of each.
pub(super) fn once(
    pools: Vec<PlannedPool>,
    scopes: &[PlanScope<'_>],
    pair: PlanPair<'_>,
    built: &BTreeSet<PlaceKey<'_>>,
) -> Vec<PlannedPool> {
    type PlacesByName<'d> = BTreeMap<&'d str, PlaceKey<'d>>;
    fn places<'d>(objects: &[Object<'d>]) -> PlacesByName<'d> {
        let pools = objects.iter().filter_map(|object| NodePool::of(*object));
        pools.map(|pool| (pool.object().name(), place_key(pool.object()))).collect()
    }
    let concerned: BTreeSet<&str> = pools.iter().map(|pool| pool.cluster.as_str()).collect();
    let concerned: BTreeSet<String> = concerned.into_iter().map(str::to_owned).collect();
    let own = scopes.iter().enumerate().filter(|(_, scope)| concerned.contains(&scope.name));
    let places: BTreeMap<&str, ([PlacesByName<'_>; 2], usize)> = own
        .map(|(index, scope)| (scope.name.as_str(), ([places(&scope.old), places(&scope.new)], index)))
        .collect();
    let mut found: Vec<(PlannedPool, BTreeSet<usize>)> = Vec::new();
    let mut shared = BTreeMap::new();
    for pool in pools {
        let sides = places.get(pool.cluster.as_str());
        let index = sides.map(|(_, index)| *index);
        let scope = index.and_then(|index| scopes.get(index));
        let key = sides.zip(scope).map(|((sides, _), scope)| {
            let places = sides.each_ref().map(|side| side.get(pool.name.as_str()).copied());
            // Several root modules may call one module, each for its own cluster.
            let modules = places.iter().flatten().filter_map(|place| scope.modules.get(place));
            let is_built = places.iter().flatten().any(|place| built.contains(place));
            // Root modules of Terraform that repeat other names make no further NodePools of an overlay.
            let overlay =
                is_built.then(|| (&scope.parts.overlay, (!scope.parts.is_root).then_some(&scope.name)));
            (places, modules.flatten().copied().collect::<BTreeSet<_>>(), overlay)
        });
        // Terraform makes several objects from one place.
        let key = key.map(|key| (key, pool.name.clone(), pool.effect));
        let first = key.as_ref().and_then(|key| shared.get(key).copied());
        if let Some((_, clusters)) = first.and_then(|first: usize| found.get_mut(first)) {
            clusters.extend(index);
            continue;
        }
        shared.extend(key.map(|key| (key, found.len())));
        found.push((pool, index.into_iter().collect()));
    }
    let named = |(pool, clusters): (PlannedPool, BTreeSet<usize>)| {
        let cluster =
            if clusters.len() > 1 { cluster_names::named(pair, scopes, &clusters) } else { pool.cluster };
        PlannedPool { cluster, ..pool }
    };
    found.into_iter().map(named).collect()
}

/// The strongest effect on each NodePool, by name.
fn effects<'d>(
    scope: &PlanScope<'d>,
    changes: &[&PlanChange<'d>],
    of_controller: &[ControllerChange],
) -> BTreeMap<&'d str, Effect> {
    let pools: Vec<NodePool<'d>> =
        scope.old.iter().chain(&scope.new).filter_map(|object| NodePool::of(*object)).collect();
    let own: BTreeSet<&'d str> = pools.iter().map(|pool| pool.object().name()).collect();
    let mut effects: BTreeMap<&'d str, Effect> = BTreeMap::new();
    let mut add = |name: &'d str, effect: Effect| {
        let known = effects.entry(name).or_insert(Effect::None);
        *known = effect.max(*known);
    };
    for change in changes {
        let is_silent =
            change.change.change == ObjectChangeKind::Changed && change.change.effect == Effect::None;
        for name in change.change.node_pools.iter().copied().filter(|name| own.contains(name) && !is_silent) {
            add(name, change.change.effect);
        }
    }
    let of_controller: Vec<&ControllerChange> =
        of_controller.iter().filter(|change| change.effect >= Effect::Unknown).collect();
    let classes =
        if of_controller.is_empty() { ClassesByName::default() } else { ClassesByName::of(&scope.new) };
    for (change, pool) in
        of_controller.iter().flat_map(|change| pools.iter().map(move |pool| (change, *pool)))
    {
        let effect = controller::effect_on(pool, change, &classes);
        if effect >= Effect::Unknown {
            add(pool.object().name(), effect);
        }
    }
    for change in changes {
        let Some(pool) = change.change.object().and_then(NodePool::of) else { continue };
        let effect = match change.change.change {
            // A new NodePool has no nodes yet.
            ObjectChangeKind::Added => Effect::NewNodes,
            // The nodes of a removed NodePool go, whatever else would replace them, unless it may stay.
            ObjectChangeKind::Removed => change.change.effect.max(Effect::Unknown).min(Effect::RemovesNodes),
            ObjectChangeKind::Changed if change.is_recreated => Effect::RemovesNodes,
            ObjectChangeKind::Changed => continue,
        };
        effects.insert(pool.object().name(), effect);
    }
    // With its definition, a NodePool goes as if it were removed.
    let all_go = of_controller.iter().any(|change| change.effect == Effect::RemovesNodes);
    for effect in effects.values_mut().filter(|effect| all_go && **effect != Effect::NewNodes) {
        *effect = Effect::RemovesNodes;
    }
    if scope.doubtful.is_some() {
        for effect in effects.values_mut() {
            *effect = (*effect).min(Effect::Unknown);
        }
    }
    effects
}

/// The number of instance types of each NodePool, and the cheapest.
fn types(objects: &[Object<'_>], deduced: &DeducedSettings) -> BTreeMap<String, (usize, Vec<PricedType>)> {
    let all = PoolTypes::of(objects, &deduced.settings).into_iter();
    all.map(|pool| (pool.pool.name().to_owned(), (pool.left, PricedType::cheapest(&pool.cheapest)))).collect()
}

/// Whether a NodePool allows only zones of other regions.
fn is_elsewhere(pool: NodePool<'_>, region: &str) -> bool {
    let zones = pool.requirements().items().filter(|item| item.key() == Some(labels::ZONE));
    let zones = zones.filter(|item| item.operator() == Some(Operator::In));
    let regions: Vec<String> =
        zones.flat_map(|item| item.values().filter_map(|value| region_of(value.as_str()?))).collect();
    !regions.is_empty() && regions.iter().all(|one| one != region)
}

/// Reason why budgets let no drifted node go at the time of the change.
struct BlockedRollout {
    never: bool,
    reason: String,
}

fn blocked(object: Object<'_>, release: Release, at: Timestamp) -> Option<BlockedRollout> {
    let blocked = |never: bool, reason: String| Some(BlockedRollout { never, reason });
    let budgets = match PoolBudgets::parse(NodePool::of(object)?, release) {
        Ok(budgets) => budgets,
        Err(error) => {
            return blocked(
                true,
                format!("Karpenter cannot read the NodePool, and disrupts no node: {error}"),
            );
        }
    };
    match opening(&budgets, at, DisruptionReason::Drifted) {
        Some(start) if start <= at => None,
        Some(start) => {
            blocked(false, format!("its budgets allow no replacement of a drifted node before {start}"))
        }
        None => blocked(true, "its budgets never allow the replacement of a drifted node".to_owned()),
    }
}

/// Whether the budgets of a NodePool ever let a node go for a reason. Karpenter disrupts no node of a NodePool that it cannot read.
pub(super) fn opens(pool: NodePool<'_>, release: Release, at: Timestamp, reason: DisruptionReason) -> bool {
    PoolBudgets::parse(pool, release).is_ok_and(|budgets| opening(&budgets, at, reason).is_some())
}

/// The first time at which budgets let a node go for a reason.
fn opening(budgets: &PoolBudgets<'_>, at: Timestamp, reason: DisruptionReason) -> Option<Timestamp> {
    let start_within = |weeks: i64| {
        let period = Duration::from_nanoseconds(WEEK.nanoseconds().saturating_mul(weeks));
        let calendar = Calendar::new(budgets, at, at.plus(period));
        let mut all = calendar.intervals(reason, ASSUMED_NODES).into_iter();
        all.find(|interval| interval.allowance.allowed > 0).map(|interval| interval.start)
    };
    start_within(1).or_else(|| start_within(WEEKS))
}
