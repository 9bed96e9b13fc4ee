//! Every JSON answer matches its published schema.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::folder::Folder;

const CLUSTER: &str = include_str!("../../fuzz/seeds/disruption/cluster.yaml");
const POOL: &str = include_str!("../../fuzz/seeds/disruption/pool.yaml");
const PODS: &str = include_str!("../../fuzz/seeds/simulation/pods.yaml");
const CLASS: &str = include_str!("../../examples/nodeclass-bad.yaml");
const LOG: &str = include_str!("../../examples/symptoms/double-nodeclaim/karpenter.log");

fn folder() -> Folder {
    Folder::with(&[
        ("cluster.yaml", CLUSTER),
        ("pool.yaml", POOL),
        ("pods.yaml", PODS),
        ("class.yaml", CLASS),
        ("karpenter.log", LOG),
        ("chart.yaml", "kind: {{ .Values.kind }}\n"),
        ("broken.yaml", "karpenter: [\n"),
        ("values.yaml", "image: {repository: public.ecr.aws/karpenter/controller, tag: 1.8.1}\n"),
        ("dev/pool.yaml", POOL),
        ("prod/pool.yaml", POOL),
    ])
}

fn schema(name: &str) -> jsonschema::Validator {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../schemas/{name}.schema.json"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn assert_match(name: &str, commands: &[&[&str]]) {
    let (folder, schema) = (folder(), schema(name));
    for command in commands {
        let run = folder.run(command);
        let answer: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}: {run:?}"));
        let errors: Vec<String> =
            schema.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{command:?}: {errors:?}");
    }
}

#[test]
fn reports_match_their_schema() {
    let check = ["check", "--format", "json"];
    let upgrade = ["upgrade", "--format", "json"];
    let diagnose = ["diagnose", "--format", "json"];
    assert_match(
        "report",
        &[
            &[&check[..], &["."]].concat(),
            &[&check[..], &["--karpenter-version", "1.0..1.14", "--statistics", "."]].concat(),
            &[&check[..], &["--karpenter-version", "1.99", "class.yaml"]].concat(),
            &[&check[..], &["--cluster-name", "prod", "--complete", "--max-findings", "1", "."]].concat(),
            &[&check[..], &["--cluster", "dev", "--cluster", "prod"]].concat(),
            &[&upgrade[..], &["--from", "1.0", "--to", "1.14", "."]].concat(),
            &[&upgrade[..], &["--from", "1.14", "--to", "1.0", "."]].concat(),
            &[&diagnose[..], &["."]].concat(),
            &[&diagnose[..], &["--nodepool", "default", "karpenter.log"]].concat(),
            &[&diagnose[..], &["--timeline=table", "karpenter.log"]].concat(),
            &[&diagnose[..], &["--cluster", "dev", "--cluster", "prod"]].concat(),
        ],
    );
}

#[test]
fn simulations_match_their_schema() {
    assert_match(
        "simulation",
        &[
            &["simulate", "--format", "json", "."],
            &["simulate", "--format", "json", "--replicas", "StatefulSet/web=30", "pods.yaml"],
            &["simulate", "--format", "json", "--empty", "--karpenter-version", "1.0", "pods.yaml"],
            &[
                "simulate",
                "--format",
                "json",
                "--min-values-policy",
                "BestEffort",
                "pods.yaml",
                "cluster.yaml",
            ],
        ],
    );
}

#[test]
fn judgements_of_disruption_match_their_schema() {
    assert_match(
        "disruption",
        &[
            &["disruption", "--format", "json", "."],
            &["disruption", "--format", "json", "--at", "2026-03-11T10:30:00Z", "cluster.yaml", "pool.yaml"],
            &[
                "disruption",
                "--format",
                "json",
                "--nominated",
                "n1",
                "--marked-for-deletion",
                "n2",
                "cluster.yaml",
                "pool.yaml",
            ],
            &[
                "disruption",
                "--format",
                "json",
                "--karpenter-version",
                "1.15",
                "--node-count",
                "default=30",
                "pool.yaml",
            ],
        ],
    );
}

#[test]
fn the_catalogue_of_rules_matches_its_schema() {
    assert_match("rules", &[&["rules", "--format", "json"]]);
}

#[test]
fn schemas_refuse_unknown_names() {
    let folder = folder();
    let run = folder.run(&["check", "--format", "json", "class.yaml"]);
    let mut answer: Value = serde_json::from_str(&run.stdout).unwrap();
    answer["findings"][0]["severity"] = "fatal".into();
    assert!(!schema("report").is_valid(&answer));
}
