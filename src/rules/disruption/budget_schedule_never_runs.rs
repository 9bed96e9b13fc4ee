use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds disruption budgets whose schedule matches no day of any year, such as 30 February.
    ///
    /// ## Why it is bad
    ///
    /// One would expect such a budget never to be active. In fact it is always active: Karpenter asks for the next run
    /// of the schedule, gets the zero time because there is no next run, and takes it for a time in the past.
    ///
    /// `karpwarden disruption` shows how many nodes the budgets allow at each moment of a week, and which budget decides.
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
    ///       - nodes: 10%
    ///       - nodes: "0"
    ///         schedule: "0 0 30 2 *"
    ///         duration: 24h
    /// ```
    ///
    /// ## Use instead
    ///
    /// Remove the budget, or write the intended day.
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
    ///       - nodes: 10%
    /// ```
    ///
    /// ## References
    ///
    /// - robfig/cron v3.0.1 spec.go `Next` returns the zero time when it finds no run
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `IsActive`, 1.0-1.14
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the schedule of a disruption budget matches no day, so the budget is always active",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(_: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for budget in context.budgets().unwrap_or_default() {
        let never = budget.window.is_some_and(|(schedule, _)| schedule.never_runs());
        if let Some(node) = budget.item.schedule().filter(|_| never) {
            let message = format!(
                "`{}` matches no day of any year, and Karpenter treats a budget whose schedule never runs as always active",
                node.as_str().unwrap_or_default()
            );
            let help = "remove the budget if it should not apply, or write a day that exists";
            findings.push(Finding::at(&RULE, node, message).help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(schedule: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption:
    budgets:
    - {{nodes: '1', duration: 1h, schedule: '{schedule}'}}
"
        )
    }

    #[test]
    fn reports_schedule_that_matches_no_day() {
        insta::assert_snapshot!(findings(&RULE, &pool("0 0 31 4,6,9,11 *")), @"
          7 |     - {nodes: '1', duration: 1h, schedule: '0 0 31 4,6,9,11 *'}
            |                                            ^^^^^^^^^^^^^^^^^^^
        warning NodePool/a spec.disruption.budgets[0].schedule [all]
          `0 0 31 4,6,9,11 *` matches no day of any year, and Karpenter treats a budget whose schedule never runs as always active
          help: remove the budget if it should not apply, or write a day that exists
        ");
    }

    #[test]
    fn rare_days_are_not_reported() {
        for schedule in ["0 0 29 2 *", "0 0 31 4 mon", "0 0 31 * *", "@yearly"] {
            silent(&RULE, &pool(schedule));
        }
    }
}
