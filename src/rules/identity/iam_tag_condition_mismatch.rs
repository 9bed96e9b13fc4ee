use std::collections::{BTreeMap, BTreeSet};

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::cluster_name::placeholder;
use karpenter::release::Releases;
use objects::iam_policy::{IamCondition, IamPolicy, IamStatement, PolicyLocation, PolicyOwner, PolicyText};
use objects::object::Object;
use objects::placeholders::unreplaced_by_terraform;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use super::UNSET_TAGS;
use crate::rules::indexes::{Iam, cluster_name, is_before_v1};

rule! {
    /// ## What it does
    ///
    /// Compares the conditions in the controller's IAM policy with the tags that Karpenter actually sets:
    ///
    /// - the cluster in `kubernetes.io/cluster/<name>` and `eks:eks-cluster-name` is compared with the name of this
    ///   cluster if it is known, otherwise within each statement,
    /// - the regions that the statements require are compared with each other,
    /// - conditions on tags that Karpenter no longer sets, or never set, are reported,
    /// - values with a `*` are reported where the operator compares text literally, as `StringEquals` does,
    /// - parameters of CloudFormation such as `${ClusterName}` are reported in policies of a Terraform configuration.
    ///
    /// Conditions of `Deny` statements are not compared. One mistake in a policy is one finding, however often the policy
    /// repeats it.
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
    /// - "IAM JSON policy elements: Condition operators" in the IAM User Guide (`StringEquals`, `StringLike`)
    /// - pkg/controllers/nodeclaim/tagging/controller.go at v1.14.1 (`Name`)
    /// - aws/karpenter-provider-aws#1488; kubernetes-sigs/karpenter#2992 (region)
    /// - pkg/utils/utils.go (`GetTags`) and pkg/apis/v1/labels.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller's IAM policy requires the tags of another cluster or region",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // Releases before 1.0 set other tags.
    if is_before_v1(context) {
        return;
    }
    let setting = context.settings.cluster_name.as_deref();
    let controller = cluster_name(context.inventory).map(|(name, _)| name);
    let known = setting.or(controller).filter(|name| placeholder(name).is_none());
    // If a policy of the controller names this cluster, others may serve other clusters.
    let serves = |known| context.inventory.index::<RequiredClusters>().contains(known);
    for owned in context.inventory.index::<Iam>().controller_policies(object) {
        let policy = &owned.policy;
        match known {
            Some(known) => compare_with_cluster(policy, known, serves(known), findings),
            None => compare_within_statements(policy, findings),
        }
        findings.extend(compare_regions(policy));
        findings.extend(check_unset_tags(policy));
        findings.extend(check_name_tag(policy));
        findings.extend(check_literal_wildcards(policy));
        findings.extend(check_unreplaced(policy));
    }
}

/// The names of clusters that the conditions of the controller's policies require.
struct RequiredClusters;

impl Index for RequiredClusters {
    type Value<'d> = BTreeSet<String>;

    fn compute(inventory: &Inventory<'_>) -> BTreeSet<String> {
        let policies = inventory.index::<Iam>().policies().iter();
        let policies = policies.filter(|owned| owned.owner == PolicyOwner::Controller);
        let conditions = policies.flat_map(|owned| conditions(&owned.policy));
        conditions.flat_map(IamCondition::clusters).map(|word| word.text).collect()
    }
}

