//! Simulations as front ends run them: settings from the input, totals, and the result as JSON.

mod assumption;
mod deduced_settings;
pub mod ignored;
pub mod json;
mod prices;
pub mod remedy;
pub mod replicas;
mod scheduler_config;
pub mod summary;
pub mod words;

use answers::report::ReportedFinding;
use answers::simulation::SimulationAnswer;
use cluster::built_objects::BuiltObjects;
use manifest::{Document, File};
use rule::settings::Settings;
use scheduling::simulation::{Simulation, SimulationResult, TooManyPods};
use thiserror::Error;

pub use assumption::Assumption;
pub(crate) use deduced_settings::region_of;
pub use deduced_settings::{ChoiceError, Choices, DeducedSettings, release_of};
pub use prices::PricesError;

/// Result of a simulation, as the renderers show it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'s, 'd> {
    /// The result.
    pub outcome: &'s SimulationResult<'d>,
    /// The simulation.
    pub simulation: &'s Simulation<'d>,
    /// Assumptions about things that the input does not show, in the words of the front end.
    pub assumptions: &'s [String],
    /// The number of documents that were not read.
    pub skipped: usize,
    /// The findings of `check` in the input.
    pub findings: &'s [ReportedFinding],
}

/// Reason why a simulation does not run.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A choice cannot be used.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The input has more pods than a simulation takes.
    #[error(transparent)]
    TooManyPods(#[from] TooManyPods),
}

/// Simulates the pods of files. The answer has no findings.
pub fn answer(
    files: &[File],
    choices: &Choices,
    settings: &Settings,
) -> Result<SimulationAnswer, SimulationError> {
    let built = BuiltObjects::of(files);
    let objects = built.objects(files);
    let deduced = DeducedSettings::new(choices, settings, files, &objects)?
        .with_overlays(&built.left_out())
        .with_rounds(choices, &objects);
    let simulation = Simulation::new(deduced.settings, &objects)?;
    let outcome = simulation.run_with_remedies();
    let assumptions = with_outcome(deduced.assumptions, &outcome);
    let assumptions: Vec<String> = assumptions.iter().map(ToString::to_string).collect();
    Ok(json::answer(&Shown {
        outcome: &outcome,
        simulation: &simulation,
        assumptions: &assumptions,
        skipped: skipped(files),
        findings: &[],
    }))
}

/// The assumptions of a simulation, with the assumptions about nodes that are being deleted and about further rounds if there are any.
pub fn with_outcome(mut assumptions: Vec<Assumption>, outcome: &SimulationResult<'_>) -> Vec<Assumption> {
    if !outcome.leaving_nodes.is_empty() {
        let names = outcome.leaving_nodes.iter().map(ToString::to_string).collect();
        let pods = outcome.pods.iter().filter(|pod| pod.leaves.is_some()).count();
        assumptions.push(Assumption::NodesLeave(names, pods));
    }
    if outcome.rounds > 1 {
        assumptions.push(Assumption::NodesJoin);
    }
    assumptions
}

/// The number of documents that were not read.
pub fn skipped(files: &[File]) -> usize {
    let documents = files.iter().flat_map(|file| &file.documents);
    documents.filter(|document| !matches!(document, Document::Read(_))).count()
}
