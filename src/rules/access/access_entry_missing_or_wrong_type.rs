use std::collections::BTreeSet;

use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_access::{AccessEntry, CLUSTER_CONFIG, NOT_FOR_NODES};
use objects::node_class::Ec2NodeClass;
use objects::object::{Form, Object};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;
use values::placeholder::has_placeholder;

use crate::rules::ami_family;
use crate::rules::indexes::AccessOfNodes;

rule! {
    /// ## What it does
    ///
    /// Finds access entries of EKS for the role of nodes that have a type for something else: `STANDARD`, which is the
    /// default, `EC2`, which is for EKS Auto Mode, or the types of Fargate and hybrid nodes. Windows nodes need
    /// `EC2_WINDOWS`.
    ///
    /// The rule reads `AWS::EKS::AccessEntry` in CloudFormation, `accessConfig.accessEntries` of eksctl, and the kind
    /// `AccessEntry` of the AWS Controllers for Kubernetes and of Upbound's provider for Crossplane. It knows the role of
    /// nodes from the EC2NodeClasses in the input, and in CloudFormation from `AmazonEKSWorkerNodePolicy` on the role.
    ///
    /// In the configuration file of eksctl, the rule also reports roles of EC2NodeClasses without an access entry if the
    /// authentication mode is `API`, in which the cluster ignores `aws-auth`.
    ///
    /// The rule reads files. The policy matches none of these kinds unless you add them.
    ///
    /// ## Why it is bad
    ///
    /// An entry of type `STANDARD` cannot give a kubelet its name and its groups, because these start with `system:`. The
    /// API server refuses the kubelet (`Unauthorized`), and Karpenter deletes the NodeClaim after 15 minutes (`Node not
    /// registered with cluster`). An access entry also takes the place of what `aws-auth` has for the same role.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: eks.services.k8s.aws/v1alpha1
    /// kind: AccessEntry
    /// metadata:
    ///   name: karpenter-nodes
    /// spec:
    ///   clusterName: prod
    ///   principalARN: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
    ///   type: STANDARD
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: eks.services.k8s.aws/v1alpha1
    /// kind: AccessEntry
    /// metadata:
    ///   name: karpenter-nodes
    /// spec:
    ///   clusterName: prod
    ///   principalARN: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
    ///   type: EC2_LINUX
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// The type of an existing entry cannot be changed: delete the entry first.
    ///
    /// ## References
    ///
    /// - Amazon EKS User Guide, "Create access entries"; `CreateAccessEntry` in the Amazon EKS API Reference
    /// - awslabs/ai-on-eks#111, #103; eksctl-io/eksctl#7750; kubernetes/k8s.io#6895
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the access entry for the role of nodes has a type with which nodes do not join the cluster",
        runs: Runs::InAdmission,
        on: &[
            On::IamPolicy,
            On::Kind(CLUSTER_CONFIG),
            On::Kind(Kind::of("eks.services.k8s.aws", "v1alpha1", "AccessEntry")),
            On::Kind(Kind::of("eks.aws.upbound.io", "v1beta1", "AccessEntry")),
            On::Kind(Kind::of("eks.aws.m.upbound.io", "v1beta1", "AccessEntry")),
        ],
        inventory: &[],
        check: check,
    }
}

/// The managed policies of nodes.
const NODE_POLICIES: [&str; 2] = ["/AmazonEKSWorkerNodePolicy", "/AmazonEKSWorkerNodeMinimalPolicy"];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let entries = AccessEntry::all(object);
    for entry in &entries {
        findings.extend(check_entry(object, *entry, context.inventory));
    }
    // With several clusters in the input, the EC2NodeClass belongs to one of them.
    let is_only = context.inventory.count(CLUSTER_CONFIG.group, CLUSTER_CONFIG.name) == 1;
    if object.is(CLUSTER_CONFIG) && is_only {
        missing_in_eksctl(object, &entries, context, findings);
    }
}

