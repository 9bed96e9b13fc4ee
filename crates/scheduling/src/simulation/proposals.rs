//! The changes to try for a pod that a NodePool does not take. None is shown before it was simulated.

use std::rc::Rc;

use karpenter::instance_types::hints::{Hint, hint};
use karpenter::instance_types::names::{Standing, standing, values};
use karpenter::known_values::{self, ZoneMistake, zone_mistake};
use karpenter::labels::{self, LabelField};
use objects::node_pool::NodePool;

use super::catalog::{TypeId, TypeSet};
use super::pool::Pool;
use super::reason::{Disagreement, NearestMiss, UnmetLabel};
use super::remedy::Remedy;
use super::report::OF_EVERY_NODE;
use super::variant::Variant;
use crate::other_nodes::{LabelReplacement, capacity_type_of, is_node_group_label, replacement_of_key};
use crate::requirements::{EffectiveOperator, Requirement, Requirements};

const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const ARCH: &str = "kubernetes.io/arch";

/// The changes to try for the demands that a NodePool does not meet, each with its parts: a change for a single demand, or one change for
/// each of two demands.
pub(super) fn proposals<'d>(
    pool: &Pool<'d>,
    pod: Option<&Variant<'d>>,
    demands: &[Disagreement<'d>],
) -> Vec<Vec<Remedy<'d>>> {
    let misses: Vec<NearestMiss<'d>> = demands
        .iter()
        .filter_map(|demand| if let Disagreement::Resource(miss) = demand { Some(*miss) } else { None })
        .collect();
    if !misses.is_empty() && misses.len() == demands.len() {
        let near = misses.first().map(|miss| miss.instance_type);
        let wider = pod.and_then(|pod| wider_types(pool, pod, near));
        return lower_requests(&misses).into_iter().chain(wider).map(|one| vec![one]).collect();
    }
    match demands {
        [only] => single(pool, pod, only).into_iter().map(|one| vec![one]).collect(),
        [first, second] => {
            let first = single(pool, pod, first).into_iter().next();
            let second = single(pool, pod, second).into_iter().next();
            first.zip(second).map(|(first, second)| vec![first, second]).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Changes for one demand.
fn single<'d>(pool: &Pool<'d>, pod: Option<&Variant<'d>>, demand: &Disagreement<'d>) -> Vec<Remedy<'d>> {
    match demand {
        Disagreement::Taint(taint) => vec![Remedy::Tolerate(*taint)],
        Disagreement::Label(label) => match in_words_of_karpenter(pool, label) {
            Some(meant) => vec![meant, Remedy::DropLabel(label.key)],
            None if is_of_node_groups(label) => vec![Remedy::DropLabel(label.key)],
            None if label.is_of_types => {
                let wider = pod.and_then(|pod| wider_types(pool, pod, None));
                wider.into_iter().chain([Remedy::DropLabel(label.key)]).collect()
            }
            None => in_pool(pool, label).into_iter().chain([in_pod(label)]).collect(),
        },
        Disagreement::HostPort(port) => vec![Remedy::FreePort(*port)],
        Disagreement::Volume(label) => in_pool(pool, label).into_iter().collect(),
        Disagreement::Topology(key) => renamed_topology(pool, key).into_iter().collect(),
        Disagreement::Resource(miss) => lower_requests(std::slice::from_ref(miss)).into_iter().collect(),
        Disagreement::MinValues(miss) => {
            let to = i64::try_from(miss.found).unwrap_or(i64::MAX);
            vec![Remedy::LowerMinValues { pool: pool.object, key: miss.key, to }]
        }
        Disagreement::Limits(miss) => {
            let raise = miss.map(|miss| Remedy::RaiseLimit { pool: pool.object, resource: miss.resource });
            raise.into_iter().collect()
        }
        Disagreement::OwnRequirement(_) => Vec::new(),
    }
}

/// Requests that the closest instance type has room for; `None` if it lacks a resource altogether.
fn lower_requests<'d>(misses: &[NearestMiss<'d>]) -> Option<Remedy<'d>> {
    let lacks = misses.iter().any(|miss| miss.largest.is_zero());
    (!lacks).then(|| Remedy::Request(misses.iter().map(|miss| (miss.resource, miss.largest)).collect()))
}

/// The label or the value of Karpenter's nodes that a pod means: the value instead of a misspelt one, the zone ID where a name of a zone
/// belongs, and the label instead of a label of node groups.
fn in_words_of_karpenter<'d>(pool: &Pool<'d>, label: &UnmetLabel<'d>) -> Option<Remedy<'d>> {
    let key = label.key;
    match replacement_of_key(key).filter(|_| label.present.is_none()) {
        Some(LabelReplacement::Pool) => {
            return Some(Remedy::ReplaceLabel { from: key, to: labels::NODEPOOL, value: pool.object.name() });
        }
        Some(LabelReplacement::CapacityType) => {
            let value = listed(&label.asked).and_then(capacity_type_of)?;
            return Some(Remedy::ReplaceLabel { from: key, to: labels::CAPACITY_TYPE, value });
        }
        Some(LabelReplacement::Gpu | LabelReplacement::Nothing) => return None,
        None => {}
    }
    if !asks_for_no_known_value(label) {
        return None;
    }
    let asked = listed(&label.asked)?;
    if key == labels::ZONE {
        return Some(Remedy::ReplaceLabel { from: key, to: labels::ZONE_ID, value: asked });
    }
    let value = match known_values::of_label(key) {
        Some(known) => known.meant(asked)?,
        None => match hint(key, asked)? {
            Hint::Near(near) | Hint::Spelling(near) => {
                values(key).iter().copied().find(|value| *value == near)?
            }
            Hint::Advice(_) => return None,
        },
    };
    Some(Remedy::AskValue { key, value })
}

