use karpenter::api::{BOOTSTRAP_FIELDS, is_kubelet_field};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;

use crate::rules::ami_family;

rule! {
    /// ## What it does
    ///
    /// Finds fields of `spec.kubelet` of an EC2NodeClass that the AMI family cannot apply.
    ///
    /// ## Why it is bad
    ///
    /// Only AL2023 boots with a complete configuration of the kubelet. AL2, Bottlerocket and Windows get twelve fields through
    /// the parameters of their bootstrap tools, Bottlerocket without `podsPerCore`, and all of them only one address in
    /// `clusterDNS`. Since 1.15 Karpenter refuses everything else: the condition `ValidationSucceeded` is false with the
    /// reason `UnsupportedKubeletConfiguration`, the EC2NodeClass is not Ready, and no nodes launch from it. Until 1.14 the
    /// API server accepts only the twelve fields, and Karpenter ignores what a family does not apply. Karpenter does not
    /// check the family `Custom`.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.44.0}]
    ///   kubelet: {registryPullQPS: 10}
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
    ///   kubelet: {registryPullQPS: 10}
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws, "AMI Family Support"
    /// - `validateKubeletFieldsSupported` in pkg/controllers/nodeclass/validation.go at 88f4899
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "a kubelet setting that the AMI family cannot apply",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const EFFECT: &str = "the EC2NodeClass is not Ready, and no nodes launch from it";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(kubelet) = class.kubelet() else { return };
    let family = match ami_family::family_of(class) {
        Some(ImageFamily::Al2) => "AL2",
        Some(ImageFamily::Bottlerocket) => "Bottlerocket",
        Some(ImageFamily::Windows) => "Windows",
        Some(ImageFamily::Al2023 | ImageFamily::Custom) | None => return,
    };
    for (name, node) in kubelet.node().members() {
        let is_applied =
            BOOTSTRAP_FIELDS.contains(&name) && !(family == "Bottlerocket" && name == "podsPerCore");
        if node.is_null() || is_applied || !is_kubelet_field(name) || name == "registerWithTaints" {
            continue;
        }
        let message = format!("{family} cannot apply the kubelet field `{name}`; {EFFECT}");
        findings.push(
            Finding::new(&RULE, Place::key(node), message)
                .releases(Releases::since(15))
                .help("remove the field, set it in `spec.userData`, or use the AMI family `AL2023`"),
        );
    }
    if let Some(addresses) = kubelet.cluster_dns().filter(|list| list.is_sequence() && list.len() > 1) {
        let message = format!(
            "{family} takes only one address in `clusterDNS`, but there are {}; {EFFECT}",
            addresses.len()
        );
        findings.push(
            Finding::at(&RULE, addresses, message)
                .releases(Releases::since(15))
                .help("write one address, or use the AMI family `AL2023`"),
        );
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
    fn reports_fields_that_the_family_cannot_apply_since_1_15() {
        let text = class(
            "Bottlerocket",
            "{podsPerCore: 2, maxPods: 10, syncFrequency: 1m, clusterDNS: [10.0.0.1, 10.0.0.2]}",
        );
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @"
          6 |   kubelet: {podsPerCore: 2, maxPods: 10, syncFrequency: 1m, clusterDNS: [10.0.0.1, 10.0.0.2]}
            |             ^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.podsPerCore [since 1.15]
          Bottlerocket cannot apply the kubelet field `podsPerCore`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: remove the field, set it in `spec.userData`, or use the AMI family `AL2023`
          6 |   kubelet: {podsPerCore: 2, maxPods: 10, syncFrequency: 1m, clusterDNS: [10.0.0.1, 10.0.0.2]}
            |                                          ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.syncFrequency [since 1.15]
          Bottlerocket cannot apply the kubelet field `syncFrequency`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: remove the field, set it in `spec.userData`, or use the AMI family `AL2023`
          6 |   kubelet: {podsPerCore: 2, maxPods: 10, syncFrequency: 1m, clusterDNS: [10.0.0.1, 10.0.0.2]}
            |                                                             ^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.clusterDNS [since 1.15]
          Bottlerocket takes only one address in `clusterDNS`, but there are 2; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write one address, or use the AMI family `AL2023`
        ");
        assert_eq!(findings_with(&RULE, &text, &at("1.14")), "");
    }

    #[test]
    fn accepts_the_twelve_fields_everywhere_and_every_field_on_al2023_and_custom() {
        let twelve =
            "{podsPerCore: 2, maxPods: 10, cpuCFSQuota: true, clusterDNS: [10.0.0.1], evictionHard: {}}";
        for family in ["AL2", "Windows2022", "AL2023", "Custom"] {
            silent(&RULE, &class(family, twelve));
        }
        for family in ["AL2023", "Custom", "'${FAMILY}'"] {
            silent(&RULE, &class(family, "{syncFrequency: 1m, clusterDNS: [a, b]}"));
        }
        // Another rule reports fields that no kubelet has.
        silent(&RULE, &class("AL2", "{bogus: 1, syncFrequency: null}"));
    }
}
