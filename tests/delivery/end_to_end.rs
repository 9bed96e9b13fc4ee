//! Runs `e2e.bats` with the waPC host in place of kwctl.
//!
//! It implements only the shell syntax that the file uses, and fails on any other line.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;

use karpwarden_admit::{FakeCluster, Policy, PolicyModule, built, metadata};
use karpwarden_generate::home;
use regex::RegexBuilder;
use serde_json::{Value, json};

const FOLDER: &str = "policies/karpenter";

/// The words of a command line, without single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for char in line.chars() {
        match char {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' if !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// Output and exit status of `kwctl run`.
struct Run {
    status: i32,
    output: String,
}

/// The options of `kwctl run` that the file uses: kubewarden/kubewarden-controller `crates/kwctl/src/command/run.rs`.
fn kwctl(module: &PolicyModule, grants: &Value, arguments: &[String], used: &mut BTreeSet<String>) -> Run {
    let (mut request, mut settings, mut session, mut may_look) = (None, json!({}), None, false);
    let mut file = |name: &String| {
        used.insert(name.clone());
        home::text(&format!("{FOLDER}/{name}")).unwrap()
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--request-path" => request = arguments.next().map(&mut file),
            "--settings-json" => settings = serde_json::from_str(arguments.next().unwrap()).unwrap(),
            "--allow-context-aware" => may_look = true,
            "--replay-host-capabilities-interactions" => session = arguments.next().map(&mut file),
            "annotated-policy.wasm" => {}
            other => panic!("kwctl run {other}"),
        }
    }
    let cluster = session.map_or_else(FakeCluster::offline, |text| FakeCluster::replaying(&text).unwrap());
    let granted = metadata::context_aware_resources(grants);
    let cluster = if may_look { cluster.granting(granted) } else { cluster };
    // kwctl lets every policy mutate.
    let policy = Policy::new(module.clone()).settings(settings).mutating(true);
    let verdict = policy.check_settings(&cluster);
    if !verdict.valid {
        let output = format!("Provided settings are not valid: {:?}", verdict.message);
        return Run { status: 1, output };
    }
    let request: Value = serde_json::from_str(&request.unwrap()).unwrap();
    for required in ["uid", "kind", "resource", "operation", "userInfo"] {
        assert!(!request[required].is_null(), "kwctl needs `{required}`");
    }
    Run { status: 0, output: serde_json::to_string(&policy.review(&request, &cluster)).unwrap() }
}

/// `expr "$output" : PATTERN`: a basic regular expression, anchored at the start.
fn matches(output: &str, pattern: &str) -> bool {
    let literal: Vec<String> = pattern.split(".*").map(regex::escape).collect();
    let regex = format!("^{}", literal.join(".*"));
    RegexBuilder::new(&regex).dot_matches_new_line(true).build().unwrap().is_match(output)
}

#[test]
fn module_passes_the_end_to_end_tests() {
    let bytes = built::policy().unwrap();
    let module = PolicyModule::load(&bytes).unwrap();
    let grants = metadata::embedded(&bytes).unwrap();
    let mut used = BTreeSet::new();
    let (mut name, mut last, mut checks) = (String::new(), None, 0);
    for line in home::text(&format!("{FOLDER}/e2e.bats")).unwrap().lines().map(str::trim) {
        let expects = |holds: bool, run: &Option<Run>| {
            let output = run.as_ref().map(|run| run.output.clone()).unwrap_or_default();
            assert!(holds, "{name}: {line}\n{output}");
        };
        if let Some(test) = line.strip_prefix("@test ") {
            (name, last) = (test.trim_end_matches(" {").to_owned(), None);
        } else if let Some(command) = line.strip_prefix("run kwctl run ") {
            last = Some(kwctl(&module, &grants, &words(command), &mut used));
        } else if let Some(check) = line.strip_prefix("[ $(expr \"$output\" : '") {
            let (pattern, verdict) = check.rsplit_once("') ").unwrap();
            let found = matches(&last.as_ref().unwrap().output, pattern);
            let holds = match verdict {
                "-ne 0 ]" => found,
                "-eq 0 ]" => !found,
                other => panic!("{other}"),
            };
            expects(holds, &last);
            checks += 1;
        } else {
            let status = last.as_ref().map(|run| run.status);
            match line {
                "[ \"$status\" -eq 0 ]" => expects(status == Some(0), &last),
                "[ \"$status\" -ne 0 ]" => expects(status.is_some_and(|status| status != 0), &last),
                "" | "}" | "echo \"output = ${output}\"" => {}
                _ if line.starts_with('#') => {}
                other => panic!("{other}"),
            }
        }
    }
    assert!(checks > 40, "{checks} checks only");
    let all: BTreeSet<String> = fs::read_dir(home::path(&format!("{FOLDER}/test_data")))
        .unwrap()
        .map(|entry| format!("test_data/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    assert_eq!(used, all, "every file of test_data is used, and only those");
}
