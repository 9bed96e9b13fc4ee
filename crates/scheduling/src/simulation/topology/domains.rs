//! The domains that NodePools can launch nodes in.
//!
//! Source: `buildDomainGroups` in pkg/controllers/provisioning/scheduling/topology.go and topologydomaingroup.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use super::super::catalog::Catalog;
use super::group::NodeFilter;
use crate::requirements::{EffectiveOperator, Requirement, Requirements};
use crate::taints::PoolTaint;

/// The domains of every label, each with the taints of the NodePools that offer it.
#[derive(Debug, Default)]
pub(crate) struct Domains<'d>(BTreeMap<&'d str, BTreeMap<&'d str, Vec<Vec<PoolTaint<'d>>>>>);

impl<'d> Domains<'d> {
    /// Adds the domains of a NodePool: the values that its requirements and its instance types have in common.
    pub(crate) fn add_pool(
        &mut self,
        requirements: &Requirements<'d>,
        catalog: &Catalog<'d>,
        taints: &[PoolTaint<'d>],
    ) {
        for (key, label) in &catalog.labels {
            let asked = requirements.get(key);
            for value in label.by_value.keys() {
                if asked.is_none_or(|asked| asked.has(value)) {
                    self.add(key, value, taints);
                }
            }
        }
        let has_types = !catalog.names.is_empty();
        for (key, requirement) in requirements.iter() {
            let of_types = has_types && !catalog.labels.contains_key(key);
            if of_types || requirement.operator() == EffectiveOperator::In {
                self.add_values(key, requirement, taints);
            }
        }
    }

    fn add_values(&mut self, key: &'d str, requirement: &Requirement<'d>, taints: &[PoolTaint<'d>]) {
        for value in requirement.named_values() {
            self.add(key, value, taints);
        }
    }

    fn add(&mut self, key: &'d str, domain: &'d str, taints: &[PoolTaint<'d>]) {
        let present = self.0.entry(key).or_default().entry(domain).or_default();
        if taints.is_empty() {
            present.clear();
        }
        let is_free = present.first().is_some_and(Vec::is_empty);
        if !is_free && !present.iter().any(|known| known == taints) {
            present.push(taints.to_vec());
        }
    }

    /// The domains of a label on nodes that a filter admits.
    pub(crate) fn of<'s>(
        &'s self,
        key: &str,
        filter: &'s NodeFilter<'d>,
    ) -> impl Iterator<Item = &'d str> + use<'s, 'd> {
        let all = self.0.get(key).into_iter().flatten();
        all.filter(|(_, taints)| taints.iter().any(|taints| filter.admits(taints))).map(|(domain, _)| *domain)
    }
}
