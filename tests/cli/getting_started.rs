//! Upgrades of a cluster that was set up as the getting started guide of 1.0 or 1.8 says.
//!
//! The files in `getting_started` have the facts of the guide's own files: the template, the chart's values, the NodePool
//! and the EC2NodeClass, with the placeholders that the guide's scripts replace. "The upgrade guide" is
//! website/content/en/preview/upgrading/upgrade-guide.md of aws/karpenter-provider-aws at
//! f073c8ff423f3aeecfaa5dad1bbe6906a20de5d0, the newest version that has the section for 1.15.

use insta::assert_snapshot;

use crate::folder::{Folder, Run};

const VALUES: &str = include_str!("getting_started/values.yaml");

/// The files of a release of the guide.
type GuideFiles = [(&'static str, &'static str); 3];

const OF_1_0: GuideFiles = [
    ("nodes.yaml", include_str!("getting_started/1.0/nodes.yaml")),
    ("stack.yaml", include_str!("getting_started/1.0/stack.yaml")),
    ("values.yaml", VALUES),
];

const OF_1_8: GuideFiles = [
    ("nodes.yaml", include_str!("getting_started/1.8/nodes.yaml")),
    ("stack.yaml", include_str!("getting_started/1.8/stack.yaml")),
    ("values.yaml", VALUES),
];

/// Steps for the files of 1.0, each with its section of the upgrade guide.
const STEPS_FROM_1_0: [&str; 4] = [
    // "Upgrading to `1.6.0`+", first item, the alert about a breaking change: the EC2NodeClass selects no reservations.
    "1.6 before open-reservations-unused",
    // "Upgrading to `1.7.0`+", first item, "Additional IAM permissions required": `iam:ListInstanceProfiles`.
    "1.7 before iam-permission-needed",
    // "Upgrading to `1.9.0`+", first item: the policy of the template becomes several policies.
    "1.9 before iam-policies-split",
    // "Upgrading to `1.12.0`+", third item: `ec2:DescribeInstanceStatus`.
    "1.12 before iam-permission-needed",
];

/// Steps for the files of 1.8, from the same sections.
const STEPS_FROM_1_8: [&str; 2] = ["1.9 before iam-policies-split", "1.12 before iam-permission-needed"];

/// Findings that need no step.
const INFOS: [&str; 3] = [
    // "Upgrading to `1.12.0`+", first item: the CA bundle becomes part of the hash.
    "1.12 ca-bundle-drift",
    // Not in the upgrade guide: kubernetes-sigs/karpenter#3006 and #3225.
    "1.14 consolidate-after-shields-nodes",
    // Not in the upgrade guide: website/content/en/v1.15/reference/annotations.md at
    // d77d1a3a5a44d7ce9c041bcc51da1e567de3f2ec.
    "1.15 nodeclass-hash-changes",
];

/// Folder with the files of 1.0 with changes.
fn changed(changes: &[(&str, &str, &str)]) -> Folder {
    let folder = Folder::with(&OF_1_0);
    for (file, was, now) in changes {
        let text = if was.is_empty() { String::new() } else { folder.read(file) };
        assert!(text.contains(was), "{file} has no {was}");
        folder.write(file, text.replace(was, now).as_bytes());
    }
    folder
}

fn upgrade(folder: &Folder, from: &str, format: &str) -> Run {
    folder.run(&["upgrade", "--from", from, "--to", "1.15", "--format", format, "."])
}

/// Release, phase and rule of each step, in the order of the plan.
fn steps(folder: &Folder, from: &str) -> Vec<String> {
    let output = upgrade(folder, from, "human").stdout;
    let plan = output.split("\n\n").next().unwrap_or_default();
    let mut release = "";
    let mut steps = Vec::new();
    for line in plan.lines().take_while(|line| *line != "  nodes:") {
        if let Some(step) = line.strip_prefix("    ") {
            let phase = step.split_once(':').unwrap().0;
            let rule = step.rsplit_once('[').unwrap().1.split_once(':').unwrap().0;
            steps.push(format!("{release} {phase} {rule}"));
        } else if let Some(heading) = line.strip_prefix("  ") {
            release = heading;
        }
    }
    steps
}

