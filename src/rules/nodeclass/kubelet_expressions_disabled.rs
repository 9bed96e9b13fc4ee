use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::kubelet_expression;

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds expressions in `maxPods`, `kubeReserved` and `systemReserved` of an EC2NodeClass while the feature gate
    /// `NodeClassCEL` is off.
    ///
    /// ## Why it is bad
    ///
    /// The gate is off by default. Karpenter then refuses the expression: the condition `ValidationSucceeded` is false with
    /// the reason `KubeletExpressionsDisabled`, the EC2NodeClass is not Ready, and no nodes launch from it. If the input
    /// does not show the controller's settings, the finding is a warning.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   kubelet: {maxPods: "min(110, max_pods)"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   kubelet: {maxPods: "min(110, max_pods)"}
    /// ---
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    ///   awsFeatureGates: {nodeClassCEL: true}
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws, "Dynamic Kubelet Configuration via
    ///   Expressions"
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "an expression for the kubelet needs the feature gate `NodeClassCEL`",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const GATE: &str = "NodeClassCEL";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(kubelet) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::kubelet) else { return };
    // The gate is off also for an expression that does not compile. A misspelt quantity is no expression.
    let is_expression = |node: Node<'_>, text: &str| {
        node.key() == "maxPods"
            || kubelet_expression::check(text).is_ok()
            || kubelet_expression::is_probable(text)
    };
    let expression = kubelet.expressions().find(|(node, text)| is_expression(*node, text));
    let Some((node, text)) = expression else { return };
    if context.anywhere(|inventory| inventory.index::<Gates>().get(GATE) == Some(true)) {
        return;
    }
    let is_off = context.inventory.index::<Gates>().get(GATE) == Some(false);
    let message = if is_off {
        "the feature gate `NodeClassCEL` is off, so Karpenter refuses the expression; the EC2NodeClass is not Ready, and no nodes launch from it"
    } else {
        "Karpenter refuses the expression unless the feature gate `NodeClassCEL` is on; it is off by default, and then no nodes launch from the EC2NodeClass"
    };
    let severity = if is_off { Severity::Error } else { Severity::Warning };
    findings.push(
        Finding::at(&RULE, node, message).releases(Releases::since(15)).severity(severity).help(help(text)),
    );
}

/// A number in quotes is an expression, too.
fn help(text: &str) -> String {
    if text.parse::<i32>().is_ok() {
        return format!("write the number without quotes: `{text}`");
    }
    "set `settings.awsFeatureGates.nodeClassCEL: true` in the Helm values, or write a plain value".to_owned()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::{Settings, Target};

    fn class(family: &str, kubelet: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiFamily: {family}
  kubelet: {kubelet}
"
        )
    }

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_the_first_expression_since_1_15_unless_the_gate_is_on() {
        let text = class("AL2023", "{maxPods: 'min(110, max_pods)', kubeReserved: {cpu: vcpus * 10}}");
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @"
          6 |   kubelet: {maxPods: 'min(110, max_pods)', kubeReserved: {cpu: vcpus * 10}}
            |                      ^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.kubelet.maxPods [since 1.15]
          Karpenter refuses the expression unless the feature gate `NodeClassCEL` is on; it is off by default, and then no nodes launch from the EC2NodeClass
          help: set `settings.awsFeatureGates.nodeClassCEL: true` in the Helm values, or write a plain value
        ");
        assert_eq!(findings_with(&RULE, &text, &at("1.14")), "");
        let values = |on: bool| {
            format!("{text}---\nsettings: {{clusterName: a, awsFeatureGates: {{nodeClassCEL: {on}}}}}\n")
        };
        assert!(findings_with(&RULE, &values(false), &at("1.15")).contains("error EC2NodeClass"));
        silent(&RULE, &values(true));
        let deployment = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.15.0
        env: [{name: AWS_FEATURE_GATES, value: "NodeClassCEL=true"}]
"#;
        silent(&RULE, &format!("{text}---\n{deployment}"));
    }

    #[test]
    fn a_number_in_quotes_is_an_expression() {
        let output = findings_with(&RULE, &class("AL2023", "{maxPods: '110'}"), &at("1.15"));
        assert!(output.contains("without quotes: `110`"), "{output}");
    }

    #[test]
    fn accepts_plain_values() {
        silent(&RULE, &class("AL2023", "{maxPods: 110, kubeReserved: {cpu: 100m}}"));
    }
}
