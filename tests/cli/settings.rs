//! The config file, and the flags, which take precedence.

use insta::assert_snapshot;
use karpenter::release::Release;

use crate::folder::{BAD, Folder};

#[test]
fn finds_the_config_file_in_a_parent_folder_and_does_not_check_it() {
    let folder = Folder::with(&[
        ("karpwarden.yaml", "karpenterVersion: \"1.5\"\nrules: {nodeclass: warn}\n"),
        ("a/b/class.yaml", BAD),
    ]);
    let run =
        folder.run_in("a/b", &["check", "--format", "json", "--select", "instance-profile-is-arn", "."], "");
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["karpenterVersion"], "1.5");
    assert_eq!(run.json()["findings"][0]["severity"], "warning");
    let run = folder.check(&["--format", "json", "."]);
    assert_eq!(run.json()["karpenterVersion"], "1.14", "the flag takes precedence");
    assert_eq!(run.json()["summary"]["documents"], 1, "the config file is not an input");
}

#[test]
fn counts_suppressed_findings() {
    let config = "exceptions: [{rule: instance-profile-is-arn, name: def*, reason: known}]\n";
    let folder = Folder::with(&[("karpwarden.yaml", config), ("class.yaml", BAD)]);
    let run = folder.check(&["class.yaml"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"no findings in 1 document (1 finding suppressed); checked against Karpenter 1.14");
}

#[test]
fn select_overrules_a_family_that_is_off() {
    let folder = Folder::with(&[("karpwarden.yaml", "rules: {nodeclass: off}\n"), ("class.yaml", BAD)]);
    assert_eq!(folder.run(&["check", "class.yaml", "--ignore", "api-server"]).status, 0);
    assert_eq!(folder.check(&["class.yaml"]).status, 1);
    assert_eq!(folder.check(&["class.yaml", "--ignore", "nodeclass,storage"]).status, 0);
}

#[test]
fn reports_all_mistakes_of_a_config_file_with_locations() {
    let config = r"karpenterVersion: 1.10
rulez:
  nodeclass: loud
rules:
  nodeclas: warn
";
    let folder = Folder::with(&[("karpwarden.yaml", config), ("class.yaml", BAD)]);
    let run = folder.check(&["class.yaml", "--ignore", "storages"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.stdout, "");
    assert_snapshot!(run.stderr, @r#"
    error: karpenterVersion: must be in quotes, such as "1.10": YAML reads 1.10 as the number 1.1
     --> karpwarden.yaml:1:19
      |
    1 | karpenterVersion: 1.10
      |                   ^^^^
    2 | rulez:
      |

    error: rulez: unknown key (did you mean `rules`?); the known keys are karpenterVersion, kubernetesVersion, clusterName, completeInventory, rules, allowIgnoreAnnotation, fix, announceErrors, strictUpdates, context, onExceededBound, exceptions, exclude, render, overrides
     --> karpwarden.yaml:2:1
      |
    1 | karpenterVersion: 1.10
    2 | rulez:
      | ^^^^^
    3 |   nodeclass: loud
      |

    error: rules.nodeclas: there is no rule or family `nodeclas` (did you mean `nodeclass`?)
     --> karpwarden.yaml:5:3
      |
    4 | rules:
    5 |   nodeclas: warn
      |   ^^^^^^^^

    error: --ignore: there is no rule or family `storages` (did you mean `storage`?); `karpwarden rules` lists them
    "#);
}

#[test]
fn reports_an_unreadable_config_file() {
    let folder = Folder::with(&[
        ("broken.yaml", "rules: [\n"),
        ("two.yaml", "fix: true\n---\nfix: false\n"),
        ("class.yaml", BAD),
    ]);
    let mut errors = String::new();
    for name in ["broken.yaml", "two.yaml", "missing.yaml"] {
        let run = folder.check(&["--config", name, "class.yaml"]);
        assert_eq!(run.status, 2);
        errors.push_str(&run.stderr);
    }
    assert_snapshot!(errors, @"
    error: not valid YAML: this `[` is never closed; add `]`
     --> broken.yaml:1:8
      |
    1 | rules: [
      |        ^

    error: the settings must be a single YAML document
     --> two.yaml:3:1
      |
    3 | fix: false
      | ^

    error: cannot read the config file `missing.yaml`: no such file or folder
    ");
}

#[test]
fn reports_all_invalid_flags() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let run = folder.run(&[
        "check",
        "class.yaml",
        "--karpenter-version",
        "0.37",
        "--kubernetes-version",
        "new",
        "--cluster-name",
        "",
        "--select",
        "instance-profile-is-an-arn,identity",
        "--ignore",
        "nodeclas",
    ]);
    assert_eq!(run.status, 2);
    assert_snapshot!(run.stderr, @"
    error: --karpenter-version: Karpenter `0.37` is older than 1.0, the first release that is covered; to see what an upgrade needs, write 1.0
    error: --kubernetes-version: `new` is not a Kubernetes version; write a version such as 1.33
    error: --cluster-name: must not be empty
    error: --select: there is no rule or family `instance-profile-is-an-arn` (did you mean `instance-profile-is-arn`?); `karpwarden rules` lists them
    error: --ignore: there is no rule or family `nodeclas` (did you mean `nodeclass`?); `karpwarden rules` lists them
    ");
    assert_eq!(folder.check(&["class.yaml", "--diff", "--format", "json"]).status, 2);
    assert_eq!(folder.check(&["class.yaml", "--max-depth", "0"]).status, 2);
}

#[test]
fn unknown_release_is_checked_as_the_nearest_known_one() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let run = folder.check(&["--karpenter-version", "1.8.99", "--format", "json", "class.yaml"]);
    assert_eq!(run.status, 1);
    assert_eq!(run.json()["karpenterVersion"], "1.8");
    assert_eq!(
        run.json()["notes"][0],
        "--karpenter-version: 1.8.99 is not known; checked as 1.8.8, its newest known patch"
    );
    assert_eq!(run.stderr.matches("1.8.99 is not known").count(), 1, "{}", run.stderr);
    let run = folder.check(&["--karpenter-version", "1.99", "class.yaml"]);
    assert!(
        run.status == 1 && run.stderr.contains("note: --karpenter-version: 1.99 is not known; checked as"),
        "{run:?}"
    );
    assert_eq!(folder.check(&["--karpenter-version", "1.99", "--quiet", "class.yaml"]).stderr, "");
    // The same in the config file, where a flag takes precedence.
    folder.write("karpwarden.yaml", b"karpenterVersion: '1.99'\n");
    let run = folder.run(&["check", "class.yaml"]);
    assert!(run.status == 1 && run.stderr.contains("note: karpenterVersion: 1.99 is not known"), "{run:?}");
    assert_eq!(folder.check(&["class.yaml"]).stderr, "");
}

#[test]
fn strict_release_refuses_an_unknown_release() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    for arguments in [
        &["check", "--karpenter-version", "1.8.99"][..],
        &["check", "--karpenter-version", "1.0..1.99"],
        &["upgrade", "--from", "1.8", "--to", "1.99"],
    ] {
        let run = folder.run(&[arguments, &["--strict-release", "class.yaml"]].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("is not known") && run.stderr.contains("`--strict-release`"), "{run:?}");
    }
    assert_eq!(folder.check(&["--strict-release", "class.yaml"]).status, 1);
    folder.write("karpwarden.yaml", b"karpenterVersion: '1.99'\n");
    assert_eq!(folder.run(&["check", "--strict-release", "class.yaml"]).status, 2);
}

#[test]
fn says_what_is_wrong_with_a_release() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let mut errors = String::new();
    for version in ["0.37", "v1beta1", "karpenter.sh/v1", "newest", "1.8..1.2"] {
        let run = folder.check(&["--karpenter-version", version, "class.yaml"]);
        assert_eq!(run.status, 2);
        errors.push_str(&run.stderr);
    }
    assert_snapshot!(errors, @"
    error: --karpenter-version: Karpenter `0.37` is older than 1.0, the first release that is covered; to see what an upgrade needs, write 1.0
    error: --karpenter-version: `v1beta1` is a version of Karpenter's API, not a Karpenter release; write the release of the controller, such as 1.8
    error: --karpenter-version: `karpenter.sh/v1` is a version of Karpenter's API, not a Karpenter release; write the release of the controller, such as 1.8
    error: --karpenter-version: `newest` is not a Karpenter release; write a release such as 1.8 or 1.8.3, or `latest`
    error: --karpenter-version: `1.8..1.2` runs backwards; write `1.2..1.8`
    ");
}

#[test]
fn latest_is_the_newest_known_release() {
    let config = "karpenterVersion: latest\n";
    let folder =
        Folder::with(&[("latest/karpwarden.yaml", config), ("latest/class.yaml", BAD), ("class.yaml", BAD)]);
    let version = |below: &str, arguments: &[&str]| {
        let run = folder.run_in(below, arguments, "");
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
        run.json()["karpenterVersion"].as_str().unwrap().to_owned()
    };
    let newest = Release::NEWEST.to_string();
    let check = ["check", "--format", "json", "class.yaml", "--karpenter-version"];
    assert_eq!(version("", &[&check[..], &["latest"]].concat()), newest);
    assert_eq!(version("", &[&check[..], &["1.8..latest"]].concat()), format!("1.8..{newest}"));
    assert_eq!(version("latest", &["check", "--format", "json", "class.yaml"]), newest);
}

#[test]
fn suggests_a_rule_whose_name_has_the_same_words() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let hint = "there is no rule or family `storage-immediate` (did you mean `storageclass-immediate`?)";
    for arguments in [
        &["check", "class.yaml", "--select", "storage-immediate"][..],
        &["check", "class.yaml", "--ignore", "storage-immediate"],
        &["upgrade", "class.yaml", "--from", "1.8", "--select", "storage-immediate"],
        &["diagnose", "class.yaml", "--select", "storage-immediate"],
        &["diagnose", "class.yaml", "--ignore", "storage-immediate"],
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(hint), "{arguments:?}: {}", run.stderr);
    }
    let config = "rules: {storage-immediate: off}\nexceptions: [{rule: storage-immediate, reason: known}]\n";
    folder.write("karpwarden.yaml", config.as_bytes());
    let run = folder.run(&["check", "class.yaml"]);
    assert_eq!((run.status, run.stderr.matches(hint).count()), (2, 2), "{}", run.stderr);
    let run = folder.run(&["explain", "storage-immediate"]);
    assert!(run.stderr.contains("`storage-immediate` (did you mean `storageclass-immediate`?)"), "{run:?}");
}

#[test]
fn names_files_that_are_meant_to_be_the_config_file() {
    let folder = Folder::with(&[
        ("karpwarden.yml", "rules: {nodeclass: off}\n"),
        ("a/.karpwarden.yaml", "rules: {nodeclass: off}\n"),
        ("a/class.yaml", BAD),
    ]);
    let run = folder.run_in("a", &crate::folder::checking(&["class.yaml"]), "");
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stderr, @"
    note: `.karpwarden.yaml` is not read: the name of the config file is `karpwarden.yaml`
    note: `../karpwarden.yml` is not read: the name of the config file is `karpwarden.yaml`
    ");
    // The search ends at the config file.
    folder.write("a/karpwarden.yaml", b"");
    let run = folder.run_in("a", &crate::folder::checking(&["class.yaml"]), "");
    assert!(run.stderr.contains("`.karpwarden.yaml` is not read") && !run.stderr.contains(".yml"), "{run:?}");
    assert_eq!(folder.run_in("a", &crate::folder::checking(&["--quiet", "class.yaml"]), "").stderr, "");
}

#[test]
fn reports_settings_without_effect_in_a_run_over_the_whole_folder() {
    let config = r"fix: true
exceptions:
- {rule: instance-profile-is-arn, reason: known}
- {rule: storage, reason: known}
- {rule: labels, reason: old, until: 2020-01-01}
- {rule: symptoms, reason: logs}
overrides: [{paths: [staging/], clusterName: a}, {paths: ['*.yaml'], clusterName: b}]
";
    let folder = Folder::with(&[("karpwarden.yaml", config), ("apps/class.yaml", BAD)]);
    let run = folder.run(&["check", "."]);
    assert_snapshot!(run.stderr, @"
    note: karpwarden.yaml: exceptions[1] (`storage`) accepts no finding; remove it
    note: karpwarden.yaml: overrides[0] matches no file; correct the paths `staging/`
    ");
    let json = folder.run(&["check", "--format", "json", "."]).json();
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(2), "{json}");
    for arguments in [&["apps"][..], &[".", "--select", "storage"], &["apps/class.yaml"]] {
        let run = folder.run(&[&["check"], arguments].concat());
        assert_eq!(run.stderr, "", "settings for the cluster may be in the same file");
    }
    assert_eq!(folder.run(&["check", "--quiet", "."]).stderr, "");
    // An unreadable file may have the object that needs the exception.
    folder.write("apps/pool.yaml", b"apiVersion: karpenter.sh/v1\nkind: [\n");
    let run = folder.run(&["check", "."]);
    assert!(!run.stderr.contains("accepts no finding"), "{run:?}");
    assert!(run.stderr.contains("matches no file"), "{run:?}");
}
