//! Objects of a cluster, as `karpwarden simulate` and `karpwarden disruption` read them.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden::answers::sorted;
use karpwarden::cluster::built_objects::BuiltObjects;
use karpwarden::disrupt::{Question, answer, json as disruption, story, words};
use karpwarden::manifest::tree::Node;
use karpwarden::objects::object::Object;
use karpwarden::scheduling::simulation::Simulation;
use karpwarden::simulate::{Choices, DeducedSettings, Shown, json as simulation, skipped};
use karpwarden::values::timestamp::Timestamp;
use serde_json::Value;

use crate::input::Input;

/// A Wednesday.
const NOW: i64 = 1_773_225_000;

/// The most replicas of a simulated workload. More only repeat the same work.
const REPLICAS: i64 = 20;

/// Simulates the pods of files.
pub fn assert_simulation(text: &str) {
    let input = Input::parse(text);
    with_objects(&input, |objects, deduced| {
        let deduced = deduced.with_rounds(&Choices::default(), objects);
        let Ok(simulation) = Simulation::new(deduced.settings, objects) else { return };
        let outcome = simulation.run();
        let assumptions: Vec<String> = deduced.assumptions.iter().map(ToString::to_string).collect();
        let report = sorted(&simulation::answer(&Shown {
            outcome: &outcome,
            simulation: &simulation,
            assumptions: &assumptions,
            skipped: skipped(input.files()),
            findings: &[],
        }));
        assert!(report.as_ref().is_ok_and(Value::is_object), "{report:?}");
    });
}

/// Judges the disruption of the nodes in files.
pub fn assert_disruption(text: &str) {
    let input = Input::parse(text);
    with_objects(&input, |objects, deduced| {
        let question = Question {
            at: Timestamp::from_seconds(NOW),
            node_counts: BTreeMap::new(),
            nominated: BTreeSet::new(),
            marked_for_deletion: BTreeSet::new(),
            feature_gates: BTreeMap::new(),
            alone: None,
        };
        let answer = answer(&question, deduced.settings, objects);
        let report = sorted(&disruption::answer(&answer, input.files(), &[]));
        assert!(report.as_ref().is_ok_and(Value::is_object), "{report:?}");
        assert!(!story::verdict(&answer).is_empty());
        for pool in &answer.pools {
            let _ = answer.weeks(pool);
            if let Ok(budgets) = &pool.budgets {
                budgets.ids().for_each(|id| assert!(!words::budget(budgets, id).is_empty()));
            }
        }
        for node in &answer.judgement.nodes {
            assert!(!story::state(&answer, node).is_empty());
            let _ = story::decisions(&answer, node);
        }
    });
}

/// Calls a function with the objects of files and the deduced that they imply.
fn with_objects(input: &Input, run: impl FnOnce(&[Object<'_>], DeducedSettings)) {
    let built = BuiltObjects::of(input.files());
    let objects = built.objects(input.files());
    if objects.iter().any(|object| has_many_replicas(object.root())) {
        return;
    }
    let deduced = DeducedSettings::new(&Choices::default(), &input.settings, input.files(), &objects);
    if let Ok(deduced) = deduced {
        run(&objects, deduced.with_overlays(&built.left_out()));
    }
}

fn has_many_replicas(node: Node<'_>) -> bool {
    let is_count = matches!(node.key(), "replicas" | "parallelism" | "completions");
    let is_many = is_count && node.as_int().is_some_and(|count| count > REPLICAS);
    is_many || node.children().any(has_many_replicas)
}
