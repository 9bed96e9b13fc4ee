use karpenter::metrics::OF_1_0;
use karpenter::release::Releases;
use objects::metric_queries;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{On, Runs};

use crate::rules::metric_use;

rule! {
    /// ## What it does
    ///
    /// Checks the queries of Prometheus rules, alert files and Grafana dashboards for Karpenter metrics that exist only
    /// before 1.0. Dashboards may be in a ConfigMap.
    ///
    /// ## Why it is bad
    ///
    /// Release 1.0 renamed 21 metrics and dropped ten. An alert on a series that no longer exists never fires, and nothing
    /// reports it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: monitoring.coreos.com/v1
    /// kind: PrometheusRule
    /// metadata:
    ///   name: karpenter
    /// spec:
    ///   groups:
    ///     - name: karpenter
    ///       rules: [{alert: PoolIsFull, expr: karpenter_nodepool_usage / karpenter_nodepool_limit > 0.9}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: monitoring.coreos.com/v1
    /// kind: PrometheusRule
    /// metadata:
    ///   name: karpenter
    /// spec:
    ///   groups:
    ///     - name: karpenter
    ///       rules: [{alert: PoolIsFull, expr: karpenter_nodepools_usage / karpenter_nodepools_limit > 0.9}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.0/upgrading/v1-migration.md of aws/karpenter-provider-aws, "Updated metrics"
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        summary: "an alert or dashboard uses a metric that no release since 1.0 exports",
        runs: Runs::OnFiles,
        on: &[On::MetricQueries],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let queries = metric_queries::queries(object);
    for change in OF_1_0 {
        let uses = queries.iter().flat_map(|query| metric_use::uses(*query, change));
        let mut uses = uses.filter(|found| !found.matches_both());
        let Some(first) = uses.next() else { continue };
        let more = uses.map(|found| found.place());
        findings.push(
            more.fold(first.finding(&RULE), |finding, place| finding.related(place, "the same metric")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_renamed_and_dropped_metrics() {
        let text = r"groups:
- rules:
  - expr: rate(karpenter_pods_startup_time_seconds_bucket[5m]) > karpenter_consistency_errors
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          3 |   - expr: rate(karpenter_pods_startup_time_seconds_bucket[5m]) > karpenter_consistency_errors
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / groups[0].rules[0].expr [all]
          Karpenter exports `karpenter_pods_startup_duration_seconds` instead of `karpenter_pods_startup_time_seconds`: this part of the expression matches no series
          help: write `karpenter_pods_startup_duration_seconds`, or match both names while you still query older series
          3 |   - expr: rate(karpenter_pods_startup_time_seconds_bucket[5m]) > karpenter_consistency_errors
            |                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning / groups[0].rules[0].expr [all]
          Karpenter does not export `karpenter_consistency_errors` any more: this part of the expression matches no series
          help: remove the expression; no metric replaces it
        ");
    }

    #[test]
    fn reports_each_metric_once() {
        let text = r"groups:
- rules:
  - expr: karpenter_nodepool_usage
  - expr: karpenter_nodepool_usage > 1
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          3 |   - expr: karpenter_nodepool_usage
            |           ^^^^^^^^^^^^^^^^^^^^^^^^
        warning / groups[0].rules[0].expr [all]
          Karpenter exports `karpenter_nodepools_usage` instead of `karpenter_nodepool_usage`: this part of the expression matches no series
          help: write `karpenter_nodepools_usage`, or match both names while you still query older series
          see line 4 groups[0].rules[1].expr: the same metric
        ");
    }

    #[test]
    fn accepts_a_query_with_both_names() {
        silent(
            &super::RULE,
            "groups:\n- rules:\n  - expr: karpenter_nodepools_usage or karpenter_nodepool_usage\n",
        );
    }

    #[test]
    fn accepts_current_metrics() {
        silent(
            &super::RULE,
            "groups:\n- rules:\n  - expr: karpenter_nodes_terminated_total + karpenter_nodepools_usage\n",
        );
    }
}
