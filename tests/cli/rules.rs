//! `explain`, `rules`, `completions`, `--help` and `--version`.

use insta::assert_snapshot;

use crate::folder::Folder;

#[test]
fn a_rule_is_explained() {
    let run = Folder::with(&[]).run(&["explain", "instance-profile-is-arn"]);
    assert_eq!(run.status, 0);
    let lines: Vec<_> = run.stdout.lines().take(16).collect();
    assert_snapshot!(lines.join("\n"), @"
    # instance-profile-is-arn

    `spec.instanceProfile` is an ARN or a path instead of the profile name.

    - Family: `nodeclass`
    - Severity: error
    - Caught otherwise by: nobody
    - Releases: all
    - Fix: safe, made by `karpwarden check --fix`

    ## What it does

    Checks that `spec.instanceProfile` of an EC2NodeClass is the name of an instance profile, not its
    ARN or a path.

    ## Why it is bad
    ");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "wrapped");
}

#[test]
fn an_unknown_rule_is_met_with_the_nearest() {
    let run = Folder::with(&[]).run(&["explain", "instance-profile-arn"]);
    assert_eq!(run.status, 2);
    assert_snapshot!(run.stderr, @"error: there is no rule or symptom `instance-profile-arn` (did you mean `instance-profile-is-arn`?); `karpwarden rules` lists them");
}

#[test]
fn rules_are_listed_for_people_and_for_programs() {
    let folder = Folder::with(&[]);
    let json = folder.run(&["rules", "--format", "json"]).json();
    let rule =
        json.as_array().unwrap().iter().find(|rule| rule["name"] == "instance-profile-is-arn").unwrap();
    assert_snapshot!(serde_json::to_string_pretty(rule).unwrap(), @r#"
    {
      "caughtBy": "nobody",
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
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = Folder::with(&[]).run(&["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("karpenter-version"), "{shell}");
    }
}

#[test]
fn help_and_version_are_answers_and_no_errors() {
    let folder = Folder::with(&[]);
    assert_snapshot!(folder.run(&["-h"]).stdout, @"
    Checks Karpenter (AWS) manifests, and the Kubernetes objects around them, before a cluster does

    Usage: karpwarden [OPTIONS] <COMMAND>

    Commands:
      check        Check manifests: files, folders or standard input
      diagnose     Read logs, events and status, and name the cause
      upgrade      Tell what manifests lose or break on the way to another release
      explain      Print the documentation of a rule or a symptom
      rules        List the rules and symptoms
      init         Write a config file to start from
      man          Print the man page of the program or of a command
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Output:
          --color <WHEN>  Whether to write in colour; `auto` does on a terminal, and obeys NO_COLOR
                          [default: auto] [possible values: auto, always, never]
    ");
    assert_snapshot!(folder.run(&["check", "-h"]).stdout, @"
    Check manifests: files, folders or standard input

    Usage: karpwarden check [OPTIONS] [PATH|-]...

    Arguments:
      [PATH|-]...  Files and folders; `-` is standard input

    Options:
          --cluster <DIR>         A folder with what belongs to one cluster; give it several times for
                                  several clusters
          --helm-values <FILE|->  A file with values of Karpenter's Helm chart, whatever its name and
                                  its keys; may be given several times
      -h, --help                  Print help (see more with '--help')

    What to check against:
          --karpenter-version <RELEASE>   The Karpenter release, such as 1.8 or 1.8.3, or a range, such
                                          as 1.0..1.14 [default: the newest known]
          --kubernetes-version <VERSION>  The Kubernetes version, such as 1.33, for what depends on it
          --cluster-name <NAME>           The name of the cluster
          --complete                      The input holds every NodePool and node class of the cluster:
                                          one that is absent is missing

    What to look for:
          --config <FILE>          The config file [default: the nearest karpwarden.yaml in this folder
                                   or above it]
          --select <RULE,…>        Only these rules or families; `karpwarden rules` lists them
          --ignore <RULE,…>        All but these rules or families
          --exclude <PATTERN>      Leave out of a folder what fits this pattern of an ignore file; may
                                   be given several times
          --force-exclude          Leave out what is excluded where it is named outright, too: a hook
                                   and an editor name every file
          --baseline <FILE>        Do not report the findings that this file lists
          --write-baseline <FILE>  List the findings there are now in this file, for --baseline, and
                                   report none of them

    Output:
          --color <WHEN>           Whether to write in colour; `auto` does on a terminal, and obeys
                                   NO_COLOR [default: auto] [possible values: auto, always, never]
          --format <FORMAT>        How to print what is found [default: human] [possible values: human,
                                   json, sarif, github, junit]
      -o, --output <FILE>          Print to this file rather than to standard output
          --stdin-filename <PATH>  The path under which standard input is reported and which settings
                                   for some paths go by, such as that of the file an editor shows
          --fail-on <LEVEL>        The least severity that makes the exit status 1 [default: error]
                                   [possible values: error, warning, info, never]
      -q, --quiet                  Print the findings alone
          --fix                    Make the safe fixes in the files; of standard input, write the fixed
                                   text to standard output
          --diff                   Print what --fix would change as a diff, and write nothing

    Bounds:
          --max-file-bytes <BYTES>  Bytes of one file [default: 67108864]
          --max-documents <COUNT>   Documents of one file [default: 100000]
          --max-depth <LEVELS>      Levels of nesting in one document [default: 128]
          --max-nodes <COUNT>       Values in one document, after aliases are expanded [default:
                                    1000000]
          --max-findings <COUNT>    Findings to show [default: 10000]

    Exit status:
      0  nothing at or above --fail-on
      1  findings
      2  the command line or the config file is wrong
      3  no input file at all
      4  some input could not be read or parsed (wins over 1; the rest is checked)
    ");
    assert_eq!(folder.run(&["--version"]).stdout, format!("karpwarden {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(folder.run(&[]).status, 2);
}