fn check_entry<'d>(
    object: Object<'d>,
    entry: AccessEntry<'d>,
    inventory: &Inventory<'d>,
) -> Option<Finding<'d>> {
    let kind = entry.kind_text().filter(|kind| !has_placeholder(kind))?;
    let principal = entry.principal_text();
    let role = principal.rsplit_once('/').map_or(&*principal, |(_, role)| role);
    let class =
        inventory.index::<AccessOfNodes>().roles.get(role).copied().filter(|_| !has_placeholder(role));
    if class.is_none() && !is_role_of_nodes(object, &principal) {
        return None;
    }
    // A role has one entry in each cluster, so this entry is for another cluster or another account.
    if NOT_FOR_NODES.contains(&kind) && inventory.index::<AccessOfNodes>().admitted.contains(role) {
        return None;
    }
    let is_windows = class.and_then(ami_family::family_of) == Some(ImageFamily::Windows);
    let (consequence, severity) = match kind {
        "EC2_LINUX" if is_windows => {
            ("kube-proxy does not work on Windows nodes of this role", Severity::Warning)
        }
        // CloudFormation may create the role for EKS Auto Mode.
        "EC2" if class.is_none() => return None,
        kind if NOT_FOR_NODES.contains(&kind) => {
            ("the API server refuses the nodes of this role", Severity::Error)
        }
        _ => return None,
    };
    let wanted = if is_windows { "EC2_WINDOWS" } else { "EC2_LINUX" };
    let (place, what) = match entry.kind {
        Some(node) => (Place::value(node), format!("has the type `{kind}`")),
        None => (Place::missing(entry.node, "type"), "has no type, which means `STANDARD`".to_owned()),
    };
    let finding = Finding::new(&RULE, place, format!("the access entry {what}: {consequence}"));
    let finding = finding.severity(severity).help(format!(
        "write the type `{wanted}`, without groups and access policies; an existing entry has to be deleted first"
    ));
    Some(match class.and_then(Ec2NodeClass::role) {
        Some(node) => finding.related(Place::value(node), "the role of these nodes"),
        None => finding,
    })
}

/// Whether the principal is a role of the same CloudFormation template that has the managed policy of nodes.
fn is_role_of_nodes(object: Object<'_>, principal: &str) -> bool {
    let key = principal.strip_prefix("${").and_then(|rest| rest.strip_suffix(".Arn}"));
    let Some(key) = key.filter(|_| object.form() == Form::StackResource) else { return false };
    let role = object.root().tree().root().at_path(&["Resources", key]);
    let Some(role) = role.filter(|role| role.str_at(&["Type"]) == Some("AWS::IAM::Role")) else {
        return false;
    };
    role.items_at(&["Properties", "ManagedPolicyArns"]).any(|node| {
        let arn = objects::iam_policy::text(node);
        NODE_POLICIES.iter().any(|policy| arn.ends_with(policy))
    })
}

