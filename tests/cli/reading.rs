//! Inputs that are read, their order, and inputs that cannot be read.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::folder::{BAD, Folder, GOOD, OTHER};

/// File names in a list of the JSON report.
fn files(run: &crate::folder::Run, list: &str) -> Vec<String> {
    let json = run.json();
    json[list].as_array().unwrap().iter().map(|entry| entry["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_exit_status_has_a_case() {
    let folder = Folder::with(&[
        ("bad.yaml", BAD),
        ("good.yaml", GOOD),
        ("broken.yaml", "a: [1\n"),
        ("empty/x.txt", ""),
    ]);
    for (arguments, status) in [
        (&["good.yaml"][..], 0),
        (&["bad.yaml"], 1),
        (&["bad.yaml", "--fail-on", "never"], 0),
        (&["bad.yaml", "--fail-on", "info"], 1),
        (&["bad.yaml", "--select", "no-such-rule"], 2),
        (&["bad.yaml", "--no-such-flag"], 2),
        (&[], 1),
        (&["empty"], 3),
        (&["missing.yaml"], 4),
        (&["bad.yaml", "broken.yaml"], 4),
        (&["bad.yaml", "broken.yaml", "--fail-on", "never"], 4),
    ] {
        let run = folder.check(arguments);
        assert_eq!(run.status, status, "{arguments:?}: {run:?}");
    }
}

#[test]
fn walks_folders_in_order_without_ignored_files() {
    let folder = Folder::with(&[
        (".gitignore", "vendored/\n*.gen.yaml\n"),
        (".ignore", "drafts\n"),
        ("b.yaml", BAD),
        ("a/z.yml", BAD),
        ("a/a.json", "{}"),
        ("a/l.jsonl", "{}\n{}\n"),
        ("a.gen.yaml", BAD),
        ("vendored/v.yaml", BAD),
        ("drafts/d.yaml", BAD),
        (".hidden/h.yaml", BAD),
        ("notes.txt", BAD),
        ("node_modules/some-package/n.yaml", BAD),
    ]);
    let run = folder.check(&["--format", "json", "."]);
    assert_eq!(files(&run, "findings"), ["a/z.yml", "b.yaml"]);
    let packages = folder.check(&["--format", "json", "node_modules"]);
    assert_eq!(files(&packages, "findings"), ["node_modules/some-package/n.yaml"]);
    assert_eq!(files(&run, "skipped"), ["a/a.json", "a/l.jsonl", "a/l.jsonl"]);
    let named =
        folder.check(&["--format", "json", "vendored/v.yaml", "notes.txt", "./notes.txt", "a.gen.yaml"]);
    assert_eq!(files(&named, "findings"), ["vendored/v.yaml", "notes.txt", "a.gen.yaml"]);
}

#[test]
fn reads_a_file_once_if_several_paths_lead_to_it() {
    let folder = Folder::with(&[("a/b.yaml", BAD)]);
    let run = folder.check(&["--format", "json", "a/b.yaml", "a", ".", "a/../a/b.yaml"]);
    assert_eq!(files(&run, "findings"), ["a/b.yaml"]);
}

#[test]
fn says_that_a_folder_has_no_karpenter_document() {
    let folder = Folder::with(&[("a.yaml", OTHER), ("b.yaml", OTHER), ("c.yaml", "a: 1")]);
    let run = folder.check(&["--verbose", "."]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"
    skipped: no rule reads the kind `Namespace`: a.yaml:1, b.yaml:1
    skipped: no Kubernetes object: `apiVersion` and `kind` are missing, not checked: c.yaml:1
    nothing to check: no Karpenter document and no related object in 3 documents (3 skipped)
    ");
}

#[test]
fn says_that_the_input_is_empty() {
    let folder = Folder::with(&[("empty.yaml", ""), ("blank.yaml", "---\n# nothing\n")]);
    let run = folder.check(&["empty.yaml", "blank.yaml"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"nothing to check: the input is empty");
}

#[test]
fn checks_the_documents_beside_an_unreadable_one() {
    let folder = Folder::with(&[("three.yaml", &format!("{BAD}---\na: [1\n---\n{GOOD}"))]);
    let run = folder.check(&["three.yaml"]);
    assert_eq!(run.status, 4);
    assert_snapshot!(run.stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> three.yaml:6:20
      |
    5 | spec:
    6 |   instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
      |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = object: EC2NodeClass/default, spec.instanceProfile
      = help: write `Nodes-prod`
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
      |
    6 -   instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
    6 +   instanceProfile: Nodes-prod # the nodes' own
      |

    unreadable: not valid YAML: this `[` is never closed; add `]`
     --> three.yaml:8:4
      |
    8 | a: [1
      |    ^

    1 error in 3 documents (1 unreadable); checked against Karpenter 1.14
    ");
}

#[test]
fn reports_binary_non_utf8_and_missing_files() {
    let folder = Folder::with(&[("good.yaml", GOOD)]);
    folder.write("binary.yaml", b"\x7fELF\0\0\0");
    folder.write("latin.yaml", b"a: caf\xe9\n");
    let run = folder.check(&["binary.yaml", "latin.yaml", "missing.yaml", "good.yaml"]);
    assert_eq!(run.status, 4);
    assert_snapshot!(run.stdout, @"
    error: binary.yaml: a binary file, not read

    error: missing.yaml: no such file or folder

    unreadable: not UTF-8 from here on; save the file as UTF-8
     --> latin.yaml:1:6
      |
    1 | a: caf
      |      ^

    no findings in 4 documents (3 unreadable); checked against Karpenter 1.14
    ");
}

#[cfg(unix)]
#[test]
fn follows_symbolic_links_except_those_to_a_parent_folder() {
    let folder = Folder::with(&[("real/a.yaml", BAD), ("walk/b.yaml", GOOD)]);
    std::os::unix::fs::symlink(folder.path("real"), folder.path("walk/linked")).unwrap();
    std::os::unix::fs::symlink(folder.path("walk"), folder.path("walk/loop")).unwrap();
    let run = folder.check(&["--format", "json", "walk"]);
    assert_eq!(run.status, 1);
    assert_eq!(files(&run, "findings"), ["walk/linked/a.yaml"]);
}

#[cfg(unix)]
#[test]
fn skips_a_link_to_nothing_unless_the_command_line_names_it() {
    let folder = Folder::with(&[("walk/b.yaml", GOOD)]);
    for link in ["walk/dangling.yaml", "walk/.tls", "walk/notes.txt", "walk/old.yaml"] {
        std::os::unix::fs::symlink(folder.path("nowhere"), folder.path(link)).unwrap();
    }
    let run = folder.check(&["walk", "--strict", "--exclude", "old.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"no findings in 2 documents (1 skipped; see --verbose); checked against Karpenter 1.14");
    let run = folder.check(&["walk", "--verbose", "--exclude", "old.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    skipped: symbolic link to a file that does not exist: walk/dangling.yaml:1
    no findings in 2 documents (1 skipped); checked against Karpenter 1.14
    ");
    let run = folder.check(&["walk/dangling.yaml"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stdout.contains("error: walk/dangling.yaml: no such file or folder"), "{run:?}");
    // `diagnose` reads every text of a folder.
    let run = folder.run(&["diagnose", "walk", "--select", "instance-profile-is-arn"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.run(&["diagnose", "walk/dangling.yaml"]).status, 4);
    // A configuration of Terraform in the same folder does not hide the link.
    let folder = Folder::with(&[("walk/b.yaml", GOOD), ("walk/main.tf", "locals {}\n")]);
    std::os::unix::fs::symlink(folder.path("nowhere"), folder.path("walk/dangling.yaml")).unwrap();
    let run = folder.check(&["walk", "--verbose"]);
    assert!(run.stdout.contains("a file that does not exist: walk/dangling.yaml"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_parent_folder_makes_nothing_unreadable() {
    let folder = Folder::with(&[("walk/deep/b.yaml", GOOD)]);
    std::os::unix::fs::symlink(folder.path("walk"), folder.path("walk/deep/up")).unwrap();
    let run = folder.check(&["walk"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"no findings in 1 document; checked against Karpenter 1.14");
}

#[test]
fn checks_the_working_directory_without_a_path() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let run = folder.check(&["--format", "json"]);
    assert_eq!((run.status, files(&run, "findings")), (1, vec!["a.yaml".to_owned()]));
    let run = Folder::with(&[]).check(&[]);
    assert_eq!(run.status, 3);
    assert_snapshot!(run.stderr, @"error: nothing to check: found no .yaml, .yml, .json, .jsonl, .tf or .tofu files");
}

#[test]
fn bounds_the_nesting() {
    let folder = Folder::with(&[
        ("deep.yaml", &"[".repeat(10_000)),
        ("deep.json", &"[".repeat(10_000)),
        ("a.yaml", BAD),
    ]);
    let run = folder.check(&["deep.yaml", "deep.json", "a.yaml"]);
    assert_eq!(run.status, 4);
    assert!(run.stdout.matches("nested deeper than 128 levels").count() == 2, "{}", run.stdout);
    assert!(run.stdout.contains("--max-depth") && run.stdout.contains("error[instance-profile-is-arn]"));
    assert!(run.stdout.len() < 5_000, "a long line is cut");
}

#[test]
fn documents_with_many_aliases_share_a_bound() {
    let level = |name: &str, item: &str| format!("{name}: &{name} [{}]\n", [item; 10].join(","));
    let levels = [("a", "x"), ("b", "*a"), ("c", "*b"), ("d", "*c")].map(|(name, item)| level(name, item));
    let document = format!("# {}\n{}---\n", "c".repeat(100), levels.concat());
    let folder = Folder::with(&[("a.yaml", &format!("{}{BAD}", document.repeat(300))), ("b.yaml", BAD)]);
    let run = folder.check(&["a.yaml", "b.yaml"]);
    assert_eq!(run.status, 4, "{}", run.stderr);
    let reason =
        "values after aliases are expanded, the rest is not checked; raise the bound with --max-nodes";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
    assert_eq!(run.stdout.matches("error[instance-profile-is-arn]").count(), 1, "{}", run.stdout);
    let raised = folder.check(&["a.yaml", "b.yaml", "--max-nodes", "9000000"]);
    assert_eq!(raised.status, 1, "{}", raised.stderr);
}

#[test]
fn checks_large_files_and_reports_files_above_the_bound() {
    let mut text = String::new();
    let pad = "x".repeat(1000);
    while text.len() < 20 << 20 {
        let _ = write!(text, "{OTHER}data: {pad}\n---\n");
    }
    text.push_str(BAD);
    let folder = Folder::with(&[("large.yaml", &text), ("good.yaml", GOOD)]);
    let run = folder.check(&["--format", "json", "large.yaml"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_eq!(run.json()["findings"].as_array().unwrap().len(), 1);
    let run = folder.check(&["--max-file-bytes", "1000000", "large.yaml", "good.yaml"]);
    assert_eq!(run.status, 4);
    assert_snapshot!(run.stdout, @"
    error: large.yaml: larger than 1000000 bytes, not read; raise the bound with --max-file-bytes

    no findings in 2 documents (1 unreadable); checked against Karpenter 1.14
    ");
    let run = folder.check(&["--max-documents", "10", "large.yaml"]);
    assert!(run.stdout.contains("more than 10 documents"), "{}", run.stdout);
}

#[test]
fn bounds_the_findings_but_counts_all() {
    let text = [BAD; 5].join("---\n");
    let folder = Folder::with(&[("five.yaml", &text)]);
    let run = folder.check(&["--format", "json", "--max-findings", "2", "five.yaml"]);
    assert_eq!(run.status, 1);
    assert_eq!(run.json()["findings"].as_array().unwrap().len(), 2);
    assert_eq!(run.json()["summary"]["errors"], 5);
    assert_snapshot!(run.stderr, @"note: more than 2 findings; the others are counted but not shown; raise the bound with --max-findings");
}

#[test]
fn reads_standard_input() {
    let folder = Folder::with(&[]);
    let run = folder.check_text(&["-", "--quiet"], BAD);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("--> -:6:20"), "{}", run.stdout);
}

#[test]
fn empty_standard_input_is_an_error_unless_it_is_allowed() {
    let folder = Folder::with(&[("good.yaml", GOOD), ("bad.yaml", BAD)]);
    for text in ["", "\n", "---\n# Source: nothing\n"] {
        let run = folder.check_text(&["-"], text);
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains("standard input is empty; if that is intended, use `--allow-empty`"));
        let run = folder.check_text(&["--allow-empty", "-"], text);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    }
    // Other input is checked, and its findings take precedence.
    assert_eq!(folder.check_text(&["-", "good.yaml"], "").status, 3);
    assert_eq!(folder.check_text(&["-", "bad.yaml"], "").status, 1);
    assert_eq!(folder.check(&["empty.yaml"]).status, 4);
    folder.write("empty.yaml", b"");
    assert_eq!(folder.check(&["empty.yaml"]).status, 0);
}

#[test]
fn run_without_input_prints_an_empty_report_for_programs() {
    let folder = Folder::with(&[("empty/x.txt", "")]);
    for arguments in [&["empty"][..], &[], &["-"]] {
        let run = folder.check(&[arguments, &["--format", "json"]].concat());
        assert_eq!((run.status, &run.json()["summary"]["documents"]), (3, &0.into()), "{run:?}");
        let run = folder.check(&[arguments, &["--format", "sarif"]].concat());
        assert_eq!((run.status, &run.json()["runs"][0]["results"]), (3, &serde_json::json!([])), "{run:?}");
        let run = folder.check(&[arguments, &["--format", "junit"]].concat());
        assert!(run.status == 3 && run.stdout.contains("<testsuites name=\"karpwarden\" tests="), "{run:?}");
        let run = folder.check(&[arguments, &["--format", "github"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{run:?}");
    }
    let run = folder.check(&["empty", "--format", "json", "--output", "report.json"]);
    assert_eq!(run.status, 3);
    assert!(folder.read("report.json").contains("\"findings\":[]"));
}

#[test]
fn names_files_relative_to_the_config_file_or_the_working_directory() {
    let folder = Folder::with(&[("repo/apps/a.yaml", BAD), ("elsewhere/b.yaml", BAD)]);
    let absolute = folder.path("repo/apps/a.yaml").to_string_lossy().into_owned();
    let names = |below: &str, path: &str| {
        let run = folder.run_in(below, &crate::folder::checking(&["--format", "json", path]), "");
        files(&run, "findings")
    };
    for path in ["a.yaml", "./a.yaml", "../apps/a.yaml", ".", absolute.as_str()] {
        assert_eq!(names("repo/apps", path), ["a.yaml"], "{path}");
    }
    assert_eq!(names("repo", "../elsewhere/b.yaml"), ["../elsewhere/b.yaml"]);
    folder.write("repo/karpwarden.yaml", b"completeInventory: false\n");
    for path in ["a.yaml", ".", "..", "../../repo", absolute.as_str()] {
        assert_eq!(names("repo/apps", path), ["apps/a.yaml"], "{path}");
    }
    let with_config = |config: &str, path: &str| {
        let run = folder.run(&crate::folder::checking(&["--format", "json", "--config", config, path]));
        files(&run, "findings")
    };
    assert_eq!(with_config("repo/karpwarden.yaml", "repo/apps"), ["apps/a.yaml"]);
    // The config file is in a folder that holds neither the input nor the working directory.
    folder.write(".github/karpwarden.yaml", b"");
    assert_eq!(with_config(".github/karpwarden.yaml", "repo"), ["repo/apps/a.yaml"]);
}

#[test]
fn object_without_its_type_is_an_error_and_not_skipped() {
    let pool = "metadata: {name: default}\nspec: {limits: {cpu: 1}}\n";
    let folder = Folder::with(&[
        ("a.yaml", &format!("kind: NodePool\n{pool}")),
        ("b.yaml", &format!("apiversion: karpenter.sh/v1\nkind: NodePool\n{pool}")),
        ("c.yaml", &format!("apiVersion: karpenter.sh/v1\nKind: NodePool\n{pool}")),
    ]);
    let run = folder.run(&["check", "--format", "github", "."]);
    assert_eq!(run.status, 1);
    let messages: Vec<&str> = run.stdout.lines().filter_map(|line| line.split("::").nth(2)).collect();
    assert_snapshot!(messages.join("\n").replace("%0A", " | "), @"
    `apiVersion` is missing, so `kubectl apply` refuses the object (NodePool/default) | write `apiVersion: karpenter.sh/v1` | https://karpwarden.github.io/karpwarden/rules/api-type-meta
    the key `apiversion` is not `apiVersion`, so `kubectl apply` refuses the object (NodePool/default) | write `apiVersion` | https://karpwarden.github.io/karpwarden/rules/api-type-meta
    the key `Kind` is not `kind`, so `kubectl apply` refuses the object (NodePool/default) | write `kind` | https://karpwarden.github.io/karpwarden/rules/api-type-meta
    ");
}

#[test]
fn skipped_documents_give_the_true_reason() {
    let folder = Folder::with(&[
        ("a.yaml", "kind: Thing\nname: a\n"),
        ("b.yaml", "apiVersion: v2\nname: chart\n"),
        ("c.yaml", "- a\n- b\n"),
        ("d.yaml", "text\n"),
        ("e.yaml", "apiVersion: v1\nkind: List\nitems: []\n"),
        (
            "f.yaml",
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request: {operation: DELETE}
",
        ),
        (
            "g.yaml",
            r"apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: v1, kind: Secret}
",
        ),
        ("sub/karpwarden.yml", "clusterName: prod\n"),
    ]);
    let run = folder.check(&["--verbose", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    skipped: no Kubernetes object: `apiVersion` is missing, not checked: a.yaml:1
    skipped: no Kubernetes object: `kind` is missing, not checked: b.yaml:1
    skipped: no Kubernetes object: the document is a list, not checked: c.yaml:1
    skipped: no Kubernetes object: the document is a single value, not checked: d.yaml:1
    skipped: no Kubernetes object: the list has no items with `apiVersion` and `kind`, not checked: e.yaml:1
    skipped: no Kubernetes object: the review has no object that is created, updated or deleted, not checked: f.yaml:1
    skipped: no rule reads the kinds `Namespace`, `Secret`: g.yaml:1
    skipped: looks like a config file, but is not read as one: its name must be `karpwarden.yaml`: sub/karpwarden.yml:1
    nothing to check: no Karpenter document and no related object in 8 documents (8 skipped)
    ");
}

#[test]
fn reads_and_fixes_utf16() {
    let folder = Folder::with(&[]);
    let utf16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    folder.write("class.yaml", &utf16(BAD));
    let report = folder.check(&["--format", "json", "class.yaml"]);
    assert_eq!(report.status, 1, "{report:?}");
    let finding = &report.json()["findings"][0];
    let offset = BAD.find("arn:").unwrap();
    assert_eq!(
        (&finding["line"], &finding["column"], &finding["offset"]),
        (&6.into(), &20.into(), &offset.into())
    );
    assert_eq!(folder.check(&["--fix", "class.yaml"]).status, 0);
    assert_eq!(std::fs::read(folder.path("class.yaml")).unwrap(), utf16(GOOD));
}

#[test]
fn missing_path_is_named_first() {
    let folder = Folder::with(&[("bad.yaml", BAD)]);
    let run = folder.check(&["bad.yaml", "missing.yaml"]);
    assert_eq!(run.status, 4);
    assert!(run.stdout.starts_with("error: missing.yaml: no such file or folder\n"), "{}", run.stdout);
    let run = folder.check(&["missing.yaml"]);
    assert_eq!(run.status, 4);
    assert_snapshot!(run.stdout, @"
    error: missing.yaml: no such file or folder

    nothing checked: 1 document could not be read
    ");
}

#[test]
fn unpacks_lists_reviews_and_json_streams() {
    let class = r#"{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a"},
      "spec": {"instanceProfile": "arn:aws:iam::111122223333:instance-profile/a"}}"#;
    let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{class}, {class}]}}"#);
    let review = format!(
        r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {{"operation": "CREATE", "object": {class}}}}}"#
    );
    let folder = Folder::with(&[
        ("list.json", &list),
        ("review.json", &review),
        ("two.json", &format!("{class}\n{class}")),
    ]);
    let run = folder.check(&["--format", "json", "."]);
    let locations: Vec<_> = run.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            format!("{}#{} {}:{}", finding["file"], finding["document"], finding["path"], finding["line"])
        })
        .collect();
    assert_snapshot!(locations.join("\n"), @r##"
    "list.json"#0 "spec.instanceProfile":2
    "list.json"#0 "spec.instanceProfile":3
    "review.json"#0 "spec.instanceProfile":2
    "two.json"#0 "spec.instanceProfile":2
    "two.json"#1 "spec.instanceProfile":4
    "##);
}

/// An AdmissionReview that changes the instance profile of an EC2NodeClass, and a tag.
fn update_of_class(old: &str, new: &str) -> String {
    let class = |profile: &str, tag: &str| {
        format!(
            r#"{{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {{"name": "a"}},
                "spec": {{"instanceProfile": "{profile}", "tags": {{"team": "{tag}"}}}}}}"#
        )
    };
    format!(
        r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {{"operation": "UPDATE", "object": {}, "oldObject": {}}}}}"#,
        class(new, "b"),
        class(old, "a")
    )
}

#[test]
fn error_that_the_object_of_a_review_had_before_the_update_is_a_warning() {
    const ONE: &str = "arn:aws:iam::111122223333:instance-profile/one";
    const TWO: &str = "arn:aws:iam::111122223333:instance-profile/two";
    let folder = Folder::with(&[
        ("old.json", &update_of_class(ONE, ONE)),
        ("changed.json", &update_of_class(ONE, TWO)),
        ("new.json", &update_of_class("one", ONE)),
        ("strict.yaml", "strictUpdates: true\n"),
    ]);
    let old = folder.check(&["old.json"]);
    assert_eq!(old.status, 0, "{}", old.stdout);
    assert!(old.stdout.contains("warning[instance-profile-is-arn]"), "{}", old.stdout);
    assert!(old.stdout.contains("(the object had this error before the update)"), "{}", old.stdout);
    assert!(old.stdout.contains("fix: write the profile's name"), "{}", old.stdout);
    for arguments in [&["changed.json"][..], &["new.json"], &["--config", "strict.yaml", "old.json"]] {
        let run = folder.check(arguments);
        assert_eq!(run.status, 1, "{}", run.stdout);
        assert!(run.stdout.contains("error[instance-profile-is-arn]"), "{}", run.stdout);
    }
}

#[test]
fn accepts_files_that_are_not_manifests() {
    let folder = Folder::with(&[
        ("tsconfig.json", "{\n  // strict\n  \"strict\": true,\n}\n"),
        ("stack.yaml", "Resources:\n  A: {Type: 'AWS::SQS::Queue', Properties: {QueueName: !Sub '${B}'}}\n"),
        ("mkdocs.yml", "a: !!python/name:material.extensions.emoji.twemoji\n"),
        ("class.yaml", GOOD),
    ]);
    let run = folder.check(&["."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("4 documents (2 skipped; see --verbose)"), "{}", run.stdout);
    assert_eq!(folder.check(&["--fix", "."]).status, 0);
    assert!(folder.read("tsconfig.json").contains("// strict"));
    // A manifest that kubectl would refuse is reported.
    folder.write("pool.json", b"{\"apiVersion\": \"karpenter.sh/v1\", // no\n}");
    assert_eq!(folder.check(&["."]).status, 4);
}

#[test]
fn broken_file_without_karpenter_does_not_change_the_exit_status() {
    let folder =
        Folder::with(&[("class.yaml", GOOD), ("other/broken.yaml", "a: [1\n"), ("b.yaml", "a: 1\n")]);
    folder.write("other/encrypted.yaml", b"\0GITCRYPT\0\xff\xfe");
    let run = folder.check(&["--verbose", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    skipped: no Kubernetes object: `apiVersion` and `kind` are missing, not checked: b.yaml:1
    unreadable, does not mention Karpenter: not valid YAML: this `[` is never closed; add `]`: other/broken.yaml:1
    unreadable, does not mention Karpenter: a binary file, not read: other/encrypted.yaml:1
    no findings in 4 documents (1 skipped, 2 unreadable); checked against Karpenter 1.14
    ");
    let json = folder.check(&["--format", "json", "."]).json();
    assert_eq!(json["unreadable"][0]["concernsKarpenter"], false);
    for (arguments, status) in [
        (&["--strict", "."][..], 4),
        (&["other/broken.yaml", "."], 4),
        (&["--force-exclude", "other/broken.yaml", "."], 0),
        (&["--cluster", "."], 0),
        (&["--fail-on", "never", "."], 0),
    ] {
        assert_eq!(folder.check(arguments).status, status, "{arguments:?}");
    }
    assert_eq!(folder.check_text(&["-"], "a: [1\n").status, 4);
    let named = folder.check(&["--format", "json", "other/broken.yaml"]).json();
    assert_eq!(named["unreadable"][0]["concernsKarpenter"], true);
}

#[test]
fn broken_file_that_mentions_karpenter_sets_the_exit_status() {
    let utf16: Vec<u8> = "kind: Karpenter\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [
        &b"apiVersion: karpenter.sh/v1\nkind: [\n"[..],
        b"# Karpenter\na: [1\n",
        b"a: caf\xe9\nb: karpenter\n",
        &utf16,
    ] {
        let folder = Folder::with(&[("class.yaml", GOOD)]);
        folder.write("broken.yaml", bytes);
        assert_eq!(folder.check(&["."]).status, 4, "{bytes:?}");
    }
}

#[test]
fn checks_manifests_in_here_documents_of_a_script() {
    let folder = Folder::with(&[]);
    let script = format!("#!/bin/bash\nset -e\ncat <<EOF | kubectl apply -f -\n{BAD}---\n{OTHER}EOF\n");
    let run = folder.check_text(&["--format", "json", "-"], &script);
    assert_eq!(run.status, 1, "{run:?}");
    let finding = &run.json()["findings"][0];
    assert_eq!((&finding["line"], &finding["column"]), (&9.into(), &20.into()));
    // The fix edits the script.
    folder.write("apply.sh", script.as_bytes());
    assert_eq!(folder.check(&["--fix", "apply.sh"]).status, 0);
    assert_eq!(folder.read("apply.sh"), script.replace(BAD, GOOD));
    let other = folder.check_text(&["--verbose", "-"], "#!/bin/sh\nif true; then echo; fi\n");
    assert_eq!(other.status, 0, "{other:?}");
    assert!(other.stdout.contains("script, not checked: no manifest in a here-document: -:1"), "{other:?}");
}

#[test]
fn templates_and_conflicts_are_named() {
    let terraform = BAD.replace("spec:\n", "spec:\n%{ if true ~}\n  role: x\n%{ endif ~}\n");
    let conflict =
        BAD.replace("spec:\n", "spec:\n<<<<<<< HEAD\n  role: x\n=======\n  role: y\n>>>>>>> main\n");
    let folder = Folder::with(&[("a/terraform.yaml", &terraform), ("b/conflict.yaml", &conflict)]);
    let run = folder.check(&["--verbose", "a"]);
    assert_eq!(run.status, 0, "{run:?}");
    let reason = "it has directives of Terraform, whose variables only `templatefile` gives; render it first";
    assert!(run.stdout.contains(&format!("template, not checked: {reason}: a/terraform.yaml:6")), "{run:?}");
    let run = folder.check(&["b"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert_snapshot!(run.stdout, @"
    unreadable: Git conflict marker `<<<<<<<`; resolve the conflict and remove the markers
     --> b/conflict.yaml:6:1
      |
    5 | spec:
    6 | <<<<<<< HEAD
      | ^
    7 |   role: x
      |

    nothing checked: 1 document could not be read
    ");
}

#[test]
fn folder_without_karpenter_has_no_error_about_pods() {
    let pod = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: []
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [a]}]}]}}}
";
    let folder = Folder::with(&[("pod.yaml", pod), ("other.yaml", OTHER)]);
    let folder_run = folder.run(&["check", "."]);
    assert_eq!(folder_run.status, 0, "{folder_run:?}");
    assert!(folder_run.stdout.contains("hostname-node-affinity"), "{folder_run:?}");
    // The user chose this file.
    assert_eq!(folder.run(&["check", "pod.yaml", "other.yaml"]).status, 1);
    folder.write("values.yaml", b"apps: [karpenter]\n");
    assert_eq!(folder.run(&["check", "."]).status, 1);
}

#[test]
fn counts_what_was_not_checked_and_lists_it_on_request() {
    let folder = Folder::with(&[
        ("class.yaml", GOOD),
        ("other.yaml", OTHER),
        ("main.tf", "# a NodePool"),
        ("chart/_helpers.tpl", "{{ define \"a\" }}"),
        ("docs/a.md", ""),
        ("docs/b.md", ""),
        ("LICENSE", ""),
        (".hidden", ""),
        (".gitignore", "*.log\n"),
        ("a.log", ""),
    ]);
    let run = folder.check(&["."]);
    assert_snapshot!(run.stdout, @"no findings in 2 documents (1 skipped, 4 files not read; see --verbose); checked against Karpenter 1.14");
    let run = folder.check(&["--verbose", "."]);
    assert_snapshot!(run.stdout, @"
    skipped: no rule reads the kind `Namespace`: other.yaml:1
    not read: no extension: LICENSE
    not read: extension `tpl`: chart/_helpers.tpl
    not read: extension `md`: docs/a.md, docs/b.md
    no findings in 2 documents (1 skipped, 4 files not read); checked against Karpenter 1.14
    ");
    assert_eq!(
        folder.check(&["class.yaml"]).summary(),
        "no findings in 1 document; checked against Karpenter 1.14"
    );
    assert_eq!(folder.check(&["--verbose", "--quiet", "."]).status, 2);
}

#[test]
fn neither_config_files_nor_baselines_are_documents() {
    let folder = Folder::with(&[("class.yaml", BAD), ("sub/karpwarden.yaml", "clusterName: prod\n")]);
    let run = folder.check(&["--write-baseline", "sub/known.json", "class.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    folder.write("old.json", br#"{"schema":1,"findings":{}}"#);
    let run = folder.check(&["--baseline", "sub/known.json", "."]);
    assert_eq!(
        run.summary(),
        "no findings in 1 document (1 finding suppressed); checked against Karpenter 1.14"
    );
    let run = folder.check(&["."]);
    assert_eq!(run.summary(), "1 error in 1 document; checked against Karpenter 1.14");
    // Files that look similar are documents, and a file that the command line names is one too.
    folder.write("report.json", br#"{"schema":1,"version":"1.0.0","findings":[]}"#);
    let policy = "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: {name: a}\n";
    folder.write("policy/karpwarden.yaml", policy.as_bytes());
    let run = folder.check(&[".", "old.json"]);
    assert_eq!(
        run.summary(),
        "1 error in 4 documents (3 skipped; see --verbose); checked against Karpenter 1.14"
    );
}

#[test]
fn unreadable_values_of_argo_cd_are_shown_at_their_line() {
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: karpenter}
spec:
  source:
    chart: karpenter
    repoURL: public.ecr.aws/karpenter
    targetRevision: 1.6.2
    helm:
      values: |
        settings:
          clusterName: prod
          batchMaxDuration: [10s
";
    let run = Folder::with(&[("app.yaml", application)]).run(&["check", "."]);
    assert_eq!(run.status, 4);
    let shown = run.stdout.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    assert_snapshot!(shown, @"
    unreadable: in the Helm values of this Application: not valid YAML: this `[` is never closed; add `]`
      --> app.yaml:13:29
       |
    12 |           clusterName: prod
    13 |           batchMaxDuration: [10s
       |                             ^
    ");
}