/// Compares the clusters in a policy with the known name of this cluster. If a policy also names this cluster, the
/// policies may serve several clusters, so the severity is a warning.
fn compare_with_cluster<'d>(
    policy: &IamPolicy<'d>,
    known: &str,
    serves: bool,
    findings: &mut Vec<Finding<'d>>,
) {
    let severity = if serves { Severity::Warning } else { Severity::Error };
    let mut mentions = BTreeMap::<String, Vec<PolicyText<'d>>>::new();
    for word in conditions(policy).into_iter().flat_map(IamCondition::clusters) {
        if word.text != known && placeholder(&word.text).is_none() {
            mentions.entry(word.text.clone()).or_default().push(word);
        }
    }
    for (name, words) in mentions {
        let message = format!("the condition requires cluster `{name}`, but this cluster is `{known}`");
        let help = format!(
            "write `{known}` instead of `{name}`: Karpenter tags resources with the name of its own cluster"
        );
        let finding = at_all(words.iter().map(|word| word.at), message);
        findings.extend(finding.map(|finding| finding.severity(severity).help(help)));
    }
}

/// Compares the clusters within each statement. Karpenter sets both tags to the same name.
fn compare_within_statements<'d>(policy: &IamPolicy<'d>, findings: &mut Vec<Finding<'d>>) {
    let mut reported = BTreeSet::new();
    for statement in policy.allowing() {
        let mut single = Vec::new();
        for condition in &statement.conditions {
            let mut names = condition.clusters();
            if names.len() == 1 {
                single.append(&mut names);
            }
        }
        let Some((first, other)) = first_difference(&single) else { continue };
        if reported.insert((first.text.clone(), other.text.clone())) {
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
fn compare_regions<'d>(policy: &IamPolicy<'d>) -> Option<Finding<'d>> {
    let mut single = Vec::new();
    for condition in conditions(policy) {
        let asks = condition.is_on("aws:RequestedRegion")
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
    let (first, other) = first_difference(&single)?;
    let message = format!(
        "the conditions of this policy require the regions `{}` and `{}`, but Karpenter works in one region",
        first.text, other.text
    );
    let finding = conflict(first, other, message).severity(Severity::Warning);
    Some(finding.help("write the region of this cluster in both conditions"))
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

/// Reports the conditions on tags that Karpenter does not set. IAM reads no wildcard in the name of a key.
fn check_unset_tags<'d>(policy: &IamPolicy<'d>) -> Option<Finding<'d>> {
    let unset = |condition: &&IamCondition<'d>| {
        let tag = condition.tag().unwrap_or_default();
        condition.requires_value() && (UNSET_TAGS.contains(&tag) || tag == "kubernetes.io/cluster/*")
    };
    let found: Vec<_> = conditions(policy).into_iter().filter(unset).collect();
    let mut tags = Vec::new();
    for tag in found.iter().filter_map(|condition| condition.tag()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let tags = tags.join("` and `");
    let message = if found.len() == 1 {
        format!(
            "the condition requires the tag `{tags}`, which Karpenter 1.x does not set; unless `spec.tags` of every EC2NodeClass sets it, the statement allows nothing"
        )
    } else {
        format!(
            "{} conditions require `{tags}`, which Karpenter 1.x does not set; unless `spec.tags` of every EC2NodeClass does, these statements allow nothing",
            found.len()
        )
    };
    let help = "require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does";
    let finding = at_all(found.iter().map(|condition| condition.key.at), message)?;
    Some(finding.severity(Severity::Warning).help(help))
}

/// Reports conditions on a `Name` with `karpenter` in it. Karpenter 0.x gave instances such names, but 1.x writes the name
/// of the node.
fn check_name_tag<'d>(policy: &IamPolicy<'d>) -> Option<Finding<'d>> {
    let old = |condition: &&IamCondition<'d>| {
        let of_karpenter =
            condition.values.iter().all(|word| word.text.to_ascii_lowercase().contains("karpenter"));
        condition.resource_tag() == Some("Name") && condition.requires_value() && of_karpenter
    };
    let found: Vec<_> = conditions(policy).into_iter().filter(old).collect();
    let value = found.first()?.values.first()?;
    let message = format!(
        "the condition requires a `Name` such as `{}`, but Karpenter 1.x names an instance after its node, such as `ip-10-0-1-23.ec2.internal`; unless `spec.tags` of every EC2NodeClass sets the `Name`, the statement allows nothing",
        value.text
    );
    let help = "require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does";
    let finding =
        at_all(found.iter().filter_map(|condition| condition.values.first()).map(|word| word.at), message)?;
    Some(finding.severity(Severity::Warning).help(help))
}

