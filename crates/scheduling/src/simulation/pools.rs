//! The NodePools of a cluster with their instance types.
//!
//! Source: `NewScheduler` in pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::kind::Kind;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::catalog::Catalog;
use super::node_class::NodeClassModel;
use super::offerings::InstanceTypes;
use super::overlay;
use super::pool::{Pool, is_ready};
use super::reason::{PoolReason, ReasonKind};
use super::resources::ResourceNames;
use super::settings::SimulationSettings;

/// The NodePools of the provider, by weight, then by name backwards, with their catalogs.
pub(super) fn read_pools<'d>(
    objects: &[Object<'d>],
    names: &ResourceNames<'d>,
    settings: &'d SimulationSettings,
) -> Vec<Pool<'d>> {
    let all = objects.iter().filter(|object| object.is(Kind::NODE_POOL));
    let mut pools: Vec<Pool<'d>> =
        all.filter_map(|object| Pool::read(*object, names, settings.release)).collect();
    pools.sort_by(|one, other| {
        other.weight.cmp(&one.weight).then_with(|| other.object.name().cmp(one.object.name()))
    });
    let has_overlays = settings.node_overlays && SchedulerBehaviour::NODE_OVERLAYS.holds_in(settings.release);
    let prices_types = has_overlays && SchedulerBehaviour::OVERLAY_PRICES.holds_in(settings.release);
    let overlay_prices = if prices_types { overlay::prices_of_types(objects) } else { BTreeMap::new() };
    let types = InstanceTypes::new(settings, overlay_prices);
    let is_used = |name: &str| pools.iter().any(|pool| pool.node_class == name);
    let classes = objects.iter().filter_map(|object| Ec2NodeClass::of(*object));
    let present = classes.map(|class| (class.object().name(), Some(class))).filter(|(name, _)| is_used(name));
    let assumed = pools.iter().map(|pool| (pool.node_class, None)).filter(|_| settings.assumes_node_classes);
    let mut catalogs: BTreeMap<&str, Rc<Catalog<'d>>> = BTreeMap::new();
    for (name, class) in present.chain(assumed) {
        if class.is_some() || !catalogs.contains_key(name) {
            let model = NodeClassModel::read(class, names, settings);
            catalogs.insert(name, Rc::new(types.catalog(class, &model, names, settings)));
        }
    }
    for pool in &mut pools {
        pool.catalog = catalogs.get(pool.node_class).cloned().unwrap_or_default();
    }
    if has_overlays {
        overlay::apply(&mut pools, objects, names);
    }
    pools
}

/// The NodePools that are not Ready.
pub(super) fn unready<'d>(objects: &[Object<'d>]) -> Vec<PoolReason<'d>> {
    let pools = objects.iter().filter(|object| object.is(Kind::NODE_POOL) && !is_ready(**object));
    pools
        .map(|pool| PoolReason::unusable(*pool, ReasonKind::PoolNotReady, "the NodePool is not Ready"))
        .collect()
}
