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
    /// The text itself, and suppressions.
    Document,
    /// Logs, events and status.
    Symptoms,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 11] = [
        Self::ApiServer,
        Self::Controller,
        Self::Labels,
        Self::Bootstrap,
        Self::Identity,
        Self::Storage,
        Self::Nodeclass,
        Self::Disruption,
        Self::Scheduling,
        Self::Document,
        Self::Symptoms,
    ];

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
            Self::Document => "document",
            Self::Symptoms => "symptoms",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
