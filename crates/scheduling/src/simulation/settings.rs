//! Settings of a simulation: the controller's options, and what manifests do not show.

use std::collections::BTreeMap;

use karpenter::instance_types;
use karpenter::release::Release;

use super::ownership::WorkloadKey;

/// Availability zone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Zone {
    /// The name, such as `us-east-1a`.
    pub name: String,
    /// The ID, such as `use1-az1`; empty if unknown.
    pub id: String,
}

/// Number of pods of a workload, instead of its `spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaCount {
    /// The kind of the workload, in the singular or in the plural.
    pub kind: String,
    /// The namespace of the workload; `None` for every namespace.
    pub namespace: Option<String>,
    /// The name of the workload.
    pub name: String,
    /// The number of pods.
    pub count: usize,
}

impl ReplicaCount {
    /// Whether the count is for a workload.
    pub fn names(&self, workload: WorkloadKey<'_>) -> bool {
        let is_in = |namespace: &String| namespace == workload.namespace;
        self.is_of_kind(workload.kind)
            && self.name == workload.name
            && self.namespace.as_ref().is_none_or(is_in)
    }

    /// Whether the count is for workloads of a kind.
    pub fn is_of_kind(&self, kind: &str) -> bool {
        let singular = self.kind.strip_suffix(['s', 'S']).unwrap_or(&self.kind);
        self.kind.eq_ignore_ascii_case(kind) || singular.eq_ignore_ascii_case(kind)
    }
}

/// Topology spread constraint of pods that have none (`podTopologySpread.defaultConstraints` of `SCHEDULER_CONFIG`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultSpread {
    /// `topologyKey`.
    pub key: String,
    /// `maxSkew`.
    pub max_skew: i64,
    /// `whenUnsatisfiable: ScheduleAnyway`.
    pub is_preference: bool,
}

/// On-demand prices in USD per hour.
#[derive(Clone, Debug)]
pub enum Prices {
    /// By instance type. A type without a price cannot be launched.
    Listed(BTreeMap<String, f64>),
    /// Every instance type can be launched, and costs the same.
    Equal,
}

impl Prices {
    /// The price of an instance type; `None` if it cannot be launched.
    pub(crate) fn price_of(&self, instance_type: &str) -> Option<f64> {
        match self {
            Self::Listed(prices) => prices.get(instance_type).copied(),
            Self::Equal => Some(1.0),
        }
    }
}

/// Settings of a simulation.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the options of the controller are independent")]
pub struct SimulationSettings {
    /// The release of Karpenter.
    pub release: Release,
    /// The region.
    pub region: String,
    /// The zones of the subnets, for EC2NodeClasses whose status names none.
    pub zones: Vec<Zone>,
    /// On-demand prices.
    pub prices: Prices,
    /// The part of the on-demand price that spot capacity saves.
    pub spot_discount: f64,
    /// `VM_MEMORY_OVERHEAD_PERCENT`.
    pub vm_memory_overhead: f64,
    /// `RESERVED_ENIS`.
    pub reserved_enis: i64,
    /// Instances left in each capacity reservation. A reservation without an entry has one instance for each pod.
    pub reservation_capacity: BTreeMap<String, u32>,
    /// Gate `ReservedCapacity`.
    pub reserved_capacity: bool,
    /// Gate `NodeOverlay`.
    pub node_overlays: bool,
    /// `PREFERENCE_POLICY=Ignore`.
    pub ignores_preferences: bool,
    /// `MIN_VALUES_POLICY=BestEffort`.
    pub min_values_best_effort: bool,
    /// The topology spread constraints of pods that have none.
    pub default_spreads: Vec<DefaultSpread>,
    /// Replica counts that replace `spec.replicas` of workloads.
    pub replicas: Vec<ReplicaCount>,
    /// Whether an EC2NodeClass that the input lacks exists in the cluster, with the defaults of AL2023.
    pub assumes_node_classes: bool,
    /// Whether existing nodes are left out.
    pub without_nodes: bool,
    /// Whether the objects are the whole state of a cluster, as its API server has them: a node without a NodeClaim is not
    /// managed, and a node is initialized only with the label.
    pub whole_state: bool,
    /// Whether a node falls back to other capacity if no reservation is left. The simulations of disruption do
    /// (`DisableReservedCapacityFallback` in pkg/controllers/provisioning/provisioner.go at v1.14.1).
    pub reservation_fallback: bool,
    /// Whether kube-scheduler binds the pods that fit existing nodes before each round. Karpenter's own view has no such step.
    pub binds: bool,
    /// Largest number of rounds; `None` for rounds until nothing changes.
    pub rounds: Option<usize>,
}

impl SimulationSettings {
    /// The defaults for a release: three zones of us-east-1, with its prices, and Karpenter's own view of a single round.
    pub fn new(release: Release) -> Self {
        let prices = instance_types::prices().map(|(name, price)| (name.to_owned(), price));
        Self::with_prices(release, Prices::Listed(prices.collect()))
    }

    /// The defaults for a release, with other prices.
    pub fn with_prices(release: Release, prices: Prices) -> Self {
        let zone = |name: &str, id: &str| Zone { name: name.to_owned(), id: id.to_owned() };
        Self {
            release,
            region: instance_types::PRICED_REGION.to_owned(),
            zones: vec![
                zone("us-east-1a", "use1-az1"),
                zone("us-east-1b", "use1-az2"),
                zone("us-east-1c", "use1-az4"),
            ],
            prices,
            spot_discount: 0.6,
            vm_memory_overhead: 0.075,
            reserved_enis: 0,
            reservation_capacity: BTreeMap::new(),
            reserved_capacity: true,
            node_overlays: false,
            ignores_preferences: false,
            min_values_best_effort: false,
            default_spreads: Vec::new(),
            replicas: Vec::new(),
            assumes_node_classes: false,
            without_nodes: false,
            whole_state: false,
            reservation_fallback: false,
            binds: false,
            rounds: Some(1),
        }
    }
}
