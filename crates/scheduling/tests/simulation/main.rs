//! Simulations compared with recorded results of Karpenter's scheduler; see `README.md`.
//!
//! `cargo test -p karpwarden-scheduling --test simulation -- --nocapture` prints the agreement for each topic. `CASE=id`
//! prints the differences of one case.

#![cfg(test)]

mod binding;
mod case;
mod compare;
mod extremes;
mod leaving;
mod message;
mod releases;
mod rounds;
mod scaling;
mod shapes;
mod unmet;
mod world;

use std::collections::BTreeMap;
use std::env;

use case::{Case, Run};
use karpwarden_scheduling::simulation::Simulation;
use manifest::Document;
use manifest::tree::Tree;
use objects::object::Object;

/// The runs that differ, each with the reason.
const KNOWN: [(&str, &str); 2] = [
    // The provider keeps offerings under a key without the AMI family (pkg/providers/instancetype/offering/base_resolver.go
    // at v1.14.1), so the recorded controller, which had seen AL2023 first, offered no a1 type on AL2 either.
    ("kubelet-a1-on-al2", "1.14"),
    // The pods spread over two of three zones at random. Both recorded runs chose the zone without a reservation.
    ("reserved-same-instance-two-zones@1.8", "1.8.2"),
];

/// The number of runs in which a topic agrees, of all runs.
type Agreement = BTreeMap<String, (usize, usize)>;

#[test]
fn places_pods_like_the_scheduler_of_karpenter() {
    let chosen = env::var("CASE").ok();
    let mut topics: Agreement = BTreeMap::new();
    let (mut differing, mut known) = (Vec::new(), Vec::new());
    for case in case::all().iter().filter(|case| chosen.as_ref().is_none_or(|id| case.id == *id)) {
        for run in case.runs() {
            let differences = differences(case, &run);
            let (agreeing, all) = topics.entry(case.topic.clone()).or_default();
            *all += 1;
            *agreeing += usize::from(differences.is_empty());
            let release = run.release.to_string();
            if KNOWN.contains(&(case.id.as_str(), release.as_str())) {
                known.push(case.id.clone());
                assert!(!differences.is_empty(), "{} at {release} agrees now", case.id);
            } else if !differences.is_empty() {
                differing.push(format!("{} at {}:\n  {}", case.id, run.release, differences.join("\n  ")));
            }
        }
    }
    for (topic, (agreeing, all)) in &topics {
        println!("{topic:<14} {agreeing:>4} of {all:>4}");
    }
    assert!(chosen.is_some() || known.len() == KNOWN.len(), "a known difference names no run");
    assert!(differing.is_empty(), "{} runs differ\n{}", differing.len(), differing.join("\n"));
}

fn tree(document: &Document) -> Option<&Tree> {
    if let Document::Read(tree) = document { Some(tree) } else { None }
}

fn differences(case: &Case, run: &Run) -> Vec<String> {
    let file = case.file();
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let simulation = Simulation::new(case.settings(run.release), &objects).unwrap();
    let outcome = simulation.run_with_remedies();
    if env::var("CASE").is_ok() {
        for pod in &outcome.pods {
            println!("{} {:?}", pod.name, compare::placement(&outcome, pod));
        }
        for claim in &outcome.claims {
            println!("{}", compare::describe(&outcome, claim));
        }
    }
    compare::differences(&case.expect, &outcome)
}
