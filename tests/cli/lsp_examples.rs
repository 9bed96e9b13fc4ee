//! The language server and `check` find the same in every example.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::editor::{Editor, uri};
use crate::folder::Folder;

/// The manifests in a folder and below, relative to it, with their texts.
fn manifests(folder: &Path) -> Vec<(String, String)> {
    let (mut found, mut open): (_, Vec<PathBuf>) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The findings of `check`, by file: rule, severity, range in lines and characters from 0, and text.
fn checked(folder: &Folder) -> BTreeMap<String, Vec<String>> {
    let run = folder.run(&["check", "--format", "json", "."]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let at = |key: &str| finding[key].as_u64().unwrap() - 1;
        let severity = match finding["severity"].as_str().unwrap() {
            "error" => 1,
            "warning" => 2,
            _ => 3,
        };
        let text = [&finding["message"], &finding["help"]].map(|part| part.as_str().unwrap());
        files.entry(finding["file"].as_str().unwrap().to_owned()).or_default().push(format!(
            "{} {severity} {}:{} {}:{} {}",
            finding["rule"].as_str().unwrap(),
            at("line"),
            at("column"),
            at("endLine"),
            at("endColumn"),
            text.join("\n").trim_end(),
        ));
    }
    files
}

/// The diagnostics that an editor shows, in the same words.
fn shown(editor: &Editor, path: &Path) -> Vec<String> {
    let diagnostics =
        editor.shown.get(&uri(path)).unwrap_or_else(|| panic!("{} has no diagnostics", path.display()));
    let words = |one: &Value| {
        let [start, end] = ["start", "end"].map(|key| &one["range"][key]);
        format!(
            "{} {} {}:{} {}:{} {}",
            one["code"].as_str().unwrap(),
            one["severity"],
            start["line"],
            start["character"],
            end["line"],
            end["character"],
            one["message"].as_str().unwrap(),
        )
    };
    diagnostics.iter().map(words).collect()
}

/// Compares the server with `check` on a folder with these files. Returns the number of findings.
fn compared(files: &[(String, String)]) -> usize {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::with(&files);
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    for (name, text) in &files {
        editor.open(&folder.path(name), text);
    }
    // The server says nothing in a folder that does not mention Karpenter: the storage classes of any program.
    let is_about_karpenter = files.iter().any(|(_, text)| text.to_ascii_lowercase().contains("karpenter"));
    let expected = if is_about_karpenter { checked(&folder) } else { BTreeMap::new() };
    for (name, _) in &files {
        let path = folder.path(name);
        // The server answers after the check.
        editor.diagnostics(&path);
        let (mut found, mut expected) =
            (shown(&editor, &path), expected.get(*name).cloned().unwrap_or_default());
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
    expected.values().map(Vec::len).sum()
}

#[test]
fn shows_in_every_example_what_check_finds() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let all = manifests(&examples);
    assert!(all.len() > 15, "{all:?}");
    let alone: usize = all.iter().map(|one| compared(std::slice::from_ref(one))).sum();
    let together = compared(&all);
    assert!(alone > 10 && together > 10, "{alone} findings alone, {together} together");
}
