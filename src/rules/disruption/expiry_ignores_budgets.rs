use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::budget::{self as budgets};
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::duration::NillableDuration;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose budgets forbid disruption, at some times or always, but whose nodes expire anyway.
    ///
    /// ## Why it is bad
    ///
    /// Since v1, expiry ignores budgets and does not wait for a replacement: Karpenter drains a node when it reaches
    /// its age, even during a freeze, and nodes that were launched together expire together. Only a
    /// `PodDisruptionBudget` or the annotation `karpenter.sh/do-not-disrupt` of a pod delays the drain.
    ///
    /// If `expireAfter` is not written, nodes expire after 720h, and the severity of the finding is `info`.
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
    /// Let drift replace the nodes, which respects the budgets:
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
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nodes expire while budgets forbid disruption, because expiry ignores budgets",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// The default of `expireAfter`: `pkg/apis/crds/karpenter.sh_nodepools.yaml` of kubernetes-sigs/karpenter at v1.14.0.
const DEFAULT_EXPIRY: &str = "720h";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // In EKS Auto Mode, nodes expire whatever the NodePool says.
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    // A budget that forbids only consolidation does not show that the nodes should stay.
    let freezes = |budget: &budgets::Budget<'_>| budget.blocks() && budget.covers("Drifted");
    let Some(all) = context.budgets() else { return };
    let Some(freeze) = all.iter().find(|budget| freezes(budget)) else { return };
    // The API server writes the default into the object of a request.
    let is_default = |expiry: &Node<'_>| {
        expiry.is_null()
            || (object.operation() != Operation::Apply && expiry.as_str() == Some(DEFAULT_EXPIRY))
    };
    let written =
        pool.claim_spec().and_then(NodeClaimSpec::expire_after).filter(|expiry| !is_default(expiry));
    let after = written.and_then(Node::as_str).filter(|text| expires(text));
    if written.is_some() && after.is_none() {
        return;
    }
    let always = budgets::blocking_always(all, "Drifted");
    // `budget-blocks-always` reports such budgets, and says when the nodes expire. It warns if they have a schedule.
    if always.iter().any(|budget| budget.window.is_some()) || (written.is_none() && !always.is_empty()) {
        return;
    }
    let help = if always.is_empty() {
        "write `expireAfter: Never` and let drift replace the nodes"
    } else {
        "limit the budget of 0 to `reasons: [Empty, Underutilized]`, so that drift replaces the nodes, and write `expireAfter: Never`"
    };
    let Some((node, after)) = written.zip(after) else {
        let message = format!(
            "`expireAfter` has its default, so nodes expire after {DEFAULT_EXPIRY}, even while this budget of 0 forbids \
             disruption: expiry ignores budgets"
        );
        findings.push(Finding::new(&RULE, freeze.place(), message).help(help).severity(Severity::Info));
        return;
    };
    let message = format!(
        "nodes expire after {after}, even while the budget of 0 forbids disruption: expiry ignores budgets"
    );
    let finding = Finding::at(&RULE, node, message).help(help);
    findings.push(finding.related(freeze.place(), "expiry ignores this budget"));
}

/// Whether nodes with this `expireAfter` expire.
fn expires(text: &str) -> bool {
    matches!(NillableDuration::parse(text), Ok(NillableDuration::After(_)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(budget: &str, expiry: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  disruption:
    budgets:
    - {{{budget}}}
  template:
    spec: {{{expiry}}}
"
        )
    }

    const FREEZE: &str = "nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h";

    #[test]
    fn explicit_expiry_is_a_warning_and_default_expiry_an_info() {
        insta::assert_snapshot!(findings(&RULE, &pool(FREEZE, "expireAfter: 168h")), @"
          9 |     spec: {expireAfter: 168h}
            |                         ^^^^
        warning NodePool/a spec.template.spec.expireAfter [all]
          nodes expire after 168h, even while the budget of 0 forbids disruption: expiry ignores budgets
          help: write `expireAfter: Never` and let drift replace the nodes
          see line 7 spec.disruption.budgets[0]: expiry ignores this budget
        ");
        insta::assert_snapshot!(findings(&RULE, &pool(FREEZE, "")), @"
          7 |     - {nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h}
            |               ^^^
        info NodePool/a spec.disruption.budgets[0] [all]
          `expireAfter` has its default, so nodes expire after 720h, even while this budget of 0 forbids disruption: expiry ignores budgets
          help: write `expireAfter: Never` and let drift replace the nodes
        ");
    }

    /// `budget-blocks-always` warns of a schedule that never pauses, and names the expiry.
    #[test]
    fn budgets_that_block_always_are_reported_once() {
        silent(&RULE, &pool("nodes: '0', schedule: '0 0 * * *', duration: 24h", "expireAfter: 720h"));
        let frozen = findings(&RULE, &pool("nodes: '0'", "expireAfter: 720h"));
        assert!(frozen.contains("warning NodePool/a spec.template.spec.expireAfter"), "{frozen}");
        assert!(
            frozen.contains("help: limit the budget of 0 to `reasons: [Empty, Underutilized]`"),
            "{frozen}"
        );
        silent(&RULE, &pool("nodes: '0'", ""));
    }

    #[test]
    fn pools_without_freeze_or_expiry_are_not_reported() {
        silent(&RULE, &pool(FREEZE, "expireAfter: Never"));
        silent(&RULE, &pool(FREEZE, "expireAfter: '${AGE}'"));
        let auto = "nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}";
        silent(&RULE, &pool(FREEZE, &format!("expireAfter: 168h, {auto}")));
        silent(&RULE, &pool("nodes: 10%", "expireAfter: 168h"));
        silent(&RULE, &pool("nodes: '0', reasons: [Underutilized]", "expireAfter: 168h"));
    }

    /// A request has the default written.
    #[test]
    fn written_default_counts_as_unwritten_only_in_a_request() {
        let pool = pool(FREEZE, "expireAfter: 720h");
        assert!(findings(&RULE, &pool).contains("warning NodePool/a spec.template.spec.expireAfter"));
        let object = pool.trim_end().replace('\n', "\n    ");
        let review = format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: CREATE
  object:
    {object}
"
        );
        let found = findings(&RULE, &review);
        assert!(found.contains("info NodePool/a spec.disruption.budgets[0]"), "{found}");
        assert!(findings(&RULE, &review.replace("720h", "721h")).contains("nodes expire after 721h"));
    }

    #[test]
    fn leaves_default_expiry_under_a_budget_that_always_blocks_to_its_rule() {
        silent(&RULE, &pool("nodes: '0'", ""));
        assert!(
            findings(&RULE, &pool("nodes: '0'", "expireAfter: 168h")).contains("nodes expire after 168h")
        );
        assert!(findings(&RULE, &pool(FREEZE, "")).contains("720h"));
    }
}
