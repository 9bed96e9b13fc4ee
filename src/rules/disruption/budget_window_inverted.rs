use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::budget::{self as budgets, Budget};
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::cron::{BudgetWindows, Schedule};
use values::duration::{Duration, NillableDuration};
use values::spelling::add_quoted;

rule! {
    /// ## What it does
    ///
    /// Finds reasons for disruption that the budgets of a NodePool limit only at certain times: every budget for the
    /// reason has a schedule, the windows together leave gaps, and no budget for the reason is `"0"`.
    ///
    /// ## Why it is bad
    ///
    /// A budget limits disruption while it is active, and has no effect at any other time. `35%` from 1:00 to 5:00
    /// reads like "replace drifted nodes in these hours". It means "at most 35 % at a time in these hours, and any
    /// number of nodes for the rest of the day". To allow disruption only in a window, forbid it outside the window:
    /// add a budget of `"0"` for the other hours.
    ///
    /// The rule does not report budgets of `"0"` that leave gaps, because they say exactly what is meant, for instance
    /// "not in business hours". It also does not report a reason that no budget of the NodePool limits.
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
    ///       - nodes: 35%
    ///         reasons: [Drifted]
    ///         schedule: "0 1 * * mon"
    ///         duration: 4h
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
    ///       - nodes: 35%
    ///         reasons: [Drifted]
    ///       - nodes: "0"
    ///         reasons: [Drifted]
    ///         schedule: "0 5 * * mon"
    ///         duration: 164h
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2183, #2374, #2218, aws/karpenter-provider-aws#8290
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `GetAllowedDisruptions`, 1.0-1.14: unlimited if not active
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "disruption is limited inside a window and unlimited outside it",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(all) = context.budgets() else { return };
    let mut inverted: Vec<(&Budget<'d>, String, BudgetWindows)> = Vec::new();
    for reason in budgets::REASONS {
        let Some((first, windows)) = limiting(all, reason) else { continue };
        let covered = BudgetWindows::of(&windows);
        if covered.always.is_full() {
            continue;
        }
        match inverted.iter_mut().find(|(budget, _, _)| budget.item == first.item) {
            Some((_, reasons, _)) => add_quoted(reasons, reason),
            None => inverted.push((first, format!("`{reason}`"), covered)),
        }
    }
    for (budget, reasons, covered) in inverted {
        let message = format!(
            "this budget limits disruption to {} only while its window is open; at all other times nothing limits \
             {reasons}, and Karpenter may disrupt all nodes at once",
            budget.nodes,
        );
        // A budget of 0 does not keep nodes that expire, and `expiry-ignores-budgets` would report it. Together with another
        // budget of 0 it could block disruption for ever.
        let may_freeze = !expires(object) && !all.iter().any(|budget| budget.blocks());
        let help = if may_freeze { help(&covered) } else { LIMIT_ALWAYS.to_owned() };
        findings.push(Finding::new(&RULE, budget.place(), message).help(help));
    }
}

/// Help that is right whatever the other budgets are.
const LIMIT_ALWAYS: &str =
    "to limit disruption at all other times too, add a budget without a schedule, such as `{nodes: \"10%\"}`";

/// Whether the NodePool says that its nodes expire.
fn expires(object: Object<'_>) -> bool {
    let expiry = NodePool::of(object).and_then(NodePool::claim_spec).and_then(NodeClaimSpec::expire_after);
    let text = expiry.and_then(Node::as_str);
    text.is_some_and(|text| matches!(NillableDuration::parse(text), Ok(NillableDuration::After(_))))
}

/// Returns the first budget for a reason, and the windows of all budgets for it. `None` if one of them is always active
/// (there are no gaps), or forbids disruption (the gaps are intended).
fn limiting<'b, 'd>(
    all: &'b [Budget<'d>],
    reason: &str,
) -> Option<(&'b Budget<'d>, Vec<(Schedule, Duration)>)> {
    let (mut first, mut windows) = (None, Vec::new());
    for budget in all {
        if !budget.covers(reason) {
            continue;
        }
        if budget.blocks() {
            return None;
        }
        windows.push(budget.window?);
        first = first.or(Some(budget));
    }
    Some((first?, windows))
}

