//! NodeOverlays: other prices and additional capacity for instance types.
//!
//! Source: pkg/controllers/nodeoverlay of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::labels;
use karpenter::operator::Operator;
use manifest::tree::{Node, items_of, members_of};
use objects::node_overlay::NodeOverlay;
use objects::object::Object;

use super::amounts::AmountIndex;
use super::catalog::{Catalog, OfferingId, TypeId, TypeSet};
use super::offerings::subtract_huge_pages;
use super::pool::Pool;
use super::resources::{ResourceNames, Resources};
use crate::requirements::{Requirement, Requirements};
use crate::scalar::text;

const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// NodeOverlay as the controller uses it.
struct Overlay<'d> {
    name: &'d str,
    weight: i64,
    requirements: Requirements<'d>,
    price: Option<&'d str>,
    capacity: Option<Resources>,
}

impl<'d> Overlay<'d> {
    fn read(object: Object<'d>, names: &ResourceNames<'d>) -> Option<Self> {
        let overlay = NodeOverlay::of(object)?;
        let mut requirements = Requirements::default();
        for item in overlay.requirements().items() {
            let parsed =
                item.operator().and_then(|operator| Requirement::new(operator, item.values().map(text)));
            requirements.extend(item.key().zip(parsed));
        }
        let adjustment = object.at(&["spec", "priceAdjustment"]);
        Some(Self {
            name: object.name(),
            weight: overlay.weight().and_then(Node::as_int).unwrap_or_default(),
            requirements,
            price: overlay.price().or(adjustment).map(text),
            capacity: overlay.capacity().map(|capacity| names.parse(members_of(Some(capacity)))),
        })
    }
}

/// The prices of instance types that have none, by instance type: of the valid NodeOverlays that only name instance types. With the
/// price, such a type is sold, on demand and as spot capacity.
///
/// Source: `GetOverlayPrice` in pkg/providers/instancetype/offering/offering.go of aws/karpenter-provider-aws at v1.14.1. The overlays
/// come in no order there; here a later name supersedes an earlier one.
pub(crate) fn prices_of_types<'d>(objects: &[Object<'d>]) -> BTreeMap<&'d str, f64> {
    let mut overlays: Vec<NodeOverlay<'d>> =
        objects.iter().filter_map(|object| NodeOverlay::of(*object)).collect();
    overlays.sort_by_key(|overlay| overlay.object().name());
    let mut prices = BTreeMap::new();
    for overlay in overlays.into_iter().filter(|overlay| is_valid(overlay.object())) {
        let price = overlay.object().at(&["spec", "price"]).and_then(|price| text(price).parse::<f64>().ok());
        let mut items = overlay.requirements().items();
        let (Some(price), Some(item), None) = (price, items.next(), items.next()) else { continue };
        if item.key() == Some(INSTANCE_TYPE) && item.operator() == Some(Operator::In) {
            prices.extend(item.values().map(|value| (text(value), price)));
        }
    }
    prices
}

/// Whether the status does not say otherwise.
fn is_valid(overlay: Object<'_>) -> bool {
    let mut conditions = items_of(overlay.at(&["status", "conditions"]));
    let is_validation = |condition: &Node<'_>| condition.str_at(&["type"]) == Some("ValidationSucceeded");
    conditions.find(is_validation).is_none_or(|condition| condition.str_at(&["status"]) == Some("True"))
}

/// Change of one price. The weight is the lowest one of the overlays that apply.
struct PriceChange<'d> {
    price: &'d str,
    weight: i64,
}

/// Changes of one instance type. The weight is the lowest one of the overlays that apply.
#[derive(Default)]
struct CapacityChange {
    capacity: Resources,
    lowest: Resources,
    weight: i64,
}

/// Changes of the instance types of a NodePool.
#[derive(Default)]
struct Changes<'d> {
    /// By offering and instance type.
    prices: BTreeMap<(OfferingId, TypeId), PriceChange<'d>>,
    capacity: BTreeMap<TypeId, CapacityChange>,
}

/// Applies the NodeOverlays to the catalogs of NodePools.
pub(crate) fn apply<'d>(pools: &mut [Pool<'d>], objects: &[Object<'d>], names: &ResourceNames<'d>) {
    let mut overlays: Vec<Overlay<'d>> =
        objects.iter().filter_map(|object| Overlay::read(*object, names)).collect();
    overlays.sort_by(|one, other| other.weight.cmp(&one.weight).then_with(|| other.name.cmp(one.name)));
    let mut changes: Vec<Changes<'d>> = pools.iter().map(|_| Changes::default()).collect();
    for overlay in &overlays {
        let matches: Vec<Vec<(OfferingId, TypeSet)>> =
            pools.iter().map(|pool| matching_offerings(pool, overlay)).collect();
        let conflict =
            changes.iter().zip(&matches).any(|(changes, matches)| changes.conflicts(overlay, matches));
        if !conflict {
            for (changes, matches) in changes.iter_mut().zip(&matches) {
                changes.add(overlay, matches);
            }
        }
    }
    for (pool, changes) in pools.iter_mut().zip(changes) {
        if !changes.prices.is_empty() || !changes.capacity.is_empty() {
            pool.catalog = Rc::new(changes.applied(&pool.catalog, names));
        }
    }
}

