//! The domains that NodePools can launch nodes in.
//!
//! Source: `buildDomainGroups` in pkg/controllers/provisioning/scheduling/topology.go and topologydomaingroup.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::catalog::Catalog;
use super::super::pool::Pool;
use super::group::NodeFilter;
use crate::requirements::{EffectiveOperator, Requirements};
use crate::taints::PoolTaint;

/// NodePool as far as it has domains.
#[derive(Debug)]
struct PoolDomains<'d> {
    requirements: Requirements<'d>,
    catalog: Rc<Catalog<'d>>,
    taints: Vec<PoolTaint<'d>>,
}

/// The NodePools whose labels have domains.
#[derive(Debug, Default)]
pub(crate) struct Domains<'d>(Vec<PoolDomains<'d>>);

impl<'d> Domains<'d> {
    /// The domains of NodePools.
    pub(crate) fn of_pools<'p>(pools: impl IntoIterator<Item = &'p Pool<'d>>) -> Self
    where
        'd: 'p,
    {
        let domains = |pool: &Pool<'d>| PoolDomains {
            requirements: pool.written.clone(),
            catalog: Rc::clone(&pool.catalog),
            taints: pool.taints.clone(),
        };
        Self(pools.into_iter().map(domains).collect())
    }

    /// The domains of a label on nodes that a filter admits.
    pub(crate) fn values(&self, key: &str, filter: &NodeFilter<'d>) -> BTreeSet<&'d str> {
        let admitted = self.0.iter().filter(|pool| filter.admits(&pool.taints));
        admitted.flat_map(|pool| pool.values(key)).collect()
    }
}

impl<'d> PoolDomains<'d> {
    /// The values of a label that the requirements and the instance types have in common.
    fn values(&self, key: &str) -> BTreeSet<&'d str> {
        let mut values = BTreeSet::new();
        let asked = self.requirements.get(key);
        let label = self.catalog.labels.get(key);
        if let Some(label) = label {
            let of_types = label.by_value.keys().copied();
            values.extend(of_types.filter(|value| asked.is_none_or(|asked| asked.has(value))));
        }
        let has_types = !self.catalog.names.is_empty();
        let counts = |operator| (has_types && label.is_none()) || operator == EffectiveOperator::In;
        if let Some(asked) = asked.filter(|asked| counts(asked.operator())) {
            values.extend(asked.named_values());
        }
        values
    }
}
