//! Classification of findings: severity, family, and the component that would otherwise report the problem.

use core::fmt;

use serde::Serialize;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something certainly does not work.
    Error,
    /// Something probably does not do what its author wants.
    Warning,
    /// Something is worth knowing.
    Info,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// The component that would otherwise report the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum CaughtBy {
    /// The API server refuses the object when it is applied.
    ApiServer,
    /// The API server accepts the object, and a controller fails at run time.
    Controller,
    /// No component reports the problem.
    Nobody,
}

impl CaughtBy {
    /// `api-server`, `controller` or `nobody`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::Controller => "controller",
            Self::Nobody => "nobody",
        }
    }
}

/// Family of a rule: its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Refused by the API server.
    ApiServer,
    /// Labels, selectors, taints and tolerations.
    Labels,
    /// Bootstrapping of nodes.
    Bootstrap,
    /// Names of clusters, and what belongs to another cluster.
    Identity,
    /// Storage classes and volumes.
    Storage,
    /// EC2NodeClasses.
    Nodeclass,
    /// Disruption of nodes.
    Disruption,
    /// Scheduling of pods.
    Scheduling,
    /// Instance types and limits of NodePools.
    Capacity,
    /// Installation of the controller, and the access that it and its nodes have.
    Access,
    /// The text itself, and suppressions.
    Document,
    /// Logs, events and status.
    Symptoms,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 12] = [
        Self::ApiServer,
        Self::Labels,
        Self::Bootstrap,
        Self::Identity,
        Self::Storage,
        Self::Nodeclass,
        Self::Disruption,
        Self::Scheduling,
        Self::Capacity,
        Self::Access,
        Self::Document,
        Self::Symptoms,
    ];

    /// The family with a folder of rules, such as `api_server`.
    pub(crate) const fn of_folder(folder: &[u8]) -> Option<Self> {
        let mut families = Self::ALL.as_slice();
        while let [family, others @ ..] = families {
            if is_kebab_of(family.name().as_bytes(), folder) {
                return Some(*family);
            }
            families = others;
        }
        None
    }

    /// The problems that its rules report, without a full stop.
    pub const fn description(self) -> &'static str {
        match self {
            Self::ApiServer => "Objects that the API server refuses",
            Self::Labels => {
                "Labels, selectors, taints and tolerations that match nothing, or that Karpenter or Kubernetes does not allow"
            }
            Self::Bootstrap => "User data and taints with which a node does not join the cluster",
            Self::Identity => {
                "Cluster names that are missing or contradict each other, and tags, selectors and queues of another cluster"
            }
            Self::Storage => "Storage classes and volumes that keep pods Pending",
            Self::Nodeclass => "EC2NodeClasses that never become Ready, or whose nodes fail",
            Self::Disruption => {
                "Budgets, schedules and annotations that block or allow more disruption than intended"
            }
            Self::Scheduling => "Settings that change which nodes Karpenter launches for pods",
            Self::Capacity => {
                "NodePools and NodeOverlays with which Karpenter launches nothing, or other nodes than intended"
            }
            Self::Access => {
                "Installation and options of the controller, and too little or too much access to AWS and the API server"
            }
            Self::Document => {
                "The text of a manifest, values that cannot be decoded, suppressions, and exceptions in the settings"
            }
            Self::Symptoms => "Problems that logs, events and status show",
        }
    }

    /// The name used in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::Labels => "labels",
            Self::Bootstrap => "bootstrap",
            Self::Identity => "identity",
            Self::Storage => "storage",
            Self::Nodeclass => "nodeclass",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling",
            Self::Capacity => "capacity",
            Self::Access => "access",
            Self::Document => "document",
            Self::Symptoms => "symptoms",
        }
    }
}

/// Whether a name with dashes is the same as a name with underscores.
const fn is_kebab_of(mut kebab: &[u8], mut snake: &[u8]) -> bool {
    while let ([dash, dashes @ ..], [underscore, underscores @ ..]) = (kebab, snake) {
        if *dash != *underscore && !matches!((dash, underscore), (b'-', b'_')) {
            return false;
        }
        (kebab, snake) = (dashes, underscores);
    }
    kebab.is_empty() && snake.is_empty()
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
