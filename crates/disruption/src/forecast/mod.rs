//! Forecast of a rollout: the disruptions of drifted nodes, one after the other.
//!
//! Each command is the command that the disruption engine computes for the cluster at that instant. The next command starts from its
//! result: the replacements start, the drained pods run on the nodes where the last simulation placed them, and the old nodes go.
//!
//! Source: pkg/controllers/disruption/controller.go, queue.go and drift.go of kubernetes-sigs/karpenter at v1.14.1. After a pass that
//! starts a command the controller runs again at once; after a pass in which no method acts it waits `pollingPeriod`.

mod changes;
mod clock;
mod count;
mod ending;
mod pass;
mod result;
mod roll;
mod turns;
mod wait;

use std::collections::BTreeMap;

use objects::object::Object;
use scheduling::simulation::ClusterInput;
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::cluster::ClusterState;
use crate::settings::DisruptionSettings;
use roll::Roll;

pub use result::{
    Forecast, ForecastChange, ForecastCost, ForecastNode, LimitedBy, RollReason, RolledNode, Rollout,
    RolloutChange, RolloutStep, StrandedPod,
};

/// Assumptions of every forecast, as sentences.
///
/// Karpenter gives up a command whose replacements have not started after 10 minutes, and since 1.7 after 80 milliseconds for each
/// command in progress, from 10 minutes to an hour (pkg/controllers/disruption/queue.go of
/// kubernetes-sigs/karpenter; kubernetes-sigs/karpenter#2411).
pub const ASSUMPTIONS: [&str; 9] = [
    "Nothing else changes: no pod is created or deleted, no workload is scaled, and no other node is disrupted.",
    "Emptiness, consolidation, node repair and expiration do nothing in the meantime.",
    "EC2 has capacity for the cheapest instance type of each new node, in the first zone by name.",
    "Each pod of a drained node is created again, and runs where the last simulation of Karpenter placed it.",
    "The status of each PodDisruptionBudget stays as it is, and pods end when their grace period ends.",
    "Volumes are detached, and instances end, at the end of the drain.",
    "A pass of the disruption controller takes no time.",
    "A capacity reservation does not get back the instance of a node that is gone, and static NodePools always find an instance.",
    "Karpenter does not give up a command: each replacement starts in time.",
];

/// Settings of a forecast.
#[derive(Clone, Debug)]
pub struct ForecastSettings {
    /// The time from the launch of a node until it has started completely. A negative time counts as zero.
    pub node_start: Duration,
    /// The time after which the forecast ends. A negative time counts as zero.
    pub horizon: Duration,
    /// The largest number of steps of work for each node and pod. A forecast that takes more ends early, and says so.
    pub steps_per_part: u64,
}

impl Default for ForecastSettings {
    fn default() -> Self {
        Self {
            node_start: Duration::from_minutes(2),
            horizon: Duration::from_minutes(30 * 24 * 60),
            steps_per_part: 800,
        }
    }
}

/// Forecasts the rollout of drifted nodes. `drifted` has the names of the nodes, each with the time at which the node is found to be
/// drifted. Names without a node are left out.
pub fn forecast<'d>(
    objects: &[Object<'d>],
    settings: &DisruptionSettings,
    drifted: &BTreeMap<&str, Timestamp>,
    how: &ForecastSettings,
) -> Forecast<'d> {
    let state = ClusterState::of(objects, settings);
    let input = ClusterInput::new(settings.simulation.clone(), objects).with_added_nodes(drifted.len());
    Roll::new(objects, state, input.cluster(), settings, drifted, how).run()
}
