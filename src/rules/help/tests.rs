//! Helps and fixes in whole files: the examples, and the manifests of the problems and of the cases from the field.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rule::settings::Settings;

use super::{faults, fixed, followed_in_every_way, report};

/// The YAML files below a folder.
fn manifests(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            manifests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn helps_and_fixes_mend_findings_of_whole_files_and_lead_to_no_other_fault() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["examples", "tests/problems", "tests/field-cases"] {
        manifests(&root.join(folder), &mut files);
    }
    let (mut wrong, mut changes, mut repairs) = (String::new(), 0, 0);
    let settings = Settings::default();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for finding in &report(&text, &settings).findings {
            let fix = fixed(&text, finding).map(|fixed| (text.clone(), fixed));
            repairs += usize::from(fix.is_some());
            let followed = followed_in_every_way(&text, finding);
            changes += followed.len();
            for (before, after) in followed.into_iter().chain(fix) {
                let faults = faults(finding.rule, &before, &after, &settings);
                if !faults.is_empty() {
                    let (rule, help, path) = (finding.rule, &finding.help, path.display());
                    let _ = writeln!(wrong, "{path} {}: {rule}: {help} leads to {faults:?}", finding.path);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(changes > 10 && repairs > 10, "{changes} changes, {repairs} fixes");
}
