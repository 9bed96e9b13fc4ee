//! `karpwarden upgrade`, and ranges of releases in `check`.

use insta::assert_snapshot;
use karpenter::release::Release;

use crate::folder::Folder;

/// NodePool that 1.9 and later accept, with a limit that Karpenter enforces since 1.11.
const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {nodes: 10}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}
";

/// NodePool that only 1.0 accepts.
const BETA: &str = "\
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: old}
spec:
  template:
    spec:
      nodeClassRef: {name: default}
      requirements: []
";

fn folder() -> Folder {
    Folder::with(&[("pool.yaml", POOL), ("old.yaml", BETA)])
}

#[test]
fn each_finding_starts_with_the_release_at_which_it_begins() {
    let run = folder().run(&["upgrade", "--from", "1.0", "--to", "1.14", "pool.yaml", "old.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @"
    upgrade from Karpenter 1.0 to 1.14
      1.1
        before: write the NodePool of `karpenter.sh/v1` [removed-api-version: old.yaml:1]
      1.11
        before: compare the limit with the NodePool's peak number of nodes, and raise it before the upgrade if needed [node-limit-enforced: pool.yaml:5]
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.0` → `1.14`: another release replaces no node by itself
        EC2NodeClass hash version `v3` → `v5`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        EC2NodeClass hash `CA bundle`: the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
        the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 2 NodePools; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads

    error[removed-api-version]: from 1.1 on: Karpenter does not serve `NodePool` of `karpenter.sh/v1beta1` (since 1.1)
      --> old.yaml:1:13
       |
     1 | apiVersion: karpenter.sh/v1beta1
       |             ^^^^^^^^^^^^^^^^^^^^
     2 | kind: NodePool
       |
       = object: NodePool/old, apiVersion
       = help: write the NodePool of `karpenter.sh/v1`
       = otherwise caught by: the API server; refused on apply
       = applies to: Karpenter since 1.1
       = explain: karpwarden explain removed-api-version
    fix: write the NodePool of v1 (applied by `--fix`)
       |
     1 ~ apiVersion: karpenter.sh/v1
     2 | kind: NodePool
    ...
     6 |     spec:
     7 ~       nodeClassRef:
     8 +         group: karpenter.k8s.aws
     9 +         kind: EC2NodeClass
    10 +         name: default
       |

    warning[node-limit-enforced]: from 1.11 on: Karpenter enforces the limit of 10 nodes before it creates a node: once the NodePool has that many, pods that got a node before stay Pending
     --> pool.yaml:5:19
      |
    4 | spec:
    5 |   limits: {nodes: 10}
      |                   ^^
    6 |   disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
      |
      = object: NodePool/default, spec.limits.nodes
      = help: compare the limit with the NodePool's peak number of nodes, and raise it before the upgrade if needed
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.11
      = explain: karpwarden explain node-limit-enforced

    accepted by 1.9 to 1.14: pool.yaml:1
    accepted by 1.0: old.yaml:1
    1 error, 1 warning in 2 documents; checked the upgrade from Karpenter 1.0 to 1.14
    ");
}

/// Policy of the controller, as the getting started guide had it until 1.6.
const STACK: &str = "\
Resources:
  KarpenterControllerPolicy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      ManagedPolicyName: KarpenterControllerPolicy-prod
      PolicyDocument:
        Statement:
          - {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:DescribeInstances, pricing:GetProducts], Resource: '*'}
          - {Effect: Allow, Action: iam:GetInstanceProfile, Resource: '*'}
";

/// EC2NodeClass as in the guide, and settings of the controller that leave every feature gate at its default.
const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-prod
  amiSelectorTerms: [{alias: al2023@v20240807}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
settings: {clusterName: prod, interruptionQueue: prod}
";

#[test]
fn begins_with_the_steps_in_the_order_of_the_path() {
    let folder = Folder::with(&[("stack.yaml", STACK), ("class.yaml", CLASS)]);
    let run = folder.run(&["upgrade", "--from", "1.0", "--to", "1.15", "."]);
    let plan = run.stdout.split("\n\n").next().unwrap();
    assert_snapshot!(plan, @"
    upgrade from Karpenter 1.0 to 1.15
      1.6
        before: if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes [open-reservations-unused: class.yaml:3]
      1.7
        before: allow the controller `iam:ListInstanceProfiles`; earlier releases do not use it [iam-permission-needed: stack.yaml:9]
      1.9
        before: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need [iam-policies-split: stack.yaml:2]
      1.12
        before: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it [iam-permission-needed: stack.yaml:8]
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.0` → `1.15`: another release replaces no node by itself
        EC2NodeClass hash version `v3` → `v6`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        EC2NodeClass hash `CA bundle`: the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
        AMI alias `al2023@v20240807`: the alias names a version: the nodes of EC2NodeClass `default` keep their image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 EC2NodeClass, 1 set of Helm values, 1 IAM policy; the input has no NodePools, no files of alerts or dashboards, no workloads
    ");
    let run = folder.run(&["upgrade", "--from", "1.8", "--to", "1.15", "--format", "markdown", "."]);
    assert_snapshot!(run.stdout, @"
    ## Upgrade from Karpenter 1.8 to 1.15

    ### 1.9

    - [ ] **before**: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need ([iam-policies-split](https://karpwarden.github.io/karpwarden/rules/iam-policies-split); `stack.yaml:2`)

    ### 1.12

    - [ ] **before**: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it ([iam-permission-needed](https://karpwarden.github.io/karpwarden/rules/iam-permission-needed); `stack.yaml:8`)

    ### Every release

    - [ ] **before**: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)

    ### Good to know

    - the hash of every EC2NodeClass now includes the cluster's CA bundle: another bundle replaces every node; the upgrade itself does not, because Karpenter writes the new hash into each NodeClaim that has not drifted ([ca-bundle-drift](https://karpwarden.github.io/karpwarden/rules/ca-bundle-drift); `class.yaml:3`)
    - the version of the EC2NodeClass hash becomes `v6`: Karpenter rewrites the hashes on NodeClaims, and replaces no nodes for it ([nodeclass-hash-changes](https://karpwarden.github.io/karpwarden/rules/nodeclass-hash-changes); `class.yaml:3`)

    ### Nodes

    - release `1.8` → `1.15`: another release replaces no node by itself
    - EC2NodeClass hash version `v4` → `v6`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
    - EC2NodeClass hash `CA bundle`: the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
    - AMI alias `al2023@v20240807`: the alias names a version: the nodes of EC2NodeClass `default` keep their image
    - with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go

    Karpwarden looked at 1 EC2NodeClass, 1 set of Helm values, 1 IAM policy; the input has no NodePools, no files of alerts or dashboards, no workloads.

    2 warnings, 2 infos in 3 documents; checked the upgrade from Karpenter 1.8 to 1.15.
    ");
    let json = folder.run(&["upgrade", "--from", "1.8", "--to", "1.15", "--format", "json", "."]).json();
    let of_plan =
        folder.run(&["plan", "--from", "1.8", "--to", "1.15", "--format", "json", "class.yaml"]).json();
    assert_eq!(json["controller"], of_plan["controller"]);
    assert_eq!(json["controller"][1]["subject"], "EC2NodeClass hash version");
    assert!(folder.run(&["check", "--format", "json", "."]).json()["controller"].is_null());
    let phases: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|finding| &finding["phase"]).collect();
    assert!(phases.iter().all(|phase| ["before", "with", "after"].contains(&phase.as_str().unwrap())));
}

#[test]
fn says_what_it_looked_at_if_there_is_nothing_to_do() {
    let folder = Folder::with(&[("pool.yaml", POOL)]);
    let run = folder.run(&["upgrade", "--from", "1.12", "--to", "1.13", "pool.yaml"]);
    assert_snapshot!(run.stdout, @"
    upgrade from Karpenter 1.12 to 1.13
      nothing to do in these manifests
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.12` → `1.13`: another release replaces no node by itself; the hashes of NodePools and EC2NodeClasses keep their version
        the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads

    accepted by 1.12 to 1.13: pool.yaml:1
    no findings in 1 document; checked the upgrade from Karpenter 1.12 to 1.13
    ");
}

/// Karpenter 1.1 to 1.5 does not start with the annotation, and later releases ignore it. The two findings have one
/// remedy.
#[test]
fn says_of_each_alias_what_the_restart_of_the_controller_does() {
    let nodes = |alias: &str| {
        let class = format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\n\
             spec: {{role: nodes, amiSelectorTerms: [{{alias: '{alias}'}}]}}\n"
        );
        let run = Folder::with(&[("class.yaml", &class)]).run(&[
            "upgrade",
            "--from",
            "1.13",
            "--to",
            "1.14",
            "class.yaml",
        ]);
        let line = run.stdout.lines().find(|line| line.contains("AMI alias")).unwrap_or_default();
        line.trim().to_owned()
    };
    assert!(nodes("al2023@latest").contains("empties its cache"), "{}", nodes("al2023@latest"));
    assert!(nodes("al2023@v20250807").contains("keep their image"), "{}", nodes("al2023@v20250807"));
    for open in ["al2023@${VERSION}", "al2023@ALIAS_VERSION", "${ALIAS}", "AMI_ALIAS"] {
        assert!(nodes(open).contains("the alias has a placeholder"), "{open}: {}", nodes(open));
    }
    assert_eq!(nodes("al2023"), "", "the API server refuses it");
}

#[test]
fn plan_has_an_action_once() {
    let kubelet = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";
    let metadata = format!("metadata: {{name: default, annotations: {{{kubelet}: '{{}}'}}}}");
    let folder = Folder::with(&[("pool.yaml", &POOL.replace("metadata: {name: default}", &metadata))]);
    let run = folder.run(&["upgrade", "--from", "1.0", "--to", "1.8", "pool.yaml"]);
    assert_snapshot!(run.stdout.split("\n\n").next().unwrap(), @"
    upgrade from Karpenter 1.0 to 1.8
      1.1
        before: move its settings to `spec.kubelet` of the EC2NodeClass, then remove the annotation [compat-annotation-leftover: pool.yaml:3]
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.0` → `1.8`: another release replaces no node by itself
        EC2NodeClass hash version `v3` → `v4`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads
    ");
    let json =
        folder.run(&["upgrade", "--from", "1.0", "--to", "1.8", "--format", "json", "pool.yaml"]).json();
    let rules = json["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap());
    assert_eq!(rules.filter(|rule| *rule == "compat-annotation-leftover").count(), 2);
}

#[test]
fn reports_a_downgrade() {
    let run = folder().run(&["upgrade", "--from", "1.14", "--to", "1.8.3", "pool.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(run.stdout, @"
    downgrade from Karpenter 1.14 to 1.8.3
      1.8
        before: write another value; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt` [api-enum: pool.yaml:11]
      nodes:
        release `1.14` → `1.8.3`: another release replaces no node by itself
        EC2NodeClass hash version `v5` → `v4`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads

    info[node-limit-enforced]: from 1.10 down: Karpenter no longer checks the limit of 10 nodes before it creates a node: the NodePool can exceed the limit
     --> pool.yaml:5:19
      |
    4 | spec:
    5 |   limits: {nodes: 10}
      |                   ^^
    6 |   disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
      |
      = object: NodePool/default, spec.limits.nodes
      = help: also limit `cpu` or `memory`, which every release enforces
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter until 1.10
      = explain: karpwarden explain node-limit-enforced

    error[api-enum]: from 1.8 down: `operator` is `Gte`, which Karpenter supports only since 1.9; the API server refuses the NodePool (until 1.8)
      --> pool.yaml:11:59
       |
    10 |       requirements:
    11 |         - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}
       |                                                           ^^^
       |
       = object: NodePool/default, spec.template.spec.requirements[0].operator
       = help: write another value; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
       = otherwise caught by: the API server; refused on apply
       = applies to: Karpenter until 1.8
       = explain: karpwarden explain api-enum

    accepted by 1.9 to 1.14: pool.yaml:1
    1 error, 1 info in 1 document; checked the downgrade from Karpenter 1.14 to 1.8.3
    ");
}

#[test]
fn upgrades_to_the_newest_release_by_default_and_warnings_do_not_fail() {
    let folder = folder();
    let run = folder.run(&["upgrade", "--from", "1.10", "--format", "json", "pool.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    let json = run.json();
    assert_eq!(json["karpenterVersion"], format!("1.10..{}", Release::NEWEST));
    assert_eq!(json["findings"][0]["rule"], "node-limit-enforced");
    assert_eq!(json["findings"][0]["boundary"], "1.11");
    assert_eq!(json["findings"][0]["releases"], "since 1.11");
    assert_eq!(json["accepted"][0]["releases"], format!("1.10 to {}", Release::NEWEST));
    assert_eq!(folder.run(&["upgrade", "--from", "1.10", "--fail-on", "warning", "pool.yaml"]).status, 1);
}

#[test]
fn counts_findings_that_already_apply_at_the_start() {
    let folder = folder();
    let run = folder.run(&["upgrade", "--from", "1.2", "--to", "1.5", "old.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    upgrade from Karpenter 1.2 to 1.5
      nothing to do in these manifests
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.2` → `1.5`: another release replaces no node by itself; the hashes of NodePools and EC2NodeClasses keep their version
        the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads

    rejected by every release in the range: old.yaml:1
    no findings in 1 document; checked the upgrade from Karpenter 1.2 to 1.5; 1 finding already applies to 1.2; run `check` to see it
    ");
    let run = folder.run(&["upgrade", "--from", "1.14", "--to", "1.14", "pool.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    upgrade from Karpenter 1.14 to 1.14
      nothing to do in these manifests
      looked at 1 NodePool; the input has no EC2NodeClasses, no sets of Helm values, no IAM policies, no files of alerts or dashboards, no workloads

    no findings in 1 document; checked the upgrade from Karpenter 1.14 to 1.14
    ");
}

#[test]
fn upgrade_rules_obey_the_settings_and_do_not_run_under_check() {
    let config = "rules: {node-limit-enforced: deny}\n";
    let folder = Folder::with(&[("karpwarden.yaml", config), ("pool.yaml", POOL)]);
    assert_eq!(folder.run(&["upgrade", "--from", "1.10", "pool.yaml"]).status, 1);
    assert_eq!(folder.run(&["upgrade", "--from", "1.10", "pool.yaml", "--ignore", "scheduling"]).status, 0);
    let run = folder.run(&[
        "check",
        "--karpenter-version",
        "1.9..1.14",
        "--select",
        "node-limit-enforced",
        "pool.yaml",
    ]);
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn rejects_a_text_that_is_no_release_and_approximates_an_unknown_release() {
    let folder = folder();
    let run = folder.run(&["upgrade", "--from", "0.37", "--to", "newest", "pool.yaml"]);
    assert_eq!(run.status, 2);
    assert_snapshot!(run.stderr, @"
    error: --from: Karpenter `0.37` is older than 1.0, the first release that is covered; to see what an upgrade needs, write 1.0
    error: --to: `newest` is not a Karpenter release; write a release such as 1.8 or 1.8.3, or `latest`
    ");
    assert_eq!(folder.run(&["upgrade", "--from", "1.8"]).status, 0, "the working directory");
    let run = folder.run(&["upgrade", "--from", "1.8", "--to", "1.99", "pool.yaml"]);
    assert!(run.stderr.contains("note: --to: 1.99 is not known; checked as "), "{}", run.stderr);
    let config = Folder::with(&[("karpwarden.yaml", "karpenterVersion: '2.0'\n"), ("pool.yaml", POOL)]);
    let run = config.run(&["check", "pool.yaml"]);
    assert_eq!(run.status, 2);
    assert_snapshot!(run.stderr, @"
    error: karpenterVersion: Karpenter `2.0` is another major version; the newest known release is NEWEST
     --> karpwarden.yaml:1:19
      |
    1 | karpenterVersion: '2.0'
      |                   ^^^^^
    ");
}

#[test]
fn check_with_a_range_shows_which_releases_accept_each_document() {
    let folder = folder();
    let arguments =
        ["check", "--karpenter-version", "1.0..1.14", "--select", "api-server", "pool.yaml", "old.yaml"];
    assert_snapshot!(folder.run(&arguments).stdout, @"
    error[api-enum]: `operator` is `Gte`, which Karpenter supports only since 1.9; the API server refuses the NodePool (until 1.8)
      --> pool.yaml:11:59
       |
    10 |       requirements:
    11 |         - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}
       |                                                           ^^^
       |
       = object: NodePool/default, spec.template.spec.requirements[0].operator
       = help: write another value; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
       = otherwise caught by: the API server; refused on apply
       = applies to: Karpenter until 1.8
       = explain: karpwarden explain api-enum

    error[removed-api-version]: Karpenter does not serve `NodePool` of `karpenter.sh/v1beta1` (since 1.1)
      --> old.yaml:1:13
       |
     1 | apiVersion: karpenter.sh/v1beta1
       |             ^^^^^^^^^^^^^^^^^^^^
     2 | kind: NodePool
       |
       = object: NodePool/old, apiVersion
       = help: write the NodePool of `karpenter.sh/v1`
       = otherwise caught by: the API server; refused on apply
       = applies to: Karpenter since 1.1
       = explain: karpwarden explain removed-api-version
    fix: write the NodePool of v1 (applied by `--fix`)
       |
     1 ~ apiVersion: karpenter.sh/v1
     2 | kind: NodePool
    ...
     6 |     spec:
     7 ~       nodeClassRef:
     8 +         group: karpenter.k8s.aws
     9 +         kind: EC2NodeClass
    10 +         name: default
       |

    accepted by 1.9 to 1.14: pool.yaml:1
    accepted by 1.0: old.yaml:1
    2 errors in 2 documents; checked against Karpenter 1.0..1.14
    ");
    let run = folder.run(&[&arguments[..], &["--format", "json"]].concat());
    let json = run.json();
    assert_eq!(json["karpenterVersion"], "1.0..1.14");
    assert_snapshot!(json["accepted"], @r#"[{"document":0,"file":"pool.yaml","releases":"1.9 to 1.14"},{"document":0,"file":"old.yaml","releases":"1.0"}]"#);
    let releases =
        json["findings"].as_array().unwrap().iter().map(|finding| finding["releases"].as_str().unwrap());
    assert_eq!(releases.collect::<Vec<_>>(), ["until 1.8", "since 1.1"]);
}

#[test]
fn obeys_the_output_flags_of_check() {
    let folder = folder();
    let run = folder.run_in(
        "",
        &[
            "upgrade",
            "--from",
            "1.0",
            "--to",
            "1.14",
            "--format",
            "json",
            "--output",
            "report.json",
            "--stdin-filename",
            "old.yaml",
            "-",
        ],
        BETA,
    );
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(report["findings"][0]["file"], "old.yaml");
}

/// HelmRelease with Karpenter's chart in a version.
fn release_of_flux(version: &str) -> String {
    format!(
        r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter}}
spec:
  chart: {{spec: {{chart: karpenter, version: {version}}}}}
"
    )
}

#[test]
fn starts_at_the_release_that_the_input_pins() {
    let folder = Folder::with(&[("pool.yaml", POOL), ("karpenter.yaml", &release_of_flux("1.10.0"))]);
    let run = folder.run(&["upgrade", "--to", "1.11", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.stderr, "note: the upgrade starts at Karpenter 1.10.0, which karpenter.yaml:5 pins\n");
    assert!(run.summary().ends_with("checked the upgrade from Karpenter 1.10.0 to 1.11"), "{run:?}");
    let run = folder.run(&["upgrade", "--to", "1.11", "--quiet", "."]);
    assert_eq!(run.stderr, "");
    let json = folder.run(&["upgrade", "--to", "latest", "--format", "json", "."]).json();
    assert_eq!(json["karpenterVersion"], format!("1.10.0..{}", Release::NEWEST));
    assert_eq!(json["notes"][0], "the upgrade starts at Karpenter 1.10.0, which karpenter.yaml:5 pins");
    assert_eq!(folder.run(&["upgrade", "--from", "1.11", "."]).stderr, "", "the flag takes precedence");
    folder.write("karpwarden.yaml", b"karpenterVersion: '1.9'\n");
    let run = folder.run(&["upgrade", "--to", "1.11", "."]);
    assert_eq!(run.stderr, "note: the upgrade starts at Karpenter 1.9, as karpwarden.yaml says\n");
}

#[test]
fn asks_for_the_start_if_the_input_does_not_say_it() {
    let folder = Folder::with(&[
        ("pool.yaml", POOL),
        ("old/karpenter.yaml", &release_of_flux("0.37.0")),
        ("two/a.yaml", &release_of_flux("1.6.2")),
        ("two/b.yaml", &release_of_flux("1.8.1")),
        ("new/karpenter.yaml", &release_of_flux("1.8.99")),
    ]);
    let mut errors = String::new();
    for arguments in [&["pool.yaml"][..], &["old"], &["two"], &["new", "--strict-release"]] {
        let run = folder.run(&[&["upgrade"], arguments].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        errors.push_str(&run.stderr);
    }
    assert_snapshot!(errors, @"
    error: `--from` is missing, and the input pins no version of Karpenter; name the release that runs now, such as `--from 1.8`
    error: `--from` is missing, and old/karpenter.yaml:5 pins Karpenter 0.37.0, which is older than 1.0, the first release that is covered; to see what an upgrade needs, use `--from 1.0`
    error: `--from` is missing, and the input pins several versions of Karpenter: 1.6.2 in two/a.yaml:5, 1.8.1 in two/b.yaml:5; name the release that runs now, or the folder of one cluster
    error: the upgrade starts at Karpenter 1.8.99, which new/karpenter.yaml:5 pins; it is not known, and checked as 1.8.8; `--strict-release` refuses it
    ");
}
