use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::iam_policy::{PASS_ROLE, PassRefusal, PassedRoles};
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::arn;
use values::placeholder::has_placeholder;

use crate::rules::folders::is_elsewhere;
use crate::rules::indexes::Iam;

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policy of Karpenter's controller allows it to pass the `spec.role` of each EC2NodeClass to
    /// instances, and that the condition `iam:PassedToService` names EC2. The role is checked if the input contains
    /// both the policy and the EC2NodeClass.
    ///
    /// Roles are compared by name only, because an EC2NodeClass does not state the path of its role. If the policy is in
    /// another branch of the folders than the EC2NodeClass, the two may be for different clusters, and the severity is `info`.
    ///
    /// ## Why it is bad
    ///
    /// AWS refuses the request with `is not authorized to perform: iam:PassRole`. The instance profile gets no role, no
    /// node starts, and Karpenter creates and deletes NodeClaims in a loop.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/KarpenterNodeRole-prod"}]}
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-karpenter-node
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/prod-karpenter-node"}]}
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-karpenter-node
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6036, #2519; terraform-aws-modules/terraform-aws-eks#3064, #3146
    /// - `AllowPassingInstanceRole` in website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller's IAM policy does not allow passing the role of an EC2NodeClass",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_CLASS), On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(class) = Ec2NodeClass::of(object) {
        findings.extend(check_role(class, context));
    } else {
        findings.extend(check_service(object, context));
    }
}

/// Reports a role that no policy in the input allows to pass. A policy outside the input may allow it, so the severity
/// is a warning; a Deny statement may belong to another role than the controller's.
fn check_role<'d>(class: Ec2NodeClass<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let node = class.role()?;
    let name =
        node.as_str()?.rsplit('/').next().filter(|name| arn::is_name(name) && !has_placeholder(name))?;
    if context.anywhere(|inventory| inventory.index::<RolesToPass>().refusal(name).is_none()) {
        return None;
    }
    match context.inventory.index::<RolesToPass>().refusal(name)? {
        PassRefusal::LeftOut(passed) => {
            let policy = Place::of_policy(passed.at);
            // A policy in another branch of the folders may be for another cluster.
            let (severity, condition) = if is_elsewhere(node, policy.node()) {
                (Severity::Info, "if the policy is for the same cluster, ")
            } else {
                (Severity::Warning, "")
            };
            let message = format!(
                "the controller's IAM policy allows passing other roles, but not `{name}`; {condition}no node of this \
                 EC2NodeClass starts"
            );
            let finding = Finding::at(&RULE, node, message).severity(severity);
            let finding = finding.help(format!(
                "use a role that the policy allows, or add the ARN of `{name}` to the `{PASS_ROLE}` statement of the policy"
            ));
            Some(finding.related(policy, format!("this allows passing `{}`", passed.text)))
        }
        PassRefusal::Denied(denied) => {
            let message = format!(
                "a Deny statement of the controller's IAM policy forbids passing `{name}`; no node of this EC2NodeClass starts"
            );
            let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
            let finding = finding.help("use another role, or take this role out of the Deny statement");
            Some(
                finding
                    .related(Place::of_policy(denied.at), format!("this denies passing `{}`", denied.text)),
            )
        }
    }
}

/// Reports a condition that allows passing roles only to services other than EC2, if no policy of the controller passes
/// roles to EC2.
fn check_service<'d>(object: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    if context.inventory.index::<RolesToPass>().is_passing() {
        return None;
    }
    for owned in context.inventory.index::<Iam>().controller_policies(object) {
        let passing = owned.policy.allowing().filter(|statement| statement.names(PASS_ROLE));
        let mut conditions = passing.flat_map(|statement| &statement.conditions);
        let service =
            conditions.find(|condition| condition.is_on("iam:PassedToService") && condition.is_positive());
        let Some((condition, word)) = service.and_then(|one| Some((one, one.values.first()?))) else {
            continue;
        };
        let (text, operator) = (&word.text, &condition.operator.name);
        let message = if condition.compares_wildcards_literally() {
            format!("`{operator}` compares with the text `{text}`, so the policy passes roles to no service")
        } else {
            format!("the policy allows passing roles only to `{text}`, but Karpenter passes them to EC2")
        };
        let finding = Finding::new(&RULE, Place::of_policy(word.at), message);
        return Some(
            finding.help("write `ec2.amazonaws.com`; in the China regions, add `ec2.amazonaws.com.cn`"),
        );
    }
    None
}

