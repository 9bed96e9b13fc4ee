//! Public reports, rebuilt as inputs: `tests/field-cases`.

use std::fs;
use std::path::Path;

use crate::folder::run;

/// Words of a case, under a key of its `case.json`.
fn words(case: &serde_json::Value, key: &str) -> Vec<String> {
    case[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Returns what a case lacks, and what it must not say.
fn faults(folder: &Path) -> Vec<String> {
    let case: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("case.json")).unwrap()).unwrap();
    let command = words(&case, "command");
    let arguments: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
    let run = run(folder, &arguments, b"");
    let output = run.stdout + &run.stderr;
    let name = folder.file_name().unwrap().to_string_lossy();
    let missing = words(&case, "expect").into_iter().filter(|word| !output.contains(word));
    let wrong = words(&case, "forbid").into_iter().filter(|word| output.contains(word));
    missing
        .map(|word| format!("{name}: does not say {word:?}"))
        .chain(wrong.map(|word| format!("{name}: says {word:?}")))
        .collect()
}

#[test]
fn field_cases_get_the_right_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/field-cases");
    let mut folders: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(folders.len() >= 18, "{folders:?}");
    let faults: Vec<_> = folders.iter().flat_map(|folder| faults(folder)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
