use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::kubelet_expression;

rule! {
    /// ## What it does
    ///
    /// Checks the expressions in `maxPods`, `kubeReserved` and `systemReserved` of an EC2NodeClass: their syntax, the names
    /// of variables and functions, and the types.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 these fields may have an expression of CEL, which Karpenter evaluates for each instance type, behind the
    /// feature gate `NodeClassCEL`. If an expression does not compile, the condition `ValidationSucceeded` is false with the
    /// reason `KubeletExpressionInvalid`: the EC2NodeClass is not Ready, and no nodes launch from it.
    ///
    /// The rule judges arithmetic, comparison, logic, the conditional, `min`, `max`, `int` and `double`, and accepts all
    /// other parts of CEL.
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
    ///   kubelet: {kubeReserved: {cpu: "max(60, vcpu * 30)"}}
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
    ///   kubelet: {kubeReserved: {cpu: "max(60, vcpus * 30)"}}
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws, "Dynamic Kubelet Configuration via
    ///   Expressions"
    /// - pkg/cel/environment.go at 88f4899
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "an expression for the kubelet does not compile",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(kubelet) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::kubelet) else { return };
    for (node, text) in kubelet.expressions() {
        let Err(error) = kubelet_expression::check(text) else { continue };
        // The rule `kubelet-config-invalid` reports misspelt quantities.
        if node.key() != "maxPods" && !kubelet_expression::is_probable(text) {
            continue;
        }
        let message = format!(
            "the expression does not compile: {error}; the EC2NodeClass is not Ready, and no nodes launch from it"
        );
        findings.push(Finding::at(&RULE, node, message).releases(Releases::since(15)).help(error.help()));
    }
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
    fn reports_expressions_that_do_not_compile_since_1_15() {
        let text = class(
            "AL2023",
            "{maxPods: vcpus >, kubeReserved: {cpu: vcpus * 1.5, memory: 1Gi, pid: memory_mb / 2}}",
        );
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @"
          6 |   kubelet: {maxPods: vcpus >, kubeReserved: {cpu: vcpus * 1.5, memory: 1Gi, pid: memory_mb / 2}}
            |                      ^^^^^^^
        error EC2NodeClass/a spec.kubelet.maxPods [since 1.15]
          the expression does not compile: it ends too early; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write an expression such as `max(60, vcpus * 30)`, or a plain value
          6 |   kubelet: {maxPods: vcpus >, kubeReserved: {cpu: vcpus * 1.5, memory: 1Gi, pid: memory_mb / 2}}
            |                                                   ^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.kubeReserved.cpu [since 1.15]
          the expression does not compile: `*` does not take a whole number and a fraction together; the EC2NodeClass is not Ready, and no nodes launch from it
          help: convert one side with `int()` or `double()`: CEL does not mix whole numbers and fractions
          6 |   kubelet: {maxPods: vcpus >, kubeReserved: {cpu: vcpus * 1.5, memory: 1Gi, pid: memory_mb / 2}}
            |                                                                                  ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.kubeReserved.pid [since 1.15]
          the expression does not compile: there is no variable `memory_mb`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `memory_mib`
        ");
        assert_eq!(findings_with(&RULE, &text, &at("1.14")), "");
    }

    #[test]
    fn accepts_valid_expressions_quantities_and_placeholders() {
        for kubelet in [
            "{maxPods: '((default_enis - 1) * (ips_per_eni - 1)) + 2'}",
            "{maxPods: 110, systemReserved: {cpu: 100m, memory: 'max(100, memory_mib / 64)'}}",
            "{maxPods: '${MAX_PODS}', kubeReserved: {cpu: 'vcpu * ${FACTOR}'}}",
            "{kubeReserved: {memory: 1GB}}",
        ] {
            silent(&RULE, &class("AL2023", kubelet));
        }
    }
}
