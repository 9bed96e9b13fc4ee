use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that the annotation `karpenter.sh/disruption-cost` of pods is a whole number of 32 bits.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 Karpenter reads the annotation when it chooses which nodes to disrupt. For another value it logs
    /// `failed parsing disruption cost`, and treats the pod as if it had no annotation. Earlier releases do not read the
    /// annotation at all.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   annotations: {karpenter.sh/disruption-cost: high}
    /// spec:
    ///   containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,karpenter=1.15
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   annotations: {karpenter.sh/disruption-cost: "1000"}
    /// spec:
    ///   containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/reference/annotations.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "the disruption cost of a pod is not a number, so Karpenter ignores it",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let annotation =
        Pod::of(object).and_then(|pod| pod.metadata().annotation("karpenter.sh/disruption-cost"));
    let Some((node, text)) = annotation.and_then(|node| Some((node, node.as_str()?))) else { return };
    if text.parse::<i32>().is_ok() || has_placeholder(text) {
        return;
    }
    let message = format!("`{text}` is not a whole number of 32 bits: Karpenter ignores the annotation");
    findings.push(
        Finding::new(&RULE, Place::value(node), message)
            .help("write a whole number in quotes, such as `\"1000\"`"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::{Settings, Target};

    fn pod(cost: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: {{karpenter.sh/disruption-cost: {cost}}}
spec: {{containers: []}}
"
        )
    }

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_costs_that_are_no_number_since_1_15() {
        insta::assert_snapshot!(findings_with(&RULE, &pod("high"), &at("1.15")), @r#"
          5 |   annotations: {karpenter.sh/disruption-cost: high}
            |                                               ^^^^
        warning Pod/a metadata.annotations.karpenter.sh/disruption-cost [since 1.15]
          `high` is not a whole number of 32 bits: Karpenter ignores the annotation
          help: write a whole number in quotes, such as `"1000"`
        "#);
        assert_eq!(findings_with(&RULE, &pod("high"), &at("1.14")), "");
        assert!(findings_with(&RULE, &pod("'2147483648'"), &at("1.15")).contains("32 bits"));
        for cost in ["'1000'", "'-2147483648'", "'${COST}'"] {
            silent(&RULE, &pod(cost));
        }
    }
}
