//! The examples of the library do what they show. Cargo compiles them as programs; this test calls their functions.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;

#[path = "../src/examples/check_text.rs"]
mod check_text;
#[path = "../src/examples/own_cluster.rs"]
mod own_cluster;
#[path = "../src/examples/simulate.rs"]
mod simulate;

#[test]
fn checks_a_text() {
    let report = check_text::report("1.8").unwrap();
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"instance-profile-is-arn"), "{rules:?}");
    assert!(check_text::report("0.37").is_err());
}

#[test]
fn simulates_the_placement_of_pods() {
    let answer = simulate::answer("us-east-1").unwrap();
    assert_eq!((answer.summary.new, answer.summary.unplaced), (3, 0));
}

#[test]
fn reviews_an_object_with_the_objects_of_a_source() {
    let findings = own_cluster::review(own_cluster::REQUESTED, &own_cluster::InMemory);
    assert!(findings.iter().any(|finding| finding.starts_with("nodeclass-ref-dangling: ")), "{findings:?}");
    let repaired = own_cluster::REQUESTED.replace(
        r#""kind": "EC2NodeClass", "name": "default""#,
        r#""kind": "EC2NodeClass", "name": "standard""#,
    );
    let findings = own_cluster::review(&repaired, &own_cluster::InMemory);
    assert!(!findings.iter().any(|finding| finding.starts_with("nodeclass-ref-dangling: ")), "{findings:?}");
}

/// The names that `src/lib.rs` exports and does not hide. Each export begins on a line with `pub use` or `pub fn`.
fn exported() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut lines = include_str!("../src/lib.rs").lines();
    let mut is_hidden = false;
    while let Some(line) = lines.next() {
        if let Some(function) = line.strip_prefix("pub fn ").filter(|_| !is_hidden) {
            names.extend(function.split(['(', '<']).next().map(str::to_owned));
        }
        if let Some(start) = line.strip_prefix("pub use ") {
            let mut paths = start.to_owned();
            while !paths.ends_with(';') {
                paths.push_str(lines.next().unwrap());
            }
            let (_, list) = paths.trim_end_matches("};").rsplit_once("::").unwrap_or(("", &paths));
            let list = list.trim_matches(['{', ';']).split(',').map(|name| name.trim().to_owned());
            names.extend(list.filter(|name| !is_hidden && !name.is_empty()));
        }
        is_hidden = line == "#[doc(hidden)]" || is_hidden && line.starts_with("#[");
    }
    names
}

#[test]
fn documentation_lists_what_the_library_exports() {
    let page = include_str!("../docs/library.md");
    let (_, stable) = page.split_once("## What is stable\n").unwrap();
    let items = stable.lines().filter(|line| line.starts_with("- "));
    let listed: BTreeSet<String> =
        items.flat_map(|item| item.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    assert_eq!(listed, exported());
}
