//! Features for a first run on an existing repository: `init`, baselines, excluded paths, overrides, man pages.

use crate::folder::{BAD, Folder, GOOD};

#[test]
fn baseline_suppresses_known_findings_only() {
    let folder = Folder::with(&[("old.yaml", BAD)]);
    let first = folder.check(&["--write-baseline", "baseline.json", "old.yaml"]);
    assert_eq!(first.status, 0, "{first:?}");
    assert!(first.stderr.contains("wrote 1 finding to `baseline.json`"), "{}", first.stderr);
    assert!(
        folder
            .read("baseline.json")
            .contains("instance-profile-is-arn: EC2NodeClass/default at spec.instanceProfile")
    );
    folder.write("old.yaml", format!("# moved\n{BAD}").as_bytes());
    let again = folder.check(&["--baseline", "baseline.json", "--format", "json", "old.yaml"]);
    assert_eq!((again.status, again.json()["summary"]["suppressed"].as_u64()), (0, Some(1)));
    folder.write("new.yaml", BAD.replace("default", "other").as_bytes());
    let new = folder.check(&["--baseline", "baseline.json", "--format", "json", "."]);
    assert_eq!(new.status, 1);
    assert_eq!(new.json()["findings"].as_array().map(Vec::len), Some(1));
    // The baseline is not checked as a manifest.
    assert_eq!(new.json()["summary"]["documents"].as_u64(), Some(2));
    folder.write("old.yaml", GOOD.as_bytes());
    let all = ["check", "--karpenter-version", "1.14", "--baseline", "baseline.json", "old.yaml"];
    let gone = folder.run(&all);
    assert!(
        gone.stderr.contains("1 baseline entry no longer matches; regenerate it with `--write-baseline`"),
        "{}",
        gone.stderr
    );
    // A rule that does not run finds nothing.
    let narrowed = folder.check(&["--baseline", "baseline.json", "old.yaml"]);
    assert!(!narrowed.stderr.contains("no longer match"), "{}", narrowed.stderr);
}

