//! Commands of the methods.

use std::collections::BTreeMap;

/// Fate of the candidates of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum Decision {
    /// They go, and their pods fit elsewhere.
    Delete,
    /// New nodes take their place.
    Replace,
}

impl Decision {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Replace => "replace",
        }
    }
}

/// New node of a command.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The name of the NodePool.
    pub pool: String,
    /// The pods, as `namespace/name`.
    pub pods: Vec<String>,
    /// The number of instance types.
    pub instance_types: usize,
    /// The number of instance types that can be bought.
    pub offered: usize,
    /// The instance types by price, then name, with the price in USD per hour.
    pub cheapest: Vec<(&'static str, f64)>,
    /// The zones.
    pub zones: Vec<String>,
    /// The capacity types.
    pub capacity_types: Vec<String>,
    /// The requests of the pods and the daemons.
    pub requests: Vec<(String, String)>,
    /// The requirements as an author writes them.
    pub requirements: Vec<(String, String)>,
}

/// Disruption of some nodes by a method.
#[derive(Clone, Debug)]
pub struct Command {
    /// The fate of the candidates.
    pub decision: Decision,
    /// The names of the nodes that go.
    pub candidates: Vec<String>,
    /// The nodes that replace them.
    pub replacements: Vec<Replacement>,
    /// The pods that existing nodes take, by the name of the node.
    pub pods_to_existing: BTreeMap<String, Vec<String>>,
    /// The price in USD per hour that the candidates cost more than their replacement.
    pub savings: f64,
}