/// The offerings that an overlay changes, each with the instance types.
fn matching_offerings<'d>(pool: &Pool<'d>, overlay: &Overlay<'d>) -> Vec<(OfferingId, TypeSet)> {
    let catalog = &pool.catalog;
    let mut types = catalog.all();
    let mut of_pool = Requirements::default();
    of_pool.add(labels::NODEPOOL, Requirement::is(pool.object.name()));
    let labels = pool.object.at(&["spec", "template", "metadata", "labels"]);
    of_pool.extend(members_of(labels).map(|(key, value)| (key, Requirement::is(text(value)))));
    let mut rest = Requirements::default();
    for (key, requirement) in overlay.requirements.iter() {
        match catalog.accepted(key, requirement) {
            Some(accepted) => types.intersect_with(&accepted),
            None => rest.add(key, requirement.clone()),
        }
    }
    if of_pool.compatible_strictly(&rest).is_err() {
        return Vec::new();
    }
    let offerings = catalog.offerings.enumerate();
    let compatible =
        offerings.filter(|(_, offering)| overlay.requirements.compatible(&offering.requirements).is_ok());
    let changed = compatible.map(|(id, offering)| {
        let mut both = types.clone();
        both.intersect_with(&offering.types);
        (id, both)
    });
    changed.filter(|(_, types)| !types.is_empty()).collect()
}

impl<'d> Changes<'d> {
    /// Whether an overlay of the same weight changes the same price or resource.
    fn conflicts(&self, overlay: &Overlay<'d>, matches: &[(OfferingId, TypeSet)]) -> bool {
        matches.iter().any(|(offering, types)| {
            types.iter().any(|of| {
                let price = self.prices.get(&(*offering, of));
                let same_price =
                    overlay.price.is_some() && price.is_some_and(|change| change.weight == overlay.weight);
                let change = self.capacity.get(&of).filter(|change| change.weight == overlay.weight);
                let resources = overlay.capacity.iter().flat_map(Resources::iter);
                let mut ids = resources.map(|(id, _)| id);
                same_price || change.is_some_and(|change| ids.any(|id| change.lowest.find(id).is_some()))
            })
        })
    }

    fn add(&mut self, overlay: &Overlay<'d>, matches: &[(OfferingId, TypeSet)]) {
        for (offering, types) in matches {
            for of in types.iter() {
                if let Some(price) = overlay.price {
                    let change = PriceChange { price, weight: overlay.weight };
                    self.prices.entry((*offering, of)).or_insert(change).weight = overlay.weight;
                }
            }
        }
        let Some(capacity) = &overlay.capacity else { return };
        let mut types = TypeSet::default();
        for (_, of_offering) in matches {
            types.union_with(of_offering);
        }
        for of in types.iter() {
            let change = self.capacity.entry(of).or_default();
            for (id, amount) in capacity.iter() {
                if change.capacity.find(id).is_none() {
                    change.capacity.set(id, amount);
                }
            }
            change.lowest.clone_from(capacity);
            change.weight = overlay.weight;
        }
    }

    fn applied(&self, catalog: &Catalog<'d>, names: &ResourceNames<'d>) -> Catalog<'d> {
        let mut changed = Catalog { amounts: AmountIndex::default(), ..catalog.clone() };
        for (of, change) in &self.capacity {
            let Some(resources) = changed.resources.get_mut(*of) else { continue };
            for (id, amount) in change.capacity.iter() {
                let overhead = resources.capacity.get(id).minus(resources.allocatable.get(id));
                resources.capacity.set(id, amount);
                resources.allocatable.set(id, amount.minus(overhead));
            }
            subtract_huge_pages(resources, names);
        }
        for ((offering, of), change) in &self.prices {
            let Some(offering) = changed.offerings.get_mut(*offering) else { continue };
            if let Some(present) = Rc::make_mut(&mut offering.prices).get_mut(*of) {
                *present = adjusted(*present, change.price);
            }
        }
        changed
    }
}

/// Returns a price after a change: `+0.5`, `-10%`, or a new price.
fn adjusted(price: f64, change: &str) -> f64 {
    if !change.starts_with(['+', '-']) {
        return change.parse().unwrap_or(price);
    }
    let percent = change.strip_suffix('%');
    let amount: f64 = percent.unwrap_or(change).parse().unwrap_or_default();
    let changed = if percent.is_some() { price * (1.0 + amount / 100.0) } else { price + amount };
    changed.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusts_prices_by_amount_and_percentage() {
        let close = |change: &str, expected: f64| (adjusted(2.0, change) - expected).abs() < 1e-9;
        assert!(close("5", 5.0) && close("+0.5", 2.5) && close("-0.5", 1.5) && close("-3", 0.0));
        assert!(close("-10%", 1.8) && close("+50%", 3.0));
    }
}