/// Release and rule of the findings of a severity, in the order of the rules' names.
fn findings(folder: &Folder, from: &str, severity: &str) -> Vec<String> {
    let json = upgrade(folder, from, "json").json();
    let all = json["findings"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut found: Vec<_> = all
        .filter(|finding| finding["severity"] == severity)
        .map(|finding| format!("{} {}", text(&finding["boundary"]), text(&finding["rule"])))
        .collect();
    found.sort_by(|one, other| one.split_once(' ').unwrap().1.cmp(other.split_once(' ').unwrap().1));
    found
}

#[test]
fn names_the_steps_from_1_0_and_nothing_else() {
    let folder = Folder::with(&OF_1_0);
    assert_eq!(steps(&folder, "1.0"), STEPS_FROM_1_0);
    assert_eq!(findings(&folder, "1.0", "warning").len(), STEPS_FROM_1_0.len());
    assert_eq!(findings(&folder, "1.0", "info"), INFOS);
    assert!(findings(&folder, "1.0", "error").is_empty());
    let run = upgrade(&folder, "1.0", "human");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_snapshot!(run.stdout, @r#"
    upgrade from Karpenter 1.0 to 1.15
      1.6
        before: if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes [open-reservations-unused: nodes.yaml:4]
      1.7
        before: allow the controller `iam:ListInstanceProfiles`; earlier releases do not use it [iam-permission-needed: stack.yaml:166]
      1.9
        before: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need [iam-policies-split: stack.yaml:62]
      1.12
        before: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it [iam-permission-needed: stack.yaml:71]
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.0` → `1.15`: another release replaces no node by itself
        EC2NodeClass hash version `v3` → `v6`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        EC2NodeClass hash `CA bundle`: the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool, 1 EC2NodeClass, 1 set of Helm values, 2 IAM policies; the input has no files of alerts or dashboards, no workloads

    warning[open-reservations-unused]: from 1.6 on: Karpenter no longer launches instances into open capacity reservations, because this EC2NodeClass selects none: the reservations stay unused but are still billed
     --> nodes.yaml:4:18
      |
    3 | kind: EC2NodeClass
    4 | metadata: {name: default}
      |                  ^^^^^^^
    5 | spec:
      |
      = object: EC2NodeClass/default, spec.capacityReservationSelectorTerms
      = help: if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.6
      = explain: karpwarden explain open-reservations-unused

    warning[iam-permission-needed]: from 1.7 on: Karpenter needs `iam:ListInstanceProfiles` for EC2NodeClasses with `role`, which no IAM policy in the input allows
       --> stack.yaml:166:24
        |
    165 |             {"Sid": "AllowInstanceProfileReadActions", "Effect": "Allow",
    166 |              "Action": "iam:GetInstanceProfile",
        |                        ^^^^^^^^^^^^^^^^^^^^^^^^
    167 |              "Resource": "arn:${AWS::Partition}:iam::${AWS::AccountId}:instance-profile/*"}
        |
        = object: KarpenterControllerPolicy, Properties.PolicyDocument
        = help: allow the controller `iam:ListInstanceProfiles`; earlier releases do not use it
        = otherwise caught by: the controller; accepted, then fails at run time
        = applies to: Karpenter since 1.7
        = explain: karpwarden explain iam-permission-needed

    warning[iam-policies-split]: from 1.9 on: the template of the getting started guide has five controller policies instead of `KarpenterControllerPolicy`; updating the stack deletes this policy
      --> stack.yaml:62:3
       |
    61 |         - !Sub arn:${AWS::Partition}:iam::aws:policy/AmazonSSMManagedInstanceCore
    62 |   KarpenterControllerPolicy:
       |   ^^^^^^^^^^^^^^^^^^^^^^^^^
    63 |     Type: AWS::IAM::ManagedPolicy
       |
       = object: KarpenterControllerPolicy
       = help: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need
       = otherwise caught by: nothing; accepted silently
       = applies to: Karpenter since 1.9
       = explain: karpwarden explain iam-policies-split

    info[ca-bundle-drift]: from 1.12 on: the hash of every EC2NodeClass now includes the cluster's CA bundle: another bundle replaces every node; the upgrade itself does not, because Karpenter writes the new hash into each NodeClaim that has not drifted
     --> nodes.yaml:4:18
      |
    3 | kind: EC2NodeClass
    4 | metadata: {name: default}
      |                  ^^^^^^^
    5 | spec:
      |
      = object: EC2NodeClass/default
      = help: check the budgets of the NodePools before the upgrade; they decide how many nodes are replaced at a time
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.12
      = explain: karpwarden explain ca-bundle-drift

    warning[iam-permission-needed]: from 1.12 on: Karpenter needs `ec2:DescribeInstanceStatus`, which no IAM policy in the input allows
      --> stack.yaml:71:25
       |
    70 |             {"Sid": "AllowRegionalReadActions", "Effect": "Allow",
    71 |              "Action": ["ec2:DescribeInstances", "ec2:DescribeInstanceTypes",
       |                         ^^^^^^^^^^^^^^^^^^^^^^^
    72 |                         "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeImages",
       |
       = object: KarpenterControllerPolicy, Properties.PolicyDocument
       = help: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it
       = otherwise caught by: the controller; accepted, then fails at run time
       = applies to: Karpenter since 1.12
       = explain: karpwarden explain iam-permission-needed

    info[consolidate-after-shields-nodes]: from 1.14 on: for `1m` after a pod comes or goes, Karpenter also moves no pods to the node when it consolidates others: fewer nodes are consolidated
      --> nodes.yaml:16:81
       |
    15 | spec:
    16 |   disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
       |                                                                                 ^^
    17 |   limits: {cpu: 1000}
       |
       = object: NodePool/default, spec.disruption.consolidateAfter
       = help: compare the number of consolidations after the upgrade, and write a shorter time if the cluster grows
       = otherwise caught by: nothing; accepted silently
       = applies to: Karpenter since 1.14
       = explain: karpwarden explain consolidate-after-shields-nodes

    info[nodeclass-hash-changes]: from 1.15 on: the version of the EC2NodeClass hash becomes `v6`: Karpenter rewrites the hashes on NodeClaims, and replaces no nodes for it
     --> nodes.yaml:4:18
      |
    3 | kind: EC2NodeClass
    4 | metadata: {name: default}
      |                  ^^^^^^^
    5 | spec:
      |
      = object: EC2NodeClass/default
      = help: do not change EC2NodeClasses in the same step as the release, so that drift has one cause at a time
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.15
      = explain: karpwarden explain nodeclass-hash-changes

    accepted by 1.0 to 1.15: nodes.yaml:2, nodes.yaml:12
    4 warnings, 3 infos in 4 documents; checked the upgrade from Karpenter 1.0 to 1.15; 6 findings already apply to 1.0; run `check` to see them
    "#);
}

#[test]
fn names_the_steps_from_1_8_and_nothing_else() {
    let folder = Folder::with(&OF_1_8);
    assert_eq!(steps(&folder, "1.8"), STEPS_FROM_1_8);
    assert_eq!(findings(&folder, "1.8", "warning").len(), STEPS_FROM_1_8.len());
    assert_eq!(findings(&folder, "1.8", "info"), INFOS);
    assert!(findings(&folder, "1.8", "error").is_empty());
    let run = upgrade(&folder, "1.8", "human");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_snapshot!(run.stdout, @r#"
    upgrade from Karpenter 1.8 to 1.15
      1.9
        before: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need [iam-policies-split: stack.yaml:62]
      1.12
        before: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it [iam-permission-needed: stack.yaml:71]
      each release: install the custom resource definitions of each release before its controller (chart `karpenter-crd`)
      nodes:
        release `1.8` → `1.15`: another release replaces no node by itself
        EC2NodeClass hash version `v4` → `v6`: Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
        EC2NodeClass hash `CA bundle`: the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
        AMI alias `al2023@${ALIAS_VERSION}`: may replace nodes: the alias has a placeholder: if its version is `latest`, nodes of EC2NodeClass `default` with an older image drift when the controller restarts
        with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go
      looked at 1 NodePool, 1 EC2NodeClass, 1 set of Helm values, 2 IAM policies; the input has no files of alerts or dashboards, no workloads

    warning[iam-policies-split]: from 1.9 on: the template of the getting started guide has five controller policies instead of `KarpenterControllerPolicy`; updating the stack deletes this policy
      --> stack.yaml:62:3
       |
    61 |         - !Sub arn:${AWS::Partition}:iam::aws:policy/AmazonSSMManagedInstanceCore
    62 |   KarpenterControllerPolicy:
       |   ^^^^^^^^^^^^^^^^^^^^^^^^^
    63 |     Type: AWS::IAM::ManagedPolicy
       |
       = object: KarpenterControllerPolicy
       = help: attach all policies of the new template to the controller's role before the stack deletes `KarpenterControllerPolicy`, or keep the old template and add what later releases need
       = otherwise caught by: nothing; accepted silently
       = applies to: Karpenter since 1.9
       = explain: karpwarden explain iam-policies-split

    info[ca-bundle-drift]: from 1.12 on: the hash of every EC2NodeClass now includes the cluster's CA bundle: another bundle replaces every node; the upgrade itself does not, because Karpenter writes the new hash into each NodeClaim that has not drifted
     --> nodes.yaml:4:18
      |
    3 | kind: EC2NodeClass
    4 | metadata: {name: default}
      |                  ^^^^^^^
    5 | spec:
      |
      = object: EC2NodeClass/default
      = help: check the budgets of the NodePools before the upgrade; they decide how many nodes are replaced at a time
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.12
      = explain: karpwarden explain ca-bundle-drift

    warning[iam-permission-needed]: from 1.12 on: Karpenter needs `ec2:DescribeInstanceStatus`, which no IAM policy in the input allows
      --> stack.yaml:71:25
       |
    70 |             {"Sid": "AllowRegionalReadActions", "Effect": "Allow",
    71 |              "Action": ["ec2:DescribeInstances", "ec2:DescribeInstanceTypes",
       |                         ^^^^^^^^^^^^^^^^^^^^^^^
    72 |                         "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeImages",
       |
       = object: KarpenterControllerPolicy, Properties.PolicyDocument
       = help: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it
       = otherwise caught by: the controller; accepted, then fails at run time
       = applies to: Karpenter since 1.12
       = explain: karpwarden explain iam-permission-needed

    info[consolidate-after-shields-nodes]: from 1.14 on: for `1m` after a pod comes or goes, Karpenter also moves no pods to the node when it consolidates others: fewer nodes are consolidated
      --> nodes.yaml:15:81
       |
    14 | spec:
    15 |   disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
       |                                                                                 ^^
    16 |   limits: {cpu: 1000}
       |
       = object: NodePool/default, spec.disruption.consolidateAfter
       = help: compare the number of consolidations after the upgrade, and write a shorter time if the cluster grows
       = otherwise caught by: nothing; accepted silently
       = applies to: Karpenter since 1.14
       = explain: karpwarden explain consolidate-after-shields-nodes

    info[nodeclass-hash-changes]: from 1.15 on: the version of the EC2NodeClass hash becomes `v6`: Karpenter rewrites the hashes on NodeClaims, and replaces no nodes for it
     --> nodes.yaml:4:18
      |
    3 | kind: EC2NodeClass
    4 | metadata: {name: default}
      |                  ^^^^^^^
    5 | spec:
      |
      = object: EC2NodeClass/default
      = help: do not change EC2NodeClasses in the same step as the release, so that drift has one cause at a time
      = otherwise caught by: nothing; accepted silently
      = applies to: Karpenter since 1.15
      = explain: karpwarden explain nodeclass-hash-changes

    accepted by 1.8 to 1.15: nodes.yaml:2, nodes.yaml:11
    2 warnings, 3 infos in 4 documents; checked the upgrade from Karpenter 1.8 to 1.15; 3 findings already apply to 1.8; run `check` to see them
    "#);
}

/// The guide's files at the tags v1.0.0 to v1.0.14 have fields of `v1beta1` in the NodePool, which the API server of 1.0
/// refuses already. So they need no step of the upgrade.
#[test]
fn names_no_step_for_what_1_0_already_refuses() {
    let folder = changed(&[
        ("nodes.yaml", "{group: karpenter.k8s.aws, kind", "{apiVersion: karpenter.k8s.aws/v1, kind"),
        ("nodes.yaml", "      expireAfter: 720h\n", ""),
        ("nodes.yaml", "consolidateAfter: 1m", "expireAfter: 720h"),
    ]);
    assert_eq!(steps(&folder, "1.0"), STEPS_FROM_1_0);
}

/// Item of the upgrade guide that does not apply to the files of the getting started guide.
///
/// These items have no entry: what is new and off by default; the version of a chart or a definition to install; `group` and
/// `kind` of 1.1.0, which `v1` requires in 1.0 already; metrics that 1.1.0 only deprecates; the regression of 1.8.4, which is
/// not on the way.
struct OtherItem {
    /// Heading of the section, without "Upgrading to", and the item.
    item: &'static str,
    /// Texts that make the item apply: the file, the text in it, and its replacement. A file that does not exist is new.
    changes: &'static [(&'static str, &'static str, &'static str)],
    /// Steps that the plan then has in addition.
    steps: &'static [&'static str],
}

/// Alert with a query.
macro_rules! alert {
    ($query:literal) => {
        &[(
            "alerts.yaml",
            "",
            concat!("groups: [{name: karpenter, rules: [{alert: A, expr: '", $query, "'}]}]\n"),
        )]
    };
}

/// Pod with a field of its specification, and an annotation.
macro_rules! pod {
    ($annotation:literal, $field:literal) => {
        (
            "pod.yaml",
            "",
            concat!(
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {",
                $annotation,
                "}}\nspec:\n  containers: [{name: a, image: 'example.com/a:1'}]\n",
                $field
            ),
        )
    };
}

const OTHER_ITEMS: &[OtherItem] = &[
    OtherItem {
        item: "1.1.0: `v1beta1` is no longer served",
        changes: &[("nodes.yaml", "karpenter.sh/v1\n", "karpenter.sh/v1beta1\n")],
        steps: &["1.1 before removed-api-version"],
    },
    OtherItem {
        item: "1.1.0: the annotations of `v1beta1`",
        changes: &[(
            "nodes.yaml",
            "kind: NodePool\nmetadata: {",
            "kind: NodePool\nmetadata: {annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{\"maxPods\":50}'}, ",
        )],
        steps: &["1.1 before compat-annotation-leftover"],
    },
    OtherItem {
        item: "1.1.0: Bottlerocket needs 1.22.0 for RAID0",
        changes: &[
            ("nodes.yaml", "amiFamily: AL2", "instanceStorePolicy: RAID0"),
            (
                "nodes.yaml",
                "[{id: \"${ARM_AMI_ID}\"}, {id: \"${AMD_AMI_ID}\"}]",
                "[{alias: bottlerocket@v1.20.3}]",
            ),
        ],
        steps: &["1.1 before bottlerocket-raid0-too-old"],
    },
    OtherItem {
        item: "1.1.0: names of Neuron accelerators",
        changes: &[pod!("", "  nodeSelector: {karpenter.k8s.aws/instance-accelerator-name: inferentia}\n")],
        steps: &["1.1 before neuron-accelerator-renamed"],
    },
    OtherItem {
        item: "1.1.0: the tag of launch templates",
        changes: &[(
            "stack.yaml",
            "aws:ResourceTag/karpenter.sh/nodepool",
            "aws:ResourceTag/karpenter.k8s.aws/cluster",
        )],
        steps: &["1.1 before launch-template-tag-renamed"],
    },
    OtherItem {
        item: "1.2.0: reasons in lower case",
        changes: alert!("karpenter_nodeclaims_disrupted_total{reason=\"Drifted\"} > 0"),
        steps: &["1.2 with metric-renamed"],
    },
    OtherItem {
        item: "1.2.0: one controller for node classes",
        changes: alert!("controller_runtime_reconcile_errors_total{controller=\"nodeclass.status\"} > 0"),
        steps: &["1.2 with metric-renamed"],
    },
    OtherItem {
        item: "1.3.0: the metric of ignored pods",
        changes: alert!("karpenter_ignored_pod_count > 0"),
        steps: &["1.3 with metric-renamed"],
    },
    OtherItem {
        item: "1.7.0: the metric of drained pods",
        changes: alert!("karpenter_pods_pods_drained_total > 0"),
        steps: &["1.7 with metric-renamed"],
    },
    OtherItem {
        item: "1.7.0: the reason `liveness`",
        changes: alert!("karpenter_nodeclaims_disrupted_total{reason=\"liveness\"} > 0"),
        steps: &["1.7 with metric-renamed"],
    },
    OtherItem {
        item: "1.7.0: pods with resource claims",
        changes: &[pod!("", "  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]\n")],
        steps: &["1.7 before resource-claims-ignored"],
    },
    OtherItem {
        item: "1.11.0: placement groups",
        changes: &[("nodes.yaml", "  role:", "  placementGroupSelector: {name: a}\n  role:")],
        steps: &["1.11 before iam-permission-needed", "1.11 before iam-permission-needed"],
    },
    OtherItem {
        item: "1.12.0: zonal shift",
        changes: &[("values.yaml", "settings: {", "settings: {enableZonalShift: true, ")],
        steps: &["1.12 before iam-permission-needed"],
    },
    OtherItem {
        item: "1.15.0, breaking: reasons in lower case",
        changes: alert!("karpenter_nodepools_allowed_disruptions{reason=\"Underutilized\"} == 0"),
        steps: &["1.15 with metric-renamed"],
    },
    OtherItem {
        item: "1.15.0, breaking: node repair under budgets",
        changes: &[
            ("values.yaml", "settings: {", "settings: {featureGates: {nodeRepair: true}, "),
            ("nodes.yaml", "consolidateAfter: 1m", "consolidateAfter: 1m, budgets: [{nodes: \"0\"}]"),
        ],
        steps: &["1.15 with budget-blocks-node-repair"],
    },
    OtherItem {
        item: "1.15.0, breaking: the error `unknown`",
        changes: alert!("karpenter_cloudprovider_errors_total{error=\"\"} > 0"),
        steps: &["1.15 with metric-renamed"],
    },
    OtherItem {
        item: "1.15.0: the gate `PodDeletionCostManagement`",
        changes: &[
            ("values.yaml", "settings: {", "settings: {featureGates: {podDeletionCostManagement: true}, "),
            pod!("controller.kubernetes.io/pod-deletion-cost: '1000'", ""),
        ],
        steps: &["1.15 before pod-deletion-cost-replaced"],
    },
];

/// Sorted, because the steps of an item are between the others.
fn sorted<T: Ord>(mut steps: Vec<T>) -> Vec<T> {
    steps.sort();
    steps
}

#[test]
fn names_each_other_step_once_the_files_need_it() {
    for OtherItem { item, changes, steps: added } in OTHER_ITEMS {
        let folder = changed(changes);
        let expected = sorted(STEPS_FROM_1_0.iter().chain(*added).copied().collect());
        assert_eq!(sorted(steps(&folder, "1.0")), expected, "{item}");
    }
}

/// Items of 1.3.0, 1.6.0 and 1.10.0 that apply together.
#[test]
fn names_the_steps_of_a_cluster_with_capacity_reservations() {
    let terms = "  capacityReservationSelectorTerms: [{tags: {team: a}}]\n  role:";
    let selector = pod!("", "  nodeSelector: {karpenter.sh/capacity-type: on-demand}\n");
    let folder = changed(&[("nodes.yaml", "  role:", terms), selector]);
    let expected = [
        // Not in the upgrade guide: `ec2:DescribeCapacityReservations` and `capacity-reservation/*` in the template since
        // v1.3.0, for the gate that is on since 1.6.
        "1.6 before iam-permission-needed",
        "1.6 before iam-permission-needed",
        "1.7 before iam-permission-needed",
        "1.9 before iam-policies-split",
        // "Upgrading to `1.10.0`+", first item: the EventBridge rule.
        "1.10 before interruptible-reservations-unseen",
        "1.12 before iam-permission-needed",
    ];
    assert_eq!(steps(&folder, "1.0"), expected);
    // "Upgrading to `1.3.0`+", second item: pods that select `on-demand`.
    let infos = findings(&folder, "1.0", "info");
    assert!(infos.contains(&"1.3 on-demand-selector-skips-reservations".to_owned()), "{infos:?}");
}
