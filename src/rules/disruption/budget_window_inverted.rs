use super::budgets::{self, Budget};
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use values::cron::{Schedule, Windows};
use values::duration::Duration;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use values::spelling::add_quoted;

rule! {
    /// ## What it does
    ///
    /// Finds reasons for disruption that a NodePool's budgets limit at certain times only: every budget about the reason has
    /// a schedule, together they leave gaps, and none of them forbids anything.
    ///
    /// ## Why it is bad
    ///
    /// A budget limits while it is active, and does nothing at any other time. `35%` from 1:00 to 5:00 reads like "drift
    /// nodes in these hours"; it means "in these hours no more than 35 % at a time, and as many as you like for the rest of
    /// the day". To allow disruption in a window, forbid it outside: a budget of `"0"` for the other hours.
    ///
    /// Budgets of `"0"` that leave gaps are left alone, because "not in business hours" is what they say. So are NodePools
    /// whose budgets say nothing of a reason at all.
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
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `GetAllowedDisruptions`, 1.0-1.14: unlimited where not active
    RULE {
        name: "budget-window-inverted",
        family: Family::Disruption,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "disruption is limited in a window and unlimited outside it",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(all) = budgets::of(object) else { return };
    let mut told: Vec<(&Budget<'d>, String, Windows)> = Vec::new();
    for reason in budgets::REASONS {
        let Some((first, windows)) = limiting(&all, reason) else { continue };
        let covered = Windows::of(&windows);
        if covered.always.is_full() {
            continue;
        }
        match told.iter_mut().find(|(budget, _, _)| budget.node == first.node) {
            Some((_, reasons, _)) => add_quoted(reasons, reason),
            None => told.push((first, format!("`{reason}`"), covered)),
        }
    }
    for (budget, reasons, covered) in told {
        let message = format!(
            "this budget limits disruption to {} while its window is open; at all other times nothing limits {reasons}, and \
             all nodes may go at once",
            budget.nodes,
        );
        drafts.push(Draft::new(&RULE, budget.place(), message).help(help(&covered)));
    }
}

/// The first of the budgets for a reason, and the windows of all; nothing where one of them has none, or forbids: then
/// the gaps are what its author meant to leave.
fn limiting<'b, 'd>(all: &'b [Budget<'d>], reason: &str) -> Option<(&'b Budget<'d>, Vec<(Schedule, Duration)>)> {
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

/// The budgets that close the gaps, where a few do.
fn help(covered: &Windows) -> String {
    let rest = covered.always.complement().as_schedules();
    let exact = covered.always == covered.sometimes;
    if exact && rest.len() <= 3 {
        let mut budgets = String::new();
        for (schedule, duration) in rest {
            let duration = duration.concise();
            add_quoted(&mut budgets, &format!("{{nodes: \"0\", schedule: \"{schedule}\", duration: {duration}}}"));
        }
        format!("to disrupt in the window alone, leave the schedule out here and add {budgets}")
    } else {
        "to disrupt in the window alone, leave the schedule out here and add budgets of `\"0\"` for the other times".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(budgets: &[&str]) -> String {
        let items: Vec<_> = budgets.iter().map(|budget| format!("    - {{{budget}}}\n")).collect();
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  disruption:\n    budgets:\n{}",
            items.concat()
        )
    }

    #[test]
    fn the_help_names_what_closes_the_gap() {
        insta::assert_snapshot!(
            findings(&RULE, &pool(&["nodes: 35%, reasons: [Drifted], schedule: '0 1 * * mon', duration: 4h"])),
            @r#"
          7 |     - {nodes: 35%, reasons: [Drifted], schedule: '0 1 * * mon', duration: 4h}
            |               ^^^
        warning NodePool/a spec.disruption.budgets[0] [1.0-1.14]
          this budget limits disruption to 35% while its window is open; at all other times nothing limits `Drifted`, and all nodes may go at once
          help: to disrupt in the window alone, leave the schedule out here and add `{nodes: "0", schedule: "0 5 * * mon", duration: 164h}`
        "#
        );
    }

    #[test]
    fn a_budget_without_reasons_is_about_all_of_them() {
        let said = findings(&RULE, &pool(&["nodes: '5', schedule: '@daily', duration: 8h"]));
        assert!(said.contains("`Drifted`, `Underutilized`, `Empty`"), "{said}");
    }

    #[test]
    fn limits_at_all_times_and_freezes_are_left_alone() {
        for budgets in [
            &["nodes: 10%"][..],
            &["nodes: 10%", "nodes: '5', schedule: '@daily', duration: 8h"],
            &["nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h"],
            &["nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h", "nodes: 50%, schedule: '0 22 * * *', duration: 4h"],
            &["nodes: 20%, schedule: '@daily', duration: 12h", "nodes: 50%, schedule: '0 12 * * *', duration: 12h"],
            &["nodes: 20%, schedule: '0 0 30 2 *', duration: 1h"],
            &["nodes: 20%, schedule: 'not one', duration: 1h"],
            &["nodes: '${N}', schedule: '@daily', duration: 1h"],
        ] {
            silent(&RULE, &pool(budgets));
        }
    }
}
