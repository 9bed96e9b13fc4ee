//! Human-readable and JSON reports.

use insta::assert_snapshot;

use crate::folder::{BAD, Folder, GOOD, OTHER};

#[test]
fn shows_a_finding_with_its_lines_and_fix() {
    let folder = Folder::with(&[("class.yaml", &format!("{BAD}---\n{OTHER}---\na: {{{{ .Values.a }}}}\n"))]);
    let run = folder.check(&["class.yaml"]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> class.yaml:6:20
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

    1 error in 3 documents (2 skipped; see --verbose); checked against Karpenter 1.14
    ");
}

#[test]
fn prints_one_line_without_findings() {
    let folder = Folder::with(&[("class.yaml", GOOD)]);
    assert_snapshot!(folder.check(&["class.yaml"]).stdout, @"no findings in 1 document; checked against Karpenter 1.14");
    assert_eq!(folder.check(&["--quiet", "class.yaml"]).stdout, "");
}

#[test]
fn json_is_one_object_with_all_keys() {
    let folder = Folder::with(&[("class.yaml", &format!("{BAD}---\n{OTHER}---\na: [1\n"))]);
    let run = folder.check(&["--format", "json", "class.yaml"]);
    let json = run.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    assert_eq!(json.lines().count(), 1);
    let pretty: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&pretty).unwrap(), @r#"
    {
      "environments": [],
      "findings": [
        {
          "apiVersion": "karpenter.k8s.aws/v1",
          "caughtBy": "nobody",
          "cluster": "",
          "column": 20,
          "document": 0,
          "endColumn": 79,
          "endLine": 6,
          "endOffset": 162,
          "family": "nodeclass",
          "file": "class.yaml",
          "fix": {
            "edits": [
              {
                "endOffset": 162,
                "file": "class.yaml",
                "offset": 103,
                "text": "Nodes-prod"
              }
            ],
            "safe": true,
            "title": "write the profile's name"
          },
          "help": "write `Nodes-prod`",
          "kind": "EC2NodeClass",
          "line": 6,
          "message": "`spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready",
          "name": "default",
          "namespace": "",
          "offset": 103,
          "path": "spec.instanceProfile",
          "related": [],
          "releases": "all",
          "rule": "instance-profile-is-arn",
          "severity": "error",
          "url": "https://karpwarden.github.io/karpwarden/rules/instance-profile-is-arn"
        }
      ],
      "karpenterVersion": "1.14",
      "notes": [],
      "pins": [],
      "schema": 1,
      "skipped": [
        {
          "document": 1,
          "file": "class.yaml",
          "reason": "no rule reads the kind `Namespace`"
        }
      ],
      "summary": {
        "checked": 1,
        "documents": 3,
        "errors": 1,
        "infos": 0,
        "skipped": 1,
        "suppressed": 0,
        "warnings": 0
      },
      "unreadable": [
        {
          "column": 4,
          "concernsKarpenter": true,
          "document": 2,
          "file": "class.yaml",
          "line": 12,
          "message": "not valid YAML: this `[` is never closed; add `]`"
        }
      ],
      "version": "VERSION"
    }
    "#);
}

