//! Facts that objects do not show: the time, the settings of the controller, and the contents of its memory.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::Release;
use scheduling::simulation::SimulationSettings;
use values::duration::Duration;
use values::timestamp::Timestamp;

/// Nomination of a node for a pending pod with the default `BATCH_MAX_DURATION` of 10 s: twice that duration, but at least
/// 10 s (`nominationWindow` in pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.1).
const NOMINATION: Duration = Duration::from_nanoseconds(20_000_000_000);

/// Nodes that single-node consolidation looks at in about three minutes.
const MAX_SINGLE_NODES: usize = 1_000;

/// Steps of work for each node and pod in all simulations of a judgement together. A step takes about 50 nanoseconds.
const STEPS_PER_PART: u64 = 50_000;

/// Facts that objects do not show.
#[derive(Clone, Debug)]
pub struct DisruptionSettings {
    /// The time.
    pub now: Timestamp,
    /// The settings of the scheduler, with the release.
    pub simulation: SimulationSettings,
    /// Gate `SpotToSpotConsolidation`.
    pub spot_to_spot: bool,
    /// The time at which nodes were nominated for a pending pod, by the name of the node.
    pub nominated: BTreeMap<String, Timestamp>,
    /// The length of a nomination.
    pub nomination: Duration,
    /// The names of the nodes that the controller has marked for deletion.
    pub marked_for_deletion: BTreeSet<String>,
    /// The names of the nodes that a command in progress disrupts.
    pub in_queue: BTreeSet<String>,
    /// The number of pods of a buffer that nodes keep capacity for.
    pub buffer_pods: BTreeMap<String, usize>,
    /// Largest number of nodes that single-node consolidation looks at. Karpenter stops after three minutes instead
    /// (`SingleNodeConsolidationTimeoutDuration` in pkg/controllers/disruption/singlenodeconsolidation.go at v1.14.1).
    pub max_single_nodes: usize,
    /// Largest number of steps of work for each node and pod in all simulations of a judgement together. The nodes whose turn comes
    /// afterwards are undecided. A forecast has a bound of its own.
    pub steps_per_part: u64,
    /// The names of the nodes whose consolidation is judged even if another node comes first.
    pub alone: BTreeSet<String>,
}

impl DisruptionSettings {
    /// The defaults of a release at a time.
    pub fn new(release: Release, now: Timestamp) -> Self {
        let simulation = SimulationSettings {
            whole_state: true,
            reservation_fallback: true,
            ..SimulationSettings::new(release)
        };
        Self {
            now,
            simulation,
            spot_to_spot: false,
            nominated: BTreeMap::new(),
            nomination: NOMINATION,
            marked_for_deletion: BTreeSet::new(),
            in_queue: BTreeSet::new(),
            buffer_pods: BTreeMap::new(),
            max_single_nodes: MAX_SINGLE_NODES,
            steps_per_part: STEPS_PER_PART,
            alone: BTreeSet::new(),
        }
    }

    /// The release of Karpenter.
    pub fn release(&self) -> Release {
        self.simulation.release
    }

    /// The end of the nomination of a node. A nomination is over at its end.
    pub(crate) fn nominated_until(&self, node: &str) -> Option<Timestamp> {
        let end = self.nominated.get(node)?.plus(self.nomination);
        (end > self.now).then_some(end)
    }
}
