//! Simulations as front ends run them: settings from the input, totals, and the result as JSON.

mod deduced_settings;
pub mod json;
mod prices;
pub mod replicas;
mod scheduler_config;
pub mod summary;
pub mod words;

use answers::report::ReportedFinding;
use manifest::{Document, File};
use scheduling::simulation::{Simulation, SimulationResult};

pub use deduced_settings::{ChoiceError, Choices, DeducedSettings};
pub use prices::PricesError;

/// Result of a simulation, as the renderers show it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'s, 'd> {
    /// The result.
    pub outcome: &'s SimulationResult<'d>,
    /// The simulation.
    pub simulation: &'s Simulation,
    /// Assumptions about things that the input does not show.
    pub assumptions: &'s [String],
    /// The number of documents that were not read.
    pub skipped: usize,
    /// The findings of `check` in the input.
    pub findings: &'s [ReportedFinding],
}

/// The number of documents that were not read.
pub fn skipped(files: &[File]) -> usize {
    let documents = files.iter().flat_map(|file| &file.documents);
    documents.filter(|document| !matches!(document, Document::Read(_))).count()
}
