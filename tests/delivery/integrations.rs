//! Integrations: workflows, the action, pre-commit hooks, the image, the schemas.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use karpwarden::cluster::Cluster;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::Settings;
use karpwarden_generate::{home, yaml};
use serde_json::{Value, json};

/// The paths of all workflows.
fn workflows() -> Vec<String> {
    let folder = std::fs::read_dir(home::path(".github/workflows")).unwrap();
    folder
        .map(|entry| format!(".github/workflows/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect()
}

fn parsed(path: &str) -> Value {
    yaml::documents(&home::text(path).unwrap()).unwrap().remove(0)
}

#[test]
fn actions_are_pinned_with_a_version_comment() {
    for path in &workflows() {
        let text = home::text(path).unwrap();
        for line in text.lines().filter(|line| line.contains("uses:") && !line.ends_with("uses: ./")) {
            let (_, pin) = line.split_once('@').unwrap();
            let (digest, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{line}"));
            assert!(digest.len() == 40 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            assert!(!version.is_empty(), "{line}");
        }
    }
}

#[test]
fn jobs_have_explicit_permissions_and_a_timeout() {
    for path in &workflows() {
        let workflow = parsed(path);
        assert_eq!(workflow["permissions"], json!({}), "{path}");
        for (name, job) in workflow["jobs"].as_object().unwrap() {
            assert!(job["permissions"].is_object() && job["timeout-minutes"].is_u64(), "{path}: {name}");
        }
    }
}

#[test]
fn release_and_action_name_the_current_version_and_built_targets() {
    let release = parsed(".github/workflows/release.yml");
    assert_eq!(release["env"]["MODULE"], home::module_name());
    let action = parsed("action.yml");
    assert_eq!(action["inputs"]["version"]["default"], format!("v{}", home::VERSION));
    let targets: Vec<_> =
        release["jobs"]["binaries"]["strategy"]["matrix"]["include"].as_array().unwrap().clone();
    let script = home::text("action.yml").unwrap();
    for target in script.lines().filter_map(|line| line.split_once("target=")?.1.strip_suffix(" ;;")) {
        assert!(targets.iter().any(|built| built["target"] == target), "{target} is not built");
    }
}

/// Every shell script of a workflow or an action, with its job.
fn scripts(workflow: &Value) -> Vec<(&Value, &str)> {
    let jobs = workflow["jobs"].as_object().into_iter().flat_map(|jobs| jobs.values());
    let jobs: Vec<&Value> = jobs.chain(workflow.get("runs")).collect();
    let mut scripts = Vec::new();
    for job in jobs {
        let steps = job["steps"].as_array().unwrap();
        scripts.extend(steps.iter().filter_map(|step| Some((job, step["run"].as_str()?))));
    }
    scripts
}

#[test]
fn workflows_name_existing_targets_packages_and_files() {
    let makefile = home::text("Makefile").unwrap();
    let packages = home::text("Cargo.lock").unwrap();
    let mut called = 0;
    for path in &workflows() {
        let workflow = parsed(path);
        for (_, script) in scripts(&workflow) {
            for line in script.lines().map(str::trim) {
                let targets = line.strip_prefix("make ").into_iter().flat_map(str::split_whitespace);
                for target in targets.take_while(|word| !word.contains('=')) {
                    assert!(
                        makefile.contains(&format!("\n{target}:")),
                        "{path}: no target `{target}` in the Makefile"
                    );
                    called += 1;
                }
                let words: Vec<&str> = line.split_whitespace().collect();
                for pair in words.windows(2).filter(|pair| matches!(pair[0], "--package" | "--exclude")) {
                    let named = format!("\nname = \"{}\"\n", pair[1]);
                    assert!(packages.contains(&named), "{path}: no package {}", pair[1]);
                    called += 1;
                }
                for file in line.strip_prefix("cp ").into_iter().flat_map(str::split_whitespace) {
                    let is_kept =
                        ["schemas/", "artifacthub/", "policies/"].iter().any(|kept| file.starts_with(kept));
                    if is_kept && !file.contains("policy.wasm") {
                        assert!(home::path(file).is_file(), "{path}: no file {file}");
                        called += 1;
                    }
                }
            }
        }
    }
    assert!(called > 15, "{called} only");
}

#[test]
fn a_job_that_may_publish_compiles_nothing() {
    let release = parsed(".github/workflows/release.yml");
    for (name, job) in release["jobs"].as_object().unwrap() {
        let may_write = job["permissions"].as_object().unwrap().values().any(|right| right == "write");
        let may_publish = may_write || job.to_string().contains("secrets.");
        for step in job["steps"].as_array().unwrap().iter().filter(|_| may_publish) {
            let script = step["run"].as_str().unwrap_or_default();
            let builders = ["cargo ", "make ", "npm ", "docker build", "docker buildx"];
            assert!(!builders.iter().any(|builder| script.contains(builder)), "{name}: {script}");
        }
    }
}

#[test]
fn a_release_contains_every_schema() {
    let release = parsed(".github/workflows/release.yml");
    let lines = scripts(&release).into_iter().flat_map(|(_, script)| script.lines());
    let copied: Vec<&str> =
        lines.filter_map(|line| line.trim().strip_prefix("cp ")).flat_map(str::split_whitespace).collect();
    for schema in std::fs::read_dir(home::path("schemas")).unwrap() {
        let file = format!("schemas/{}", schema.unwrap().file_name().to_string_lossy());
        assert!(copied.contains(&file.as_str()), "{file} is in no release");
    }
}

#[test]
fn downloaded_artifacts_and_outputs_are_produced_by_a_job() {
    let release = parsed(".github/workflows/release.yml");
    let text = home::text(".github/workflows/release.yml").unwrap();
    let jobs = release["jobs"].as_object().unwrap();
    let uses =
        |step: &Value, action: &str| step["uses"].as_str().is_some_and(|used| used.starts_with(action));
    let mut made: Vec<String> = Vec::new();
    for job in jobs.values() {
        for step in job["steps"].as_array().unwrap() {
            if uses(step, "actions/upload-artifact@") {
                made.push(step["with"]["name"].as_str().unwrap().to_owned());
            }
        }
        // A referenced output must be written by a step of the same job.
        let written = serde_json::to_string(job).unwrap();
        for rest in written.split("${{ steps.").skip(1) {
            let (id, output) = rest.split_once(" }}").unwrap().0.split_once(".outputs.").unwrap();
            let step = job["steps"].as_array().unwrap().iter().find(|step| step["id"] == *id).unwrap();
            let writes = step["run"].as_str().unwrap().contains(&format!("printf '{output}=%s"));
            assert!(writes, "step {id} does not write {output}");
        }
    }
    assert!(made.contains(&"binary-${{ matrix.target }}".to_owned()), "{made:?}");
    // A download without a name puts each artifact into a folder of the artifact's name.
    for rest in text.split("artifacts/").skip(1).map(|rest| rest.split(['/', ' ']).next().unwrap()) {
        let is_made = made.iter().any(|name| name == rest) || rest.starts_with("binary-");
        assert!(is_made, "no job uploads {rest}: {made:?}");
    }
    for job in jobs.values() {
        for step in
            job["steps"].as_array().unwrap().iter().filter(|step| uses(step, "actions/download-artifact@"))
        {
            if let Some(name) = step["with"]["name"].as_str() {
                assert!(made.iter().any(|made| made == name), "no job uploads {name}");
            }
        }
    }
}

/// Folder with a program in place of karpwarden that prints its arguments and fails.
#[cfg(unix)]
fn folder_with_program(name: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = std::env::temp_dir().join(format!("karpwarden-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("karpwarden");
    std::fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 1\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A step of the action by its name, run by bash as the runner does. Returns the arguments that the program got.
#[cfg(unix)]
fn arguments_of_step(name: &str, folder: &std::path::Path, variables: &[(&str, &str)]) -> String {
    let action = parsed("action.yml");
    let steps = action.pointer("/runs/steps").unwrap().as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
    bash.current_dir(folder).env("FOLDER", folder).envs(variables.iter().copied());
    let run = bash.output().unwrap();
    assert_eq!(run.status.code(), Some(1), "the job has the exit status of the program: {run:?}");
    String::from_utf8(run.stdout).unwrap().lines().collect::<Vec<_>>().join(" ")
}

#[cfg(unix)]
#[test]
fn action_passes_its_inputs_to_the_command_line() {
    let folder = folder_with_program("action");
    let arguments = |paths: &str, release: &str, output: &str| {
        let given = [("PATHS", paths), ("KARPENTER_VERSION", release), ("OUTPUT", output)];
        arguments_of_step(
            "Check",
            &folder,
            &[&given[..], &[("FORMAT", "github"), ("FAIL_ON", "error")]].concat(),
        )
    };
    let always = "check --format github --fail-on error";
    assert_eq!(arguments(".", "", ""), format!("{always} -- ."));
    assert_eq!(
        arguments("a b\nc\n", "1.8", "x.sarif"),
        format!("{always} --karpenter-version 1.8 --output x.sarif -- a b c")
    );
    std::fs::remove_dir_all(&folder).unwrap();
    // Every input is used.
    let script = home::text("action.yml").unwrap();
    for input in parsed("action.yml")["inputs"].as_object().unwrap().keys() {
        assert!(script.contains(&format!("inputs.{input} ")), "{input} is not used");
    }
}

/// `uses: ./` with the input `binary` needs no release.
#[cfg(unix)]
#[test]
fn action_runs_a_program_of_the_runner() {
    let folder = folder_with_program("action-binary");
    let action = parsed("action.yml");
    let get = action.pointer("/runs/steps/0/run").unwrap().as_str().unwrap();
    let temporary = folder.join("temporary");
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", get]).current_dir(&folder);
    let run = bash.env("FOLDER", &temporary).env("BINARY", "./karpwarden").output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(
        arguments_of_step("Check", &temporary, &[("PATHS", "a"), ("FORMAT", "human"), ("FAIL_ON", "error")]),
        "check --format human --fail-on error -- a"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The summary has the difference to the commit at which the pull request left its base, although the base has moved on.
#[cfg(unix)]
#[test]
fn action_plans_against_the_base_of_the_pull_request() {
    let folder = folder_with_program("action-plan");
    let git = |arguments: &str| {
        let mut git = std::process::Command::new("git");
        git.current_dir(&folder).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let run = git.args(arguments.split(' ')).output().unwrap();
        assert!(run.status.success(), "{arguments}: {run:?}");
        String::from_utf8(run.stdout).unwrap().trim().to_owned()
    };
    git("init --quiet --initial-branch topic");
    git("commit --quiet --allow-empty -m base");
    let base = git("rev-parse HEAD");
    git("commit --quiet --allow-empty -m later");
    git("update-ref refs/remotes/origin/release HEAD");
    git("reset --quiet --hard HEAD~1");
    git("commit --quiet --allow-empty -m topic");
    let summary = folder.join("summary");
    let arguments = |paths: &str, release: &str, base: &str| {
        let given = [("PATHS", paths), ("KARPENTER_VERSION", release), ("BASE", base), ("FAIL_ON", "never")];
        let summary = [("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())];
        arguments_of_step("Plan", &folder, &[&given[..], &summary].concat())
    };
    let expected = format!("plan --base={base} --format markdown --fail-on never -- .");
    assert_eq!(arguments(".", "", "origin/release"), expected);
    let written = std::fs::read_to_string(&summary).unwrap();
    assert_eq!(written.lines().collect::<Vec<_>>().join(" "), expected);
    // A file has its folder's repository. Without the history, the program says what is missing.
    assert_eq!(
        arguments("pool.yaml class.yaml", "1.8", "origin/gone"),
        "plan --base=origin/gone --format markdown --fail-on never --karpenter-version 1.8 -- pool.yaml class.yaml"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn action_checks_after_a_plan_that_fails_the_job() {
    let action = parsed("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Get karpwarden", "Plan", "Check"]);
    assert_eq!(steps[0]["id"], "get");
    assert_eq!(steps[1]["if"], "${{ inputs.plan == 'true' && github.base_ref != '' }}");
    assert_eq!(steps[2]["if"], "${{ !cancelled() && steps.get.outcome == 'success' }}");
}

#[test]
fn image_holds_one_binary_and_runs_without_root() {
    let text = home::text("Containerfile").unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("FROM")).collect::<Vec<_>>(), ["FROM scratch"]);
    assert!(!text.contains("\nRUN"), "the image has no shell");
    let user = text.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    assert!(user.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)), "{user}");
}

#[test]
fn hooks_run_existing_commands_once_over_all_files() {
    for hook in parsed(".pre-commit-hooks.yaml").as_array().unwrap() {
        // pre-commit passes excluded files too, and splits the files over several runs by default.
        assert!(hook["entry"].as_str().unwrap().starts_with("karpwarden check --force-exclude"), "{hook}");
        assert_eq!(hook["require_serial"], true, "{hook}");
        // `types_or: [yaml, json]` would leave out Terraform, whose templates are text for pre-commit.
        assert_eq!((&hook["types"], &hook["types_or"]), (&json!(["text"]), &Value::Null), "{hook}");
        let files = hook["files"].as_str().unwrap();
        let extensions = files.strip_prefix(r"\.(").and_then(|rest| rest.strip_suffix(")$")).unwrap();
        for extension in ["ya?ml", "json", "tf", "tofu", "tfvars", "tftpl", "tpl"] {
            assert!(extensions.split('|').any(|known| known == extension), "{extension}: {hook}");
        }
        // `pyproject.toml` gets the command line as a wheel. `language: rust` installs the package in the root folder, which has no program.
        assert!(["python", "system"].contains(&hook["language"].as_str().unwrap()), "{hook}");
    }
    assert!(home::text("cli/Cargo.toml").unwrap().contains("\n[[bin]]\nname = \"karpwarden\"\n"));
}

fn schema(name: &str) -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&home::text(&format!("schemas/{name}.schema.json")).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn read(text: &str) -> (File, Value) {
    let file = File::read("a.yaml", text, READ_OPTIONS);
    let value = yaml::documents(text).unwrap().pop().unwrap_or_else(|| json!({}));
    (file, value)
}

#[test]
fn schema_and_parser_of_the_settings_agree() {
    let schema = schema("settings");
    for (text, is_valid) in [
        ("{}", true),
        ("{karpenterVersion: '1.8', rules: {storage: warn, restricted-label: off}}", true),
        ("{karpenterVersion: '1.0..1.14', kubernetesVersion: '1.33'}", true),
        ("{exceptions: [{rule: labels, reason: r, until: 2027-03-31}]}", true),
        ("{exclude: [a/], overrides: [{paths: [b/], rules: {labels: info}}]}", true),
        ("{karpenterVersion: 1.1}", false),
        ("{karpenterVersion: latest}", true),
        ("{karpenterVersion: newest}", false),
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
        assert_eq!(Settings::parse(tree.root(), &karpwarden::REGISTRY).is_ok(), is_valid, "parser: {text}");
        assert_eq!(schema.is_valid(&value), is_valid, "schema: {text}");
    }
}

#[test]
fn reports_match_their_schema() {
    let schema = schema("report");
    let files: Vec<File> = ["nodeclass-bad", "labels-bad", "storage-bad", "identity-bad"]
        .into_iter()
        .map(|name| File::read(name, home::text(&format!("examples/{name}.yaml")).unwrap(), READ_OPTIONS))
        .chain([File::read("broken", "a: [1\n---\na: {{ .b }}\n", READ_OPTIONS)])
        .collect();
    let report = karpwarden::check(&[Cluster { name: String::new(), files }], &Settings::default());
    let mut value: Value = serde_json::from_str(&report.to_json()).unwrap();
    assert!(value["findings"].as_array().unwrap().len() > 3);
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    value["findings"][0]["severity"] = "fatal".into();
    assert!(!schema.is_valid(&value));
}
