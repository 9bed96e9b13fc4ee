use karpenter::cluster_name::placeholder;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::{Fixes, On};
use objects::iam_policy::{IamCondition, IamPolicy, PolicyText, policies};
use objects::object::Object;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Compares the conditions in the controller's IAM policy with the tags that Karpenter actually sets:
    ///
    /// - the cluster in `kubernetes.io/cluster/<name>` and `eks:eks-cluster-name` is compared with the name of this
    ///   cluster if it is known, otherwise within each statement,
    /// - the regions that the statements require are compared with each other,
    /// - conditions on tags that Karpenter no longer sets, or never set, are reported.
    ///
    /// ## Why it is bad
    ///
    /// A statement whose condition names another cluster or region allows nothing in this cluster. Launches fail with
    /// `UnauthorizedOperation`, and from 1.3 on the EC2NodeClass never becomes Ready: `RunInstancesAuthCheckFailed`.
    ///
    /// ## Example
    ///
    /// ```yaml,cluster=prod
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:RunInstances, ec2:CreateFleet]
    ///   Resource: "arn:aws:ec2:*:*:instance/*"
    ///   Condition:
    ///     StringEquals:
    ///       aws:RequestTag/kubernetes.io/cluster/staging: owned
    ///     StringLike:
    ///       aws:RequestTag/karpenter.sh/nodepool: "*"
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,cluster=prod
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Action: [ec2:RunInstances, ec2:CreateFleet]
    ///   Resource: "arn:aws:ec2:*:*:instance/*"
    ///   Condition:
    ///     StringEquals:
    ///       aws:RequestTag/kubernetes.io/cluster/prod: owned
    ///     StringLike:
    ///       aws:RequestTag/karpenter.sh/nodepool: "*"
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1488; kubernetes-sigs/karpenter#2992 (region)
    /// - pkg/utils/utils.go (`GetTags`) and pkg/apis/v1/labels.go at v1.14.1
    RULE {
        name: "iam-tag-condition-mismatch",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller's IAM policy requires the tags of another cluster or region",
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

/// Tags that Karpenter set before 1.0, and `karpenter.sh/cluster`, which Karpenter never set.
const UNSET: [&str; 4] = [
    "karpenter.sh/provisioner-name",
    "karpenter.sh/managed-by",
    "karpenter.k8s.aws/ec2nodetemplate",
    "karpenter.sh/cluster",
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let setting = context.settings.cluster_name.as_deref();
    let controller = context.inventory.cluster_name().map(|(name, _)| name);
    let known = setting.or(controller).filter(|name| placeholder(name).is_none());
    for policy in policies(object).iter().filter(|policy| policy.is_karpenter()) {
        match known {
            Some(known) => compare_with_cluster(policy, known, findings),
            None => compare_within_statements(policy, findings),
        }
        compare_regions(policy, findings);
        check_unset_tags(policy, findings);
    }
}

/// Compares the clusters in a policy with the known name of this cluster. A policy that also names this cluster may
/// serve several clusters, so the severity is a warning.
fn compare_with_cluster<'d>(policy: &IamPolicy<'d>, known: &str, findings: &mut Vec<Finding<'d>>) {
    let mut names = Vec::new();
    for condition in conditions(policy) {
        names.append(&mut condition.clusters());
    }
    let serves = names.iter().any(|word| word.text == known);
    let severity = if serves { Severity::Warning } else { Severity::Error };
    for word in names {
        if word.text == known || placeholder(&word.text).is_some() {
            continue;
        }
        let message =
            format!("the condition requires cluster `{}`, but this cluster is `{known}`", word.text);
        let finding = Finding::new(&RULE, Place::of_policy(word.at), message).severity(severity);
        findings.push(
            finding
                .help(format!("write `{known}`: Karpenter tags resources with the name of its own cluster")),
        );
    }
}

/// Compares the clusters within each statement. Karpenter sets both tags to the same name.
fn compare_within_statements<'d>(policy: &IamPolicy<'d>, findings: &mut Vec<Finding<'d>>) {
    for statement in &policy.statements {
        let mut single = Vec::new();
        for condition in &statement.conditions {
            let mut names = condition.clusters();
            if names.len() == 1 {
                single.append(&mut names);
            }
        }
        if let Some((first, other)) = first_difference(&single) {
            let message = format!(
                "the conditions of this statement require the clusters `{}` and `{}`, but no resource belongs to both",
                first.text, other.text
            );
            findings
                .push(conflict(first, other, message).help("write the same cluster name in both conditions"));
        }
    }
}

