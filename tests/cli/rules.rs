//! `explain`, `rules`, `completions`, `--help` and `--version`.

use insta::assert_snapshot;

use crate::folder::Folder;

#[test]
fn explains_a_rule() {
    let run = Folder::with(&[]).run(&["explain", "instance-profile-is-arn"]);
    assert_eq!(run.status, 0);
    let lines: Vec<_> = run.stdout.lines().take(16).collect();
    assert_snapshot!(lines.join("\n"), @"
    # instance-profile-is-arn

    `spec.instanceProfile` is an ARN or a path instead of the profile name.

    - Family: `nodeclass`
    - Severity: error
    - Otherwise caught by: nothing; accepted silently
    - Releases: all
    - Fix: safe, applied by `karpwarden check --fix`

    ## What it does

    Checks that `spec.instanceProfile` of an EC2NodeClass is the name of an instance profile, not its
    ARN or a path.

    ## Why it is bad
    ");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "wrapped");
}

#[test]
fn explains_several_rules_and_families() {
    let folder = Folder::with(&[]);
    let run = folder.run(&["explain", "storage", "instance-profile-is-arn"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.starts_with("# storage\n\nStorage classes and volumes"), "{}", run.stdout);
    assert!(run.stdout.contains("- `storageclass-immediate` (warning): "), "{}", run.stdout);
    assert!(run.stdout.contains("\n# instance-profile-is-arn\n"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "wrapped");
    for family in rule::finding::Family::ALL {
        let run = folder.run(&["explain", family.name()]);
        assert!(run.status == 0 && run.stdout.contains("\n- `"), "{run:?}");
    }
    let run = folder.run(&["explain", "storage", "storages", "labelz"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_eq!(run.stderr.matches("did you mean `").count(), 2, "{}", run.stderr);
}

#[test]
fn suggests_the_nearest_rule() {
    let run = Folder::with(&[]).run(&["explain", "instance-profile-arn"]);
    assert_eq!(run.status, 2);
    assert_snapshot!(run.stderr, @"error: there is no rule, symptom or family `instance-profile-arn` (did you mean `instance-profile-is-arn`?); `karpwarden rules` lists them");
}

#[test]
fn lists_rules_for_people_and_programs() {
    let folder = Folder::with(&[]);
    let json = folder.run(&["rules", "--format", "json"]).json();
    let rule =
        json.as_array().unwrap().iter().find(|rule| rule["name"] == "instance-profile-is-arn").unwrap();
    assert_snapshot!(serde_json::to_string_pretty(rule).unwrap(), @r#"
    {
      "caughtBy": "nobody",
      "enabled": "default",
      "family": "nodeclass",
      "fix": "safe",
      "name": "instance-profile-is-arn",
      "severity": "error",
      "since": "1.0",
      "summary": "`spec.instanceProfile` is an ARN or a path instead of the profile name",
      "until": "",
      "url": "https://karpwarden.github.io/karpwarden/rules/instance-profile-is-arn"
    }
    "#);
    let table = folder.run(&["rules"]).stdout;
    assert!(json.as_array().unwrap().iter().all(|rule| table.contains(rule["name"].as_str().unwrap())));
}

#[test]
fn prints_completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = Folder::with(&[]).run(&["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("karpenter-version"), "{shell}");
    }
}

#[test]
fn completes_the_names_of_rules_families_and_symptoms() {
    let folder = Folder::with(&[]);
    // clap_complete completes values in these shells only.
    for shell in ["bash", "fish", "zsh"] {
        let script = folder.run(&["completions", shell]).stdout;
        for name in ["instance-profile-is-arn", "storage", "drift-loop"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    assert!(!folder.run(&["check", "--help"]).stdout.contains("instance-profile-is-arn"));
}

#[test]
fn prints_help() {
    let folder = Folder::with(&[]);
    assert_snapshot!(folder.run(&["-h"]).stdout, @"
    Check Karpenter (AWS) manifests and the Kubernetes objects around them before you apply them

    Usage: karpwarden [OPTIONS] [COMMAND]

    Commands:
      check        Check manifests: files, folders or standard input
      diagnose     Find the cause of a problem in logs, events and status
      upgrade      Show what breaks or changes between two Karpenter releases
      simulate     Show where Karpenter would place the pods, and why not
      collect      Write a snapshot of a cluster through kubectl, as input for the other commands
      disruption   Show what Karpenter may disrupt, when, and what prevents it
      plan         Show what a change does to the nodes, before it is applied
      why          Explain a pod or a node of the cluster that kubectl reads
      report       Write one page to send: findings, placement and cost, disruption, blocked nodes,
                   symptoms
      open         Serve the page of `report` to the browser of this computer, and reload it when the
                   input changes
      hash         Print the hashes by which Karpenter recognises drift
      lsp          Run the language server, which an editor starts, on standard input and output
      mcp          Run the server for assistants (Model Context Protocol), which an assistant starts
      explain      Print the documentation of rules, symptoms and families
      rules        List the rules and symptoms
      schema       Print JSON Schemas of objects, of the config file and of answers
      init         Write a commented config file
      man          Print the man page of karpwarden or of one command
      completions  Print a shell completion script
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Output:
          --color <WHEN>  When to use colour; `auto` uses it on a terminal unless NO_COLOR is set
                          [default: auto] [possible values: auto, always, never]

    Without a command, karpwarden checks the current folder.
    ");
}

#[test]
fn prints_help_of_a_command_and_version() {
    let folder = Folder::with(&[]);
    assert_snapshot!(folder.run(&["check", "-h"]).stdout, @"
    Check manifests: files, folders or standard input

    Usage: karpwarden check [OPTIONS] [PATH|-]...

    Arguments:
      [PATH|-]...  Files and folders; `-` reads standard input

    Options:
          --cluster <DIR>         Folder with the input of one cluster; may be repeated for several
                                  clusters
          --helm-values <FILE|->  File with values of Karpenter's Helm chart; may be repeated
          --allow-empty           Accept empty standard input, which otherwise exits with status 3
      -h, --help                  Print help (see more with '--help')

    What to check against:
          --karpenter-version <RELEASE>   Karpenter release, such as 1.8, 1.8.3 or latest, or a range,
                                          such as 1.0..1.14 [default: the version that the manifests
                                          pin, or else the newest known release]
          --kubernetes-version <VERSION>  Kubernetes version of the cluster, such as 1.33, for the rules
                                          that depend on it
          --cluster-name <NAME>           Name of the cluster
          --complete                      The input contains every NodePool and EC2NodeClass of the
                                          cluster, so an absent one does not exist
          --strict-release                Refuse a Karpenter release that this version does not know,
                                          instead of checking the nearest known one

    What to look for:
          --config <FILE>          Config file [default: the nearest karpwarden.yaml in this folder or a
                                   parent folder]
          --select <RULE,…>        Report only these rules or families; `karpwarden rules` lists them.
                                   `all` includes the rules that are off by default
          --ignore <RULE,…>        Report all but these rules or families
          --exclude <PATTERN>      Skip files and folders that match this pattern, written as in
                                   .gitignore; may be repeated
          --include-docs           Check also the manifests in the code blocks of the Markdown files of
                                   folders. A file that is named is always read
          --render                 Render the Helm charts of the input with the helm on the PATH, and
                                   check their objects at the lines of the templates
          --no-render              Run no helm, whatever the config file says
          --root <DIR>             Folder in which files outside of the input are read, but not
                                   reported, if a kustomization refers to them [default: the repository
                                   of the kustomization]
          --force-exclude          Apply the exclusions to files named on the command line too; for
                                   hooks and editors, which name every file
          --baseline <FILE>        Suppress the findings that this baseline file lists
          --write-baseline <FILE>  Write the current findings to a baseline file, and suppress them

    Output:
          --format <FORMAT>        Output format [default: human] [possible values: human, json, sarif,
                                   github, gitlab, junit, markdown]
          --color <WHEN>           When to use colour; `auto` uses it on a terminal unless NO_COLOR is
                                   set [default: auto] [possible values: auto, always, never]
      -o, --output <FILE>          Write the report to this file instead of standard output
          --stdin-filename <PATH>  File name of standard input in the report and for the settings of
                                   some paths, such as the file that an editor shows
          --fail-on <LEVEL>        Lowest severity that sets the exit status to 1 [default: error]
                                   [possible values: error, warning, info, never]
          --strict                 Exit with status 4 for any unreadable document, even if its file has
                                   nothing to do with Karpenter
      -q, --quiet                  Print only findings
      -v, --verbose                Print also the pinned versions, the folders that look like clusters,
                                   and what was not checked or read
          --fix                    Apply the safe fixes to the files; the fixed text of standard input
                                   goes to standard output
          --diff                   Print the changes of --fix as a diff, without writing them
          --unsafe-fixes           Apply the fixes that you have to review too; with --diff, print them
          --statistics             Print the number of findings of each rule instead of the findings;
                                   with `--format json` in addition to them
          --watch                  Keep running, and check again when a file of the input changes.
                                   Ctrl-C ends it

    Bounds:
          --max-file-bytes <SIZE>  Bytes per file, such as 1000000 or 64MiB [default: 64MiB]
          --max-documents <COUNT>  Documents per file [default: 100000]
          --max-depth <LEVELS>     Levels of nesting per document [default: 128]
          --max-nodes <COUNT>      Values per document, after aliases are expanded [default: 1000000]
          --max-findings <COUNT>   Findings in the report [default: 10000]

    Exit status:
      0  no findings at or above --fail-on
      1  findings at or above --fail-on
      2  invalid command line or config file
      3  no input files, or empty standard input without --allow-empty
      4  some input that may concern Karpenter could not be read or parsed, or changed meanwhile;
         with --strict: any input (takes precedence over 1; the rest is checked)
      5  a file could not be written, or the system refused a resource (takes precedence over all)
    ");
    assert_eq!(folder.run(&["--version"]).stdout, format!("karpwarden {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(folder.run(&[]).status, 3);
}

#[test]
fn finds_rules_by_name_then_summary_then_page() {
    let folder = Folder::with(&[]);
    let names = |words: &str| -> Vec<String> {
        let run = folder.run(&["rules", "--search", words, "--format", "json"]);
        assert_eq!(run.status, 0, "{run:?}");
        let json = run.json();
        json.as_array().unwrap().iter().map(|rule| rule["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("instance-profile-is-arn")[0], "instance-profile-is-arn");
    let found = names("Profile");
    let is_in_name: Vec<bool> = found.iter().map(|name| name.contains("profile")).collect();
    assert!(is_in_name[0] && is_in_name.is_sorted_by(|one, other| one >= other), "{found:?}");
    assert!(is_in_name.contains(&false), "also rules whose page has the word: {found:?}");
    let both = names("profile arn");
    assert!(both.len() < found.len() && both.iter().all(|name| found.contains(name)), "{both:?}");
    let run = folder.run(&["rules", "--search", "profile arn"]);
    assert!(run.stdout.starts_with("instance-profile-is-arn "), "{}", run.stdout);
    let none = folder.run(&["rules", "--search", "storageclass-imediate"]);
    assert_eq!((none.status, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("(did you mean `storageclass-immediate`?)"), "{}", none.stderr);
}
