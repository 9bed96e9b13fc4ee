//! The Karpenter version of each file, and folders that look like several clusters.

use insta::assert_snapshot;

use crate::folder::Folder;
use karpenter::release::Release;

/// Chart of Karpenter in a k3s cluster, with a key that the chart of 1.0 still reads.
fn chart(version: &str) -> String {
    format!(
        r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: karpenter}}
spec:
  source:
    repoURL: public.ecr.aws/karpenter
    chart: karpenter
    targetRevision: {version}
    helm: {{valuesObject: {{webhook: {{enabled: true}}}}}}
"
    )
}

/// NodePool with a field that 1.8 introduced.
const REPLICAS: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  replicas: 1
";

/// The last lines of a report: versions, clusters, skipped documents and the summary.
fn end(stdout: &str) -> String {
    let names = ["version: ", "clusters: ", "skipped: "];
    let lines = stdout.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    let summary = stdout.lines().last().unwrap_or_default();
    lines.chain([summary]).collect::<Vec<_>>().join("\n")
}

/// Number of findings of a rule.
fn count(stdout: &str, rule: &str) -> usize {
    stdout.matches(&format!("[{rule}]")).count()
}

#[test]
fn pinned_version_decides_what_is_wrong() {
    for (version, unknown_fields) in [("1.7.1", 1), ("1.8.0", 0)] {
        let chart = chart(version);
        let folder = Folder::with(&[("karpenter.yaml", &chart), ("pools/pool.yaml", REPLICAS)]);
        let run = folder.run(&["check", "."]);
        assert_eq!(count(&run.stdout, "api-unknown-field"), unknown_fields, "{version}: {}", run.stdout);
    }
}

