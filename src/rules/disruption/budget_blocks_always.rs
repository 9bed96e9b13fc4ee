use disruption::budget::{self as budgets, Budget};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Severity};
use lint::rule::{Fixes, On};
use manifest::tree::Node;
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use objects::object::Object;
use values::cron::BudgetWindows;
use values::spelling::add_quoted;

rule! {
    /// ## What it does
    ///
    /// Finds reasons for disruption that the budgets of a NodePool forbid at all times: by a budget of `"0"` without a
    /// schedule, or by several budgets of `"0"` whose windows together cover the whole week.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter never consolidates the nodes, or never replaces drifted ones: they keep the image and the settings
    /// that they were launched with until they expire, if they expire. The log says
    /// `No allowed disruptions for disruption reason …`.
    ///
    /// A NodePool may be frozen on purpose. If the budgets forbid only consolidation, the severity of the finding is
    /// `info`.
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
    ///         schedule: "0 0 * * *"
    ///         duration: 24h
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
    ///       - nodes: 10%
    ///       - nodes: "0"
    ///         schedule: "0 8 * * mon-fri"
    ///         duration: 10h
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#1691, #1866, #2218, aws/karpenter-provider-aws#8925
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `GetAllowedDisruptionsByReason`, 1.0-1.14
    RULE {
        name: "budget-blocks-always",
        family: Family::Disruption,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "budgets forbid disruption at all times",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some(all) = budgets::of(pool) else { return };
    let (mut reasons, mut drifted, mut blockers) = (String::new(), false, Vec::new());
    for reason in budgets::REASONS {
        let blocking = blocking(&all, reason);
        if !blocking.is_empty() {
            add_quoted(&mut reasons, reason);
            drifted |= reason == "Drifted";
            blockers = if blockers.is_empty() { blocking } else { blockers };
        }
    }
    let Some((first, others)) = blockers.split_first() else { return };
    let when = match first.window {
        None => "has no schedule",
        Some(_) if others.is_empty() => "is active at all times",
        Some(_) => "and the other budgets of 0 cover the whole week",
    };
    // An expired node is replaced whatever the budgets say. The default of `expireAfter` is 720h.
    let expire_after = pool.claim_spec().and_then(NodeClaimSpec::expire_after);
    let expires = expire_after.and_then(Node::as_str) != Some("Never");
    let old = match (drifted, expires) {
        (false, _) => "",
        (true, true) => "; nodes keep the image and settings that they were launched with until they expire",
        (true, false) => "; nodes keep the image and settings that they were launched with",
    };
    let message = format!(
        "this budget of 0 {when}, so Karpenter never disrupts the nodes of the NodePool for {reasons}{old}"
    );
    let mut finding = Finding::new(&RULE, first.place(), message)
        .help("leave some time in which Karpenter may disrupt nodes; if the NodePool is frozen on purpose, suppress the finding");
    for other in others {
        finding = finding.related(other.place(), "also forbids disruption");
    }
    findings.push(if drifted { finding } else { finding.severity(Severity::Info) });
}

/// Returns the budgets that forbid disruption for a reason at all times: all budgets without a schedule, or else all
/// budgets with a schedule if their windows together cover the whole week.
fn blocking<'b, 'd>(all: &'b [Budget<'d>], reason: &str) -> Vec<&'b Budget<'d>> {
    let (mut unscheduled, mut scheduled, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    for budget in all {
        if !budget.blocks() || !budget.covers(reason) {
            continue;
        }
        match budget.window {
            None => unscheduled.push(budget),
            Some(window) => {
                scheduled.push(budget);
                windows.push(window);
            }
        }
    }
    let together =
        unscheduled.is_empty() && !windows.is_empty() && BudgetWindows::of(&windows).always.is_full();
    if together { scheduled } else { unscheduled }
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
    fn reports_windows_that_together_cover_the_week() {
        let budgets = [
            "nodes: '0', schedule: '0 16 * * mon-fri', duration: 16h",
            "nodes: 0%, schedule: '0 8 * * *', duration: 8h",
            "nodes: '0', schedule: '0 0 * * sat,sun', duration: 24h",
            "nodes: '0', schedule: '0 0 * * mon', duration: 8h",
        ];
        insta::assert_snapshot!(findings(&RULE, &pool(&budgets)), @"
          7 |     - {nodes: '0', schedule: '0 16 * * mon-fri', duration: 16h}
            |               ^^^
        warning NodePool/a spec.disruption.budgets[0] [all]
          this budget of 0 and the other budgets of 0 cover the whole week, so Karpenter never disrupts the nodes of the NodePool for `Drifted`, `Underutilized`, `Empty`; nodes keep the image and settings that they were launched with until they expire
          help: leave some time in which Karpenter may disrupt nodes; if the NodePool is frozen on purpose, suppress the finding
          see line 8 spec.disruption.budgets[1]: also forbids disruption
          see line 9 spec.disruption.budgets[2]: also forbids disruption
          see line 10 spec.disruption.budgets[3]: also forbids disruption
        ");
        silent(&RULE, &pool(budgets.get(..3).unwrap()));
    }

    #[test]
    fn freeze_of_consolidation_alone_is_an_info() {
        let output = findings(&RULE, &pool(&["nodes: '0', reasons: [Underutilized, Empty]", "nodes: 10%"]));
        assert!(output.contains("info NodePool/a"), "{output}");
        insta::assert_snapshot!(findings(&RULE, &pool(&["nodes: '0'"])), @"
          7 |     - {nodes: '0'}
            |               ^^^
        warning NodePool/a spec.disruption.budgets[0] [all]
          this budget of 0 has no schedule, so Karpenter never disrupts the nodes of the NodePool for `Drifted`, `Underutilized`, `Empty`; nodes keep the image and settings that they were launched with until they expire
          help: leave some time in which Karpenter may disrupt nodes; if the NodePool is frozen on purpose, suppress the finding
        ");
    }

    #[test]
    fn gaps_and_other_numbers_are_not_reported() {
        for budgets in [
            &["nodes: '1'"][..],
            &["nodes: 0%, schedule: '0 0 * * *', duration: 23h"],
            &["nodes: '0', schedule: '@weekly', duration: 167h"],
            &["nodes: '0', schedule: '@monthly', duration: 720h"],
            &["nodes: '0', schedule: bad, duration: 720h", "nodes: '0'"],
        ] {
            silent(&RULE, &pool(budgets));
        }
    }
}
