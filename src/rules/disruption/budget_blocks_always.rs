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
use values::duration::NillableDuration;
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
    /// A NodePool may be frozen on purpose. The severity of the finding is `info` if the budgets forbid only consolidation,
    /// or if the author certainly means it: the budgets of `"0"` have no schedule, and they list `Drifted` in `reasons` or no
    /// budget allows anything.
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
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "budgets forbid disruption at all times",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some(all) = context.budgets() else { return };
    let (mut reasons, mut drifted, mut blockers) = (String::new(), false, Vec::new());
    for reason in budgets::REASONS {
        let blocking = budgets::blocking_always(all, reason);
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
    let old = if drifted { kept(pool) } else { String::new() };
    let message = format!(
        "this budget of 0 {when}, so Karpenter never disrupts the nodes of the NodePool for {reasons}{old}"
    );
    let mut finding = Finding::new(&RULE, first.place(), message)
        .help("leave some time in which Karpenter may disrupt nodes; if the NodePool is frozen on purpose, suppress the finding");
    for other in others {
        finding = finding.related(other.place(), "also forbids disruption");
    }
    let warns = drifted && !is_on_purpose(all, &blockers);
    findings.push(if warns { finding } else { finding.severity(Severity::Info) });
}

/// Whether the author certainly means that drifted nodes stay. A schedule, or a second budget that never has an effect,
/// shows that the author expects disruption at some time.
fn is_on_purpose(all: &[Budget<'_>], blockers: &[&Budget<'_>]) -> bool {
    let names_drift = |budget: &&Budget<'_>| {
        budget.item.reasons().is_some_and(|reasons| !reasons.is_null()) && budget.covers("Drifted")
    };
    blockers.iter().all(|budget| budget.window.is_none())
        && (blockers.iter().any(names_drift) || all.iter().all(|budget| budget.blocks()))
}

/// Clause of the message about the age of nodes. Expiry ignores budgets.
fn kept(pool: NodePool<'_>) -> String {
    let written = pool.claim_spec().and_then(NodeClaimSpec::expire_after).filter(|expiry| !expiry.is_null());
    // EKS Auto Mode has another default.
    let default = (!pool.is_of_auto_mode()).then_some("720h");
    let text = written.map_or(default, Node::as_str);
    let kept = "; nodes keep the image and settings that they were launched with";
    match text.map(|text| (text, NillableDuration::parse(text))) {
        Some((text, Ok(NillableDuration::After(_)))) => {
            format!("{kept} until they expire after {text}, which ignores budgets")
        }
        _ => kept.to_owned(),
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
          this budget of 0 and the other budgets of 0 cover the whole week, so Karpenter never disrupts the nodes of the NodePool for `Drifted`, `Underutilized`, `Empty`; nodes keep the image and settings that they were launched with until they expire after 720h, which ignores budgets
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
        info NodePool/a spec.disruption.budgets[0] [all]
          this budget of 0 has no schedule, so Karpenter never disrupts the nodes of the NodePool for `Drifted`, `Underutilized`, `Empty`; nodes keep the image and settings that they were launched with until they expire after 720h, which ignores budgets
          help: leave some time in which Karpenter may disrupt nodes; if the NodePool is frozen on purpose, suppress the finding
        ");
    }

    #[test]
    fn freeze_on_purpose_is_an_info() {
        let severity = |budgets: &[&str]| findings(&RULE, &pool(budgets)).contains("warning NodePool/a");
        assert!(!severity(&[
            "nodes: '0', reasons: [Drifted, Underutilized]",
            "nodes: '1', reasons: [Empty]"
        ]));
        assert!(!severity(&["nodes: 0%"]));
        // The second budget has no effect, because the lowest budget counts.
        assert!(severity(&["nodes: '0'", "nodes: 30%, schedule: '0 20 * * *', duration: 2h"]));
        let whole_day = "nodes: '0', schedule: '0 0 * * *', duration: 24h";
        assert!(severity(&[whole_day]));
        assert!(findings(&RULE, &pool(&[whole_day])).contains("this budget of 0 is active at all times, so"));
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

    #[test]
    fn evaluates_as_many_budgets_as_the_api_server_accepts() {
        let budget = "nodes: '0', schedule: '0 0 * * *', duration: 24h";
        assert!(findings(&RULE, &pool(&[budget; 50])).contains("Karpenter never disrupts"));
        silent(&RULE, &pool(&[budget; 51]));
    }

    #[test]
    fn says_how_long_nodes_stay_as_they_are() {
        let text = |expiry: &str| {
            let text = pool(&["nodes: '0'"]);
            findings(&RULE, &format!("{text}  template:\n    spec: {{expireAfter: {expiry}}}\n"))
        };
        assert!(text("168h").contains("launched with until they expire after 168h, which ignores budgets\n"));
        for expiry in ["Never", "'${EXPIRY}'"] {
            assert!(text(expiry).contains("launched with\n"), "{expiry}");
        }
    }
}