#[test]
fn folders_pin_different_versions() {
    let (dev, prod) = (chart("1.6.99"), chart("1.6.2"));
    let folder = Folder::with(&[
        ("dev/karpenter.yaml", &dev),
        ("dev/pool.yaml", REPLICAS),
        ("prod/karpenter.yaml", &prod),
        ("prod/Chart.yaml", "name: karpenter\ndependencies: [{name: karpenter, version: 1.6.2}]\n"),
    ]);
    let run = folder.run(&["check", "--verbose", "."]);
    assert_snapshot!(end(&run.stdout), @"
    version: `dev/` pins Karpenter 1.6.99 (from dev/karpenter.yaml:8); checked as 1.6.8, its newest known patch
    version: `prod/` pins Karpenter 1.6.2 (from prod/Chart.yaml:2)
    clusters: `dev`, `prod` look like separate clusters, so their objects are not compared; check each with `--cluster dev --cluster prod`
    skipped: read only for the Karpenter version that it pins: prod/Chart.yaml:1
    2 errors, 2 warnings in 4 documents (1 skipped); checked against the pinned versions of Karpenter (1.6.2, 1.6.99), or NEWEST without a pin
    ");
    let json = folder.run(&["check", "--format", "json", "."]).json();
    assert_snapshot!(serde_json::to_string_pretty(&json["pins"]).unwrap(), @r#"
    [
      {
        "checkedAs": "1.6",
        "cluster": "",
        "file": "dev/karpenter.yaml",
        "folder": "dev",
        "line": 8,
        "note": "checked as 1.6.8, its newest known patch",
        "version": "1.6.99"
      },
      {
        "checkedAs": "1.6.2",
        "cluster": "",
        "file": "prod/Chart.yaml",
        "folder": "prod",
        "line": 2,
        "note": "",
        "version": "1.6.2"
      }
    ]
    "#);
    let clusters = folder.run(&["check", "--verbose", "--cluster", "dev", "--cluster", "prod"]);
    assert_snapshot!(end(&clusters.stdout), @"
    version: `dev/` pins Karpenter 1.6.99 (from dev/karpenter.yaml:8); checked as 1.6.8, its newest known patch
    version: `prod/` pins Karpenter 1.6.2 (from prod/Chart.yaml:2)
    skipped: read only for the Karpenter version that it pins: prod/Chart.yaml:1
    2 errors, 2 warnings in 4 documents (1 skipped); checked against the pinned versions of Karpenter (1.6.2, 1.6.99), or NEWEST without a pin
    ");
}

#[test]
fn report_shows_the_first_versions_of_many() {
    let charts: Vec<(String, String)> = (0..25)
        .map(|number| (format!("{number}/chart.yaml"), chart(&format!("1.{}.0", number % 2))))
        .collect();
    let files: Vec<_> = charts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let run = Folder::with(&files).run(&["check", "--verbose", "."]);
    assert_eq!(run.stdout.matches("version: ").count(), 21, "{}", run.stdout);
    // The input itself pins two versions, but no file without a version is checked.
    assert!(run.stdout.contains("version: 5 more folders pin a version"), "{}", run.stdout);
}

#[test]
fn flag_config_and_override_take_precedence_over_a_pin() {
    let chart = chart("1.6.2");
    let folder = Folder::with(&[("karpenter.yaml", &chart), ("pool.yaml", REPLICAS)]);
    let unknown_fields = |arguments: &[&str]| {
        let run = folder.run(&[&["check", "--verbose", "."], arguments].concat());
        (count(&run.stdout, "api-unknown-field"), run.stdout.contains("version: "))
    };
    assert_eq!(unknown_fields(&[]), (1, true));
    assert_eq!(unknown_fields(&["--karpenter-version", "1.8"]), (0, false));
    assert_eq!(unknown_fields(&["--karpenter-version", "1.7..1.8"]), (1, false));
    folder.write("karpwarden.yaml", b"karpenterVersion: '1.8'\n");
    assert_eq!(unknown_fields(&[]), (0, false));
    folder.write("karpwarden.yaml", b"overrides: [{paths: [pool.yaml], karpenterVersion: '1.8'}]\n");
    assert_eq!(unknown_fields(&[]), (0, true));
}

#[test]
fn release_before_1_0_is_not_judged() {
    let text = chart("0.31.0")
        + r"---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec: {ttlSecondsAfterEmpty: 30}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: karpenter-global-settings}
data: {aws.clusterName: a}
";
    let folder = Folder::with(&[("karpenter.yaml", &text)]);
    let run = folder.run(&["check", "karpenter.yaml"]);
    assert_eq!(run.status, 0);
    let report =
        run.stdout.replace(&format!("against Karpenter {}", Release::NEWEST), "against Karpenter NEWEST");
    assert_snapshot!(report, @"
    info[removed-api-version]: Karpenter 1.0 and later do not serve `Provisioner` of `karpenter.sh/v1alpha5`: convert it during the upgrade from 0.31.0
      --> karpenter.yaml:11:13
       |
    11 | apiVersion: karpenter.sh/v1alpha5
       |             ^^^^^^^^^^^^^^^^^^^^^
    12 | kind: Provisioner
       |
       = object: Provisioner/a, apiVersion
       = help: write a NodePool of `karpenter.sh/v1`; the v1 migration guide lists the replacement of each field
       = otherwise caught by: the API server; refused on apply
       = explain: karpwarden explain removed-api-version

    info[removed-api-version]: Karpenter 1.1 and later do not serve `NodePool` of `karpenter.sh/v1beta1`: convert it during the upgrade from 0.31.0
      --> karpenter.yaml:16:13
       |
    16 | apiVersion: karpenter.sh/v1beta1
       |             ^^^^^^^^^^^^^^^^^^^^
    17 | kind: NodePool
       |
       = object: NodePool/a, apiVersion
       = help: write `apiVersion: karpenter.sh/v1`; some fields have moved, so check the result again
       = otherwise caught by: the API server; refused on apply
       = explain: karpwarden explain removed-api-version

    version: the input pins Karpenter 0.31.0 (from karpenter.yaml:8); releases before 1.0 are not covered: the controller and the values of its chart are not checked, and objects of v1 are checked as the newest known release
    2 infos in 4 documents (4 skipped; see --verbose); checked against Karpenter NEWEST
    ");
    let suppressed = text
        .replace("{enabled: true}}}", "{enabled: true}}} # karpwarden: ignore[helm-values-removed-keys] old");
    folder.write("suppressed.yaml", suppressed.as_bytes());
    let run = folder.run(&["check", "suppressed.yaml"]);
    assert_eq!(count(&run.stdout, "suppression-unused"), 0, "{}", run.stdout);
    // The chart of 1.0 has the key.
    folder.write("covered.yaml", suppressed.replace("0.31.0", "1.0.8").as_bytes());
    let run = folder.run(&["check", "covered.yaml"]);
    assert_eq!(count(&run.stdout, "suppression-unused"), 1, "{}", run.stdout);
    let newest = Release::NEWEST.to_string();
    let newest = folder.run(&["check", "--karpenter-version", &newest, "karpenter.yaml"]);
    assert_eq!((newest.status, count(&newest.stdout, "removed-api-version")), (1, 2));
    assert_eq!(count(&newest.stdout, "helm-values-removed-keys"), 1);
}

#[test]
fn kinds_without_checks_count_as_skipped() {
    let folder = Folder::with(&[
        (
            "beta.yaml",
            r"apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
",
        ),
        (
            "auto.yaml",
            r"apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: {name: a}
",
        ),
        (
            "other.yaml",
            r"apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: a}
",
        ),
        ("Chart.yaml", "name: addons\ndependencies: [{name: karpenter, version: 1.0.8}]\n"),
    ]);
    let run = folder.run(&["check", "--verbose", "."]);
    assert_snapshot!(end(&run.stdout), @"
    version: the input pins Karpenter 1.0.8 (from Chart.yaml:2)
    skipped: read only for the Karpenter version that it pins: Chart.yaml:1
    skipped: `NodeClass` of EKS Auto Mode, not checked: only fields of EC2NodeClasses are found in it: auto.yaml:1
    skipped: `NodePool` of `karpenter.sh/v1beta1`, not checked: of this kind, only v1 is covered: beta.yaml:1
    skipped: `AKSNodeClass` of `karpenter.azure.com`, not checked: only Karpenter's provider for AWS is covered: other.yaml:1
    1 warning in 4 documents (4 skipped); checked against Karpenter 1.0.8
    ");
    // A release that does not serve the version refuses the object, which is a finding.
    let newer = folder.run(&["check", "--karpenter-version", "1.1", "beta.yaml"]);
    assert!(end(&newer.stdout).starts_with("1 error in 1 document;"), "{}", newer.stdout);
}

/// EC2NodeClass and NodePool of an environment whose cluster and node class have a name.
fn environment(name: &str, class: &str) -> String {
    format!(
        r"settings: {{clusterName: {name}, interruptionQueue: {name}}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: {name}}}
spec:
  role: KarpenterNodeRole-{name}
  amiSelectorTerms: [{{alias: al2023@v20240807}}]
  subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: {name}}}}}]
  securityGroupSelectorTerms: [{{tags: {{karpenter.sh/discovery: {name}}}}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: {class}}}
      requirements: [{{key: kubernetes.io/arch, operator: In, values: [amd64]}}]
"
    )
}

