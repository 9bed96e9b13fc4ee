//! Result of a forecast.

use values::timestamp::Timestamp;

use crate::blocker::NodeBlocker;
use crate::command::Command;
use crate::drain::DrainReason;
use crate::methods::Method;

/// Forecast of a rollout.
#[derive(Clone, Debug, Default)]
pub struct Forecast<'d> {
    /// The drifted nodes, by name.
    pub nodes: Vec<RolledNode<'d>>,
    /// The nodes that are going at the start of the forecast without being drifted, by name.
    pub leaving: Vec<RolledNode<'d>>,
    /// The rollouts, by NodePool.
    pub rollouts: Vec<Rollout>,
    /// The commands in their order.
    pub steps: Vec<RolloutStep>,
    /// The changes of the cluster in their order, with the changes that follow from the commands.
    pub changes: Vec<ForecastChange>,
    /// The price of the nodes.
    pub cost: ForecastCost,
    /// Largest number of nodes beyond the number at the start.
    pub peak_extra_nodes: usize,
    /// The number of moves of pods to another node.
    pub moved_pods: usize,
    /// The pods without a node at the end.
    pub pending_pods: Vec<StrandedPod>,
    /// Whether passes ended at the first node whose pods would go to a node that had not started, because it takes too much work to
    /// try the others. Karpenter may then disrupt one of the others earlier.
    pub is_rough: bool,
    /// Whether the forecast or a simulation in it ended early, because it takes too much work. Nodes without a start may start later.
    pub is_cut: bool,
}

/// Drifted or leaving node.
#[derive(Clone, Debug)]
pub struct RolledNode<'d> {
    /// The name of the node.
    pub name: &'d str,
    /// The name of the NodePool.
    pub node_pool: &'d str,
    /// The start of the disruption: the node is tainted, and its replacements are launched. The start of the forecast if the node is
    /// going already; `None` if the disruption does not start before the horizon.
    pub start: Option<Timestamp>,
    /// The end of the drain; `None` if it does not end before the horizon.
    pub end: Option<Timestamp>,
    /// Whether no method of disruption ever replaces the node completely, unless the objects change. The node may still expire, which
    /// [`Self::because`] says.
    pub never: bool,
    /// The reasons for which the node is not replaced, or its drain is delayed.
    pub because: Vec<RollReason<'d>>,
}

/// Reason for which a drifted node is not replaced, or only late.
#[derive(Clone, Debug)]
pub enum RollReason<'d> {
    /// No method disrupts the node.
    Blocked(NodeBlocker<'d>),
    /// The drain is delayed, or never ends.
    Drain(DrainReason<'d>),
    /// The budgets of the NodePool leave no turn for the node before the horizon, with the number of its nodes that are not ready or going at
    /// the end and use up the budgets; zero if the budgets allow nothing then.
    Budget(usize),
    /// The node is found to be drifted at this time only, beyond the horizon.
    NotYetDrifted(Timestamp),
    /// The limit of the static NodePool on nodes leaves no room for a replacement.
    NodeLimit,
    /// The static NodePool has more nodes than replicas, and has to shrink first.
    TooManyNodes,
    /// Drift leaves empty nodes to emptiness in this release.
    Empty,
    /// No NodePool takes pods, so that Karpenter does not simulate where the pods of the node go.
    NoUsedPool,
    /// The forecast did not try the node at the end, because it takes too much work.
    Untried,
    /// Pods of the node find no place, in Karpenter's words; empty if it takes too much work to find them.
    NoPlace(String),
    /// Pods of the node find no place before other pods have ended, which are not restarted, or before other nodes have started or are gone.
    NoPlaceYet {
        /// Karpenter's words.
        message: String,
        /// The pods that end, as `namespace/name`, in their order; empty for nodes.
        ending: Vec<String>,
    },
    /// The NodeClaim expires before the node is replaced, whatever is in the way, and no replacement is launched first. The forecast
    /// leaves the node where it is.
    Expires(Timestamp),
}

/// Rollout of the drifted nodes of a NodePool.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// The name of the NodePool.
    pub node_pool: String,
    /// The number of drifted nodes.
    pub nodes: usize,
    /// The first start of a disruption.
    pub start: Option<Timestamp>,
    /// The end of the last drain; `None` if a node stays.
    pub end: Option<Timestamp>,
    /// The cause of most of the time in which nodes waited.
    pub limited_by: LimitedBy,
    /// Largest number of nodes of the NodePool beyond the number at the start.
    pub extra_nodes: usize,
}

/// Cause for which a rollout is not faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum LimitedBy {
    /// The budgets allow no further node while others are replaced.
    Budget,
    /// A budget with a window allows none before the window closes or opens.
    Schedule,
    /// Drains last long or never end, and their nodes use up the budgets.
    Drain,
    /// Pods find no place, or only a place on a node that has not started completely.
    Capacity,
    /// No node waits for another.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = ""))]
    None,
}

impl LimitedBy {
    /// The cause in a few words; empty without one.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Budget => "budgets",
            Self::Schedule => "the windows of budgets",
            Self::Drain => "the drain of nodes",
            Self::Capacity => "capacity",
            Self::None => "",
        }
    }
}

/// Command of a rollout.
#[derive(Clone, Debug)]
pub struct RolloutStep {
    /// The time.
    pub at: Timestamp,
    /// The method.
    pub method: Method,
    /// The command. Of the instance types of a replacement it has the cheapest one.
    pub command: Command,
    /// The names of the new nodes.
    pub added: Vec<String>,
}

/// Change of a cluster at an instant.
#[derive(Clone, Debug)]
pub struct ForecastChange {
    /// The time.
    pub at: Timestamp,
    /// The change.
    pub change: RolloutChange,
}

/// Change of a cluster.
#[derive(Clone, Debug)]
pub enum RolloutChange {
    /// A command starts, by its position in [`Forecast::steps`].
    Command(usize),
    /// A new node is launched.
    Added(Box<ForecastNode>),
    /// An existing node is nominated for pods, and is not disrupted until the nomination ends.
    Nominated(String),
    /// A node has started completely.
    Started(String),
    /// The NodeClaim of a node is deleted, and the node drains.
    Deleted(String),
    /// A node is gone.
    Gone(String),
    /// A pod lost its node, and waits for another one, as `namespace/name`.
    Pending(String),
    /// A pod runs on another node.
    Moved {
        /// The pod, as `namespace/name`.
        pod: String,
        /// The name of the node.
        node: String,
    },
}

/// New node with its cheapest instance type.
#[derive(Clone, Debug)]
pub struct ForecastNode {
    /// The name.
    pub name: String,
    /// The name of the NodePool.
    pub node_pool: String,
    /// The instance type.
    pub instance_type: String,
    /// The zone.
    pub zone: String,
    /// The capacity type.
    pub capacity_type: String,
    /// The price in USD per hour.
    pub price: f64,
    /// The labels without the host name.
    pub labels: Vec<(String, String)>,
    /// The taints: key, value and effect.
    pub taints: Vec<[String; 3]>,
    /// The capacity.
    pub capacity: Vec<(String, String)>,
    /// The allocatable resources.
    pub allocatable: Vec<(String, String)>,
}

/// Prices of the nodes of a cluster in USD per hour, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastCost {
    /// At the start.
    pub before: f64,
    /// At the end.
    pub after: f64,
    /// The highest one.
    pub peak: f64,
}

/// Pod without a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrandedPod {
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// Whether the pod has no node at the start either.
    pub before: bool,
    /// Karpenter's message; empty if unknown.
    pub message: String,
}
