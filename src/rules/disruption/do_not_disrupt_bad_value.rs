use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::duration::Duration;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks the value of the annotation `karpenter.sh/do-not-disrupt` of pods.
    ///
    /// ## Why it is bad
    ///
    /// Only `"true"` protects the pod, and since 1.12 a positive duration such as `4h`. Karpenter ignores every other value,
    /// such as `"True"`, `"yes"` or `1d`: it evicts the pod when it consolidates or replaces the node.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations: {karpenter.sh/do-not-disrupt: "yes"}
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations: {karpenter.sh/do-not-disrupt: "true"}
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix is offered for words that mean yes, and protects the pod as the author wanted.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#752, kubernetes-sigs/karpenter#2874
    /// - pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.11.2 and v1.12.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        fix: Fixes::Safe,
        summary: "Karpenter ignores the value of `karpenter.sh/do-not-disrupt`, so the pod is not protected",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// Ways to write yes, which show what the author means.
const YES: [&str; 6] = ["True", "TRUE", "yes", "Yes", "on", "1"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let annotation = Pod::of(object).and_then(|pod| pod.metadata().annotation(DO_NOT_DISRUPT));
    let Some((node, text)) = annotation.and_then(|node| Some((node, node.as_str()?))) else { return };
    let means_no = ["false", "False", "FALSE", "no", "0"].contains(&text);
    if text == "true" || means_no || has_placeholder(text) {
        return;
    }
    let is_duration = Duration::parse(text).is_ok_and(|duration| duration.nanoseconds() > 0);
    let accepted = if is_duration {
        "this release accepts only `\"true\"`"
    } else {
        "only `\"true\"`, and since 1.12 a positive duration, has an effect"
    };
    let message = format!("Karpenter ignores `{text}`, because {accepted}: it may evict the pod at any time");
    let finding = Finding::at(&RULE, node, message)
        .help("write `\"true\"` to protect the pod, or remove the annotation");
    let finding = if is_duration { finding.releases(Releases::until(11)) } else { finding };
    let is_yes = YES.contains(&text);
    findings.push(if is_yes {
        finding.safe_fix("write `\"true\"`", Change::Set(node, "true".to_owned()))
    } else {
        finding
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use rule::settings::{Settings, Target};

    fn pod(value: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: {{karpenter.sh/do-not-disrupt: {value}}}
spec: {{containers: []}}
"
        )
    }

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_values_without_effect() {
        insta::assert_snapshot!(findings(&RULE, &pod("'yes'")), @r#"
          5 |   annotations: {karpenter.sh/do-not-disrupt: 'yes'}
            |                                              ^^^^^
        warning Pod/a metadata.annotations.karpenter.sh/do-not-disrupt [all]
          Karpenter ignores `yes`, because only `"true"`, and since 1.12 a positive duration, has an effect: it may evict the pod at any time
          help: write `"true"` to protect the pod, or remove the annotation
          fix: write `"true"`: "'true'"
        "#);
        assert_eq!(fixed(&RULE, &pod("'yes'")), pod("'true'"));
        for value in ["1d", "'0s'", "'-5m'", "''", "always"] {
            let report = findings(&RULE, &pod(value));
            assert!(report.contains("Karpenter ignores") && !report.contains("fix:"), "{value}");
        }
    }

    #[test]
    fn durations_have_no_effect_until_1_11() {
        assert!(findings_with(&RULE, &pod("4h"), &at("1.11")).contains("this release accepts only"));
        assert_eq!(findings_with(&RULE, &pod("4h"), &at("1.12")), "");
    }

    #[test]
    fn accepts_true_false_and_placeholders() {
        for value in ["'true'", "'false'", "'${PROTECT}'", "30m"] {
            silent(&RULE, &pod(value));
        }
    }
}
