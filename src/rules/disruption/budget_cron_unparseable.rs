use karpenter::api::pattern::SCHEDULE;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::cron::Schedule;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that Karpenter can parse the schedules of a NodePool's disruption budgets.
    ///
    /// ## Why it is bad
    ///
    /// The API server accepts almost any five words. Karpenter uses a cron parser that accepts five fields, days of the
    /// week from 0 to 6, ascending ranges, and UTC only. If Karpenter cannot parse one schedule, it allows 0
    /// disruptions for the whole NodePool, for every reason and at every hour: the nodes are never drifted or
    /// consolidated again. The log says `invariant violated, invalid cron`; no status condition shows it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption:
    ///     consolidateAfter: 5m
    ///     budgets:
    ///       - nodes: "0"
    ///         schedule: "0 9 * * 6-7"
    ///         duration: 8h
    ///       - nodes: 10%
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
    ///   disruption:
    ///     consolidateAfter: 5m
    ///     budgets:
    ///       - nodes: "0"
    ///         schedule: "0 9 * * 6,0"
    ///         duration: 8h
    ///       - nodes: 10%
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe if every scheduler that accepts the text runs it at the same times: day 7 is Sunday, a range that wraps
    /// around can be split in two, and `TZ=UTC` changes nothing. The fix is unsafe if it drops a field for seconds or
    /// years, or cuts off the hour 24.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#1866, aws/karpenter-provider-aws#7562
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `MustGetAllowedDisruptions` and `IsActive`, 1.0-1.14
    /// - robfig/cron v3.0.1 parser.go
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        supersedes: &["api-pattern"],
        summary: "Karpenter cannot parse the schedule of a disruption budget, which blocks all disruption of the NodePool",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let all_parse = context.budgets().is_some();
    let Some(pool) = NodePool::of(object).filter(|_| !all_parse) else { return };
    for budget in pool.budgets() {
        let Some(node) = budget.schedule() else { continue };
        if let Some(text) = node.as_str().filter(|text| !has_placeholder(text)) {
            findings.extend(unparseable(node, text));
        }
    }
}

