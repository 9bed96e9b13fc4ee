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

/// A table of events, which have ages and no times.
const EVENTS: &str = "\
NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT                 MESSAGE
shop        3m12s       Normal    Nominated          pod/web-0              Pod should schedule on: nodeclaim/default-01abc, node/n1
default     5m          Normal    Unconsolidatable   node/n1                Can't replace with a cheaper node
default     9m          Normal    DisruptionBlocked  nodeclaim/default-01abc   Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])
default     7m          Normal    DisruptionBlocked  nodepool/default       No allowed disruptions for disruption reason Underutilized due to blocking budget
";

fn folder() -> Folder {
    Folder::with(&[
        ("events.txt", EVENTS),
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

/// Checks an answer with its schema.
pub(crate) fn assert_valid(name: &str, answer: &Value) {
    let errors: Vec<String> =
        schema(name).iter_errors(answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
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
            &[&diagnose[..], &["--nodepool", "default", "events.txt"]].concat(),
            &[&diagnose[..], &["--node", "n1", "events.txt"]].concat(),
            &[&diagnose[..], &["--pod", "shop/web-0", "events.txt"]].concat(),
            &[&diagnose[..], &["--timeline=table", "events.txt"]].concat(),
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

/// Values of flags. A flag that needs a value and is not here gets `1`.
const VALUES: &[(&str, &[&str])] = &[
    ("--at", &["2026-03-11T10:30:00Z"]),
    ("--baseline", &["baseline.json"]),
    ("--ca-bundle", &["ca.b64"]),
    ("--cluster", &["dev"]),
    ("--cluster-name", &["prod"]),
    ("--config", &["config.yaml"]),
    ("--exclude", &["dev"]),
    ("--fail-on", &["never"]),
    ("--feature-gates", &["NodeOverlay=true"]),
    ("--from", &["1.2"]),
    ("--helm-values", &["values.yaml"]),
    ("--ignore", &["storage"]),
    ("--karpenter-version", &["1.3", "1.0..1.14", "1.99"]),
    ("--kubernetes-version", &["1.33"]),
    ("--marked-for-deletion", &["n1"]),
    ("--min-values-policy", &["BestEffort"]),
    ("--node", &["n1", "default-01abc"]),
    ("--node-count", &["default=30"]),
    ("--node-start", &["90s"]),
    ("--nodepool", &["default"]),
    ("--nominated", &["n2"]),
    ("--pod", &["shop/web-0", "pods.yaml"]),
    ("--preference-policy", &["Ignore"]),
    ("--prices", &["prices.json"]),
    ("--region", &["eu-west-1"]),
    ("--replicas", &["StatefulSet/web=30"]),
    ("--reservation-capacity", &["cr-0123456789abcdef0=2"]),
    ("--select", &["nodeclass"]),
    ("--spot-discount", &["0.5"]),
    ("--timezone", &["Europe/Berlin"]),
    ("--to", &["1.13"]),
    ("--vm-memory-overhead-percent", &["0.05"]),
    ("--zones", &["us-east-1a=use1-az1"]),
];

/// Flags that print no answer, or that print it elsewhere.
const WITHOUT_ANSWER: [&str; 6] = ["--diff", "--format", "--help", "--output", "--version", "--watch"];

/// The flags in the help of a command, and whether they need a value.
fn flags(folder: &Folder, command: &str) -> Vec<(String, bool)> {
    let help = folder.run(&[command, "--help"]).stdout;
    let flags = help.lines().filter(|line| line.trim_start().starts_with('-')).filter_map(|line| {
        let (_, rest) = line.split_once("--")?;
        let end = rest.find(|char: char| !char.is_ascii_lowercase() && char != '-').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        Some((format!("--{name}"), after.starts_with(" <")))
    });
    flags.collect()
}

#[test]
fn answers_match_their_schema_with_every_flag() {
    for (command, name, further) in [
        ("check", "report", &[][..]),
        ("upgrade", "report", &["--from", "1.0", "--to", "1.14"]),
        ("diagnose", "report", &[]),
        ("simulate", "simulation", &[]),
        ("disruption", "disruption", &[]),
        ("hash", "hash", &[]),
        ("plan", "plan", &["--from", "1.8"]),
        ("rules", "rules", &[]),
    ] {
        let schema = schema(name);
        let flags = flags(&folder(), command);
        assert!(flags.len() > 2, "{command}");
        for (flag, needs_value) in flags.iter().filter(|(flag, _)| !WITHOUT_ANSWER.contains(&flag.as_str())) {
            let known = VALUES.iter().find(|(known, _)| known == flag).map(|(_, values)| *values);
            let values = known.unwrap_or(if *needs_value { &["1"] } else { &[""] });
            for value in values {
                let folder = folder();
                folder.write("config.yaml", b"clusterName: prod\n");
                folder.write("baseline.json", br#"{"schema": 1, "findings": []}"#);
                folder.write("ca.b64", b"YQ==");
                folder.write("prices.json", br#"{"m5.large": 0.1}"#);
                let mut line = vec![command, "--format", "json", flag.as_str()];
                line.extend([*value].into_iter().filter(|value| !value.is_empty()));
                line.extend(further.iter().filter(|_| !matches!(flag.as_str(), "--from" | "--to")));
                if matches!(flag.as_str(), "--from" | "--to") {
                    line.extend(if flag == "--from" { ["--to", "1.14"] } else { ["--from", "1.0"] });
                }
                if command != "rules" && flag != "--cluster" {
                    line.push(".");
                }
                let run = folder.run(&line);
                // A value that the command refuses has no answer.
                if run.stdout.is_empty() {
                    assert!(known.is_none() || *value == "pods.yaml" || run.status == 2, "{line:?}: {run:?}");
                    continue;
                }
                let answer: Value = serde_json::from_str(&run.stdout)
                    .unwrap_or_else(|error| panic!("{line:?}: {error}: {run:?}"));
                let errors: Vec<String> = schema
                    .iter_errors(&answer)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{line:?}: {errors:?}");
            }
        }
    }
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
