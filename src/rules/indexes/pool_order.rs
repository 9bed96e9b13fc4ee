//! The NodePool that Karpenter tries first for a pending pod.
//!
//! Source: `OrderByWeight` in pkg/apis/v1/nodepool.go at v1.0.0 and pkg/utils/nodepool/nodepool.go at v1.14.1, and
//! `addToNewNodeClaim` in pkg/controllers/provisioning/scheduling/scheduler.go at v1.14.1, of kubernetes-sigs/karpenter: the
//! greatest weight, then the last name, and of the NodePools that fit always the first.

use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use scheduling::pool_index::PoolIndex;
use scheduling::template::NodeTemplate;

use super::Pools;

/// The first NodePool without taints of each weight.
#[derive(Debug, Default)]
pub(crate) struct PoolOrder<'d> {
    /// By weight: the NodePool, and the position of its group in the index.
    first: BTreeMap<i64, (NodePool<'d>, usize)>,
}

/// The first NodePool without taints among some NodePools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstPool<'i, 'd> {
    /// The NodePool.
    pub(crate) pool: NodePool<'d>,
    /// Its weight.
    pub(crate) weight: i64,
    /// The nodes that it launches.
    pub(crate) template: &'i NodeTemplate<'d>,
}

/// Returns the weight of a NodePool, which is 0 by default; `None` if the value is not known, and for a static NodePool, which
/// launches no nodes for pending pods.
pub(crate) fn weight(pool: NodePool<'_>) -> Option<i64> {
    let is_static = pool.replicas().is_some_and(|replicas| !replicas.is_null());
    pool.weight().map_or(Some(0), Node::as_int).filter(|_| !is_static)
}

impl Index for PoolOrder<'static> {
    type Value<'d> = PoolOrder<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> PoolOrder<'d> {
        PoolOrder::new(inventory.index::<Pools>())
    }
}

/// The NodePool without taints that Karpenter tries first for a pending pod, of a weight or of all.
pub(crate) fn first_pool<'i, 'd>(
    inventory: &'i Inventory<'d>,
    weight: Option<i64>,
) -> Option<FirstPool<'i, 'd>> {
    inventory.index::<PoolOrder>().first(inventory.index::<Pools>(), weight)
}

impl<'d> PoolOrder<'d> {
    /// Finds the first NodePools of an index.
    fn new(index: &PoolIndex<'d>) -> Self {
        let mut first = BTreeMap::<i64, (NodePool<'d>, usize)>::new();
        for (position, group) in index.groups().iter().enumerate() {
            let untainted = group.pools.iter().filter(|_| group.template.taints.is_empty());
            for pool in untainted.filter_map(|object| NodePool::of(*object)) {
                let Some(weight) = weight(pool) else { continue };
                let known = first.entry(weight).or_insert((pool, position));
                if known.0.object().name() < pool.object().name() {
                    *known = (pool, position);
                }
            }
        }
        Self { first }
    }

    /// The first NodePool with a weight, or of all.
    fn first<'i>(&self, index: &'i PoolIndex<'d>, weight: Option<i64>) -> Option<FirstPool<'i, 'd>> {
        let weight = weight.or_else(|| self.first.keys().next_back().copied())?;
        let (pool, position) = self.first.get(&weight)?;
        Some(FirstPool { pool: *pool, weight, template: &index.groups().get(*position)?.template })
    }
}