fn unparseable<'d>(node: Node<'d>, text: &'d str) -> Option<Finding<'d>> {
    let error = Schedule::parse(text).err()?;
    let range = error.range();
    let place = if range.is_empty() {
        Place::value(node)
    } else {
        Place::within(node, Span::new(range.start, range.end))
    };
    let accepted = (SCHEDULE.matches)(text);
    let effect = if accepted {
        "Karpenter cannot parse this schedule, and no longer drifts or consolidates any node of the NodePool"
    } else {
        "the API server refuses this schedule"
    };
    let mut finding = Finding::new(&RULE, place, format!("{effect}: {error}"));
    if !accepted {
        finding = finding.caught_by(CaughtBy::ApiServer);
    }
    let Some(repair) = Schedule::repair(text) else {
        return Some(finding.help("write five fields in UTC (minute, hour, day of month, month, day of week), such as `0 9 * * mon-fri`"));
    };
    let (finding, change) = (finding.write(&repair.text), Change::Set(node, repair.text.clone()));
    let title = format!("write `{}`", repair.text);
    Some(if repair.keeps_meaning {
        finding.safe_fix(&title, change)
    } else {
        finding.unsafe_fix(&title, change)
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, report, silent};
    use rule::settings::Settings;

    fn pool(schedule: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption:
    budgets:
    - {{nodes: '0', duration: 8h, schedule: {schedule}}}
"
        )
    }

    #[test]
    fn points_at_the_invalid_part_of_the_schedule() {
        insta::assert_snapshot!(findings(&RULE, &pool("'0 9 * * 7'")), @r#"
          7 |     - {nodes: '0', duration: 8h, schedule: '0 9 * * 7'}
            |                                                     ^
        error NodePool/a spec.disruption.budgets[0].schedule [all]
          Karpenter cannot parse this schedule, and no longer drifts or consolidates any node of the NodePool: `7` is above 6, the largest day of week; Sunday is 0
          help: write `0 9 * * 0`
          fix: write `0 9 * * 0`: "'0 9 * * 0'"
        "#);
        insta::assert_snapshot!(findings(&RULE, &pool("\"0 22 * * fri-mon,wed\"")), @r#"
          7 |     - {nodes: '0', duration: 8h, schedule: "0 22 * * fri-mon,wed"}
            |                                                      ^^^^^^^
        error NodePool/a spec.disruption.budgets[0].schedule [all]
          Karpenter cannot parse this schedule, and no longer drifts or consolidates any node of the NodePool: `fri-mon` ends before it starts; a day of week range cannot wrap around
          help: write `0 22 * * fri-sat,sun-mon,wed`
          fix: write `0 22 * * fri-sat,sun-mon,wed`: "\"0 22 * * fri-sat,sun-mon,wed\""
        "#);
        insta::assert_snapshot!(findings(&RULE, &pool("'CRON_TZ=Europe/Berlin 0 9 * * *'")), @"
          7 |     - {nodes: '0', duration: 8h, schedule: 'CRON_TZ=Europe/Berlin 0 9 * * *'}
            |                                             ^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.disruption.budgets[0].schedule [all]
          Karpenter cannot parse this schedule, and no longer drifts or consolidates any node of the NodePool: `CRON_TZ=Europe/Berlin` is not allowed in a schedule: Karpenter reads every schedule in UTC
          help: write five fields in UTC (minute, hour, day of month, month, day of week), such as `0 9 * * mon-fri`
        ");
        insta::assert_snapshot!(findings(&RULE, &pool("'0 0 9 * * MON-FRI'")), @r#"
          7 |     - {nodes: '0', duration: 8h, schedule: '0 0 9 * * MON-FRI'}
            |                                             ^^^^^^^^^^^^^^^^^
        error NodePool/a spec.disruption.budgets[0].schedule [all]
          Karpenter cannot parse this schedule, and no longer drifts or consolidates any node of the NodePool: the schedule has 6 fields instead of 5: minute, hour, day of month, month, day of week
          help: write `0 9 * * MON-FRI`
          fix: write `0 9 * * MON-FRI`: "'0 9 * * MON-FRI'"
        "#);
    }

    #[test]
    fn reports_schedule_refused_by_api_server() {
        insta::assert_snapshot!(findings(&RULE, &pool("'0 9 * *'")), @"
          7 |     - {nodes: '0', duration: 8h, schedule: '0 9 * *'}
            |                                             ^^^^^^^
        error NodePool/a spec.disruption.budgets[0].schedule [all]
          the API server refuses this schedule: the schedule has 4 fields instead of 5: minute, hour, day of month, month, day of week
          help: write five fields in UTC (minute, hour, day of month, month, day of week), such as `0 9 * * mon-fri`
        ");
    }

    #[test]
    fn names_the_component_that_refuses_the_schedule() {
        for (schedule, component) in [("'0 9 * *'", "api-server"), ("'0 9 * * 7'", "controller")] {
            let report = report(&RULE, &pool(schedule), &Settings::default());
            let names: Vec<_> = report.findings.iter().map(|finding| finding.caught_by.name()).collect();
            assert_eq!(names, [component], "{schedule}");
        }
    }

    #[test]
    fn quotes_the_fix_where_yaml_needs_it() {
        assert_eq!(fixed(&RULE, &pool("0 9 * * 7")), pool("\"0 9 * * 0\""));
        assert_eq!(fixed(&RULE, &pool("'TZ=UTC * 9 * * 1'")), pool("'* 9 * * 1'"));
    }

    #[test]
    fn accepts_schedules_that_karpenter_parses() {
        for schedule in [
            "'0 9 * * 0-6'",
            "'@daily'",
            "'0 9 * * MON-Fri'",
            "'*/15 8-18 1,15 jan-mar ?'",
            "' 0  9 * * 1 '",
            "'0 0 30 2 *'",
            "'${SCHEDULE}'",
            "'{{ .Values.schedule }}'",
            "0",
            "null",
        ] {
            silent(&RULE, &pool(schedule));
        }
    }
}