/// Reports values with a wildcard that the operator compares literally, on tags whose values never have one.
fn check_literal_wildcards<'d>(policy: &IamPolicy<'d>) -> Option<Finding<'d>> {
    let (found, severity) = unmet(policy, is_never_equal);
    let first = found.first()?;
    let (operator, value) = (&first.operator.name, &first.values.first()?.text);
    let message = format!(
        "`{operator}` compares with the text `{value}`, which no tag of Karpenter has; the statement allows nothing"
    );
    let help =
        format!("write `{}`, which reads `*` as any text", operator.replace("StringEquals", "StringLike"));
    let finding =
        at_all(found.iter().filter_map(|condition| condition.values.first()).map(|word| word.at), message)?;
    Some(finding.severity(severity).help(help))
}

/// Reports `${ClusterName}` in a policy that Terraform makes. IAM reads no variables in the name of a key, and the names of its variables
/// have a colon: "IAM policy elements: Variables and tags" in the IAM User Guide.
fn check_unreplaced<'d>(policy: &IamPolicy<'d>) -> Option<Finding<'d>> {
    let (found, severity) =
        unmet(policy, |condition| condition.requires_value() && unreplaced(condition).is_some());
    let (mark, _) = unreplaced(found.first()?)?;
    let message = format!(
        "the condition compares with the text `{mark}`, which neither Terraform nor IAM replaces; the statement allows nothing"
    );
    let help = "write the value, or refer to it as Terraform does, such as `${var.cluster_name}`";
    let places = found.iter().filter_map(|condition| Some(unreplaced(condition)?.1));
    Some(at_all(places, message)?.severity(severity).help(help))
}

/// The text in a condition that looks like a parameter of CloudFormation but stays as it is, with its location. Values are alternatives, so
/// each of them has such a text.
fn unreplaced<'c, 'd>(condition: &'c IamCondition<'d>) -> Option<(&'c str, PolicyLocation<'d>)> {
    let of = |word: &'c PolicyText<'d>| {
        let mark = match word.at {
            PolicyLocation::Value(node) => unreplaced_by_terraform(node, &word.text, node.span()),
            PolicyLocation::Key(node) => unreplaced_by_terraform(node, &word.text, node.key_span()),
            PolicyLocation::Within(..) => None,
        };
        mark.map(|mark| (mark, word.at))
    };
    of(&condition.key).or_else(|| {
        let values: Option<Vec<_>> = condition.values.iter().map(of).collect();
        values?.into_iter().next()
    })
}

