use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks in the expressions of Prometheus rules for metrics of Karpenter, and values of their label `reason`, that a
    /// release calls otherwise.
    ///
    /// ## Why it is bad
    ///
    /// An alert on a series that is no more never fires, and nothing says so.
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
    /// - Upgrade guide, 1.2.0, 1.3.0 and 1.7.0. It says `karpenter_scheduler_ignored_pod_count`; the source has
    ///   `ignored_pods_count` (pkg/controllers/provisioning/scheduling/metrics.go of kubernetes-sigs/karpenter at v1.3.0).
    UPGRADE {
        name: "metric-renamed",
        family: Family::Symptoms,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(2),
        summary: "an alert asks for a metric, or for a value of its label, that a release calls otherwise",
        on: &[
            On::Kind(Kind::of("monitoring.coreos.com", "v1", "PrometheusRule")),
            On::Kind(Kind::of("operator.victoriametrics.com", "v1beta1", "VMRule")),
        ],
        inventory: &[],
    }
}

/// A name that changed: the minor that changed it, the metrics it belongs to (none for a metric's own name), and what it
/// was and is.
struct Renamed {
    since: u8,
    of: &'static [&'static str],
    was: &'static str,
    is: &'static str,
}

const REASONS: &[&str] = &["karpenter_voluntary_disruption_queue_failures_total", DISRUPTED];
const DISRUPTED: &str = "karpenter_nodeclaims_disrupted_total";

const RENAMED: [Renamed; 7] = [
    Renamed { since: 2, of: REASONS, was: "Drifted", is: "drifted" },
    Renamed { since: 2, of: REASONS, was: "Empty", is: "empty" },
    Renamed { since: 2, of: REASONS, was: "Expired", is: "expired" },
    Renamed { since: 2, of: REASONS, was: "Underutilized", is: "underutilized" },
    Renamed { since: 3, of: &[], was: "karpenter_ignored_pod_count", is: "karpenter_scheduler_ignored_pods_count" },
    Renamed { since: 7, of: &[], was: "karpenter_pods_pods_drained_total", is: "karpenter_pods_drained_total" },
    Renamed { since: 7, of: &[DISRUPTED], was: "liveness", is: "registration_timeout" },
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let groups = object.items_at(&["spec", "groups"]);
    let rules = groups.filter_map(|group| group.get("rules")).flat_map(Node::items);
    for expression in rules.filter_map(|rule| rule.get("expr")) {
        let Some(text) = expression.as_str() else { continue };
        for Renamed { since, of, was, is } in &RENAMED {
            let concerns = of.is_empty() || of.iter().any(|metric| words(text, metric).next().is_some());
            let up = |word| (word, Releases::since(*since), *is);
            let down = |word| (word, Releases::until(*since - 1), *was);
            let changes = [up(*was), down(*is)];
            for (word, releases, instead) in changes.into_iter().filter(|_| concerns) {
                for at in words(text, word) {
                    let place = Place::within(expression, Span::new(at, at + word.len()));
                    let message = format!("`{word}` is called `{instead}`: this expression finds nothing by it");
                    let help = format!("write `{instead}`, or ask for both while the older series are read");
                    drafts.push(Draft::new(&RULE, place, message).releases(releases).help(help));
                }
            }
        }
    }
}

/// The places of a whole word in a text.
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
    fn each_name_changes_with_its_release() {
        let reasons = alert("karpenter_nodeclaims_disrupted_total{reason=~\"Drifted|liveness\"} > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.1", "1.14", &reasons), @r#"
        from 1.2 on
        from 1.7 on
          7 |     - expr: karpenter_nodeclaims_disrupted_total{reason=~"Drifted|liveness"} > 0
            |                                                           ^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [1.2-1.14]
          `Drifted` is called `drifted`: this expression finds nothing by it
          help: write `drifted`, or ask for both while the older series are read
          7 |     - expr: karpenter_nodeclaims_disrupted_total{reason=~"Drifted|liveness"} > 0
            |                                                                   ^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [1.7-1.14]
          `liveness` is called `registration_timeout`: this expression finds nothing by it
          help: write `registration_timeout`, or ask for both while the older series are read
        "#);
        begins_nothing(&super::RULE, "1.7", "1.14", &reasons);
        begins_nothing(&super::RULE, "1.0", "1.1", &reasons);
        let ignored = alert("sum(karpenter_ignored_pod_count) > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.2", "1.3.0", &ignored), @"
        from 1.3 on
          7 |     - expr: sum(karpenter_ignored_pod_count) > 0
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [1.3-1.14]
          `karpenter_ignored_pod_count` is called `karpenter_scheduler_ignored_pods_count`: this expression finds nothing by it
          help: write `karpenter_scheduler_ignored_pods_count`, or ask for both while the older series are read
        ");
        begins_nothing(&super::RULE, "1.3", "1.14", &ignored);
        let drained = alert("rate(karpenter_pods_pods_drained_total[5m]) > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", &drained), @"
        from 1.7 on
          7 |     - expr: rate(karpenter_pods_pods_drained_total[5m]) > 0
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [1.7-1.14]
          `karpenter_pods_pods_drained_total` is called `karpenter_pods_drained_total`: this expression finds nothing by it
          help: write `karpenter_pods_drained_total`, or ask for both while the older series are read
        ");
        begins_nothing(&super::RULE, "1.0", "1.6", &drained);
    }

    #[test]
    fn on_the_way_down_the_old_names_are_back() {
        let ignored = alert("karpenter_scheduler_ignored_pods_count > 0");
        insta::assert_snapshot!(begins(&super::RULE, "1.3.0", "1.2.0", &ignored), @"
        from 1.2 down
          7 |     - expr: karpenter_scheduler_ignored_pods_count > 0
            |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning PrometheusRule/a spec.groups[0].rules[0].expr [1.0-1.2]
          `karpenter_scheduler_ignored_pods_count` is called `karpenter_ignored_pod_count`: this expression finds nothing by it
          help: write `karpenter_ignored_pod_count`, or ask for both while the older series are read
        ");
        begins_nothing(&super::RULE, "1.0", "1.14", &ignored);
    }

    #[test]
    fn reasons_of_other_metrics_and_parts_of_words_are_left_alone() {
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("other_total{reason=\"Drifted\"} > 0"));
        begins_nothing(&super::RULE, "1.0", "1.14", &alert("my_karpenter_ignored_pod_count > 0"));
    }
}
