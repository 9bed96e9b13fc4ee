//! Settings for some of the files.

use super::selector::{RuleLevel, RuleSelector};
use super::target::Target;

/// Settings for some of the files. The front end resolves the patterns, because the engine knows only the names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// The patterns.
    pub paths: Vec<String>,
    /// Names of the files that match the patterns, as in the report, sorted.
    pub files: Vec<String>,
    /// The Karpenter releases to check against.
    pub karpenter: Option<Target>,
    /// The minor of Kubernetes 1.x.
    pub kubernetes_minor: Option<u8>,
    /// The name of the cluster.
    pub cluster_name: Option<String>,
    /// The levels of rules and families, added to the levels of the settings.
    pub levels: Vec<(RuleSelector, RuleLevel)>,
}
