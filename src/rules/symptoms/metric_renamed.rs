use karpenter::kind::Kind;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::On;
use manifest::source::Span;
use objects::object::Object;
use objects::prometheus_rule::PrometheusRule;

rule! {
    /// ## What it does
    ///
    /// Checks the expressions of Prometheus rules for Karpenter metrics, and values of their `reason` label, that a
    /// release renames.
    ///
    /// ## Why it is bad
    ///
    /// An alert on a series that no longer exists never fires, and nothing reports it.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.2 to 1.3
    /// apiVersion: monitoring.coreos.com/v1
    /// kind: PrometheusRule
    /// metadata:
    ///   name: karpenter
    /// spec:
    ///   groups:
    ///     - name: karpenter
    ///       rules: [{alert: PodsIgnored, expr: karpenter_ignored_pod_count > 0}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.2 to 1.3
    /// apiVersion: monitoring.coreos.com/v1
    /// kind: PrometheusRule
    /// metadata:
    ///   name: karpenter
    /// spec:
    ///   groups:
    ///     - name: karpenter
    ///       rules: [{alert: PodsIgnored, expr: karpenter_scheduler_ignored_pods_count > 0}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.2.0, 1.3.0 and 1.7.0. It writes `karpenter_scheduler_ignored_pod_count`, but the source has
    ///   `ignored_pods_count` (pkg/controllers/provisioning/scheduling/metrics.go of kubernetes-sigs/karpenter at
    ///   v1.3.0).
    UPGRADE {
        name: "metric-renamed",
        family: Family::Symptoms,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(2),
        summary: "an alert uses a metric, or a value of its `reason` label, that a release renames",
        on: &[
            On::Kind(Kind::of("monitoring.coreos.com", "v1", "PrometheusRule")),
            On::Kind(Kind::of("operator.victoriametrics.com", "v1beta1", "VMRule")),
        ],
        inventory: &[],
    }
}

/// A renamed metric, or a renamed value of the label `reason`.
struct Renamed {
    /// Minor release with the new name.
    since: u8,
    /// Metrics that have the label value; empty for the name of a metric.
    of: &'static [&'static str],
    /// Old name.
    was: &'static str,
    /// New name.
    is: &'static str,
}

const REASONS: &[&str] = &["karpenter_voluntary_disruption_queue_failures_total", DISRUPTED];
const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

const RENAMED: [Renamed; 7] = [
    Renamed { since: 2, of: REASONS, was: "Drifted", is: "drifted" },
    Renamed { since: 2, of: REASONS, was: "Empty", is: "empty" },
    Renamed { since: 2, of: REASONS, was: "Expired", is: "expired" },
    Renamed { since: 2, of: REASONS, was: "Underutilized", is: "underutilized" },
    Renamed {
        since: 3,
        of: &[],
        was: "karpenter_ignored_pod_count",
        is: "karpenter_scheduler_ignored_pods_count",
    },
    Renamed {
        since: 7,
        of: &[],
        was: "karpenter_pods_pods_drained_total",
        is: "karpenter_pods_drained_total",
    },
    Renamed { since: 7, of: &[DISRUPTED], was: "liveness", is: "registration_timeout" },
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for expression in PrometheusRule::of(object).expressions() {
        let Some(text) = expression.as_str() else { continue };
        for Renamed { since, of, was, is } in &RENAMED {
            let applies = of.is_empty() || of.iter().any(|metric| words(text, metric).next().is_some());
            let up = |word| (word, Releases::since(*since), *is);
            let down = |word| (word, Releases::until(*since - 1), *was);
            let changes = [up(*was), down(*is)];
            for (word, releases, instead) in changes.into_iter().filter(|_| applies) {
                for at in words(text, word) {
                    let place = Place::within(expression, Span::new(at, at + word.len()));
                    let message = format!(
                        "Karpenter exports `{instead}` instead of `{word}`: this part of the expression matches no series"
                    );
                    let help =
                        format!("write `{instead}`, or match both names while you still query older series");
                    findings.push(Finding::new(&RULE, place, message).releases(releases).help(help));
                }
            }
        }
    }
}

/// Returns the byte offsets at which a text contains a whole word.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn alert(expression: &str) -> String {
        format!(
            "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: a}}\nspec:\n  groups:\n  - rules:\n    - expr: {expression}\n"
        )
    }

    #[test]
    fn reports_each_name_since_the_release_that_renames_it() {
        let reasons = alert("karpenter_nodeclaims_disrupted_total{reason=~\"Drifted|liveness\"} > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.1", "1.14", &reasons), @r#"
        from 1.2 on
        from 1.7 on
          7 |     - expr: karpenter_nodeclaims_disrupted_total{reason=~"Drifted|liveness"} > 0
            |                                                           ^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.2]
          Karpenter exports `drifted` instead of `Drifted`: this part of the expression matches no series
          help: write `drifted`, or match both names while you still query older series
          7 |     - expr: karpenter_nodeclaims_disrupted_total{reason=~"Drifted|liveness"} > 0
            |                                                                   ^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.7]
          Karpenter exports `registration_timeout` instead of `liveness`: this part of the expression matches no series
          help: write `registration_timeout`, or match both names while you still query older series
        "#);
        begins_nothing(&super::RULE, "1.7", "1.14", &reasons);
        begins_nothing(&super::RULE, "1.0", "1.1", &reasons);
        let ignored = alert("sum(karpenter_ignored_pod_count) > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.2", "1.3.0", &ignored), @"
        from 1.3 on
          7 |     - expr: sum(karpenter_ignored_pod_count) > 0
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.3]
          Karpenter exports `karpenter_scheduler_ignored_pods_count` instead of `karpenter_ignored_pod_count`: this part of the expression matches no series
          help: write `karpenter_scheduler_ignored_pods_count`, or match both names while you still query older series
        ");
        begins_nothing(&super::RULE, "1.3", "1.14", &ignored);
        let drained = alert("rate(karpenter_pods_pods_drained_total[5m]) > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", &drained), @"
        from 1.7 on
          7 |     - expr: rate(karpenter_pods_pods_drained_total[5m]) > 0
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.7]
          Karpenter exports `karpenter_pods_drained_total` instead of `karpenter_pods_pods_drained_total`: this part of the expression matches no series
          help: write `karpenter_pods_drained_total`, or match both names while you still query older series
        ");
        begins_nothing(&super::RULE, "1.0", "1.6", &drained);
    }

    #[test]
    fn downgrades_restore_the_old_names() {
        let ignored = alert("karpenter_scheduler_ignored_pods_count > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.3.0", "1.2.0", &ignored), @"
        from 1.2 down
          7 |     - expr: karpenter_scheduler_ignored_pods_count > 0
            |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [until 1.2]
          Karpenter exports `karpenter_ignored_pod_count` instead of `karpenter_scheduler_ignored_pods_count`: this part of the expression matches no series
          help: write `karpenter_ignored_pod_count`, or match both names while you still query older series
        ");
        begins_nothing(&super::RULE, "1.0", "1.14", &ignored);
    }

    #[test]
    fn other_metrics_and_partial_words_are_not_reported() {
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("other_total{reason=\"Drifted\"} > 0"));
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("my_karpenter_ignored_pod_count > 0"));
    }
}
