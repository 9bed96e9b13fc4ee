//! The zones that the NodePools of a cluster serve.

use crate::by_name::Names;
use crate::karpenter::storage::ZONE_KEYS;
use crate::manifest::tree::{Node, items_of};
use crate::object::Object;

/// The zones that some NodePool can launch nodes in.
#[derive(Debug, Default)]
pub struct ServedZones<'d> {
    /// Named by pools that say which zones they serve.
    named: Names<'d>,
    /// Left out by every pool that does not name any; `None` where there is no such pool.
    open_but: Option<Names<'d>>,
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
                Some(named) => served.named.extend(named.names().filter(|zone| !excluded.contains(zone))),
                None => {
                    served.open_but = Some(match served.open_but.take() {
                        None => excluded,
                        Some(all) => all.names().filter(|zone| excluded.contains(zone)).collect(),
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
        let names: Vec<_> = self.named.names().map(|zone| format!("`{zone}`")).collect();
        names.join(", ")
    }
}

/// The zones that a pool names, and those that it excludes.
fn zones_of<'d>(pool: Object<'d>) -> (Option<Names<'d>>, Names<'d>) {
    let mut named: Option<Names<'d>> = None;
    let mut excluded = Names::default();
    let mut restrict = |zones: Names<'d>| {
        named = Some(match named.take() {
            None => zones,
            Some(before) => before.names().filter(|zone| zones.contains(zone)).collect(),
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
            restrict(Names::from_iter([zone]));
        }
    }
    (named, excluded)
}

/// What stands before and after the `-az` of a zone's id.
pub(super) fn id_parts(text: &str) -> Option<(&str, &str)> {
    let (region, number) = text.rsplit_once('z')?;
    Some((region.strip_suffix("-a")?, number))
}

/// Whether a text is the id of a zone, such as `use1-az1`, rather than its name: no node has it as
/// `topology.kubernetes.io/zone`.
pub fn is_zone_id(text: &str) -> bool {
    let Some((region, number)) = id_parts(text) else { return false };
    let region =
        region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    region && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
