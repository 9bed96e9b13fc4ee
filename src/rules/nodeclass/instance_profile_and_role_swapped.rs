use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::instance_profile::CreatedProfile;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::folders::is_beside;
use crate::rules::names::is_certainly_other;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses whose `spec.role` is the name of an instance profile in the same input, or whose `spec.instanceProfile` is the name
    /// of the role of such a profile: `aws_iam_instance_profile` of Terraform, or CloudFormation. A profile that has the same name as its role is
    /// right in both fields.
    ///
    /// ## Why it is bad
    ///
    /// An instance profile and its role are two resources. Karpenter finds no role, or no instance profile, with the name, and no node starts.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Resources:
    ///   NodeProfile:
    ///     Type: AWS::IAM::InstanceProfile
    ///     Properties:
    ///       InstanceProfileName: prod-node-profile
    ///       Roles: [prod-node]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: prod-node-profile
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Resources:
    ///   NodeProfile:
    ///     Type: AWS::IAM::InstanceProfile
    ///     Properties:
    ///       InstanceProfileName: prod-node-profile
    ///       Roles: [prod-node]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: prod-node-profile
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/docs/concepts/nodeclasses.md "spec.role" and "spec.instanceProfile" of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an EC2NodeClass names an instance profile as its role, or a role as its instance profile",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let profiles: Vec<CreatedProfile<'d>> =
        context.inventory.own().iter().copied().filter_map(CreatedProfile::of).collect();
    if let Some(node) = class.role() {
        findings.extend(profile_as_role(node, &profiles));
    } else if let Some(node) = class.instance_profile() {
        findings.extend(role_as_profile(node, &profiles));
    }
}

fn profile_as_role<'d>(node: Node<'d>, profiles: &[CreatedProfile<'d>]) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    let is_named = |profile: &CreatedProfile<'d>| profile.name().as_deref() == Some(text);
    let is_referred_to = |profile: &CreatedProfile<'d>| {
        let reference = |output| format!("${{aws_iam_instance_profile.{}.{output}}}", profile.label());
        text == reference("name") || text == reference("id")
    };
    let mut named = profiles.iter().filter(|profile| {
        is_same_text(text, node, profile) && (is_named(profile) || is_referred_to(profile))
    });
    let profile = named.next()?;
    let role = profile.role()?;
    let is_other = |name: &str| is_certainly_other(name, role.as_str().unwrap_or(name));
    if !profile.name().as_deref().is_none_or(is_other) {
        return None;
    }
    let message = format!(
        "`spec.role` is the name of the instance profile `{}`, not of a role: Karpenter finds no role with this name, and the EC2NodeClass never becomes Ready",
        profile.label()
    );
    let finding = Finding::at(&RULE, node, message);
    let finding =
        finding.help("write the name under `spec.instanceProfile` instead, or the name of the role here");
    Some(finding.related(Place::value(role), "the role of the instance profile"))
}

fn role_as_profile<'d>(node: Node<'d>, profiles: &[CreatedProfile<'d>]) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    if profiles.iter().any(|profile| !profile.name().is_some_and(|name| is_certainly_other(text, &name))) {
        return None;
    }
    let is_role = |profile: &&CreatedProfile<'d>| {
        is_same_text(text, node, profile) && profile.role().and_then(Node::as_str) == Some(text)
    };
    let profile = profiles.iter().find(is_role)?;
    let name = profile.name()?;
    let message = format!(
        "`spec.instanceProfile` is the name of a role; the instance profile of this role is called `{name}`, and no node starts with a profile that does not exist"
    );
    let finding = Finding::at(&RULE, node, message);
    let finding = finding.help(format!("write `{name}`, or write the role under `spec.role` instead"));
    Some(finding.related(Place::value(profile.role()?), "the role of the instance profile"))
}

/// Whether a text means the same in an EC2NodeClass and beside a profile: a placeholder has one value only within one module of Terraform.
fn is_same_text(text: &str, node: Node<'_>, profile: &CreatedProfile<'_>) -> bool {
    !has_placeholder(text) || is_beside(node, profile.node())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn profile(properties: &str) -> String {
        format!(
            "Resources:\n  node: {{Type: 'AWS::IAM::InstanceProfile', Properties: {{{properties}}}}}\n---\n"
        )
    }

    fn class(spec: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
        )
    }

    const NAMED: &str = "InstanceProfileName: '${var.c}-profile', Roles: ['${var.c}-node']";

    #[test]
    fn reports_a_profile_as_role_and_a_role_as_profile() {
        let known = profile("InstanceProfileName: profile, Roles: [node]");
        insta::assert_snapshot!(findings(&RULE, &(known.clone() + &class("role: profile"))), @"
          7 | spec: {role: profile}
            |              ^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          `spec.role` is the name of the instance profile `node`, not of a role: Karpenter finds no role with this name, and the EC2NodeClass never becomes Ready
          help: write the name under `spec.instanceProfile` instead, or the name of the role here
          see line 2 Properties.Roles[0]: the role of the instance profile
        ");
        insta::assert_snapshot!(findings(&RULE, &(known + &class("instanceProfile: node"))), @"
          7 | spec: {instanceProfile: node}
            |                         ^^^^
        warning EC2NodeClass/a spec.instanceProfile [all]
          `spec.instanceProfile` is the name of a role; the instance profile of this role is called `profile`, and no node starts with a profile that does not exist
          help: write `profile`, or write the role under `spec.role` instead
          see line 2 Properties.Roles[0]: the role of the instance profile
        ");
        for role in ["${var.c}-profile", "${aws_iam_instance_profile.node.name}"] {
            let text = profile(NAMED) + &class(&format!("role: '{role}'"));
            assert!(findings(&RULE, &text).contains("the instance profile `node`"), "{role}");
        }
        let unnamed =
            profile("Roles: ['${var.c}-node']") + &class("role: '${aws_iam_instance_profile.node.id}'");
        assert!(findings(&RULE, &unnamed).contains("the instance profile `node`"));
    }

    #[test]
    fn accepts_each_name_in_its_field_and_equal_names() {
        let known = profile("InstanceProfileName: profile, Roles: [node]");
        for spec in ["role: node", "instanceProfile: profile", "role: other", "instanceProfile: other"] {
            silent(&RULE, &(known.clone() + &class(spec)));
        }
        let equal = profile("InstanceProfileName: node, Roles: [node]");
        silent(&RULE, &(equal.clone() + &class("role: node")));
        silent(&RULE, &(equal + &class("instanceProfile: node")));
        let open = profile("InstanceProfileName: '${var.a}', Roles: ['${aws_iam_role.node.name}']");
        silent(&RULE, &(open.clone() + &class("role: '${aws_iam_instance_profile.node.name}'")));
        silent(&RULE, &(open + &class("instanceProfile: node")));
        // A profile whose name AWS chooses may be the one.
        silent(&RULE, &(profile("Roles: [node]") + &class("instanceProfile: node")));
        let files = [("a/p.yaml", profile(NAMED)), ("b/c.yaml", class("role: '${var.c}-profile'"))];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        assert_eq!(findings_in_files(&RULE, &files, &Settings::default()), "");
    }
}