/// Reports the roles of EC2NodeClasses that no entry names, where the cluster reads nothing but entries.
fn missing_in_eksctl<'d>(
    config: Object<'d>,
    entries: &[AccessEntry<'d>],
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
) {
    let mode = config.at(&["accessConfig", "authenticationMode"]).filter(|node| node.as_str() == Some("API"));
    // With this section eksctl installs Karpenter, and creates the role and its entry.
    let Some(mode) = mode.filter(|_| config.at(&["karpenter"]).is_none()) else { return };
    let granted: BTreeSet<String> = entries.iter().map(|entry| entry.principal_text()).collect();
    if granted.iter().any(|principal| has_placeholder(principal)) {
        return;
    }
    let names: BTreeSet<&str> = granted.iter().filter_map(|principal| principal.rsplit('/').next()).collect();
    let access = context.inventory.index::<AccessOfNodes>();
    for (role, class) in &access.roles {
        if names.contains(role) || access.granted.contains(*role) || has_placeholder(role) {
            continue;
        }
        let message = format!(
            "no access entry in this input has the role `{role}` of the EC2NodeClass `{}`: without one the API server refuses its nodes",
            class.object().name()
        );
        let finding = Finding::at(&RULE, mode, message).severity(Severity::Warning);
        let finding = finding.help("add an entry with the ARN of the role and the type `EC2_LINUX`");
        let role = class.role().map_or(class.object().name_node(), |role: Node<'d>| role);
        findings.push(finding.related(Place::value(role), "the role of these nodes"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(role: &str, alias: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: web}}
spec: {{role: {role}, amiSelectorTerms: [{{alias: {alias}}}]}}
"
        )
    }

    fn entry(principal: &str, kind: &str) -> String {
        format!(
            r"apiVersion: eks.aws.upbound.io/v1beta1
kind: AccessEntry
metadata: {{name: a}}
spec: {{forProvider: {{principalArn: '{principal}'{kind}}}}}
"
        )
    }

    const ARN: &str = "arn:aws:iam::111122223333:role/eks/nodes";

    #[test]
    fn reports_types_with_which_nodes_do_not_join() {
        let text = |kind: &str| entry(ARN, kind) + &class("nodes", "al2023@latest");
        insta::assert_snapshot!(findings(&RULE, &text(", type: STANDARD")), @"
          4 | spec: {forProvider: {principalArn: 'arn:aws:iam::111122223333:role/eks/nodes', type: STANDARD}}
            |                                                                                      ^^^^^^^^
        error AccessEntry/a spec.forProvider.type [all]
          the access entry has the type `STANDARD`: the API server refuses the nodes of this role
          help: write the type `EC2_LINUX`, without groups and access policies; an existing entry has to be deleted first
          see line 9 spec.role: the role of these nodes
        ");
        assert!(findings(&RULE, &text("")).contains("has no type, which means `STANDARD`"));
        assert!(findings(&RULE, &text(", type: EC2")).contains("error AccessEntry/a"));
        for kind in [", type: EC2_LINUX", ", type: EC2_WINDOWS", ", type: '${TYPE}'", ", type: NEW"] {
            silent(&RULE, &text(kind));
        }
        silent(&RULE, &entry(ARN, ""));
        silent(&RULE, &(entry(ARN, "") + &class("other", "al2023@latest")));
    }

    #[test]
    fn accepts_an_entry_of_the_role_in_another_cluster() {
        let two = |other: &str| {
            entry(ARN, ", type: STANDARD") + "---\n" + &entry(ARN, other) + &class("nodes", "al2023@latest")
        };
        silent(&RULE, &two(", type: EC2_LINUX"));
        silent(&RULE, &two(", type: '${TYPE}'"));
        assert!(findings(&RULE, &two(", type: STANDARD")).contains("error AccessEntry/a"));
    }

    #[test]
    fn windows_nodes_need_their_type() {
        let text = |kind: &str| entry(ARN, kind) + &class("nodes", "windows2022@latest");
        assert!(findings(&RULE, &text(", type: EC2_LINUX")).contains("write the type `EC2_WINDOWS`"));
        silent(&RULE, &text(", type: EC2_WINDOWS"));
    }

    #[test]
    fn reads_access_entries_of_cloudformation() {
        let template = |kind: &str, policy: &str| {
            format!(
                r"Resources:
  NodeRole:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [!Sub 'arn:${{AWS::Partition}}:iam::aws:policy/{policy}']
  Entry:
    Type: AWS::EKS::AccessEntry
    Properties:
      PrincipalArn: !GetAtt NodeRole.Arn
{kind}"
            )
        };
        let standard = "      Type: STANDARD\n";
        insta::assert_snapshot!(findings(&RULE, &template(standard, "AmazonEKSWorkerNodePolicy")), @"
         10 |       Type: STANDARD
            |             ^^^^^^^^
        error /Entry Properties.Type [all]
          the access entry has the type `STANDARD`: the API server refuses the nodes of this role
          help: write the type `EC2_LINUX`, without groups and access policies; an existing entry has to be deleted first
        ");
        silent(&RULE, &template("      Type: EC2_LINUX\n", "AmazonEKSWorkerNodePolicy"));
        silent(&RULE, &template("      Type: EC2\n", "AmazonEKSWorkerNodePolicy"));
        silent(&RULE, &template(standard, "ReadOnlyAccess"));
    }

    #[test]
    fn reports_roles_without_entry_in_a_cluster_that_reads_only_entries() {
        let config = |mode: &str, rest: &str| {
            format!(
                r"apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: prod}}
accessConfig:
  authenticationMode: {mode}
{rest}{}",
                class("nodes", "al2023@latest")
            )
        };
        insta::assert_snapshot!(findings(&RULE, &config("API", "")), @"
          5 |   authenticationMode: API
            |                       ^^^
        warning ClusterConfig/prod accessConfig.authenticationMode [all]
          no access entry in this input has the role `nodes` of the EC2NodeClass `web`: without one the API server refuses its nodes
          help: add an entry with the ARN of the role and the type `EC2_LINUX`
          see line 10 spec.role: the role of these nodes
        ");
        silent(&RULE, &config("API_AND_CONFIG_MAP", ""));
        silent(&RULE, &(config("API", "") + "---\n" + &config("API", "")));
        silent(&RULE, &config("API", "karpenter: {version: 1.1.0}\n"));
        let group = |role: &str| {
            format!(
                "managedNodeGroups: [{{name: a, iam: {{instanceRoleARN: 'arn:aws:iam::1:role/{role}'}}}}]\n"
            )
        };
        silent(&RULE, &config("API", &group("nodes")));
        assert!(findings(&RULE, &config("API", &group("other"))).contains("warning ClusterConfig/prod"));
        silent(
            &RULE,
            &config("API", &format!("  accessEntries: [{{principalARN: '{ARN}', type: EC2_LINUX}}]\n")),
        );
        let standard = format!("  accessEntries: [{{principalARN: '{ARN}', type: STANDARD}}]\n");
        assert!(findings(&RULE, &config("API", &standard)).contains("error ClusterConfig/prod"));
    }
}