/// IAM policy of the controller of one environment.
const DEV_POLICY: &str = r#"{"Version": "2012-10-17", "Statement": [
  {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"], "Resource": "*"},
  {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/KarpenterNodeRole-dev"}]}"#;

#[test]
fn environments_are_not_compared_with_each_other() {
    let (dev, prod) = (environment("dev", "dev"), environment("prod", "prod"));
    let workload = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {karpenter.sh/nodepool: prod}
  containers: [{name: a, image: a}]
";
    let pool = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: base}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
";
    let folder = Folder::with(&[
        ("envs/dev/karpenter.yaml", &dev),
        ("envs/prod/karpenter.yaml", &prod),
        ("envs/dev/pod.yaml", workload),
        ("apps/pod.yaml", workload),
        ("base/pool.yaml", pool),
        ("iam/policy.json", DEV_POLICY),
    ]);
    let run = folder.run(&["check", "--verbose", "."]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert_snapshot!(run.stdout, @"
    clusters: `envs/dev`, `envs/prod` look like separate clusters, so their objects are not compared; check each with `--cluster envs/dev --cluster envs/prod`
    no findings in 10 documents; checked against Karpenter NEWEST
    ");
    let json = folder.run(&["check", "--format", "json", "."]).json();
    assert_snapshot!(json["environments"], @r#"[{"folders":["envs/dev","envs/prod"]}]"#);
    // The clusters that the user names are the only ones.
    let named = folder.run(&["check", "--verbose", "--cluster", "envs"]);
    assert!(!named.stdout.contains("clusters: "), "{}", named.stdout);
}

#[test]
fn mistake_within_an_environment_is_reported() {
    let (dev, prod) = (environment("dev", "devv"), environment("prod", "prod"));
    let folder = Folder::with(&[("dev/a.yaml", &dev), ("prod/a.yaml", &prod)]);
    let run = folder.run(&["check", "."]);
    assert_eq!(count(&run.stdout, "nodeclass-ref-dangling"), 1, "{}", run.stdout);
    assert!(run.stdout.contains("did you mean `dev`?"), "{}", run.stdout);
    // A node class of the other folder may belong to the same cluster after all.
    let across = environment("dev", "prod");
    folder.write("dev/a.yaml", across.as_bytes());
    assert_eq!(count(&folder.run(&["check", "."]).stdout, "nodeclass-ref-dangling"), 0);
    let mismatch = environment("dev", "dev").replace("{clusterName: dev", "{clusterName: qa");
    folder.write("dev/a.yaml", mismatch.as_bytes());
    let run = folder.run(&["check", "."]);
    assert!(run.stdout.contains("mismatch]"), "{}", run.stdout);
    assert!(!run.stdout.contains("--> prod/"), "{}", run.stdout);
}

#[test]
#[cfg(unix)]
fn report_is_the_same_on_one_core_and_on_many() {
    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {role: a, amiSelectorTerms: [{alias: al2023@v20250505}], subnetSelectorTerms: [{id: subnet-0a1b2c3d}], securityGroupSelectorTerms: [{id: sg-0a1b2c3d}]}
---
";
    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}}}
---
";
    let pod = |index: usize| {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: pod-{index}}}
spec: {{nodeSelector: {{karpenter.sh/nodepool: default}}, containers: [{{name: a, image: a, resources: {{requests: {{cpu: {}}}}}}}]}}
---
",
            1 + index % 4
        )
    };
    // More documents than are parsed or checked at once, in folders of several releases.
    let pods: String = (0..600).map(pod).collect();
    let all = [CLASS, POOL, &pods].concat();
    let config = "overrides:\n- {paths: [old/], karpenterVersion: '1.0'}\n- {paths: [middle/], karpenterVersion: '1.6'}\n";
    let folder = Folder::with(&[
        ("karpwarden.yaml", config),
        ("all.yaml", &all),
        ("old/pods.yaml", &pods),
        ("middle/pods.yaml", &pods),
        ("middle/broken.yaml", "a: [\n"),
    ]);
    let report = |threads: &str| {
        let run = folder.run_with("RAYON_NUM_THREADS", threads, &["check", "--format", "json", "."]);
        (run.status, run.stdout)
    };
    let (status, expected) = report("1");
    assert!(expected.contains("requests-exceed-any-type"), "{status}\n{expected}");
    for threads in ["2", "4", "4", "4"] {
        assert!(report(threads) == (status, expected.clone()), "{threads} threads");
    }
}

