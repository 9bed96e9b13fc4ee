//! The zones that the NodePools of a cluster serve.

use std::collections::BTreeSet;

use karpenter::known_values::is_replaced;
use karpenter::labels::ZONE;
use manifest::tree::Node;

use crate::node_pool::NodePool;
use crate::object::Object;
use crate::requirement::LabelRequirement;
use crate::storage::ZONE_KEYS;

/// Zones that at least one NodePool can launch nodes in.
#[derive(Debug, Default)]
pub struct ServedZones<'d> {
    /// Zones that NodePools name.
    named: BTreeSet<&'d str>,
    /// Zones that every NodePool without named zones excludes; `None` if every NodePool names zones.
    open_but: Option<BTreeSet<&'d str>>,
    /// Number of NodePools.
    pools: usize,
}

impl<'d> ServedZones<'d> {
    /// Collects the zones of NodePools.
    pub fn of(pools: impl Iterator<Item = Object<'d>>) -> Self {
        let mut served = Self::default();
        for pool in pools.filter_map(NodePool::of) {
            served.pools += 1;
            let (named, excluded) = zones_of(pool);
            match named {
                Some(named) => served.named.extend(named.into_iter().filter(|zone| !excluded.contains(zone))),
                None => {
                    served.open_but = Some(match served.open_but.take() {
                        None => excluded,
                        Some(all) => all.into_iter().filter(|zone| excluded.contains(zone)).collect(),
                    });
                }
            }
        }
        served
    }

    /// Whether there is any NodePool.
    pub fn is_known(&self) -> bool {
        self.pools > 0
    }

    /// Whether a NodePool serves a zone.
    pub fn serves(&self, zone: &str) -> bool {
        self.named.contains(zone) || self.open_but.as_ref().is_some_and(|excluded| !excluded.contains(zone))
    }

    /// The zone of every NodePool, if they all name the same single zone.
    pub fn only(&self) -> Option<&'d str> {
        let mut named = self.named.iter().copied();
        let first = named.next().filter(|_| self.open_but.is_none())?;
        named.next().is_none().then_some(first)
    }

    /// The named zones, for a message.
    pub fn named(&self) -> String {
        let names: Vec<_> = self.named.iter().map(|zone| format!("`{zone}`")).collect();
        names.join(", ")
    }
}

/// The zones that the requirements of a NodePool list.
pub fn listed_zones(pool: NodePool<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    let (named, excluded) = zones_of(pool);
    let items = pool.requirements().parsed();
    let zones = items.filter(|item| ZONE_KEYS.contains(&item.key) && item.operator == "In");
    let zones = zones.flat_map(LabelRequirement::values);
    zones.filter(move |(zone, _)| {
        named.as_ref().is_none_or(|named| named.contains(zone)) && !excluded.contains(zone)
    })
}

/// Returns the zones that a NodePool names, if it names any, and the zones that it excludes. A list with a placeholder may name any
/// zone.
fn zones_of<'d>(pool: NodePool<'d>) -> (Option<BTreeSet<&'d str>>, BTreeSet<&'d str>) {
    let mut named: Option<BTreeSet<&'d str>> = None;
    let mut excluded = BTreeSet::new();
    let mut restrict = |zones: BTreeSet<&'d str>| {
        named = Some(match named.take() {
            None => zones,
            Some(before) => before.into_iter().filter(|zone| zones.contains(zone)).collect(),
        });
    };
    for requirement in pool.requirements().items() {
        if !requirement.key().is_some_and(|key| ZONE_KEYS.contains(&key)) {
            continue;
        }
        let values = requirement.values().filter_map(Node::as_str);
        match requirement.operator_text() {
            Some("In") if values.clone().any(|zone| is_replaced(ZONE, zone)) => {}
            Some("In") => restrict(values.collect()),
            Some("NotIn") => excluded.extend(values),
            _ => {}
        }
    }
    for key in ZONE_KEYS {
        let label = pool.template().and_then(|template| template.metadata().label(key));
        if let Some(zone) = label.and_then(Node::as_str).filter(|zone| !is_replaced(ZONE, zone)) {
            restrict(BTreeSet::from([zone]));
        }
    }
    (named, excluded)
}
