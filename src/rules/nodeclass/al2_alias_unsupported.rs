use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses with an `al2@…` alias when the settings give Kubernetes 1.33 or later.
    ///
    /// ## Why it is bad
    ///
    /// Amazon Linux 2 has no AMI for Kubernetes 1.33 and later. Until 1.5 Karpenter finds no AMI and keeps using the
    /// AMIs that it resolved before. Since 1.6 the EC2NodeClass reports `AMIsReady=False` with the reason
    /// `UnsupportedAlias`, and Karpenter does not use it.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.5 to 1.6,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2@latest}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.5 to 1.6,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8151
    /// - pkg/controllers/nodeclass/ami.go and pkg/providers/amifamily/ami.go at v1.6.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(6),
        summary: "the Amazon Linux 2 alias is not supported on Kubernetes 1.33 and later",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if context.settings.kubernetes_minor.is_none_or(|minor| minor < 33) {
        return;
    }
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for alias in class.ami_aliases() {
        let Some(text) = alias.as_str().filter(|text| text.starts_with("al2@")) else { continue };
        let message = format!(
            "`{text}` is not supported on Kubernetes 1.33 and later: the EC2NodeClass reports `UnsupportedAlias`, and Karpenter does not use it"
        );
        findings.push(
            Finding::new(&RULE, Place::value(alias), message)
                .help("switch to an `al2023` alias before the upgrade"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins_nothing, findings_with, on_upgrade_path};
    use rule::settings::Settings;

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiSelectorTerms:
    - alias: al2@v20250519
";

    fn with_kubernetes(minor: u8, from: &str, to: &str) -> String {
        let settings = Settings { kubernetes_minor: Some(minor), ..on_upgrade_path(from, to) };
        findings_with(&super::RULE, CLASS, &settings)
    }

    #[test]
    fn reports_al2_alias_since_1_6() {
        insta::assert_snapshot!(with_kubernetes(33, "1.5", "1.6.0"), @"
          6 |     - alias: al2@v20250519
            |              ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [since 1.6]
          `al2@v20250519` is not supported on Kubernetes 1.33 and later: the EC2NodeClass reports `UnsupportedAlias`, and Karpenter does not use it
          help: switch to an `al2023` alias before the upgrade
        ");
        assert_eq!(with_kubernetes(33, "1.0", "1.5"), "");
        assert_eq!(with_kubernetes(33, "1.6.0", "1.14"), "");
        assert_eq!(with_kubernetes(32, "1.0", "1.14"), "");
        begins_nothing(&super::RULE, "1.0", "1.14", CLASS);
    }
}