#[test]
fn scripts_in_a_folder_pin_the_version_and_are_no_documents() {
    let install = "helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --version X.Y.Z\n";
    let workflow =
        "jobs: {a: {steps: [{run: helm upgrade karpenter karpenter/karpenter --version X.Y.Z}]}}\n";
    let variable = "variable \"karpenter_version\" {\n  default = \"X.Y.Z\"\n}\n";
    let guide = format!("```sh\n{install}```\n");
    for (name, text) in [
        ("scripts/install.sh", install),
        ("Makefile", "KARPENTER_VERSION ?= X.Y.Z\n"),
        (".gitlab-ci.yml", workflow),
        (".github/workflows/deploy.yml", workflow),
        ("terraform/variables.tf", variable),
        ("terraform/prod.tfvars", "karpenter_version = \"X.Y.Z\"\n"),
        ("group_vars/all.yml", "karpenter_version: X.Y.Z\n"),
        ("README.md", &guide),
    ] {
        for (version, unknown_fields) in [("1.7.1", 1), ("1.8.0", 0)] {
            let text = text.replace("X.Y.Z", version);
            let folder = Folder::with(&[(name, &text), ("pools/pool.yaml", REPLICAS)]);
            let run = folder.run(&["check", "."]);
            assert_eq!(
                count(&run.stdout, "api-unknown-field"),
                unknown_fields,
                "{name} {version}: {}",
                run.stdout
            );
            let json = folder.run(&["check", ".", "--format", "json"]).json();
            assert_eq!(json["pins"][0]["file"], name, "{version}");
            if name != "group_vars/all.yml" {
                assert_eq!(json["summary"]["documents"], 1, "{name} {version}");
            }
        }
    }
}