/// Compares the regions in a policy's conditions. A condition with several regions is skipped.
fn compare_regions<'d>(policy: &IamPolicy<'d>, findings: &mut Vec<Finding<'d>>) {
    let mut single = Vec::new();
    for condition in conditions(policy) {
        let asks = condition.key.text.eq_ignore_ascii_case("aws:requestedregion")
            || condition.tag() == Some("topology.kubernetes.io/region");
        if asks
            && condition.is_positive()
            && let [one] = condition.values.as_slice()
            && !one.text.contains('*')
            && !has_placeholder(&one.text)
        {
            single.push(one.clone());
        }
    }
    if let Some((first, other)) = first_difference(&single) {
        let message = format!(
            "the conditions of this policy require the regions `{}` and `{}`, but Karpenter works in one region",
            first.text, other.text
        );
        let finding = conflict(first, other, message).severity(Severity::Warning);
        findings.push(finding.help("write the region of this cluster in both conditions"));
    }
}

/// The first word, and the first of the others that differs from it.
fn first_difference<'w, 'd>(words: &'w [PolicyText<'d>]) -> Option<(&'w PolicyText<'d>, &'w PolicyText<'d>)> {
    let (first, others) = words.split_first()?;
    Some((first, others.iter().find(|other| other.text != first.text)?))
}

fn conflict<'d>(first: &PolicyText<'d>, other: &PolicyText<'d>, message: String) -> Finding<'d> {
    let finding = Finding::new(&RULE, Place::of_policy(other.at), message);
    finding.related(Place::of_policy(first.at), format!("this requires `{}`", first.text))
}

/// Reports conditions on tags that Karpenter does not set, with at most one finding for each tag.
fn check_unset_tags<'d>(policy: &IamPolicy<'d>, findings: &mut Vec<Finding<'d>>) {
    let conditions = conditions(policy);
    for tag in UNSET {
        let mut found: Option<Finding<'d>> = None;
        for condition in &conditions {
            if condition.tag() != Some(tag) || !condition.is_positive() || condition.if_exists() {
                continue;
            }
            let place = Place::of_policy(condition.key.at);
            found = Some(if let Some(finding) = found {
                finding.related(place, "also here")
            } else {
                let message = format!(
                    "the condition requires the tag `{tag}`, which Karpenter 1.x does not set; unless `spec.tags` of every EC2NodeClass sets it, the statement allows nothing"
                );
                let help = "require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does";
                Finding::new(&RULE, place, message).severity(Severity::Warning).help(help)
            });
        }
        findings.extend(found);
    }
}

