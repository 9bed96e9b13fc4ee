use karpenter::metrics::LATER;
use karpenter::release::Releases;
use objects::metric_queries;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{On, Phase, Runs};

use crate::rules::metric_use;

rule! {
    /// ## What it does
    ///
    /// Checks the queries of Prometheus rules, alert files and Grafana dashboards for Karpenter metrics, labels and values
    /// of labels that a release renames or drops. Dashboards may be in a ConfigMap.
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
    /// - Upgrade guide, 1.1.0, 1.2.0, 1.3.0, 1.7.0 and 1.15.0. For 1.3 it writes
    ///   `karpenter_scheduler_ignored_pod_count`, but the source has `ignored_pods_count`
    ///   (pkg/controllers/provisioning/scheduling/metrics.go of kubernetes-sigs/karpenter at v1.3.0). The changes of 1.15
    ///   come from the guide of the main branch shortly before the release.
    /// - kubernetes-sigs/karpenter#2364, #2757, #3323
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        summary: "an alert or dashboard uses a metric, a label or a value that a release renames or drops",
        phase: Phase::With,
        runs: Runs::OnUpgrade,
        on: &[On::MetricQueries],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for query in metric_queries::queries(object) {
        for found in LATER.iter().flat_map(|change| metric_use::uses(query, change)) {
            findings.push(found.finding(&RULE));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn alert(expression: &str) -> String {
        format!(
            r"apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {{name: a}}
spec:
  groups:
  - rules:
    - expr: {expression}
"
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
          Karpenter exports `registration_timeout` and `launch_timeout` instead of `liveness`: this part of the expression matches no series
          help: match both `registration_timeout` and `launch_timeout`, and `liveness` while you still query older series
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
        let launch = alert("karpenter_nodeclaims_disrupted_total{reason=\"launch_timeout\"} > 0");
        assert!(
            begins(&super::RULE, "1.7.0", "1.6.0", &launch)
                .contains("exports `liveness` instead of `launch_timeout`")
        );
        begins_nothing(&super::RULE, "1.6", "1.15", &launch);
    }

    #[test]
    fn reports_dropped_metrics_and_labels() {
        let text = alert(
            "sum by (capacity_type) (karpenter_nodeclaims_created_total) / karpenter_nodes_leases_deleted_total",
        );
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.6", &text), @"
        from 1.6 on
        from 1.1 on
          7 |     - expr: sum by (capacity_type) (karpenter_nodeclaims_created_total) / karpenter_nodes_leases_deleted_total
            |                     ^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.6]
          the metric has no label `capacity_type` any more: this part of the expression matches no series
          help: remove `capacity_type` from the expression
          7 |     - expr: sum by (capacity_type) (karpenter_nodeclaims_created_total) / karpenter_nodes_leases_deleted_total
            |                                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.1]
          Karpenter does not export `karpenter_nodes_leases_deleted_total` any more: this part of the expression matches no series
          help: remove the expression; no metric replaces it
        ");
        begins_nothing(&super::RULE, "1.6", "1.15", &text);
        let controller = alert("controller_runtime_reconcile_errors_total{controller=\"nodeclass.status\"}");
        assert!(begins(&super::RULE, "1.1", "1.2", &controller).contains("`nodeclass`"));
        begins_nothing(&super::RULE, "1.2", "1.1", &controller.replace("nodeclass.status", "nodeclass"));
    }

    #[test]
    fn reports_the_changes_of_1_9_and_1_15() {
        let evictions = alert("rate(karpenter_nodes_eviction_requests_total[5m]) > 1");
        assert!(
            begins(&super::RULE, "1.8", "1.9", &evictions).contains("karpenter_pods_eviction_requests_total")
        );
        let text = alert(
            "'karpenter_nodepools_allowed_disruptions{reason=\"Drifted\"} + karpenter_cloudprovider_errors_total{error=\"\"}'",
        );
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.15", &text), @r#"
        from 1.15 on
        from 1.15 on
          7 |     - expr: 'karpenter_nodepools_allowed_disruptions{reason="Drifted"} + karpenter_cloudprovider_errors_total{error=""}'
            |                                                              ^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.15]
          Karpenter exports `drifted` instead of `Drifted`: this part of the expression matches no series
          help: write `drifted`, or match both names while you still query older series
          7 |     - expr: 'karpenter_nodepools_allowed_disruptions{reason="Drifted"} + karpenter_cloudprovider_errors_total{error=""}'
            |                                                                                                               ^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [since 1.15]
          Karpenter exports `error="unknown"` instead of `error=""`: this part of the expression matches no series
          help: write `error="unknown"`, or match both names while you still query older series
        "#);
        begins_nothing(&super::RULE, "1.0", "1.14", &text);
        begins_nothing(&super::RULE, "1.15.0", "1.15", &text);
    }

    #[test]
    fn reads_alert_files_and_dashboards() {
        let file = r"groups:
- name: a
  rules:
  - {alert: A, expr: karpenter_ignored_pod_count > 0}
";
        assert!(begins(&super::RULE, "1.2", "1.3", file).contains("groups[0].rules[0].expr"));
        let dashboard = "{\"panels\": [{\"targets\": [{\"expr\": \"karpenter_ignored_pod_count\"}]}]}";
        assert!(begins(&super::RULE, "1.2", "1.3", dashboard).contains("panels[0].targets[0].expr"));
        let map = format!(
            r"apiVersion: v1
kind: ConfigMap
metadata: {{name: a}}
data:
  a.json: |
    {dashboard}
"
        );
        insta::assert_snapshot!(begins(&super::RULE, "1.2", "1.3.0", &map), @r#"
        from 1.3 on
          6 |     {"panels": [{"targets": [{"expr": "karpenter_ignored_pod_count"}]}]}
            |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning ConfigMap/a data.a.json [since 1.3]
          Karpenter exports `karpenter_scheduler_ignored_pods_count` instead of `karpenter_ignored_pod_count`: this part of the expression matches no series
          help: write `karpenter_scheduler_ignored_pods_count`, or match both names while you still query older series
        "#);
        begins_nothing(&super::RULE, "1.3", "1.15", &map);
    }

    #[test]
    fn other_metrics_and_partial_words_are_not_reported() {
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("other_total{reason=\"Drifted\"} > 0"));
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("my_karpenter_ignored_pod_count > 0"));
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("karpenter_ignored_pod_count_sum > 0"));
    }
}
