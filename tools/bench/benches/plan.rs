//! Planning a change that drifts every node of a snapshot, compared with a simulation of the same snapshot. Both read the snapshot.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use karpwarden::disruption::forecast::ForecastSettings;
use karpwarden::karpenter::release::Release;
use karpwarden::plan::{Plan, PlanOptions, PlanPair, PlanSide, WallClock, plan};
use karpwarden::simulate::{self, Choices};
use karpwarden::values::timestamp::Timestamp;
use karpwarden::{Cluster, File, READ_OPTIONS, Settings};
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, rollout, time};

/// Time of a plan, as a multiple of a simulation of the same snapshot.
const BUDGET: f64 = 10.0;

/// The numbers of nodes, each with ten pods. The last one has a budget.
const NODES: [usize; 3] = [200, 1_000, 5_000];

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let release = Release::parse("1.14.1")?;
    for nodes in NODES {
        let snapshot = rollout::snapshot(nodes);
        let title =
            format!("plan the replacement of {nodes} nodes with {} pods", nodes * rollout::PODS_OF_NODE);
        let is_largest = NODES.last() == Some(&nodes);
        let budget = if is_largest { RatioBudget::Limit(BUDGET) } else { RatioBudget::None };
        let mut planned = Ok(0);
        let mut simulated = Ok(());
        bench.compare_once(
            Comparison { title: &title, reference: "simulate", budget },
            || time(|| planned = plan_of(&snapshot, release).map(|plan| plan.answer.nodes.len())),
            || time(|| simulated = simulate_all(&snapshot)),
        );
        simulated?;
        let planned = planned?;
        anyhow::ensure!(planned == nodes, "{planned} nodes drift instead of {nodes}");
    }
    Ok(())
}

fn cluster(text: &str) -> Cluster {
    Cluster { name: String::new(), files: vec![File::read("cluster.jsonl", text.to_owned(), READ_OPTIONS)] }
}

fn plan_of(snapshot: &str, release: Release) -> Result<Plan> {
    let (old, new) = (cluster(snapshot), cluster(&rollout::changed_pool()));
    let side = |cluster| PlanSide { cluster, folder: "" };
    let pair = PlanPair { name: "", old: side(&old), new: side(&new) };
    let options = PlanOptions {
        at: Timestamp::parse("2026-03-11T10:30:00Z").context("a time")?,
        from: Some(release),
        to: Some(release),
        ca_bundle: String::new(),
        is_snapshot: true,
        is_complete: false,
        namespace: None,
        by_terraform: BTreeSet::new(),
        clock: WallClock::utc(),
        forecast: ForecastSettings::default(),
        choices: Choices::default(),
        settings: Settings::default(),
    };
    Ok(plan(&[pair], &options)?)
}

fn simulate_all(snapshot: &str) -> Result<()> {
    let cluster = cluster(snapshot);
    black_box(simulate::answer(&cluster.files, &Choices::default(), &Settings::default())?);
    Ok(())
}