#[test]
fn texts_in_a_folder_change_nothing_where_they_are_not_sure() {
    let report = |more: &[(&str, &str)]| {
        let pool = ("pool.yaml", REPLICAS);
        let folder = Folder::with(&[&[pool][..], more].concat());
        let json = folder.run(&["check", ".", "--format", "json"]).json();
        (json["pins"].as_array().map_or(0, Vec::len), json["findings"].clone(), json["unreadable"].clone())
    };
    let alone = report(&[]);
    assert_eq!(alone.0, 0);
    for (name, text) in [
        (
            "README.md",
            "Tested with KARPENTER_VERSION=v1.7.1, see `helm upgrade karpenter/karpenter --version 1.7.1`\n",
        ),
        (".github/workflows/a.yml", "karpenter: [KARPENTER_VERSION=${V}\n"),
        ("install.sh", "helm upgrade karpenter karpenter/karpenter --version $1\n"),
        (".hidden/install.sh", "KARPENTER_VERSION=1.7.1\n"),
        ("notes.txt", "KARPENTER_VERSION=1.7.1\n"),
        ("vendor.hcl", "KARPENTER_VERSION=1.7.1\n".repeat(20_000).as_str()),
    ] {
        assert_eq!(report(&[(name, text)]), alone, "{name}");
    }
}

#[test]
fn upgrade_starts_at_the_version_that_a_script_installs() {
    let script = "helm upgrade karpenter karpenter/karpenter --version 1.6.2\n";
    let folder = Folder::with(&[("install.sh", script), ("pool.yaml", REPLICAS)]);
    let run = folder.run(&["upgrade", "--to", "1.8", "."]);
    assert_eq!(run.stderr, "note: the upgrade starts at Karpenter 1.6.2, which install.sh:1 pins\n");
    let folder =
        Folder::with(&[("install.sh", script), ("chart.yaml", &chart("1.7.1")), ("pool.yaml", REPLICAS)]);
    let run = folder.run(&["upgrade", "--to", "1.8", "."]);
    assert_eq!(run.stderr, "note: the upgrade starts at Karpenter 1.7.1, which chart.yaml:8 pins\n");
}
