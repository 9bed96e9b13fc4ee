use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use values::duration::Duration;
use karpenter::release::Releases;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for pods whose annotation `karpenter.sh/do-not-disrupt` is a duration.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.11 only `"true"` counts, and a duration does nothing. From 1.12 on it protects the pod, and with it the node,
    /// for that time after the pod has started. An upgrade makes nodes stay that were free to go; on the way down the
    /// protection is gone.
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
    /// To mean the same in every release:
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
    UPGRADE {
        name: "do-not-disrupt-duration",
        family: Family::Disruption,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(12),
        summary: "a duration in `karpenter.sh/do-not-disrupt` begins to protect pods, or ceases to",
        on: &[On::Workload],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let annotation =
        object.pod().and_then(|pod| pod.at_path(&["metadata", "annotations", "karpenter.sh/do-not-disrupt"]));
    let Some((annotation, value)) = annotation.and_then(|node| Some((node, node.as_str()?))) else { return };
    if !Duration::parse(value).is_ok_and(|duration| duration.nanoseconds() > 0) {
        return;
    }
    let up = format!("`{value}` begins to count: the pod's node is not disrupted before the pod has run that long");
    drafts.push(
        Draft::new(&RULE, Place::value(annotation), up)
            .help("remove the annotation where that is not wanted; write `\"true\"` to protect the pod for good"),
    );
    let down = format!("`{value}` counts no more: this release knows `\"true\"` only, and the pod's node is disrupted at any time");
    drafts.push(
        Draft::new(&RULE, Place::value(annotation), down)
            .releases(Releases::until(11))
            .help("write `\"true\"` before the downgrade, which protects the pod for good"),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pod(value: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    metadata:\n      annotations:\n        karpenter.sh/do-not-disrupt: {value}\n    spec: {{containers: []}}\n"
        )
    }

    #[test]
    fn durations_count_from_1_12_on() {
        insta::assert_snapshot!(begins(&super::RULE, "1.11", "1.12.0", &pod("1h30m")), @r#"
        from 1.12 on
          8 |         karpenter.sh/do-not-disrupt: 1h30m
            |                                      ^^^^^
        warning Deployment/a spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [1.12-1.14]
          `1h30m` begins to count: the pod's node is not disrupted before the pod has run that long
          help: remove the annotation where that is not wanted; write `"true"` to protect the pod for good
        "#);
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.11.0", &pod("4h")), @r#"
        from 1.11 down
          8 |         karpenter.sh/do-not-disrupt: 4h
            |                                      ^^
        warning Deployment/a spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [1.0-1.11]
          `4h` counts no more: this release knows `"true"` only, and the pod's node is disrupted at any time
          help: write `"true"` before the downgrade, which protects the pod for good
        "#);
        begins_nothing(&super::RULE, "1.8", "1.11", &pod("4h"));
        begins_nothing(&super::RULE, "1.12.0", "1.14", &pod("4h"));
        begins_nothing(&super::RULE, "1.14", "1.12", &pod("4h"));
        for value in ["'true'", "'false'", "0s", "-5m", "1d", "''"] {
            begins_nothing(&super::RULE, "1.0", "1.14", &pod(value));
        }
    }
}
