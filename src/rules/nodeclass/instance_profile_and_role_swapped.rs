use std::collections::{BTreeMap, BTreeSet};

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::iam_policy::text;
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
    let created = context.inventory.index::<Created>();
    if let Some(node) = class.role() {
        findings.extend(profile_as_role(node, created));
    } else if let Some(node) = class.instance_profile() {
        findings.extend(role_as_profile(node, created));
    }
}

fn profile_as_role<'d>(node: Node<'d>, created: &Profiles<'d>) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    let profile = created.by_name.get(text)?.iter().find(|profile| is_same_text(text, node, profile))?;
    let role = profile.role()?;
    let (name, role_text) = (profile.name(), profile.role_name()?);
    let is_other = |name: &str| is_certainly_other(name, &role_text);
    let may_be_role = name.as_deref().is_some_and(|name| created.roles.may_have(name));
    if !name.as_deref().is_none_or(is_other) || may_be_role {
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

fn role_as_profile<'d>(node: Node<'d>, created: &Profiles<'d>) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    if created.has_unnamed || created.names.may_have(text) {
        return None;
    }
    let profile = created.by_role.get(text)?.iter().find(|profile| is_same_text(text, node, profile))?;
    let name = profile.name()?;
    let message = format!(
        "`spec.instanceProfile` is the name of a role; the instance profile of this role is called `{name}`, and no node starts with a profile that does not exist"
    );
    let finding = Finding::at(&RULE, node, message);
    let finding = finding.help(format!("write `{name}`, or write the role under `spec.role` instead"));
    Some(finding.related(Place::value(profile.role()?), "the role of the instance profile"))
}

/// Names that resources of the input have.
#[derive(Default)]
struct Names {
    known: BTreeSet<String>,
    /// Names with a placeholder.
    open: BTreeSet<String>,
}

impl Names {
    /// Maximum number of different names with a placeholder that are compared.
    const MAX_OPEN: usize = 16;

    fn extend(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            let names = if has_placeholder(&name) { &mut self.open } else { &mut self.known };
            names.insert(name);
        }
    }

    /// Whether a resource may have this name.
    fn may_have(&self, text: &str) -> bool {
        let is_open = |name: &String| !is_certainly_other(text, name);
        self.known.contains(text)
            || (has_placeholder(text) && !self.known.is_empty())
            || self.open.len() > Self::MAX_OPEN
            || self.open.iter().any(is_open)
    }
}

/// The instance profiles that the input creates, and the names of its roles.
#[derive(Default)]
struct Profiles<'d> {
    /// By the name, and by the references of Terraform to it.
    by_name: BTreeMap<String, Vec<CreatedProfile<'d>>>,
    by_role: BTreeMap<String, Vec<CreatedProfile<'d>>>,
    names: Names,
    /// Whether AWS chooses the name of a profile.
    has_unnamed: bool,
    roles: Names,
}

struct Created;

impl Index for Created {
    type Value<'d> = Profiles<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Profiles<'d> {
        let mut created = Profiles::default();
        let mut templates = BTreeSet::new();
        for object in inventory.own().iter().copied() {
            created.roles.extend(name_of_role(object.root()));
            let Some(profile) = CreatedProfile::of(object) else { continue };
            // Roles without a connection to Karpenter are no objects.
            if let Some(template) = profile.node().parent()
                && templates.insert((template.source().name(), template.span().start))
            {
                created.roles.extend(template.children().filter_map(name_of_role));
            }
            let references = ["name", "id"]
                .map(|output| format!("${{aws_iam_instance_profile.{}.{output}}}", profile.label()));
            for name in profile.name().into_iter().chain(references) {
                created.by_name.entry(name).or_default().push(profile);
            }
            if let Some(role) = profile.role_name() {
                created.by_role.entry(role).or_default().push(profile);
            }
            match profile.name() {
                Some(name) => created.names.extend([name]),
                None => created.has_unnamed = true,
            }
        }
        created
    }
}

/// The name of a role that the input creates, unless AWS chooses it.
fn name_of_role(resource: Node<'_>) -> Option<String> {
    let is_role = resource.str_at(&["Type"]) == Some("AWS::IAM::Role");
    resource.at_path(&["Properties", "RoleName"]).filter(|_| is_role).map(text)
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
        // The input has a role with the name of the profile.
        for name in ["profile", "'${var.name}'"] {
            let role =
                format!("Resources:\n  r: {{Type: 'AWS::IAM::Role', Properties: {{RoleName: {name}}}}}\n");
            silent(&RULE, &(known.replace("Resources:\n", &role) + &class("role: profile")));
        }
        let files = [("a/p.yaml", profile(NAMED)), ("b/c.yaml", class("role: '${var.c}-profile'"))];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        assert_eq!(findings_in_files(&RULE, &files, &Settings::default()), "");
    }
}