/// The roles that the IAM policies let Karpenter's controller pass to instances.
pub(crate) struct RolesToPass;

impl Index for RolesToPass {
    type Value<'d> = PassedRoles<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> PassedRoles<'d> {
        PassedRoles::of(inventory.index::<Iam>())
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_in_files, findings_with, silent};
    use rule::settings::Settings;

    /// An EC2NodeClass, and a controller's policy that allows passing a role.
    fn with(resource: &str, role: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  role: {role}
---
Version: '2012-10-17'
Statement:
- {{Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts], Resource: '*'}}
- Effect: Allow
  Action: iam:PassRole
  Resource: '{resource}'
"
        )
    }

    #[test]
    fn reports_role_that_no_policy_allows() {
        let text = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   role: prod-node
            |         ^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          the controller's IAM policy allows passing other roles, but not `prod-node`; no node of this EC2NodeClass starts
          help: use a role that the policy allows, or add the ARN of `prod-node` to the `iam:PassRole` statement of the policy
          see line 12 Statement[1].Resource: this allows passing `arn:aws:iam::111122223333:role/KarpenterNodeRole-prod`
        ");
        // A complete inventory has every NodePool and EC2NodeClass, but not every policy.
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("warning EC2NodeClass"));
    }

    #[test]
    fn policy_in_another_branch_of_the_folders_may_be_for_another_cluster() {
        let text = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        let (class, policy) = text.split_once("---\n").unwrap();
        let found = |class_file: &str, policy_file: &str| {
            let files = [(class_file, class), (policy_file, policy)];
            findings_in_files(&super::RULE, &files, &Settings::default())
        };
        assert!(found("a/class.yaml", "a/iam/policy.yaml").starts_with("warning EC2NodeClass/a"));
        assert!(found("a/class.yaml", "old/policy.yaml").starts_with("info EC2NodeClass/a"));
    }

    #[test]
    fn accepts_role_that_a_policy_may_allow() {
        for resource in [
            "arn:aws:iam::111122223333:role/prod-node",
            "arn:aws:iam::111122223333:role/karpenter/prod-node",
            "arn:aws:iam::*:role/*-node",
            "arn:aws:iam::111122223333:role/karpenter/*",
            "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/${Role}",
            "${KarpenterNodeRole.Arn}",
            "*",
        ] {
            silent(&super::RULE, &with(resource, "prod-node"));
        }
        let other = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        // Another policy may allow the role, an EC2NodeClass may name a profile instead, and a placeholder is not a role yet.
        let more = "---\nStatement: {Effect: Allow, Action: 'iam:*', Resource: '*'}\n";
        silent(&super::RULE, &format!("{other}{more}"));
        silent(&super::RULE, &other.replace("role: prod-node", "instanceProfile: prod-node"));
        for role in ["${ROLE}", "$ROLE", "<role>", "__ROLE__", "YOUR_ROLE", "'{{ .Values.role }}'"] {
            silent(&super::RULE, &other.replace("role: prod-node", &format!("role: {role}")));
        }
    }

    #[test]
    fn reports_role_that_a_statement_denies() {
        let allow = with("*", "prod-node");
        let deny = |resource: &str| {
            format!("{allow}- {{Effect: Deny, Action: 'iam:Pass*', Resource: '{resource}'}}\n")
        };
        insta::assert_snapshot!(findings(&super::RULE, &deny("arn:aws:iam::*:role/prod-*")), @"
          5 |   role: prod-node
            |         ^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          a Deny statement of the controller's IAM policy forbids passing `prod-node`; no node of this EC2NodeClass starts
          help: use another role, or take this role out of the Deny statement
          see line 13 Statement[2].Resource: this denies passing `arn:aws:iam::*:role/prod-*`
        ");
        silent(&super::RULE, &deny("arn:aws:iam::*:role/staging-*"));
        let conditional = deny("*").replace(
            "'*'}\n",
            "'*', Condition: {StringNotEquals: {iam:PassedToService: ec2.amazonaws.com}}}\n",
        );
        silent(&super::RULE, &conditional);
    }

    #[test]
    fn ignores_statement_that_passes_roles_to_another_service() {
        let cluster = "- {Effect: Allow, Action: 'iam:PassRole', Resource: '*', Condition: {StringEquals: {iam:PassedToService: eks.amazonaws.com}}}\n";
        let text = with("arn:aws:iam::111122223333:role/KarpenterNodeRole-prod", "prod-node");
        assert!(!findings(&super::RULE, &format!("{text}{cluster}")).is_empty());
    }

    /// A policy that only passes a role, under a name.
    fn passing(name: &str) -> String {
        format!(
            r#"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  role: prod-node
---
apiVersion: iam.services.k8s.aws/v1alpha1
kind: Policy
metadata: {{name: {name}}}
spec:
  policyDocument: |
    {{"Statement": {{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/other"}}}}
"#
        )
    }

    #[test]
    fn recognises_policy_that_only_passes_a_role() {
        assert!(
            findings(&super::RULE, &passing("karpenter-controller-integration"))
                .contains("but not `prod-node`")
        );
        silent(&super::RULE, &passing("ci"));
        silent(&super::RULE, &passing("karpenter-node"));
        // A document without a name belongs to Karpenter if another document is.
        let alone = "---\nStatement: {Effect: Allow, Action: 'iam:PassRole', Resource: 'arn:aws:iam::111122223333:role/other'}\n";
        let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {role: prod-node}
";
        let companion = "---\nStatement: {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts], Resource: '*'}\n";
        silent(&super::RULE, &format!("{class}{alone}"));
        assert!(
            findings(&super::RULE, &format!("{class}{alone}{companion}")).contains("but not `prod-node`")
        );
        let for_eks =
            alone.replace("'}", "', Condition: {StringEquals: {iam:PassedToService: eks.amazonaws.com}}}");
        silent(&super::RULE, &format!("{class}{for_eks}{companion}"));
    }

    #[test]
    fn ignores_policies_of_other_software() {
        let text = with("arn:aws:iam::111122223333:role/ci", "prod-node")
            .replace("ec2:CreateFleet, ec2:RunInstances, pricing:GetProducts", "s3:GetObject");
        silent(&super::RULE, &text);
    }

    #[test]
    fn reports_condition_that_excludes_ec2() {
        let policy = |service: &str| {
            format!(
                "{}  Condition:\n    StringEquals: {{iam:PassedToService: {service}}}\n",
                with("*", "prod-node").split_once("---\n").unwrap().1
            )
        };
        insta::assert_snapshot!(findings(&super::RULE, &policy("eks.amazonaws.com")), @"
          8 |     StringEquals: {iam:PassedToService: eks.amazonaws.com}
            |                                         ^^^^^^^^^^^^^^^^^
        error / Statement[1].Condition.StringEquals.iam:PassedToService [all]
          the policy allows passing roles only to `eks.amazonaws.com`, but Karpenter passes them to EC2
          help: write `ec2.amazonaws.com`; in the China regions, add `ec2.amazonaws.com.cn`
        ");
        for service in [
            "ec2.amazonaws.com",
            "ec2.amazonaws.com.cn",
            "[eks.amazonaws.com, ec2.amazonaws.com]",
            "'ec2.${AWS::URLSuffix}'",
            "[eks.amazonaws.com, '${Services}']",
        ] {
            silent(&super::RULE, &policy(service));
        }
        silent(&super::RULE, &policy("'*'").replace("StringEquals", "StringLike"));
        silent(&super::RULE, &policy("eks.amazonaws.com").replace("StringEquals", "StringNotEquals"));
        assert!(findings(&super::RULE, &policy("'*'")).contains("passes roles to no service"));
        let with_region =
            policy("eks.amazonaws.com").replace("{iam:", "{aws:RequestedRegion: eu-west-1, iam:");
        assert!(findings(&super::RULE, &with_region).contains("passing roles only to `eks.amazonaws.com`"));
    }
}
