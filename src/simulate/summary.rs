//! Totals of a simulation.

use scheduling::simulation::{Placement, SimulatedClaim, SimulationResult};

/// Hours of a month: 365 days of 24 hours divided by 12, as the AWS Pricing Calculator and other tools count
/// (infracost/infracost#1556, cycloidio/terracost#10).
pub const HOURS_PER_MONTH: f64 = 730.0;

/// Numbers of pods and nodes, and the price of the new nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulationSummary {
    /// Pods.
    pub pods: usize,
    /// Pods on new nodes.
    pub new: usize,
    /// Pods on existing nodes.
    pub existing: usize,
    /// Pods without a node.
    pub unplaced: usize,
    /// Pods that Karpenter ignores.
    pub ignored: usize,
    /// Pods that were not tried, because the input takes too much work.
    pub untried: usize,
    /// New nodes.
    pub claims: usize,
    /// USD per hour, if each new node is of its cheapest type.
    pub price: f64,
    /// Whether the price of a node is a spot price.
    pub with_spot: bool,
    /// USD per hour, if the same new nodes are on demand.
    pub on_demand: f64,
    /// USD per hour, if the same new nodes have spot capacity.
    pub spot: f64,
}

impl SimulationSummary {
    /// The totals of a result.
    pub fn of(outcome: &SimulationResult<'_>) -> Self {
        let mut summary = Self { pods: outcome.pods.len(), claims: outcome.claims.len(), ..Self::default() };
        for pod in &outcome.pods {
            match pod.placement {
                Placement::New(_) => summary.new += 1,
                Placement::Existing(_) | Placement::Added(_) => summary.existing += 1,
                Placement::Unplaced(_) | Placement::Unreported => summary.unplaced += 1,
                Placement::Ignored(_) => summary.ignored += 1,
                Placement::Untried => summary.untried += 1,
            }
        }
        // The sum of no numbers would be -0.0.
        let sum = |price: fn(&SimulatedClaim<'_>) -> Option<f64>| {
            outcome.claims.iter().filter_map(price).fold(0.0, |sum, price| sum + price)
        };
        summary.price = sum(|claim| claim.cheapest.first().map(|(_, price)| *price));
        summary.on_demand = sum(|claim| claim.on_demand_price);
        summary.spot = sum(|claim| claim.spot_price);
        summary.with_spot = outcome.claims.iter().any(|claim| claim.capacity_types.contains(&"spot"));
        summary
    }
}
