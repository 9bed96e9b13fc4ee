//! Simulating Karpenter's scheduler, compared with the recorded time of the scheduler itself.
//!
//! The inputs are shaped as in `pkg/controllers/provisioning/scheduling/scheduling_benchmark_test.go` of
//! kubernetes-sigs/karpenter: 5 NodePools with all instance types, and pods that are equal (`generic`) or have spread
//! constraints, affinities and zones (`diverse`).

use std::hint::black_box;
use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;
use karpwarden::cluster::built_objects::BuiltObjects;
use karpwarden::karpenter::release::Release;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::scheduling::simulation::{Simulation, SimulationSettings};
use karpwarden_bench::simulated::SIMULATED;
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};

/// Time of a simulation, as a multiple of Karpenter's: twenty times the pods per second.
const BUDGET: f64 = 0.05;

/// Time of a simulation that compares many equal parts with each other, as a multiple of Karpenter's for diverse pods.
const BUDGET_OF_SHAPES: f64 = 0.1;

/// The number of pods of these simulations, and the shorter of two recorded times in milliseconds for so many diverse pods.
const SHAPED: (usize, u64) = (1_000, 7_000);

/// The inputs, and the shorter of two recorded times in milliseconds: `Solve` of Karpenter 1.14.1 on two shared cores.
const INPUTS: [(&str, &[u8], u64); 6] = [
    ("100 generic pods", include_bytes!("../inputs/generic-100.jsonl.gz"), 160),
    ("1,000 generic pods", include_bytes!("../inputs/generic-1000.jsonl.gz"), 660),
    ("5,000 generic pods", include_bytes!("../inputs/generic-5000.jsonl.gz"), 2_260),
    ("100 diverse pods", include_bytes!("../inputs/diverse-100.jsonl.gz"), 640),
    ("1,000 diverse pods", include_bytes!("../inputs/diverse-1000.jsonl.gz"), 7_000),
    ("5,000 diverse pods", include_bytes!("../inputs/diverse-5000.jsonl.gz"), 108_000),
];

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let release = Release::parse("1.14.1")?;
    for (title, packed, recorded) in INPUTS {
        let file = manifests(packed).context(title)?;
        let files = [file];
        let built = BuiltObjects::of(&files);
        let objects = built.objects(&files);
        let title = format!("simulate {title}");
        Simulation::new(SimulationSettings::new(release), &objects).context(title.clone())?;
        let simulate = || {
            if let Ok(simulation) = Simulation::new(SimulationSettings::new(release), &objects) {
                black_box(simulation.run());
            }
        };
        bench.compare(
            Comparison {
                title: &title,
                reference: "Karpenter, recorded",
                budget: RatioBudget::Limit(BUDGET),
            },
            || time(simulate),
            || Duration::from_millis(recorded),
        )?;
    }
    compare_shapes(bench, release)?;
    compare_remedies(bench, release)
}

/// Compares simulations that compare many equal parts with each other with Karpenter's time for diverse pods.
fn compare_shapes(bench: &mut Bench, release: Release) -> Result<()> {
    for shape in SIMULATED {
        let (size, recorded) = SHAPED;
        let files = [File::read("input.jsonl", (shape.text)(size), READ_OPTIONS)];
        let built = BuiltObjects::of(&files);
        let objects = built.objects(&files);
        let title = format!("simulate 1,000 pods: {}", shape.name);
        let simulate = || {
            if let Ok(simulation) = Simulation::new(SimulationSettings::new(release), &objects) {
                black_box(simulation.run_with_remedies());
            }
        };
        bench.compare(
            Comparison {
                title: &title,
                reference: "Karpenter, recorded for diverse pods",
                budget: RatioBudget::Limit(BUDGET_OF_SHAPES),
            },
            || time(simulate),
            || Duration::from_millis(recorded),
        )?;
    }
    Ok(())
}

/// Compares a simulation that proposes changes for the pods without a place with one that only names the pods. The limits of the
/// NodePools keep some pods without a place.
fn compare_remedies(bench: &mut Bench, release: Release) -> Result<()> {
    let (_, packed, _) =
        INPUTS.into_iter().find(|(title, ..)| *title == "1,000 diverse pods").context("no input")?;
    let text = manifests(packed)?.source.text().replace("\"10000000\"", "\"50\"");
    let files = [File::read("input.json", text, READ_OPTIONS)];
    let built = BuiltObjects::of(&files);
    let objects = built.objects(&files);
    let simulation = Simulation::new(SimulationSettings::new(release), &objects).context("too many pods")?;
    let title = "simulate 1,000 diverse pods with remedies";
    let comparison = Comparison { title, reference: "without remedies", budget: RatioBudget::None };
    let with = || drop(black_box(simulation.run_with_remedies()));
    let without = || drop(black_box(simulation.run()));
    bench.compare(comparison, || time(with), || time(without))
}

/// The manifests of a recorded input.
fn manifests(packed: &[u8]) -> Result<File> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text)?;
    let case: serde_json::Value = serde_json::from_str(&text)?;
    let items = case.get("manifests").context("the input has no manifests")?;
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
    Ok(File::read("input.json", list.to_string(), READ_OPTIONS))
}
