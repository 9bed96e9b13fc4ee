//! The language server in real editors without a screen: diagnostics, the fix of a finding, hover, completion and definition.
//!
//! The tests need the editors, so that only `make test` runs them: `cargo test --test editors -- --ignored`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
";
const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
";

const SETTINGS: &str = "exceptions:
  - rule: storageclass-immediate
    name: gp2
    reason: one zone
";

/// Runs an editor with a script in a folder of manifests. Returns what the script wrote.
fn edited(editor: &str, script: &str, arguments: impl Fn(&Path) -> Vec<String>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    // Editors open the real path.
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("pool.yaml"), POOL).unwrap();
    fs::write(root.join("class.yaml"), CLASS).unwrap();
    fs::write(root.join("karpwarden.yaml"), SETTINGS).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/editors").join(script);
    let result = root.join("result.json");
    let output = Command::new(editor)
        .args(arguments(&path))
        .current_dir(&root)
        .env("KARPWARDEN", env!("CARGO_BIN_EXE_karpwarden"))
        .env("RESULT", &result)
        // The server does not search a home folder.
        .env("HOME", root.join("home"))
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!("{editor} does not start: {error}; install what the tests need with `make setup`")
    });
    let text = fs::read_to_string(&result).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn assert_session(session: &Value) {
    assert_eq!(session["diagnostics"], json!(["instance-profile-is-arn"]), "{session}");
    let hover = session["hover"].as_str().unwrap_or_default();
    assert!(hover.contains("**`spec.instanceProfile`**: a string"), "{hover}");
    assert!(hover.contains("# instance-profile-is-arn"), "{hover}");
    let labels: Vec<&str> =
        session["completion"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(labels.contains(&"blockDeviceMappings") && !labels.contains(&"instanceProfile"), "{labels:?}");
    assert_eq!(session["fixed"], json!("  instanceProfile: nodes"));
    assert_eq!(session["left"], json!([]), "the fix removes the finding");
    let definition = session["definition"].as_str().unwrap_or_default();
    assert!(definition.ends_with("class.yaml:3"), "{definition}");
}

#[test]
#[ignore = "needs Neovim"]
fn neovim_shows_explains_completes_fixes_and_jumps() {
    let arguments = |script: &Path| {
        let run = format!("luafile {}", script.display());
        ["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", &run].map(str::to_owned).into()
    };
    let session = edited("nvim", "neovim.lua", arguments);
    assert_session(&session);
    assert_eq!(session["page"], json!("# storageclass-immediate"), "{session}");
}

#[test]
#[ignore = "needs Emacs with Eglot"]
fn emacs_shows_explains_completes_fixes_and_jumps() {
    let arguments =
        |script: &Path| ["--batch", "-l", &script.display().to_string()].map(str::to_owned).into();
    assert_session(&edited("emacs", "emacs.el", arguments));
}
