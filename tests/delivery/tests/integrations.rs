//! What stands beside the programs: workflows, the action, the hooks, the image, the schemas.

#![expect(clippy::unwrap_used, reason = "a test may fall over")]

use karpwarden::check::Cluster;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File};
use karpwarden::settings::Settings;
use karpwarden_delivery::{home, yaml};
use serde_json::{Value, json};

const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];

fn parsed(path: &str) -> Value {
    yaml::documents(&home::text(path).unwrap()).unwrap().remove(0)
}

#[test]
fn every_action_is_pinned_and_says_its_version() {
    for path in WORKFLOWS {
        for line in home::text(path).unwrap().lines().filter(|line| line.contains("uses:")) {
            let (_, pin) = line.split_once('@').unwrap();
            let (digest, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{line}"));
            assert!(digest.len() == 40 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            assert!(!version.is_empty(), "{line}");
        }
    }
}

#[test]
fn jobs_have_the_rights_they_name_and_an_end() {
    for path in WORKFLOWS {
        let workflow = parsed(path);
        assert_eq!(workflow["permissions"], json!({}), "{path}");
        for (name, job) in workflow["jobs"].as_object().unwrap() {
            assert!(job["permissions"].is_object() && job["timeout-minutes"].is_u64(), "{path}: {name}");
        }
    }
}

#[test]
fn the_release_and_the_action_name_what_is_built() {
    let release = parsed(".github/workflows/release.yml");
    assert_eq!(release["env"]["MODULE"], home::MODULE);
    let action = parsed("action.yml");
    assert_eq!(action["inputs"]["version"]["default"], format!("v{}", home::VERSION));
    let targets: Vec<_> =
        release["jobs"]["binaries"]["strategy"]["matrix"]["include"].as_array().unwrap().clone();
    let script = home::text("action.yml").unwrap();
    for target in script.lines().filter_map(|line| line.split_once("target=")?.1.strip_suffix(" ;;")) {
        assert!(targets.iter().any(|built| built["target"] == target), "{target} is not built");
    }
}

#[test]
fn the_image_is_a_binary_and_nobody() {
    let text = home::text("Containerfile").unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("FROM")).collect::<Vec<_>>(), ["FROM scratch"]);
    assert!(!text.contains("\nRUN"), "there is no shell to run anything");
    let user = text.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    assert!(user.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)), "{user}");
}

#[test]
fn hooks_run_commands_that_exist() {
    for hook in parsed(".pre-commit-hooks.yaml").as_array().unwrap() {
        assert!(hook["entry"].as_str().unwrap().starts_with("karpwarden check"), "{hook}");
        assert!(["rust", "system"].contains(&hook["language"].as_str().unwrap()), "{hook}");
    }
}

fn schema(name: &str) -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&home::text(&format!("schemas/{name}.schema.json")).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn read(text: &str) -> (File, Value) {
    let file = File::read("a.yaml", text, &Limits::DEFAULT);
    let value = yaml::documents(text).unwrap().pop().unwrap_or_else(|| json!({}));
    (file, value)
}

#[test]
fn the_schema_and_the_reader_of_the_settings_agree() {
    let schema = schema("settings");
    for (text, is_valid) in [
        ("{}", true),
        ("{karpenterVersion: '1.8', rules: {storage: warn, restricted-label: off}}", true),
        ("{karpenterVersion: '1.0..1.14', kubernetesVersion: '1.33'}", true),
        ("{exceptions: [{rule: labels, reason: r, until: 2027-03-31}]}", true),
        ("{exclude: [a/], overrides: [{paths: [b/], rules: {labels: info}}]}", true),
        ("{karpenterVersion: 1.1}", false),
        ("{karpenterVersion: latest}", false),
        ("{clustername: a}", false),
        ("{clusterName: ''}", false),
        ("{rules: {storag: warn}}", false),
        ("{rules: {storage: loud}}", false),
        ("{fix: maybe}", false),
        ("{exceptions: [{rule: labels}]}", false),
        ("{exceptions: [{rule: labels, reason: r, why: x}]}", false),
        ("{overrides: [{rules: {}}]}", false),
        ("{overrides: [{paths: [a], fix: true}]}", false),
    ] {
        let (file, value) = read(text);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        assert_eq!(Settings::read(tree.root()).is_ok(), is_valid, "the reader, of {text}");
        assert_eq!(schema.is_valid(&value), is_valid, "the schema, of {text}");
    }
}

#[test]
fn reports_are_what_their_schema_says() {
    let schema = schema("report");
    let files: Vec<File> = ["nodeclass-bad", "labels-bad", "storage-bad", "identity-bad"]
        .into_iter()
        .map(|name| File::read(name, home::text(&format!("examples/{name}.yaml")).unwrap(), &Limits::DEFAULT))
        .chain([File::read("broken", "a: [1\n---\na: {{ .b }}\n", &Limits::DEFAULT)])
        .collect();
    let report = karpwarden::check(&[Cluster { name: String::new(), files }], &Settings::default());
    let mut value: Value = serde_json::from_str(&report.to_json()).unwrap();
    assert!(value["findings"].as_array().unwrap().len() > 3);
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    value["findings"][0]["severity"] = "fatal".into();
    assert!(!schema.is_valid(&value));
}
