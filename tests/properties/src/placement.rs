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
use serde_json::{Value, json};

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

/// Simulates pods that are made to be hard to place. Each byte chooses one number: of NodePools, workloads, replicas, domains,
/// preferences, and of the constraints that the workloads have.
pub fn assert_hard_pods(bytes: &[u8]) {
    let number = |at: usize, most: u8| bytes.get(at).copied().unwrap_or_default() % (most + 1);
    let pools = (0..number(0, 6)).map(|pool| {
        let zones: Vec<String> = (0..number(1, 12)).map(|zone| format!("zone-{zone}")).collect();
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": format!("pool-{pool}")}, "spec": {
            "weight": pool, "limits": {"cpu": number(2, 64)}, "template": {
                "metadata": {"labels": {"team": format!("team-{}", pool % 3)}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "taints": if pool % 2 == number(3, 2) { json!([{"key": "a", "effect": "NoSchedule"}]) } else { json!([]) },
                    "requirements": [
                        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones},
                        {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5", "c7g"], "minValues": number(4, 3)}]}}}})
    });
    let workloads = (0..number(5, 8)).map(|workload| {
        let at = 8 + usize::from(workload) * 8;
        let labels = json!({"app": format!("app-{}", number(at, 2))});
        let selector = json!({"matchLabels": labels});
        let keys = ["topology.kubernetes.io/zone", "kubernetes.io/hostname", "karpenter.sh/capacity-type", "team"];
        let key = |index: usize| keys.get(usize::from(number(index, 3))).copied().unwrap_or_default();
        let spread = (0..number(at + 1, 3)).map(|constraint| json!({"maxSkew": constraint + 1, "topologyKey": key(at + 2),
            "whenUnsatisfiable": if constraint == 1 { "ScheduleAnyway" } else { "DoNotSchedule" }, "labelSelector": selector}));
        let preferred = (0..number(at + 3, 30)).map(|preference| json!({"weight": 1 + preference, "preference": {
            "matchExpressions": [{"key": key(at + 4), "operator": "In", "values": [format!("value-{preference}")]}]}}));
        let term = json!([{"topologyKey": key(at + 5), "labelSelector": selector}]);
        let kinds = [json!({}), json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}),
            json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}})];
        let mut affinity = kinds.get(usize::from(number(at + 6, 2))).cloned().unwrap_or_default();
        if let Some(affinity) = affinity.as_object_mut() {
            let preferred = json!({"preferredDuringSchedulingIgnoredDuringExecution": preferred.collect::<Vec<_>>()});
            affinity.insert("nodeAffinity".to_owned(), preferred);
        }
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": format!("web-{workload}")}, "spec": {
            "replicas": number(at + 7, 20), "selector": selector, "template": {"metadata": {"labels": labels}, "spec": {
                "affinity": affinity, "topologySpreadConstraints": spread.collect::<Vec<_>>(),
                "tolerations": if workload % 2 == 0 { json!([{"operator": "Exists"}]) } else { json!([]) },
                "containers": [{"name": "a", "resources": {"requests": {"cpu": format!("{}m", 100 * (1 + u32::from(number(6, 40))))}}}]}}}})
    });
    let lines: Vec<String> = pools.chain(workloads).map(|object| object.to_string()).collect();
    assert_simulation(&format!("#== objects.jsonl\n{}", lines.join("\n")));
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