/// The conditions of the Allow statements.
fn conditions<'p, 'd>(policy: &'p IamPolicy<'d>) -> Vec<&'p IamCondition<'d>> {
    let mut conditions = Vec::new();
    for statement in &policy.statements {
        if statement.allows {
            conditions.extend(&statement.conditions);
        }
    }
    conditions
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::Settings;

    /// A controller's policy with the given conditions in one statement.
    fn policy(conditions: &str) -> String {
        format!(
            "{{\"Statement\": [{{\"Effect\": \"Allow\", \"Action\": \"ec2:RunInstances\", \"Resource\": \"*\", \"Condition\": {{\n  \"StringLike\": {{\"aws:RequestTag/karpenter.sh/nodepool\": \"*\"}},\n  {conditions}\n}}}}]}}\n"
        )
    }

    fn known(name: &str) -> Settings {
        Settings { cluster_name: Some(name.to_owned()), ..Settings::default() }
    }

    #[test]
    fn reports_name_of_another_cluster_in_key_and_in_value() {
        let text = policy(
            "\"StringEquals\": {\n    \"aws:RequestTag/kubernetes.io/cluster/staging\": \"owned\",\n    \"aws:RequestTag/eks:eks-cluster-name\": \"staging\"}",
        );
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &known("prod")), @r#"
          4 |     "aws:RequestTag/kubernetes.io/cluster/staging": "owned",
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error / Statement[0].Condition.StringEquals.aws:RequestTag/kubernetes.io/cluster/staging [all]
          the condition requires cluster `staging`, but this cluster is `prod`
          help: write `prod`: Karpenter tags resources with the name of its own cluster
          5 |     "aws:RequestTag/eks:eks-cluster-name": "staging"}
            |                                            ^^^^^^^^^
        error / Statement[0].Condition.StringEquals.aws:RequestTag/eks:eks-cluster-name [all]
          the condition requires cluster `staging`, but this cluster is `prod`
          help: write `prod`: Karpenter tags resources with the name of its own cluster
        "#);
        silent(&super::RULE, &text);
        assert_eq!(findings_with(&super::RULE, &text, &known("staging")), "");
    }

    #[test]
    fn reports_two_clusters_in_one_statement() {
        let text = policy(
            "\"StringEquals\": {\n    \"aws:RequestTag/kubernetes.io/cluster/staging\": \"owned\",\n    \"aws:RequestTag/eks:eks-cluster-name\": \"prod\"}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |     "aws:RequestTag/eks:eks-cluster-name": "prod"}
            |                                            ^^^^^^
        error / Statement[0].Condition.StringEquals.aws:RequestTag/eks:eks-cluster-name [all]
          the conditions of this statement require the clusters `staging` and `prod`, but no resource belongs to both
          help: write the same cluster name in both conditions
          see line 4 Statement[0].Condition.StringEquals.aws:RequestTag/kubernetes.io/cluster/staging: this requires `staging`
        "#);
    }

    #[test]
    fn policy_for_several_clusters_is_only_a_warning() {
        let text =
            policy("\"StringEquals\": {\"aws:RequestTag/eks:eks-cluster-name\": [\"prod\", \"staging\"]}");
        silent(&super::RULE, &text);
        let said = findings_with(&super::RULE, &text, &known("prod"));
        assert!(said.contains("warning") && !said.contains("error"), "{said}");
    }

    #[test]
    fn reports_two_regions() {
        let text = policy(
            "\"StringEquals\": {\n    \"aws:RequestTag/topology.kubernetes.io/region\": \"eu-west-1\",\n    \"aws:RequestedRegion\": \"us-east-1\"}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |     "aws:RequestedRegion": "us-east-1"}
            |                            ^^^^^^^^^^^
        warning / Statement[0].Condition.StringEquals.aws:RequestedRegion [all]
          the conditions of this policy require the regions `eu-west-1` and `us-east-1`, but Karpenter works in one region
          help: write the region of this cluster in both conditions
          see line 4 Statement[0].Condition.StringEquals.aws:RequestTag/topology.kubernetes.io/region: this requires `eu-west-1`
        "#);
        silent(&super::RULE, &text.replace("us-east-1", "eu-west-1"));
        silent(&super::RULE, &text.replace("us-east-1", "${AWS::Region}"));
    }

    #[test]
    fn reports_tags_that_karpenter_does_not_set() {
        let text =
            policy("\"StringEquals\": {\"aws:RequestTag/karpenter.sh/provisioner-name\": \"default\"}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          3 |   "StringEquals": {"aws:RequestTag/karpenter.sh/provisioner-name": "default"}
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[0].Condition.StringEquals.aws:RequestTag/karpenter.sh/provisioner-name [all]
          the condition requires the tag `karpenter.sh/provisioner-name`, which Karpenter 1.x does not set; unless `spec.tags` of every EC2NodeClass sets it, the statement allows nothing
          help: require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does
        "#);
        silent(&super::RULE, &text.replace("StringEquals", "StringEqualsIfExists"));
        silent(&super::RULE, &text.replace("StringEquals", "StringNotEquals"));
    }

    #[test]
    fn ignores_variables_wildcards_and_example_names() {
        for name in
            ["${ClusterName}", "$CLUSTER_NAME", "${aws:PrincipalTag/eks-cluster-name}", "*", "my-cluster"]
        {
            let text =
                policy(&format!("\"StringLike\": {{\"aws:RequestTag/eks:eks-cluster-name\": \"{name}\"}}"));
            assert_eq!(findings_with(&super::RULE, &text, &known("prod")), "", "{name}");
        }
        let stack = "\
Resources:
  Policy:
    Type: AWS::IAM::Policy
    Properties:
      PolicyDocument:
        Statement:
          Effect: Allow
          Action: ['ec2:CreateFleet', 'ec2:RunInstances']
          Resource: '*'
          Condition:
            StringEquals:
              aws:RequestTag/eks:eks-cluster-name: !Ref ClusterName
";
        assert_eq!(findings_with(&super::RULE, stack, &known("prod")), "");
        let long = stack.replace("!Ref ClusterName", "{Ref: ClusterName}");
        assert_eq!(findings_with(&super::RULE, &long, &known("prod")), "");
    }

    #[test]
    fn ignores_policies_unrelated_to_karpenter() {
        let text = "{\"Statement\": {\"Effect\": \"Allow\", \"Action\": \"ec2:*\", \"Resource\": \"*\", \"Condition\": {\"StringEquals\": {\"aws:ResourceTag/kubernetes.io/cluster/other\": \"owned\"}}}}";
        assert_eq!(findings_with(&super::RULE, text, &known("prod")), "");
    }
}