/// Returns the help text. It lists the budgets that close the gaps if at most three close them exactly.
fn help(covered: &BudgetWindows) -> String {
    let rest = covered.always.complement().as_schedules();
    let exact = covered.always == covered.sometimes;
    if exact && rest.len() <= 3 {
        let mut budgets = String::new();
        for (schedule, duration) in rest {
            let duration = duration.concise();
            add_quoted(
                &mut budgets,
                &format!("{{nodes: \"0\", schedule: \"{schedule}\", duration: {duration}}}"),
            );
        }
        format!(
            "to allow disruption only in the window, remove the schedule and duration here and add {budgets}"
        )
    } else {
        "to allow disruption only in the window, remove the schedule and duration here and add budgets of `\"0\"` for the other times".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(budgets: &[&str]) -> String {
        let items: Vec<_> = budgets.iter().map(|budget| format!("    - {{{budget}}}\n")).collect();
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption:
    budgets:
{}",
            items.concat()
        )
    }

    #[test]
    fn help_lists_the_budgets_that_close_the_gap() {
        insta::assert_snapshot!(
            findings(&RULE, &pool(&["nodes: 35%, reasons: [Drifted], schedule: '0 1 * * mon', duration: 4h"])),
            @r#"
          7 |     - {nodes: 35%, reasons: [Drifted], schedule: '0 1 * * mon', duration: 4h}
            |               ^^^
        warning NodePool/a spec.disruption.budgets[0] [all]
          this budget limits disruption to 35% only while its window is open; at all other times nothing limits `Drifted`, and Karpenter may disrupt all nodes at once
          help: to allow disruption only in the window, remove the schedule and duration here and add `{nodes: "0", schedule: "0 5 * * mon", duration: 164h}`
        "#
        );
    }

    #[test]
    fn help_limits_other_times_where_a_budget_of_0_would_be_reported() {
        let budget = "nodes: 35%, schedule: '0 1 * * mon', duration: 4h";
        let expires = pool(&[budget]) + "  template: {spec: {expireAfter: 720h}}\n";
        let never = expires.replace("720h", "Never");
        let frozen = pool(&[budget, "nodes: '0', reasons: [Empty], schedule: '0 9 * * *', duration: 8h"]);
        assert!(findings(&RULE, &expires).contains(super::LIMIT_ALWAYS));
        assert!(findings(&RULE, &frozen).contains(super::LIMIT_ALWAYS));
        assert!(!findings(&RULE, &never).contains(super::LIMIT_ALWAYS));
    }

    #[test]
    fn help_lists_no_budgets_for_many_gaps_or_for_windows_that_are_not_weekly() {
        let many = [
            "nodes: 35%, schedule: '0 1 * * mon', duration: 1h",
            "nodes: 35%, schedule: '0 2 * * tue', duration: 2h",
            "nodes: 35%, schedule: '0 3 * * wed', duration: 3h",
            "nodes: 35%, schedule: '0 4 * * thu', duration: 4h",
        ];
        for budgets in [&many[..], &["nodes: 35%, schedule: '@monthly', duration: 4h"]] {
            let output = findings(&RULE, &pool(budgets));
            assert!(output.contains("add budgets of `\"0\"` for the other times"), "{output}");
        }
    }

    #[test]
    fn budget_without_reasons_limits_every_reason() {
        let output = findings(&RULE, &pool(&["nodes: '5', schedule: '@daily', duration: 8h"]));
        assert!(output.contains("`Drifted`, `Underutilized`, `Empty`"), "{output}");
    }

    #[test]
    fn permanent_limits_and_freezes_are_not_reported() {
        for budgets in [
            &["nodes: 10%"][..],
            &["nodes: 10%", "nodes: '5', schedule: '@daily', duration: 8h"],
            &["nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h"],
            &[
                "nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h",
                "nodes: 50%, schedule: '0 22 * * *', duration: 4h",
            ],
            &[
                "nodes: 20%, schedule: '@daily', duration: 12h",
                "nodes: 50%, schedule: '0 12 * * *', duration: 12h",
            ],
            &["nodes: 20%, schedule: '0 0 30 2 *', duration: 1h"],
            &["nodes: 20%, schedule: 'not one', duration: 1h"],
            &["nodes: '${N}', schedule: '@daily', duration: 1h"],
        ] {
            silent(&RULE, &pool(budgets));
        }
    }
}
