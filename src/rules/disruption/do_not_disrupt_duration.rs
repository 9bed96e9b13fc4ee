use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};
use values::duration::Duration;

rule! {
    /// ## What it does
    ///
    /// Finds pods whose `karpenter.sh/do-not-disrupt` annotation is a duration.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.11 only `"true"` has an effect, and Karpenter ignores a duration. Since 1.12 a duration protects the
    /// pod, and with it the node, for that time after the pod starts. After an upgrade, Karpenter keeps nodes that it
    /// could disrupt before; after a downgrade, the pods lose their protection.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.11 to 1.12
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations: {karpenter.sh/do-not-disrupt: 4h}
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Write a value that means the same in every release:
    ///
    /// ```yaml,from=1.11 to 1.12
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations: {karpenter.sh/do-not-disrupt: "true"}
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2874
    /// - pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.11.2 and v1.12.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(12),
        summary: "a duration in `karpenter.sh/do-not-disrupt` starts or stops protecting pods",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let annotation = Pod::of(object).and_then(|pod| pod.metadata().annotation(DO_NOT_DISRUPT));
    let Some((annotation, value)) = annotation.and_then(|node| Some((node, node.as_str()?))) else { return };
    if !Duration::parse(value).is_ok_and(|duration| duration.nanoseconds() > 0) {
        return;
    }
    let up = format!(
        "`{value}` takes effect: Karpenter does not disrupt the pod's node until the pod has run that long"
    );
    findings.push(
        Finding::new(&RULE, Place::value(annotation), up)
            .help("remove the annotation if you do not want this; write `\"true\"` to protect the pod for as long as it runs"),
    );
    let down = format!(
        "`{value}` has no effect: this release accepts only `\"true\"`, and Karpenter may disrupt the pod's node at any time"
    );
    findings.push(
        Finding::new(&RULE, Place::value(annotation), down)
            .releases(Releases::until(11))
            .help("write `\"true\"` before the downgrade to protect the pod for as long as it runs"),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pod(value: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    metadata:
      annotations:
        karpenter.sh/do-not-disrupt: {value}
    spec: {{containers: []}}
"
        )
    }

    #[test]
    fn durations_take_effect_since_1_12() {
        insta::assert_snapshot!(begins(&super::RULE, "1.11", "1.12.0", &pod("1h30m")), @r#"
        from 1.12 on
          8 |         karpenter.sh/do-not-disrupt: 1h30m
            |                                      ^^^^^
        warning Deployment/a spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [since 1.12]
          `1h30m` takes effect: Karpenter does not disrupt the pod's node until the pod has run that long
          help: remove the annotation if you do not want this; write `"true"` to protect the pod for as long as it runs
        "#);
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.11.0", &pod("4h")), @r#"
        from 1.11 down
          8 |         karpenter.sh/do-not-disrupt: 4h
            |                                      ^^
        warning Deployment/a spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [until 1.11]
          `4h` has no effect: this release accepts only `"true"`, and Karpenter may disrupt the pod's node at any time
          help: write `"true"` before the downgrade to protect the pod for as long as it runs
        "#);
        begins_nothing(&super::RULE, "1.8", "1.11", &pod("4h"));
        begins_nothing(&super::RULE, "1.12.0", "1.14", &pod("4h"));
        begins_nothing(&super::RULE, "1.14", "1.12", &pod("4h"));
        for value in ["'true'", "'false'", "0s", "-5m", "1d", "''"] {
            begins_nothing(&super::RULE, "1.0", "1.14", &pod(value));
        }
    }
}