/// The conditions that no request meets, and the severity of a finding about them: a warning if other statements may allow the same actions.
fn unmet<'p, 'd>(
    policy: &'p IamPolicy<'d>,
    is_never_met: impl Fn(&IamCondition<'d>) -> bool,
) -> (Vec<&'p IamCondition<'d>>, Severity) {
    let mut found = Vec::new();
    let mut severity = Severity::Warning;
    for statement in policy.allowing() {
        let conditions = statement.conditions.iter();
        let unmet: Vec<_> = conditions.filter(|condition| is_never_met(condition)).collect();
        if !unmet.is_empty() && !is_replaced(policy, statement, &is_never_met) {
            severity = Severity::Error;
        }
        found.extend(unmet);
    }
    (found, severity)
}

/// Whether a condition compares the value of a tag that Karpenter sets with a text that no such tag has.
fn is_never_equal(condition: &IamCondition<'_>) -> bool {
    const SET: [&str; 5] = [
        "karpenter.sh/",
        "karpenter.k8s.aws/",
        "kubernetes.io/cluster/",
        "eks:eks-cluster-name",
        "topology.kubernetes.io/region",
    ];
    let tag = condition.tag().unwrap_or_default();
    let set = SET.iter().any(|start| tag.starts_with(start)) && !UNSET_TAGS.contains(&tag);
    set && condition.requires_value() && condition.compares_wildcards_literally()
}

/// Whether other statements may allow every action of a statement that allows nothing.
fn is_replaced<'d>(
    policy: &IamPolicy<'d>,
    statement: &IamStatement<'d>,
    is_never_met: &impl Fn(&IamCondition<'d>) -> bool,
) -> bool {
    let others: Vec<_> =
        policy.allowing().filter(|other| !other.conditions.iter().any(is_never_met)).collect();
    statement.actions.iter().all(|word| others.iter().any(|other| other.action(&word.text).is_some()))
}

/// A finding at the first of several places, with the others as related places.
fn at_all<'d>(mut places: impl Iterator<Item = PolicyLocation<'d>>, message: String) -> Option<Finding<'d>> {
    let finding = Finding::new(&RULE, Place::of_policy(places.next()?), message);
    Some(places.fold(finding, |finding, at| finding.related(Place::of_policy(at), "also here")))
}

