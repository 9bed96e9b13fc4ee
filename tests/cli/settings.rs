//! The config file, and the flags, which take precedence.

use insta::assert_snapshot;

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
    let config = "karpenterVersion: 1.10\nrulez:\n  nodeclass: loud\nrules:\n  nodeclas: warn\n";
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

    error: rulez: unknown key (did you mean `rules`?); the known keys are karpenterVersion, kubernetesVersion, clusterName, completeInventory, rules, allowIgnoreAnnotation, fix, exceptions, exclude, overrides
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
        "1.99",
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
    error: --karpenter-version: `1.99` is not a known Karpenter release; the known releases are 1.0 to NEWEST and their patches, such as 1.0.3
    error: --kubernetes-version: `new` is not a Kubernetes version; write a version such as 1.33
    error: --cluster-name: must not be empty
    error: --select: there is no rule or family `instance-profile-is-an-arn` (did you mean `instance-profile-is-arn`?); `karpwarden rules` lists them
    error: --ignore: there is no rule or family `nodeclas` (did you mean `nodeclass`?); `karpwarden rules` lists them
    ");
    assert_eq!(folder.check(&["class.yaml", "--diff", "--format", "json"]).status, 2);
    assert_eq!(folder.check(&["class.yaml", "--max-depth", "0"]).status, 2);
}
