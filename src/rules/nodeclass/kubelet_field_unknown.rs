use crate::rules::absent_fields::AbsentFields;
use karpenter::api::OWN_KUBELET_FIELD;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use objects::validation::{What, refusals_of_kubelet};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Finds fields of `spec.kubelet` of an EC2NodeClass that the kubelet's configuration does not have, and the field
    /// that Karpenter sets itself.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 the API server accepts every field below `spec.kubelet`. Karpenter reads the section as the configuration
    /// of the kubelet that it was built with. A field that this configuration does not have makes the condition
    /// `ValidationSucceeded` false: the EC2NodeClass is not Ready, and no nodes launch from it. Until 1.14 the API server
    /// refuses such a field; `api-unknown-field` reports that.
    ///
    /// The rule knows the fields of k8s.io/kubelet 0.36, which the main branch used shortly before 1.15. A release may be built
    /// with a later version that has more fields, so a field that resembles no known field is a warning. Karpenter also
    /// checks the fields within `authentication`, `logging` and other objects; this rule does not.
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
    ///   kubelet: {maxPod: 110}
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
    ///   kubelet: {maxPods: 110}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: the field with the nearest name may not be the field that was meant.
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws, `spec.kubelet`
    /// - `validateAgainstUpstreamType` and `karpenterOwnedFields` in pkg/apis/v1/kubeletconfiguration_validation.go at 88f4899
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(15),
        fix: Fixes::Unsafe,
        summary: "a field below `spec.kubelet` that the kubelet's configuration does not have",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of fields that the rule reports. The kubelet's configuration has fewer than 200.
const MAX_REPORTED: usize = 1_000;

const EFFECT: &str = "the EC2NodeClass is not Ready, and no nodes launch from it";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(kubelet) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::kubelet) else { return };
    let mut absent = AbsentFields::default();
    let refusals = refusals_of_kubelet(kubelet).into_iter();
    let unknown_fields = refusals.filter(|refusal| matches!(refusal.what, What::Unknown(..)));
    for refusal in unknown_fields.take(MAX_REPORTED) {
        let What::Unknown(fields, _) = refusal.what else { continue };
        let node = refusal.place.node();
        if !has_placeholder(node.key()) {
            findings.push(unknown(node, absent.around(node, fields.iter().map(|field| field.name))));
        }
    }
    if let Some(taints) = kubelet.node().get(OWN_KUBELET_FIELD) {
        let message = format!("Karpenter sets `{OWN_KUBELET_FIELD}` itself; {EFFECT}");
        let help = "write `spec.template.spec.taints` of the NodePool";
        findings
            .push(Finding::new(&RULE, Place::key(taints), message).releases(Releases::since(15)).help(help));
    }
}

fn unknown<'d>(node: Node<'d>, absent: Option<&[&'static str]>) -> Finding<'d> {
    let name = node.key();
    let message = format!("the kubelet's configuration has no field `{name}`; {EFFECT}");
    let finding = Finding::new(&RULE, Place::key(node), message).releases(Releases::since(15));
    match absent.and_then(|absent| nearest(name, absent.iter().copied())) {
        Some(near) => finding.rename(node, near),
        None => finding
            .severity(Severity::Warning)
            .help("remove the field; set a field of a later kubelet in `spec.userData`"),
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
    fn reports_unknown_fields_since_1_15_with_the_nearest_one() {
        let text = class("AL2023", "{maxPod: 110, bogus: 1}");
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @r#"
          6 |   kubelet: {maxPod: 110, bogus: 1}
            |             ^^^^^^
        error EC2NodeClass/a spec.kubelet.maxPod [since 1.15]
          the kubelet's configuration has no field `maxPod`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `maxPods`
          unsafe fix: write `maxPods`: "maxPods"
          6 |   kubelet: {maxPod: 110, bogus: 1}
            |                          ^^^^^
        warning EC2NodeClass/a spec.kubelet.bogus [since 1.15]
          the kubelet's configuration has no field `bogus`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: remove the field; set a field of a later kubelet in `spec.userData`
        "#);
        assert_eq!(findings_with(&RULE, &text, &at("1.14")), "");
    }

    #[test]
    fn reports_the_field_that_karpenter_sets() {
        let text = class("AL2023", "{registerWithTaints: []}");
        insta::assert_snapshot!(findings_with(&RULE, &text, &at("1.15")), @"
          6 |   kubelet: {registerWithTaints: []}
            |             ^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.registerWithTaints [since 1.15]
          Karpenter sets `registerWithTaints` itself; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `spec.template.spec.taints` of the NodePool
        ");
    }

    #[test]
    fn suggests_names_for_a_hundred_fields() {
        let kubelet = |bogus: usize| {
            let others: Vec<_> = (0..bogus).map(|index| format!("bogus{index}: 1")).collect();
            class("AL2023", &format!("{{{}, maxPod: 110}}", others.join(", ")))
        };
        let suggests = |text: &str| findings_with(&RULE, text, &at("1.15")).contains("write `maxPods`");
        assert!(suggests(&kubelet(99)));
        assert!(!suggests(&kubelet(100)));
    }

    #[test]
    fn reports_a_thousand_fields() {
        let others: Vec<_> = (0..1_001).map(|index| format!("bogus{index}: 1")).collect();
        let found =
            findings_with(&RULE, &class("AL2023", &format!("{{{}}}", others.join(", "))), &at("1.15"));
        assert_eq!(found.matches("has no field").count(), 1_000);
    }

    #[test]
    fn accepts_every_field_of_the_kubelet() {
        for kubelet in [
            "{maxPods: 110, registryPullQPS: 10, featureGates: {A: true}, logging: {format: json}}",
            "{memorySwap: {swapBehavior: LimitedSwap}, shutdownGracePeriod: 30s}",
            "{'${FIELD}': 1}",
            "many",
        ] {
            silent(&RULE, &class("AL2023", kubelet));
        }
    }
}
