use super::budgets;
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use values::duration::NillableDuration;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose budgets forbid disruption, at some time or at all times, and whose nodes expire all the same.
    ///
    /// ## Why it is bad
    ///
    /// Since v1 expiry asks no budget and waits for no replacement: a node is drained when its time has come, in the middle
    /// of a freeze if need be, and nodes that were launched together go together. Only what a pod itself sets, a
    /// `PodDisruptionBudget` or `karpenter.sh/do-not-disrupt`, holds the draining up.
    ///
    /// Where no `expireAfter` is written nodes expire after 720h, and the finding is a note.
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
    ///         schedule: "0 9 * * mon-fri"
    ///         duration: 8h
    ///   template:
    ///     spec:
    ///       expireAfter: 168h
    /// ```
    ///
    /// ## Use instead
    ///
    /// Let drift replace nodes, which keeps to the budgets:
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
    ///         schedule: "0 9 * * mon-fri"
    ///         duration: 8h
    ///   template:
    ///     spec:
    ///       expireAfter: Never
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7797, kubernetes-sigs/karpenter#1750, #2530
    /// - kubernetes-sigs/karpenter `pkg/controllers/nodeclaim/expiration/controller.go`, 1.0-1.14
    RULE {
        name: "expiry-ignores-budgets",
        family: Family::Disruption,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nodes expire while budgets forbid disruption, because expiry asks no budget",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    // A budget about consolidation alone says nothing of the nodes' age.
    let freezes = |budget: &budgets::Budget<'_>| budget.blocks() && budget.covers("Drifted");
    let Some(freeze) = budgets::of(object).and_then(|all| all.into_iter().find(freezes)) else { return };
    let written = object.at(&["spec", "template", "spec", "expireAfter"]).filter(|expiry| !expiry.is_null());
    let help = "write `expireAfter: Never` and let drift replace nodes, or stagger the NodePools' ages";
    let Some(node) = written else {
        let message = "nodes expire after 720h where `expireAfter` is not written, also while this budget of 0 forbids \
                       disruption: expiry asks no budget";
        drafts.push(Draft::new(&RULE, freeze.place(), message).help(help).severity(Severity::Info));
        return;
    };
    let Some(text) = node.as_str() else { return };
    if matches!(NillableDuration::parse(text), Ok(NillableDuration::After(_))) {
        let message =
            format_args!("nodes go when they are {text} old, also while the budget of 0 forbids disruption: expiry asks no budget");
        let draft = Draft::at(&RULE, node, message).help(help);
        drafts.push(draft.related(freeze.place(), "what it does not ask"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(budget: &str, expiry: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  disruption:\n    budgets:\n    - {{{budget}}}\n  template:\n    spec: {{{expiry}}}\n"
        )
    }

    const FREEZE: &str = "nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h";

    #[test]
    fn an_age_that_is_written_is_a_warning_and_one_that_is_not_a_note() {
        insta::assert_snapshot!(findings(&RULE, &pool(FREEZE, "expireAfter: 168h")), @"
          9 |     spec: {expireAfter: 168h}
            |                         ^^^^
        warning NodePool/a spec.template.spec.expireAfter [1.0-1.14]
          nodes go when they are 168h old, also while the budget of 0 forbids disruption: expiry asks no budget
          help: write `expireAfter: Never` and let drift replace nodes, or stagger the NodePools' ages
          see line 7 spec.disruption.budgets[0]: what it does not ask
        ");
        insta::assert_snapshot!(findings(&RULE, &pool(FREEZE, "")), @"
          7 |     - {nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h}
            |               ^^^
        info NodePool/a spec.disruption.budgets[0] [1.0-1.14]
          nodes expire after 720h where `expireAfter` is not written, also while this budget of 0 forbids disruption: expiry asks no budget
          help: write `expireAfter: Never` and let drift replace nodes, or stagger the NodePools' ages
        ");
    }

    #[test]
    fn no_freeze_or_no_expiry_is_left_alone() {
        silent(&RULE, &pool(FREEZE, "expireAfter: Never"));
        silent(&RULE, &pool(FREEZE, "expireAfter: '${AGE}'"));
        silent(&RULE, &pool("nodes: 10%", "expireAfter: 168h"));
        silent(&RULE, &pool("nodes: '0', reasons: [Underutilized]", "expireAfter: 168h"));
    }
}
