use karpenter::api::EnumValue;
use karpenter::release::{ReleaseSet, Releases};
use manifest::edit::Change;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};
use values::spelling::{add_quoted, nearest};

rule! {
    /// ## What it does
    ///
    /// Checks the fields that accept only certain values, such as `consolidationPolicy`, `operator` and `amiFamily`,
    /// against the values that each release supports.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// `WhenUnderutilized` of v1beta1 is `WhenEmptyOrUnderutilized` in v1; `Gte` and `Lte` exist since 1.9, `Balanced`
    /// since 1.14.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     consolidationPolicy: WhenUnderutilized
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     consolidationPolicy: WhenEmptyOrUnderutilized
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: the nearest value may not be the value that was meant.
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "unknown enum value",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::OneOf(words) => Some(explain(refusal.place.clone(), words, &refusal.releases)),
        _ => None,
    });
}

/// Reports a value that the releases do not support.
fn explain<'d>(place: Place<'d>, words: &'static [EnumValue], releases: &ReleaseSet) -> Finding<'d> {
    let node = place.node();
    let text = node.as_str().unwrap_or_default();
    let name = super::name_of(node);
    if let Some(word) = words.iter().find(|word| word.text == text) {
        let message = format!("`{name}` is `{text}`, which Karpenter supports only {}", word.releases.when());
        return Finding::new(&RULE, place, message)
            .help(format!("write another value; {}", supported(words, releases)));
    }
    let finding = super::invalid_value(&RULE, place, "not a supported value");
    let near = instead(text).or_else(|| nearest(text, words.iter().map(|word| word.text)));
    let Some(near) = near.filter(|near| words.iter().any(|word| word.text == *near)) else {
        return finding.help(supported(words, releases));
    };
    let finding = finding.help(format!("write `{near}`; {}", supported(words, releases)));
    finding.unsafe_fix(&format!("write `{near}`"), Change::Set(node, near.to_owned()))
}

/// Current value for a value of an older API or a common mistake.
fn instead(text: &str) -> Option<&'static str> {
    match text {
        "WhenUnderutilized" => Some("WhenEmptyOrUnderutilized"),
        "Ubuntu" => Some("Custom"),
        _ => None,
    }
}

fn supported(words: &[EnumValue], releases: &ReleaseSet) -> String {
    let mut names = String::new();
    for word in words.iter().filter(|word| word.releases.meets(releases)) {
        add_quoted(&mut names, word.text);
    }
    format!("the supported values are {names}")
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn pool(rest: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: g, kind: k, name: a}}
      requirements:
{rest}"
        )
    }

    #[test]
    fn checks_values_against_each_release() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let text = pool(
            "      - {key: a, operator: Gte, values: ['1']}\n      - {key: b, operator: in, values: ['1']}\n",
        );
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &range), @r#"
          9 |       - {key: a, operator: Gte, values: ['1']}
            |                            ^^^
        error NodePool/a spec.template.spec.requirements[0].operator [until 1.8]
          `operator` is `Gte`, which Karpenter supports only since 1.9; the API server refuses the NodePool (until 1.8)
          help: write another value; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
         10 |       - {key: b, operator: in, values: ['1']}
            |                            ^^
        error NodePool/a spec.template.spec.requirements[1].operator [all]
          `operator` is `in`, which is not a supported value; the API server refuses the NodePool
          help: write `In`; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte`, `Lte`
          unsafe fix: write `In`: "In"
        "#);
        silent(&super::RULE, &pool("      - {key: a, operator: Gte, values: ['1']}\n"));
    }

    #[test]
    fn suggests_the_current_value_only_for_fields_that_have_it() {
        let class = |field: &str| {
            let text = format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{field}}}
"
            );
            findings(&super::RULE, &text)
        };
        assert!(class("amiFamily: Ubuntu").contains("help: write `Custom`; the supported values are"));
        let elsewhere = class("amiFamily: WhenUnderutilized");
        assert!(elsewhere.contains("help: the supported values are") && !elsewhere.contains("fix:"));
    }

    #[test]
    fn accepts_a_placeholder_whose_default_is_a_supported_value() {
        let class = |family: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{amiFamily: '${{FAMILY:={family}}}'}}
"
            )
        };
        silent(&super::RULE, &class("AL2023"));
        assert!(findings(&super::RULE, &class("Debian")).contains("info EC2NodeClass/a"));
    }

    #[test]
    fn shortens_a_long_value() {
        let class = |length: usize| {
            let text = format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{amiFamily: {}}}
",
                "é".repeat(length)
            );
            findings(&super::RULE, &text)
        };
        assert!(class(60).contains(&format!("`amiFamily` is `{}`,", "é".repeat(60))));
        assert!(class(61).contains(&format!("`amiFamily` is `{}…`,", "é".repeat(60))));
    }
}