#[test]
fn baseline_does_not_depend_on_the_spelling_of_paths() {
    let folder =
        Folder::with(&[("repo/a/one.yaml", BAD), ("repo/b/two.yaml", &BAD.replace("default", "two"))]);
    let absolute = folder.path("repo").to_string_lossy().into_owned();
    let written = folder.run_in("repo", &["check", "--write-baseline", "known.json", "a", "b"], "");
    assert_eq!(written.status, 0, "{written:?}");
    for (below, baseline, path) in [
        ("repo", "known.json", "."),
        ("repo", "./known.json", "../repo"),
        ("repo", "known.json", absolute.as_str()),
        ("repo/a", "../known.json", ".."),
        ("repo/a", "../known.json", "."),
        ("", "repo/known.json", "repo"),
        ("", "repo/known.json", "./repo/b/two.yaml"),
    ] {
        let run = folder.run_in(below, &["check", "--baseline", baseline, path], "");
        assert_eq!(run.status, 0, "{below} {path}: {run:?}");
        assert!(!run.stderr.contains("no longer match"), "{below} {path}: {run:?}");
    }
    let clusters = ["check", "--cluster", "repo/a", "--cluster", "./repo/b/"];
    folder.run(&[&clusters[..], &["--write-baseline", "clusters.json"]].concat());
    let run = folder.run_in(
        "repo",
        &["check", "--cluster", "a/", "--cluster", "../repo/b", "--baseline", "../clusters.json"],
        "",
    );
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn baseline_entries_are_stale_only_if_their_file_was_checked_or_deleted() {
    let folder = Folder::with(&[("a.yaml", BAD), ("b.yaml", &BAD.replace("default", "two"))]);
    folder.run(&["check", "--write-baseline", "known.json", "."]);
    folder.write("b.yaml", GOOD.replace("default", "two").as_bytes());
    let stale = |path: &str| {
        let run = folder.run(&["check", "--baseline", "known.json", path]);
        run.stderr.contains("1 baseline entry no longer matches")
    };
    assert!(!stale("a.yaml"), "`b.yaml` was not checked");
    assert!(stale("b.yaml") && stale("."));
    std::fs::remove_file(folder.path("b.yaml")).unwrap();
    let gone = folder.run(&["check", "--baseline", "known.json", "a.yaml"]);
    assert!(gone.stderr.contains("no longer match"), "{}", gone.stderr);
}

#[test]
fn a_baseline_has_the_findings_beyond_the_bound() {
    let old = ["one", "two", "three", "four", "five"].map(|name| BAD.replace("default", name));
    let folder = Folder::with(&[("a.yaml", &old.join("---\n"))]);
    let few = |arguments: &[&str]| folder.check(&[&["--max-findings", "2"], arguments].concat());
    let written = few(&["--write-baseline", "known.json", "."]);
    assert_eq!(written.status, 0, "{written:?}");
    assert!(written.stderr.contains("wrote 5 findings"), "{}", written.stderr);
    assert!(!written.stderr.contains("--max-findings"), "{}", written.stderr);
    let run = folder.check(&["--baseline", "known.json", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    // The bound counts new findings only.
    folder.write(
        "b.yaml",
        ["six", "seven", "eight"].map(|name| BAD.replace("default", name)).join("---\n").as_bytes(),
    );
    let run = few(&["--baseline", "known.json", "--format", "json", "."]);
    assert_eq!(run.json()["findings"].as_array().map(Vec::len), Some(2), "{run:?}");
    assert_eq!(run.json()["summary"]["errors"], 3);
    assert!(run.stderr.contains("more than 2 findings"), "{}", run.stderr);
}

#[test]
fn reads_a_baseline_of_the_first_format() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    folder.run(&["check", "--write-baseline", "known.json", "."]);
    let written: serde_json::Value = serde_json::from_str(&folder.read("known.json")).unwrap();
    let old = serde_json::json!({"schema": 1, "findings": written["files"]["a.yaml"]});
    folder.write("known.json", old.to_string().as_bytes());
    assert_eq!(folder.run(&["check", "--baseline", "known.json", "."]).status, 0);
}

#[test]
fn rejects_an_invalid_baseline() {
    let folder = Folder::with(&[
        ("class.yaml", GOOD),
        ("baseline.json", "[]"),
        ("zero.json", "{\"schema\": 0}"),
        ("newer.json", "{\"schema\": 3}"),
    ]);
    for (file, reason) in [
        ("baseline.json", "is not a baseline"),
        ("zero.json", "is not a baseline"),
        ("newer.json", "comes from a newer version"),
        ("none.json", "cannot read the baseline"),
    ] {
        let run = folder.check(&["--baseline", file, "class.yaml"]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
}

#[test]
fn excludes_paths_unless_they_are_named() {
    let folder = Folder::with(&[("vendor/a.yaml", BAD), ("apps/b.gen.yaml", BAD), ("apps/c.yaml", GOOD)]);
    assert_eq!(folder.check(&["."]).status, 1);
    assert_eq!(folder.check(&["--exclude", "/vendor/", "--exclude", "*.gen.yaml", "."]).status, 0);
    assert_eq!(folder.check(&["--exclude", "vendor/", "vendor/a.yaml"]).status, 1);
    folder.write("karpwarden.yaml", b"exclude: [/vendor/, '*.gen.yaml']\n");
    assert_eq!(folder.check(&["."]).status, 0);
    // The patterns are relative to the folder of the config file, not to the working directory.
    let below = folder.run_in("apps", &["check", "--select", "instance-profile-is-arn", "."], "");
    assert_eq!(below.status, 0, "{below:?}");
}

#[test]
fn force_exclude_applies_to_named_files() {
    let folder = Folder::with(&[
        ("vendor/a.yaml", BAD),
        ("apps/b.yaml", BAD),
        ("karpwarden.yaml", "exclude: [/vendor/]\n"),
    ]);
    let run = folder.check(&["--force-exclude", "vendor/a.yaml"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("every file is excluded"), "{}", run.stderr);
    let report =
        folder.check(&["--force-exclude", "--format", "json", "vendor/a.yaml", "apps/b.yaml"]).json();
    assert_eq!(
        (&report["summary"]["documents"], &report["findings"][0]["file"]),
        (&1.into(), &"apps/b.yaml".into())
    );
    // An editor names the file that it shows, saved or not.
    for name in ["vendor/a.yaml", "vendor/new/c.yaml"] {
        let run = folder.check_text(&["--force-exclude", "--stdin-filename", name, "-"], BAD);
        assert_eq!(run.status, 0, "{name}: {run:?}");
    }
    assert_eq!(
        folder.check_text(&["--force-exclude", "--stdin-filename", "apps/d.yaml", "-"], BAD).status,
        1
    );
    assert_eq!(folder.check(&["--force-exclude", "none"]).status, 4);
}

#[test]
fn overrides_apply_to_the_name_of_standard_input() {
    let folder = Folder::with(&[
        ("staging/a.yaml", BAD),
        (
            "karpwarden.yaml",
            "overrides:\n  - paths: [staging/]\n    rules: {instance-profile-is-arn: warn}\n",
        ),
    ]);
    for (name, status) in
        [("staging/a.yaml", 0), ("staging/new/b.yaml", 0), ("./staging/c.yaml", 0), ("prod/a.yaml", 1)]
    {
        let run = folder.check_text(&["--stdin-filename", name, "-"], BAD);
        assert_eq!(run.status, status, "{name}: {run:?}");
    }
    assert_eq!(folder.check_text(&["-"], BAD).status, 1);
}

#[test]
fn overrides_apply_only_to_their_paths() {
    let folder = Folder::with(&[
        ("staging/a.yaml", BAD),
        ("prod/a.yaml", BAD),
        (
            "karpwarden.yaml",
            "overrides:\n  - paths: [staging/]\n    rules: {instance-profile-is-arn: warn}\n",
        ),
    ]);
    let report = folder.check(&["--format", "json", "."]).json();
    let found: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["severity"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("prod/a.yaml", "error"), ("staging/a.yaml", "warning")]);
    let below = folder.run_in("staging", &["check", "--select", "instance-profile-is-arn", "a.yaml"], "");
    assert_eq!(below.status, 0, "{below:?}");
}

#[test]
fn reports_mistakes_in_overrides() {
    let folder = Folder::with(&[
        ("a.yaml", GOOD),
        ("karpwarden.yaml", "overrides:\n  - rules: {storag: warn}\n    fix: true\n"),
    ]);
    let run = folder.check(&["a.yaml"]);
    assert_eq!(run.status, 2);
    for part in ["`paths` is missing", "did you mean `storage`?", "overrides[0].fix: unknown key"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn init_writes_a_valid_config_file_and_never_overwrites_one() {
    let folder = Folder::with(&[("class.yaml", GOOD)]);
    let run = folder.run(&["init", "--karpenter-version", "1.8", "--cluster-name", "prod: eu"]);
    assert_eq!(run.status, 0, "{run:?}");
    let text = folder.read("karpwarden.yaml");
    assert!(
        text.contains("\nkarpenterVersion: \"1.8\"\n") && text.contains("\nclusterName: \"prod: eu\"\n"),
        "{text}"
    );
    assert_eq!(folder.check(&["class.yaml"]).status, 0);
    // The commented examples are valid too.
    let uncommented: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest.starts_with(' ')
                    || rest
                        .split_once(':')
                        .is_some_and(|(key, _)| !key.contains(' ') && !key.contains('-')) =>
            {
                rest
            }
            _ => line,
        })
        .collect();
    folder.write("karpwarden.yaml", uncommented.join("\n").as_bytes());
    let run = folder.check(&["class.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    let again = folder.run(&["init"]);
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("karpwarden.yaml already exists; not overwritten"), "{}", again.stderr);
}

#[test]
fn prints_man_pages_of_the_program_and_its_commands() {
    let folder = Folder::with(&[]);
    let page = |arguments: &[&str]| folder.run(&[&["man"], arguments].concat());
    assert!(page(&[]).stdout.starts_with(".ie \\n(.g .ds Aq"), "{}", page(&[]).stdout);
    assert!(page(&["check"]).stdout.contains("karpwarden\\-check"));
    assert_eq!(page(&["no-such"]).status, 2);
}
