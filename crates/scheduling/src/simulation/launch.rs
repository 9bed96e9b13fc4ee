//! Launch of a new node, for the rounds after the round that opens it: its cheapest instance type, in the first zone by name.
//!
//! Source: the provider launches the cheapest offering that EC2 has, and the node gets the labels of the instance
//! (`Launch` and `instanceToNodeClaim` of aws/karpenter-provider-aws, and `PopulateNodeClaimDetails` in
//! pkg/controllers/nodeclaim/lifecycle/launch.go of kubernetes-sigs/karpenter, both at v1.14.1).

use karpenter::labels;

use super::catalog::{Offering, TypeId, TypeResources, TypeSet};
use super::claim::Claim;
use super::pool::Pool;
use crate::requirements::{EffectiveOperator, Requirement, Requirements};

/// Instance type and offering of a new node.
pub(super) struct Launch<'c, 'd> {
    /// The NodePool.
    pub(super) pool: &'c Pool<'d>,
    requirements: &'c Requirements<'d>,
    id: TypeId,
    /// The offering.
    pub(super) offering: &'c Offering<'d>,
    /// The resources of the instance type.
    pub(super) resources: Option<&'c TypeResources>,
}

impl<'c, 'd> Launch<'c, 'd> {
    /// The launch of a node; `None` if no instance type can be bought.
    pub(super) fn of(claim: &'c Claim<'d>) -> Option<Self> {
        Self::of_types(claim, &claim.types)
    }

    /// The launch of a node with one of some instance types.
    pub(super) fn of_types(claim: &'c Claim<'d>, types: &TypeSet) -> Option<Self> {
        let catalog = &claim.pool.catalog;
        let mut types = types.clone();
        types.intersect_with(&catalog.offered(&claim.requirements));
        let id = catalog.cheapest(&types, &claim.requirements)?;
        let offerings = catalog.compatible_offerings(&claim.requirements);
        let available = offerings.filter(|offering| offering.types.contains(id));
        let offering = available.min_by(|one, other| {
            one.price(id).total_cmp(&other.price(id)).then_with(|| one.zone.cmp(other.zone))
        })?;
        let resources = catalog.resources.get(id);
        Some(Self { pool: &claim.pool, requirements: &claim.requirements, id, offering, resources })
    }

    /// The name of the instance type.
    pub(super) fn instance_type(&self) -> &'static str {
        self.pool.catalog.names.get(self.id).copied().unwrap_or_default()
    }

    /// The price in USD per hour.
    pub(super) fn price(&self) -> f64 {
        self.offering.price(self.id)
    }

    /// The labels of the node: of the offering, of the instance type where it has one value, and of the NodeClaim.
    pub(super) fn labels(&self) -> Requirements<'d> {
        let mut all = Requirements::default();
        for (key, requirement) in self.requirements.iter() {
            let mut values = requirement.named_values();
            if let (EffectiveOperator::In, Some(value), None) =
                (requirement.operator(), values.next(), values.next())
            {
                all.replace(key, Requirement::is(value));
            }
        }
        for (key, label) in &self.pool.catalog.labels {
            let mut values = label.by_value.iter().filter(|(_, types)| types.contains(self.id));
            if let (Some((value, _)), None) = (values.next(), values.next()) {
                all.replace(key, Requirement::is(value));
            }
        }
        for (key, requirement) in self.offering.requirements.iter() {
            if requirement.operator() == EffectiveOperator::In {
                all.replace(key, requirement.clone());
            } else {
                all.remove(key);
            }
        }
        all.replace(labels::NODEPOOL, Requirement::is(self.pool.object.name()));
        all
    }
}
