//! The zones that the NodePools of a cluster serve.

use std::collections::BTreeSet;

use crate::object::Object;
use crate::storage::ZONE_KEYS;
use manifest::tree::{Node, items_of};

/// The zones that some NodePool can launch nodes in.
#[derive(Debug, Default)]
pub struct ServedZones<'d> {
    /// Named by pools that say which zones they serve.
    named: BTreeSet<&'d str>,
    /// Left out by every pool that does not name any; `None` where there is no such pool.
    open_but: Option<BTreeSet<&'d str>>,
    /// How many pools there are.
    pools: usize,
}

impl<'d> ServedZones<'d> {
    /// Gathers the zones of NodePools.
    pub fn of(pools: impl Iterator<Item = Object<'d>>) -> Self {
        let mut served = Self::default();
        for pool in pools {
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

    /// Whether there are pools at all.
    pub fn is_known(&self) -> bool {
        self.pools > 0
    }

    /// Whether some pool serves a zone.
    pub fn serves(&self, zone: &str) -> bool {
        self.named.contains(zone) || self.open_but.as_ref().is_some_and(|excluded| !excluded.contains(zone))
    }

    /// The zones that are named, for a person to read.
    pub fn named(&self) -> String {
        let names: Vec<_> = self.named.iter().map(|zone| format!("`{zone}`")).collect();
        names.join(", ")
    }
}

/// The zones that a pool names, and those that it excludes.
fn zones_of<'d>(pool: Object<'d>) -> (Option<BTreeSet<&'d str>>, BTreeSet<&'d str>) {
    let mut named: Option<BTreeSet<&'d str>> = None;
    let mut excluded = BTreeSet::new();
    let mut restrict = |zones: BTreeSet<&'d str>| {
        named = Some(match named.take() {
            None => zones,
            Some(before) => before.into_iter().filter(|zone| zones.contains(zone)).collect(),
        });
    };
    let requirements = pool.at(&["spec", "template", "spec", "requirements"]);
    for requirement in items_of(requirements) {
        if !requirement.str_at(&["key"]).is_some_and(|key| ZONE_KEYS.contains(&key)) {
            continue;
        }
        let values = requirement.items_at(&["values"]).filter_map(Node::as_str);
        match requirement.str_at(&["operator"]) {
            Some("In") => restrict(values.collect()),
            Some("NotIn") => excluded.extend(values),
            _ => {}
        }
    }
    for key in ZONE_KEYS {
        if let Some(zone) = pool.str_at(&["spec", "template", "metadata", "labels", key]) {
            restrict(BTreeSet::from([zone]));
        }
    }
    (named, excluded)
}
