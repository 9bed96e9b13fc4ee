use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Node, Value};
use objects::chart_values;
use objects::identity::ROLE_ARN;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::is_bare_reference;

rule! {
    /// ## What it does
    ///
    /// Finds references to values of a Terraform configuration, such as `var.cluster_name`, that are plain text in a manifest:
    /// in NodePools and EC2NodeClasses, and in the names in the values of Karpenter's chart. In labels and annotations of nodes and in tags
    /// of instances, where an author may mean such a text, the finding is a warning.
    ///
    /// ## Why it is bad
    ///
    /// Terraform replaces references only between `${` and `}`, and no other tool replaces them. Karpenter looks for a role, a tag
    /// or a queue with the name `var.cluster_name`, which does not exist, and no node starts.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: var.cluster_name}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: var.cluster_name}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: "${var.cluster_name}"}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: "${var.cluster_name}"}}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/docs/language/expressions/strings.mdx of hashicorp/terraform, "Interpolation"
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a reference to a Terraform value is plain text, which nothing replaces",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(values) = chart_values::of(object) {
        let named = [
            values.cluster_name(),
            values.cluster_endpoint(),
            values.interruption_queue(),
            values.service_account_annotation(ROLE_ARN),
        ];
        named.into_iter().flatten().for_each(|node| collect(node, Severity::Error, findings));
    } else if let Some(spec) = object.at(&["spec"]) {
        collect(spec, Severity::Error, findings);
    }
}

/// Keys of values that an author chooses freely: tags of the instances, labels and annotations of the nodes.
const FREE_TEXT: [&str; 3] = ["labels", "annotations", "tags"];

/// Reports the references at and below a node. Scripts in user data may have such words.
fn collect<'d>(node: Node<'d>, severity: Severity, findings: &mut Vec<Finding<'d>>) {
    match node.value() {
        Value::String(text) if node.key() != "userData" && is_bare_reference(text) => {
            let effect = if severity == Severity::Error { ", and no resource has this name" } else { "" };
            let message = format!("`{text}` is plain text here: no tool replaces it{effect}");
            let help = format!("write the value, or `${{{text}}}` if Terraform renders this file");
            findings.push(Finding::at(&RULE, node, message).severity(severity).help(help));
        }
        _ => node.children().for_each(|child| {
            let is_free = FREE_TEXT.contains(&child.key()) && !is_selector_term(node);
            collect(child, if is_free { Severity::Warning } else { severity }, findings);
        }),
    }
}

/// Whether the tags of a node select subnets, security groups or images.
fn is_selector_term(node: Node<'_>) -> bool {
    node.parent().is_some_and(Node::is_sequence)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_references_that_nothing_replaces() {
        let text = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: module.eks.node_role
";
        insta::assert_snapshot!(findings(&RULE, text), @"
          5 |   role: module.eks.node_role
            |         ^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [all]
          `module.eks.node_role` is plain text here: no tool replaces it, and no resource has this name
          help: write the value, or `${module.eks.node_role}` if Terraform renders this file
        ");
        let values = "settings: {clusterName: var.cluster_name, interruptionQueue: local.queue_name}\n";
        assert_eq!(findings(&RULE, values).matches("error").count(), 2);
        let tags = text.replace("role: module.eks.node_role", "tags: {zone: var.log}");
        insta::assert_snapshot!(findings(&RULE, &tags), @"
          5 |   tags: {zone: var.log}
            |                ^^^^^^^
        warning EC2NodeClass/a spec.tags.zone [all]
          `var.log` is plain text here: no tool replaces it
          help: write the value, or `${var.log}` if Terraform renders this file
        ");
        let term = "subnetSelectorTerms: [{tags: {karpenter.sh/discovery: var.cluster_name}}]";
        assert!(findings(&RULE, &text.replace("role: module.eks.node_role", term)).contains("error"));
        silent(&RULE, &text.replace("module.eks.node_role", "'${module.eks.node_role}'"));
        silent(&RULE, &text.replace("role: module.eks.node_role", "userData: var.x"));
    }
}
