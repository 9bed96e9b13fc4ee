//! Builds compared with the output of kustomize. `recorded/README.md` describes the cases.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a case that cannot be read or recorded fails"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use karpwarden_kustomize::{BuildOutcome, Builds};
use manifest::limits::Limits;
use manifest::{Document, File};

/// The heading of the recorded output in a case.
const BUILT: &str = "built";

/// The files of a case, in order, each with its text.
fn sections(case: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in case.split_inclusive('\n') {
        let heading = line.trim_end().strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"));
        match (heading, sections.last_mut()) {
            (Some(name), _) => sections.push((name.to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => {}
        }
    }
    sections
}

/// The objects of a text, sorted.
fn objects(text: &str) -> Vec<serde_json::Value> {
    let file = File::read("built.yaml", text, &Limits::DEFAULT);
    let read = |document: &Document| match document {
        Document::Read(tree) => tree.root().to_json(),
        other => panic!("{other:?}"),
    };
    sorted(file.documents.iter().map(read).collect())
}

fn sorted(mut objects: Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    objects.sort_by_key(ToString::to_string);
    objects
}

/// The objects of the build of the folder `overlay`, or of the current folder, sorted.
fn built(files: &[File]) -> Vec<serde_json::Value> {
    let builds = Builds::of(files, &Limits::DEFAULT);
    let overlay = builds.overlays.iter().find(|overlay| matches!(overlay.name.as_str(), "." | "overlay"));
    let mut objects = Vec::new();
    for object in &overlay.expect("no build").objects {
        assert_eq!(object.unresolved, None);
        match &object.outcome {
            BuildOutcome::Changed(tree) => objects.push(tree.root().to_json()),
            BuildOutcome::Unchanged => {
                let Some(Document::Read(tree)) = object.origin.document.within(files) else { panic!() };
                objects.push(tree.node(object.origin.root).to_json());
            }
            BuildOutcome::Deleted => {}
        }
    }
    sorted(objects)
}

/// Runs `kubectl kustomize` on the files of a case.
fn record(files: &[(String, String)]) -> String {
    let folder = std::env::temp_dir().join(format!("karpwarden-kustomize-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let has_overlay = folder.join("overlay").exists();
    let top = if has_overlay { folder.join("overlay") } else { folder.clone() };
    let output = Command::new("kubectl").arg("kustomize").arg(top).output().unwrap();
    let _ = fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{files:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    cases.sort();
    cases
}

#[test]
fn builds_what_kustomize_builds() {
    let is_recording = std::env::var_os("RECORD_KUSTOMIZE").is_some();
    let cases = cases();
    assert!(cases.len() >= 40, "{}", cases.len());
    let mut different = Vec::new();
    for path in cases {
        let text = fs::read_to_string(&path).unwrap();
        let mut sections = sections(&text);
        let mut recorded =
            sections.iter().position(|(name, _)| name == BUILT).map(|at| sections.remove(at).1);
        if is_recording {
            let output = record(&sections);
            sections.push((BUILT.to_owned(), output.clone()));
            let mut case = String::new();
            for (name, text) in &sections {
                let _ = write!(case, "-- {name} --\n{text}");
            }
            sections.pop();
            fs::write(&path, case).unwrap();
            recorded = Some(output);
        }
        let files: Vec<File> =
            sections.iter().map(|(name, text)| File::read(name, text.as_str(), &Limits::DEFAULT)).collect();
        let (ours, theirs) = (built(&files), objects(&recorded.expect("a case without output")));
        if ours != theirs {
            let only = |these: &[serde_json::Value], others: &[serde_json::Value]| {
                let mut text = String::new();
                for object in these.iter().filter(|object| !others.contains(object)) {
                    let _ = writeln!(text, "{object:#}");
                }
                text
            };
            let (ours, theirs) = (only(&ours, &theirs), only(&theirs, &ours));
            different.push(format!("{}\nours:\n{ours}theirs:\n{theirs}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