#[test]
fn puts_carets_below_the_right_characters() {
    let text = "apiVersion: karpenter.k8s.aws/v1\r\nkind: EC2NodeClass\r\nmetadata: {name: \"\\e[31mred\"}\r\nspec:\r\n  \
                日本: 😀\r\n  instanceProfile:\t'arn:aws:iam::111122223333:instance-profile/😀/é' # 😀\r\n";
    let folder = Folder::with(&[("crlf.yaml", text)]);
    assert_snapshot!(folder.check(&["crlf.yaml"]).stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> crlf.yaml:6:20
      |
    5 |   日本: 😀
    6 |   instanceProfile:    'arn:aws:iam::111122223333:instance-profile/😀/é' # 😀
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = object: EC2NodeClass/␛[31mred, spec.instanceProfile
      = help: write `é`
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn

    1 error in 1 document; checked against Karpenter 1.14
    ");
}

#[test]
fn cuts_a_long_line_around_the_location() {
    let pad = "x".repeat(5_000_000);
    let text = format!(
        r#"{{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {{"name": "a", "annotations": {{"p": "{pad}"}}}}, "spec": {{"instanceProfile": "arn:aws:iam::111122223333:instance-profile/a", "role": "{pad}"}}}}"#
    );
    let folder = Folder::with(&[("long.json", &text)]);
    assert_snapshot!(folder.check(&["long.json"]).stdout, @r#"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> long.json:1:5000145
      |
      |
    1 | …xxxxxxxxxxxxxxx"}}, "spec": {"instanceProfile": "arn:aws:iam::111122223333:instance-profile/a", "role": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      |                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = object: EC2NodeClass/a, spec.instanceProfile
      = help: write `a`
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
      |
    1 - …xxxxxxxxxxxxxxx"}}, "spec": {"instanceProfile": "arn:aws:iam::111122223333:instance-profile/a", "role": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    1 + …xxxxxxxxxxxxxxx"}}, "spec": {"instanceProfile": "a", "role": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      |

    1 error in 1 document; checked against Karpenter 1.14
    "#);
}

#[test]
fn uses_colour_only_on_request_without_a_terminal() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    for (arguments, colored) in [
        (&["class.yaml"][..], false),
        (&["--color", "never", "class.yaml"], false),
        (&["--color", "always", "class.yaml"], true),
    ] {
        let run = folder.check(arguments);
        assert_eq!(run.stdout.contains("\u{1b}["), colored, "{arguments:?}");
    }
}

#[test]
fn range_shows_which_releases_accept_a_document() {
    const WHOLE: &str = include_str!("../../examples/nodeclass-bad.yaml");
    let folder = Folder::with(&[("class.yaml", WHOLE), ("other.yaml", OTHER)]);
    let run = folder.check(&["--karpenter-version", "1.0..1.14", "--format", "json", "."]);
    assert_eq!(
        run.json()["accepted"],
        serde_json::json!([{"file": "class.yaml", "document": 0, "releases": "1.0 to 1.14"}])
    );
    let run = folder.check(&["--karpenter-version", "1.0..1.14", "."]);
    assert!(run.stdout.contains("accepted by 1.0 to 1.14: class.yaml:2"), "{}", run.stdout);
    assert!(run.summary().ends_with("checked against Karpenter 1.0..1.14"), "{}", run.summary());
}

#[test]
fn placeholder_does_not_count_as_refused() {
    let class = |id: &str| {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  role: a
  amiFamily: AL2023
  amiSelectorTerms: [{{id: '{id}'}}]
  subnetSelectorTerms: [{{tags: {{a: b}}}}]
  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]
"
        )
    };
    let folder = Folder::with(&[("template.yaml", &class("${AMI}")), ("wrong.yaml", &class("image-1"))]);
    let run = folder.run(&["check", "--karpenter-version", "1.0..1.14", "--format", "json", "."]);
    assert_eq!(
        run.json()["accepted"],
        serde_json::json!([
            {"file": "template.yaml", "document": 0, "releases": "1.0 to 1.14"},
            {"file": "wrong.yaml", "document": 0, "releases": ""}
        ])
    );
}

#[test]
fn names_the_cluster_of_a_finding() {
    let folder = Folder::with(&[("prod/class.yaml", BAD), ("dev/class.yaml", BAD), ("class.yaml", BAD)]);
    let run = folder.check(&["--format", "json", "--cluster", "prod/", "--cluster", "dev", "class.yaml"]);
    let found: Vec<_> = run.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{} {}", finding["cluster"], finding["file"]))
        .collect();
    assert_eq!(found, [r#""" "class.yaml""#, r#""prod" "prod/class.yaml""#, r#""dev" "dev/class.yaml""#]);
    let run = folder.check(&["--cluster", "prod"]);
    assert!(
        run.stdout.contains("EC2NodeClass/default, spec.instanceProfile (cluster prod)"),
        "{}",
        run.stdout
    );
}

#[test]
fn counts_the_findings_of_each_rule() {
    let folder = Folder::with(&[("class.yaml", &[BAD; 3].join("---\n"))]);
    let run = folder.check(&["--statistics", "class.yaml"]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @"
    3  instance-profile-is-arn  error, 3 with a safe fix

    3 errors in 3 documents; checked against Karpenter 1.14
    ");
    let json = folder.check(&["--statistics", "--format", "json", "class.yaml"]).json();
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(3));
    assert_snapshot!(json["statistics"].to_string(), @r#"[{"errors":3,"family":"nodeclass","fixable":3,"infos":0,"rule":"instance-profile-is-arn","warnings":0}]"#);
    assert_eq!(folder.check(&["--format", "json", "class.yaml"]).json().get("statistics"), None);
    let run = folder.check(&["--statistics", "--format", "sarif", "class.yaml"]);
    assert!(run.status == 2 && run.stderr.contains("`--statistics` needs"), "{run:?}");
}
