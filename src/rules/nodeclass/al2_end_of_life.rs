use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds node classes that use Amazon Linux 2: the alias `al2@…`, `amiFamily: AL2`, or the names of its EKS images.
    /// If the cluster's Kubernetes version is known to be 1.33 or later, the alias is an error.
    ///
    /// ## Why it is bad
    ///
    /// EKS publishes no Amazon Linux 2 image for Kubernetes 1.33 and later, and stopped publishing images for older
    /// versions on 2025-11-26. After an upgrade to 1.33 the alias matches no image: `AMIsReady=False`, since Karpenter
    /// 1.6 with the reason `UnsupportedAlias`, and no node starts. Nodes on older versions get no more security
    /// updates.
    ///
    /// A custom image that is selected by ID or tag keeps working, so it is only a warning.
    ///
    /// ## Example
    ///
    /// ```yaml,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// Amazon Linux 2023 reads a NodeConfig instead of arguments to `/etc/eks/bootstrap.sh`, so adapt `userData` too.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7753, #8151
    /// - pkg/controllers/nodeclass/ami.go at v1.6.0 and v1.14.1, pkg/providers/amifamily/al2.go
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the node class uses Amazon Linux 2, for which EKS publishes no more images",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// First minor version of Kubernetes without Amazon Linux 2 images.
const WITHOUT_IMAGES: u8 = 33;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    const HELP: &str = "migrate to `al2023` or `bottlerocket`; their `userData` has a different format";
    let minor = context.settings.kubernetes_minor;
    let gone = minor.is_some_and(|minor| minor >= WITHOUT_IMAGES);
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let find_term = |field: TermField, fits: &dyn Fn(&str) -> bool| {
        let terms = class.terms(SelectorField::Amis).items();
        terms.filter_map(|term| term.field(field)).find(|node| node.as_str().is_some_and(fits))
    };
    if let Some(alias) = find_term(TermField::Alias, &|alias| alias.to_ascii_lowercase().starts_with("al2@"))
    {
        let finding = if let Some(minor) = minor.filter(|_| gone) {
            let message = format!(
                "EKS publishes no Amazon Linux 2 image for Kubernetes 1.{minor}, so the alias matches no image and no node \
                 starts"
            );
            Finding::at(&RULE, alias, message).severity(Severity::Error).caught_by(CaughtBy::Controller)
        } else {
            let message = "EKS publishes no more Amazon Linux 2 images; on Kubernetes 1.33 and later the alias matches no \
                           image and no node starts";
            Finding::new(&RULE, Place::value(alias), message)
        };
        findings.push(finding.help(HELP));
        return;
    }
    let image = find_term(TermField::Name, &|name| {
        name.starts_with("amazon-eks-node-1.") || name.starts_with("amazon-eks-gpu-node-1.")
    });
    let family = class.ami_family().filter(|node| node.as_str() == Some("AL2"));
    if let Some(node) = image.or(family) {
        let message = "this EC2NodeClass uses Amazon Linux 2; EKS publishes no more images for it, and never published any \
                       for Kubernetes 1.33 and later";
        findings.push(Finding::new(&RULE, Place::value(node), message).help(HELP));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn class(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {spec}
"
        )
    }

    fn kubernetes(minor: u8) -> Settings {
        Settings { kubernetes_minor: Some(minor), ..Settings::default() }
    }

    #[test]
    fn reports_alias_as_error_if_no_image_exists() {
        let text = class("amiSelectorTerms: [{alias: al2@latest}]");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &kubernetes(33)), @"
          5 |   amiSelectorTerms: [{alias: al2@latest}]
            |                              ^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [all]
          EKS publishes no Amazon Linux 2 image for Kubernetes 1.33, so the alias matches no image and no node starts
          help: migrate to `al2023` or `bottlerocket`; their `userData` has a different format
        ");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &kubernetes(32)), @"
          5 |   amiSelectorTerms: [{alias: al2@latest}]
            |                              ^^^^^^^^^^
        warning EC2NodeClass/a spec.amiSelectorTerms[0].alias [all]
          EKS publishes no more Amazon Linux 2 images; on Kubernetes 1.33 and later the alias matches no image and no node starts
          help: migrate to `al2023` or `bottlerocket`; their `userData` has a different format
        ");
        assert_eq!(findings(&super::RULE, &text), findings_with(&super::RULE, &text, &kubernetes(32)));
    }

    #[test]
    fn warns_about_images_selected_by_id_or_name() {
        let text = class("amiFamily: AL2\n  amiSelectorTerms: [{id: ami-0123456789abcdef0}]");
        assert!(findings_with(&super::RULE, &text, &kubernetes(33)).contains("warning"));
        let text = class("amiFamily: AL2\n  amiSelectorTerms: [{name: 'amazon-eks-node-1.31-*'}]");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &kubernetes(33)), @"
          6 |   amiSelectorTerms: [{name: 'amazon-eks-node-1.31-*'}]
            |                             ^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.amiSelectorTerms[0].name [all]
          this EC2NodeClass uses Amazon Linux 2; EKS publishes no more images for it, and never published any for Kubernetes 1.33 and later
          help: migrate to `al2023` or `bottlerocket`; their `userData` has a different format
        ");
    }

    #[test]
    fn ignores_other_families() {
        for spec in [
            "amiSelectorTerms: [{alias: al2023@latest}]",
            "amiSelectorTerms: [{alias: bottlerocket@latest}]",
            "amiFamily: AL2023\n  amiSelectorTerms: [{name: 'amazon-eks-node-al2023-x86_64-standard-1.31-*'}]",
            "amiFamily: Custom\n  amiSelectorTerms: [{tags: {Name: al2}}]",
        ] {
            silent(&super::RULE, &class(spec));
        }
    }
}
