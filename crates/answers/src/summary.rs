//! Data of the page that `karpwarden report` writes.

use serde::Serialize;

use crate::DateTime;
use crate::page::DisruptionOverview;
use crate::report::Report;
use crate::simulation::SimulationAnswer;

/// Answers of the commands about one input, without its texts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PageData {
    /// Title of the page.
    pub title: String,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Time of the answers.
    pub at: DateTime,
    /// Mark of the input, if a program serves the page: the page reloads when the program has another mark. Null for a file.
    pub mark: Option<String>,
    /// Number of values in the sentences that were replaced by `REDACTED`.
    pub redacted: usize,
    /// Findings in the manifests; null if there are no manifests.
    pub findings: Option<Report>,
    /// Places of the pods; null if they cannot be simulated.
    pub placement: Option<SimulationAnswer>,
    /// Budgets and nodes; null if they cannot be judged.
    pub disruption: Option<DisruptionOverview>,
    /// Diagnoses of logs, events and status; null if nothing can be read.
    pub symptoms: Option<Report>,
    /// The parts that are null, with the reasons.
    pub absent: Vec<AbsentPart>,
}

/// Part of the page that has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct AbsentPart {
    /// The part.
    pub part: PagePart,
    /// The reason.
    pub reason: String,
}

/// Part of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PagePart {
    /// `findings`.
    Findings,
    /// `placement`.
    Placement,
    /// `disruption`.
    Disruption,
    /// `symptoms`.
    Symptoms,
}