/// Whether a pod asks for a label of node groups that the NodePool does not set.
pub fn is_of_node_groups(label: &UnmetLabel<'_>) -> bool {
    label.present.is_none() && is_node_group_label(label.key)
}

/// Whether a pod lists only values of a label that no instance has, as far as they are known; for zones, only zone IDs.
pub fn asks_for_no_known_value(label: &UnmetLabel<'_>) -> bool {
    let is_known = |value: &str| match known_values::of_label(label.key) {
        Some(known) => known.values.contains(&value),
        None if label.key == labels::ZONE => zone_mistake(value) != Some(ZoneMistake::ZoneId),
        None => standing(label.key, value).is_none_or(|standing| standing == Standing::Known),
    };
    listed(&label.asked).is_some() && !label.asked.named_values().any(is_known)
}

/// The value that a pod or its volumes ask for, in the NodePool. A label of the nodes has one value, and Karpenter sets some labels
/// itself.
fn in_pool<'d>(pool: &Pool<'d>, label: &UnmetLabel<'d>) -> Option<Remedy<'d>> {
    let key = label.key;
    let is_label = NodePool::of(pool.object)?.node_labels().any(|(name, _)| name == key);
    let field = LabelField::PoolLabel;
    let is_refused =
        !labels::refused_at_apply(field, key).or(labels::refused_at_run_time(field, key)).is_empty();
    let value = listed(&label.asked).filter(|_| !is_label)?;
    let pool = pool.object;
    match &label.present {
        Some(_) if OF_EVERY_NODE.contains(&key) => None,
        Some(_) => Some(Remedy::AllowValue { pool, key, value }),
        None if is_refused => None,
        None => Some(Remedy::AddLabel { pool, key, value }),
    }
}

/// The first accepted value, if a requirement lists the accepted values.
fn listed<'d>(requirement: &Requirement<'d>) -> Option<&'d str> {
    let is_in = requirement.operator() == EffectiveOperator::In;
    requirement.named_values().next().filter(|_| is_in)
}

/// A value of the NodePool instead of a value that the pod lists; no requirement if either lists no values.
fn in_pod<'d>(label: &UnmetLabel<'d>) -> Remedy<'d> {
    match listed(&label.asked).and(label.present.as_ref()).and_then(listed) {
        Some(value) => Remedy::AskValue { key: label.key, value },
        None => Remedy::DropLabel(label.key),
    }
}

/// The label to write instead of a `topologyKey` of which Karpenter knows no value.
fn renamed_topology<'d>(pool: &Pool<'d>, key: &'d str) -> Option<Remedy<'d>> {
    let is_known =
        key == labels::HOSTNAME || !labels::well_known(key).is_empty() || pool.written.get(key).is_some();
    let to = labels::likely_topology(key).filter(|_| !is_known)?;
    Some(Remedy::RenameTopology { from: key, to })
}

/// The value with which one requirement of the NodePool would leave an instance type for the pod. Of the types that a single requirement
/// excludes, the cheapest is taken, but first from the family of the type that comes closest, then from its architecture: an image may not
/// run on another one.
fn wider_types<'d>(pool: &Pool<'d>, pod: &Variant<'d>, near: Option<&str>) -> Option<Remedy<'d>> {
    let catalog = &pool.catalog;
    let fitting = fitting_types(pool, pod);
    let accepted: Vec<(&'d str, Rc<TypeSet>)> = pool
        .written
        .iter()
        .filter_map(|(key, requirement)| Some((key, catalog.accepted(key, requirement)?)))
        .collect();
    let excluding = |id: TypeId| {
        let mut keys = accepted.iter().filter(|(_, types)| !types.contains(id)).map(|(key, _)| *key);
        keys.next().filter(|_| keys.next().is_none())
    };
    let mut reachable = TypeSet::empty(fitting.capacity());
    reachable.extend(fitting.iter().filter(|id| excluding(*id).is_some()));
    let offered = offered_to(pool, pod);
    reachable.intersect_with(&catalog.offered(&offered));
    let near = near.and_then(|name| catalog.names.enumerate().find(|(_, one)| **one == name));
    let value = |key: &str, id: TypeId| {
        let mut values = catalog.labels.get(key)?.by_value.iter();
        values.find(|(_, types)| types.contains(id)).map(|(value, _)| *value)
    };
    let differs = |key: &str, id: TypeId| near.is_some_and(|(near, _)| value(key, near) != value(key, id));
    let by_price = catalog.by_price(&reachable, &offered).into_iter();
    let (id, _) = by_price.min_by_key(|(id, _)| (differs(FAMILY, *id), differs(ARCH, *id)))?;
    let key = excluding(id)?;
    Some(Remedy::AllowValue { pool: pool.object, key, value: value(key, id)? })
}

/// The types with the labels and the resources that a pod asks for, beside the daemons of the NodePool.
fn fitting_types<'d>(pool: &Pool<'d>, pod: &Variant<'d>) -> TypeSet {
    let mut types = pool.catalog.all();
    pool.catalog.retain_compatible(&mut types, &pod.requirements);
    let mut requests = pod.shape.requests.clone();
    for group in pool.groups.iter().take(1) {
        requests.add(&group.overhead);
    }
    pool.catalog.retain_fitting(&mut types, &requests);
    types
}

/// The zones and capacity types that the NodePool and the pod accept.
fn offered_to<'d>(pool: &Pool<'d>, pod: &Variant<'d>) -> Requirements<'d> {
    let mut all = pool.requirements.clone();
    all.extend(pod.requirements.iter().map(|(key, one): (_, &Requirement<'d>)| (key, one.clone())));
    all
}
