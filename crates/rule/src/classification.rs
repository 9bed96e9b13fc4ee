//! Classification of findings: severity, family, and the component that would otherwise report the problem.

use core::fmt;

use serde::Serialize;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

/// Family of a rule: the kind of problem that it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Refused by the API server.
    ApiServer,
    /// Refused by a controller after the API server accepted it.
    Controller,
    /// Labels, selectors and tolerations.
    Labels,
    /// Bootstrapping of nodes.
    Bootstrap,
    /// Conflicting cluster identity.
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
    pub const ALL: [Self; 13] = [
        Self::ApiServer,
        Self::Controller,
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
            Self::Controller => "Objects that the API server accepts and a controller refuses",
            Self::Labels => {
                "Labels, selectors and tolerations that match nothing, or that Karpenter does not allow"
            }
            Self::Bootstrap => "User data and taints with which a node does not join the cluster",
            Self::Identity => "Cluster names, selectors and IAM policies that contradict each other",
            Self::Storage => "Storage classes and volumes that keep pods Pending",
            Self::Nodeclass => "EC2NodeClasses that never become Ready, or whose nodes fail",
            Self::Disruption => {
                "Budgets, schedules and annotations that block or allow more disruption than intended"
            }
            Self::Scheduling => "Settings that change which nodes Karpenter launches for pods",
            Self::Capacity => "NodePools whose requirements or limits leave Karpenter nothing to launch",
            Self::Access => {
                "Installations in which the controller or its nodes lack what they need from AWS or the API server"
            }
            Self::Document => "The text of a manifest, its suppressions, and the exceptions in the settings",
            Self::Symptoms => "Problems that logs, events and status show",
        }
    }

    /// The name used in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::Controller => "controller",
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