/// The conditions of the Allow statements.
fn conditions<'p, 'd>(policy: &'p IamPolicy<'d>) -> Vec<&'p IamCondition<'d>> {
    policy.allowing().flat_map(|statement| &statement.conditions).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    /// A controller's policy with the given conditions in one statement.
    fn policy(conditions: &str) -> String {
        format!(
            r#"{{"Statement": [{{"Effect": "Allow", "Action": "ec2:RunInstances", "Resource": "*", "Condition": {{
  "StringLike": {{"aws:RequestTag/karpenter.sh/nodepool": "*"}},
  {conditions}
}}}}]}}
"#
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
          help: write `prod` instead of `staging`: Karpenter tags resources with the name of its own cluster
          see line 5 Statement[0].Condition.StringEquals.aws:RequestTag/eks:eks-cluster-name: also here
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
    fn reports_one_mistake_of_a_policy_once() {
        let statement = |tag: &str| {
            format!(
                "{{\"Effect\": \"Allow\", \"Action\": \"ec2:RunInstances\", \"Resource\": \"*\", \"Condition\": {{\"StringLike\": {{\"aws:RequestTag/{tag}\": \"*\"}}}}}}"
            )
        };
        let (first, second, third) = (
            statement("karpenter.sh/provisioner-name"),
            statement("karpenter.sh/managed-by"),
            statement("karpenter.sh/provisioner-name"),
        );
        let text = format!("{{\"Statement\": [\n{first},\n{second},\n{third}]}}\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          2 | {"Effect": "Allow", "Action": "ec2:RunInstances", "Resource": "*", "Condition": {"StringLike": {"aws:RequestTag/karpenter.sh/provisioner-name": "*"}}},
            |                                                                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / Statement[0].Condition.StringLike.aws:RequestTag/karpenter.sh/provisioner-name [all]
          3 conditions require `karpenter.sh/provisioner-name` and `karpenter.sh/managed-by`, which Karpenter 1.x does not set; unless `spec.tags` of every EC2NodeClass does, these statements allow nothing
          help: require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does
          see line 3 Statement[1].Condition.StringLike.aws:RequestTag/karpenter.sh/managed-by: also here
          see line 4 Statement[2].Condition.StringLike.aws:RequestTag/karpenter.sh/provisioner-name: also here
        "#);
    }

    #[test]
    fn reports_wildcard_that_the_operator_compares_literally() {
        let text = policy("\"StringEquals\": {\"aws:RequestTag/karpenter.k8s.aws/ec2nodeclass\": \"*\"}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          3 |   "StringEquals": {"aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"}
            |                                                                     ^^^
        error / Statement[0].Condition.StringEquals.aws:RequestTag/karpenter.k8s.aws/ec2nodeclass [all]
          `StringEquals` compares with the text `*`, which no tag of Karpenter has; the statement allows nothing
          help: write `StringLike`, which reads `*` as any text
        "#);
        silent(&super::RULE, &text.replace("StringEquals", "StringLike"));
        silent(&super::RULE, &text.replace("StringEquals", "StringEqualsIfExists"));
        silent(&super::RULE, &text.replace("\"*\"}\n}}]", "[\"*\", \"default\"]}\n}}]"));
        silent(
            &super::RULE,
            &text.replace(
                "\"StringEquals\": {\"aws:RequestTag/karpenter.k8s.aws/ec2nodeclass\"",
                "\"StringEquals\": {\"aws:RequestTag/team\"",
            ),
        );
        // Another statement allows the same action.
        let other =
            "{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"ec2:Run*\", \"Resource\": \"*\"}, ";
        assert!(findings(&super::RULE, &text.replace("{\"Statement\": [", other)).starts_with("  3 |"));
        assert!(findings(&super::RULE, &text.replace("{\"Statement\": [", other)).contains("warning"));
    }

    #[test]
    fn reports_name_that_only_early_releases_gave() {
        let text = policy("\"StringLike\": {\"ec2:ResourceTag/Name\": \"*karpenter*\"}");
        let text = text.replace(
            "\"StringLike\": {\"aws:RequestTag/karpenter.sh/nodepool\": \"*\"}",
            "\"Bool\": {\"aws:SecureTransport\": \"true\"}",
        );
        let text = text.replace(
            "\"ec2:RunInstances\"",
            "[\"ec2:CreateFleet\", \"ec2:TerminateInstances\", \"pricing:GetProducts\"]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          3 |   "StringLike": {"ec2:ResourceTag/Name": "*karpenter*"}
            |                                          ^^^^^^^^^^^^^
        warning / Statement[0].Condition.StringLike.ec2:ResourceTag/Name [all]
          the condition requires a `Name` such as `*karpenter*`, but Karpenter 1.x names an instance after its node, such as `ip-10-0-1-23.ec2.internal`; unless `spec.tags` of every EC2NodeClass sets the `Name`, the statement allows nothing
          help: require `kubernetes.io/cluster/<name>` and `karpenter.sh/nodepool`, as the policy in the getting started guide does
        "#);
        silent(&super::RULE, &text.replace("*karpenter*", "*-node"));
    }

    #[test]
    fn policies_beside_objects_of_old_releases_are_for_these_releases() {
        const OLD: &str = "---\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\n";
        const NEW: &str = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n";
        let text = policy("StringLike: {'aws:ResourceTag/karpenter.sh/provisioner-name': '*'}");
        silent(&super::RULE, &format!("{text}{OLD}"));
        for reported in [text.clone(), format!("{text}{NEW}"), format!("{text}{OLD}{NEW}")] {
            assert!(findings(&super::RULE, &reported).contains("which Karpenter 1.x does not set"));
        }
        let known = Settings { is_karpenter_version_set: true, ..Settings::default() };
        assert!(!findings_with(&super::RULE, &format!("{text}{OLD}"), &known).is_empty());
    }

    #[test]
    fn deny_statement_may_name_any_cluster() {
        let text = policy("\"Bool\": {\"aws:SecureTransport\": \"true\"}");
        let deny = ", {\"Effect\": \"Deny\", \"Action\": \"ec2:*\", \"Resource\": \"*\", \"Condition\": {\"StringEquals\": {\"aws:ResourceTag/eks:eks-cluster-name\": \"staging\", \"aws:ResourceTag/karpenter.sh/provisioner-name\": \"*\"}}}]}";
        assert_eq!(findings_with(&super::RULE, &text.replace("]}", deny), &known("prod")), "");
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
          Action: ['ec2:CreateFleet', 'ec2:RunInstances', 'pricing:GetProducts']
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
