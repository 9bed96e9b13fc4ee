use karpenter::kind::Kind;
use karpenter::release::Releases;
use karpenter::startup_taints;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::node_claim::{NodeClaimSpec, TaintField};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::taint::TaintItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};

use crate::rules::taint;

rule! {
    /// ## What it does
    ///
    /// Finds taints under `taints` of a NodePool that an agent removes once the node is ready, such as
    /// `node.cilium.io/agent-not-ready`. They belong under `startupTaints`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter treats a taint under `taints` as permanent and launches nodes only for pods that tolerate it. Pods
    /// do not tolerate a taint that is removed before they start, so Karpenter launches nothing
    /// (`did not tolerate …`). Karpenter puts a taint under `startupTaints` on the node as well, but pods do not have
    /// to tolerate it. Karpenter waits until the agent has removed it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       taints:
    ///         - key: dedicated
    ///           value: web
    ///           effect: NoSchedule
    ///         - key: node.cilium.io/agent-not-ready
    ///           value: "true"
    ///           effect: NoExecute
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
    ///   template:
    ///     spec:
    ///       taints:
    ///         - key: dedicated
    ///           value: web
    ///           effect: NoSchedule
    ///       startupTaints:
    ///         - key: node.cilium.io/agent-not-ready
    ///           value: "true"
    ///           effect: NoExecute
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the nodes get the same taints as before. One fix moves all such taints of a NodePool.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5293, #628
    /// - docs.cilium.io, "Considerations on Node Pool Taints and Unmanaged Pods"
    /// - kubernetes-sigs/karpenter `pkg/controllers/provisioning/scheduling/nodeclaim.go`, 1.0-1.14: Karpenter
    ///   compares the tolerations of pods only with `taints`
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a taint that an agent removes is under `taints`, so Karpenter launches no node for ordinary pods",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(spec) = NodePool::of(object).and_then(NodePool::claim_spec) else { return };
    let Some(list) = spec.taint_list(TaintField::Taints) else { return };
    let temporary: Vec<_> = spec.taints(TaintField::Taints).filter(|item| is_temporary(*item)).collect();
    let mut fix = moved(spec, list, &temporary);
    for item in temporary {
        let key = item.key().unwrap_or_default();
        let remover = startup_taints::remover(key);
        let reason = remover.map_or_else(
            || "its name suggests that an agent removes it once the node is ready".to_owned(),
            |remover| format!("{remover} removes it once the node is ready"),
        );
        // `PreferNoSchedule` is only a preference, which Karpenter ignores for a pod that would get no node otherwise.
        let soft = item.effect() == Some("PreferNoSchedule");
        let effect = if soft {
            "Karpenter treats it as permanent"
        } else {
            "Karpenter treats it as permanent and launches nodes only for pods that tolerate it"
        };
        let message = format!("the taint `{key}` is under `taints`, so {effect}; {reason}");
        let severity = if soft || remover.is_none() { Severity::Warning } else { Severity::Error };
        let finding = Finding::new(&RULE, taint::place(item), message)
            .help("move it to `startupTaints`, which pods do not have to tolerate")
            .severity(severity);
        // The first finding carries the fix for all taints, because separate edits would overlap.
        findings.push(match fix.take() {
            Some(fix) => finding.fix(fix),
            None => finding,
        });
    }
}

fn is_temporary(item: TaintItem<'_>) -> bool {
    let key = item.key().unwrap_or_default();
    startup_taints::remover(key).is_some() || startup_taints::is_named_not_ready(key)
}

/// Fix that moves the taints to `startupTaints`. It only removes a taint that `startupTaints` already contains.
fn moved<'d>(spec: NodeClaimSpec<'d>, list: Node<'d>, temporary: &[TaintItem<'d>]) -> Option<Fix<'d>> {
    const TO: TaintField = TaintField::StartupTaints;
    let whole = temporary.len() == list.len();
    let title = "move it to `startupTaints`";
    let target = spec.taint_list(TO);
    if target.is_none() && whole {
        return Some(Fix::safe_one(title, Change::Rename(list, TO.name().to_owned())));
    }
    if target.is_some_and(|target| !target.is_sequence()) {
        return None;
    }
    let same =
        |one: TaintItem<'_>, other: TaintItem<'_>| one.key() == other.key() && one.effect() == other.effect();
    let mut new: Vec<TaintItem<'d>> = Vec::new();
    for taint in temporary {
        // Without an existing `startupTaints` list, the taints move unchanged, duplicates included.
        let present = spec.taints(TO).any(|other| same(*taint, other))
            || (target.is_some() && new.iter().any(|other| same(*taint, *other)));
        if !present {
            new.push(*taint);
        }
    }
    let mut changes = Vec::new();
    if !new.is_empty() {
        changes.push(Change::Append(spec.node(), TO.name(), new.into_iter().map(TaintItem::node).collect()));
    }
    if whole {
        changes.push(Change::Remove(list));
    } else {
        for taint in temporary.iter().rev() {
            changes.push(Change::Remove(taint.node()));
        }
    }
    Some(Fix::safe(title, changes))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
{spec}"
        )
    }

    const CILIUM: &str = "{key: node.cilium.io/agent-not-ready, effect: NoExecute}";
    const EBS: &str = "{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}";
    const WEB: &str = "{key: web, effect: NoSchedule}";

    #[test]
    fn message_names_the_agent_that_removes_the_taint() {
        insta::assert_snapshot!(findings(&RULE, &pool(&format!("      taints: [{CILIUM}]\n"))), @r#"
          7 |       taints: [{key: node.cilium.io/agent-not-ready, effect: NoExecute}]
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.taints[0] [all]
          the taint `node.cilium.io/agent-not-ready` is under `taints`, so Karpenter treats it as permanent and launches nodes only for pods that tolerate it; the Cilium agent removes it once the node is ready
          help: move it to `startupTaints`, which pods do not have to tolerate
          fix: move it to `startupTaints`: "startupTaints"
        "#);
    }

    #[test]
    fn is_a_warning_for_an_unknown_agent_and_for_a_soft_effect() {
        insta::assert_snapshot!(findings(&RULE, &pool("      taints:\n      - key: zalando.org/node-not-ready\n        effect: NoSchedule\n")), @r#"
          8 |       - key: zalando.org/node-not-ready
            |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.taints[0] [all]
          the taint `zalando.org/node-not-ready` is under `taints`, so Karpenter treats it as permanent and launches nodes only for pods that tolerate it; its name suggests that an agent removes it once the node is ready
          help: move it to `startupTaints`, which pods do not have to tolerate
          fix: move it to `startupTaints`: "startupTaints"
        "#);
        let soft = pool("      taints: [{key: node.cilium.io/agent-not-ready, effect: PreferNoSchedule}]\n");
        assert!(findings(&RULE, &soft).contains("warning"));
    }

    #[test]
    fn fix_renames_the_key_if_all_taints_move() {
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints: # agents\n      - {CILIUM}\n      - {EBS}\n"))),
            pool(&format!("      startupTaints: # agents\n      - {CILIUM}\n      - {EBS}\n"))
        );
    }

    #[test]
    fn fix_leaves_permanent_taints_in_place() {
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints:\n      - {CILIUM}\n      - {WEB}\n      - {EBS}\n"))),
            pool(&format!(
                "      startupTaints:\n      - {CILIUM}\n      - {EBS}\n      taints:\n      - {WEB}\n"
            ))
        );
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints: [{WEB}, {CILIUM}]\n"))),
            pool(&format!("      startupTaints: [{CILIUM}]\n      taints: [{WEB}]\n"))
        );
    }

    #[test]
    fn fix_does_not_duplicate_existing_startup_taints() {
        assert_eq!(
            fixed(
                &RULE,
                &pool(&format!(
                    "      taints:\n      - {WEB}\n      - {CILIUM}\n      startupTaints:\n      - {CILIUM}\n"
                ))
            ),
            pool(&format!("      taints:\n      - {WEB}\n      startupTaints:\n      - {CILIUM}\n"))
        );
        assert_eq!(
            fixed(
                &RULE,
                &pool(&format!(
                    r"      startupTaints:
      - {CILIUM}
      taints:
      - {EBS}
      expireAfter: 1h
"
                ))
            ),
            pool(&format!("      startupTaints:\n      - {CILIUM}\n      - {EBS}\n      expireAfter: 1h\n"))
        );
    }

    #[test]
    fn accepts_permanent_taints() {
        for taint in [
            WEB,
            "{key: nvidia.com/gpu, effect: NoSchedule}",
            "{key: example.com/ready, effect: NoSchedule}",
            "{key: '${KEY}', effect: NoSchedule}",
        ] {
            silent(&RULE, &pool(&format!("      taints: [{taint}]\n      startupTaints: [{CILIUM}]\n")));
        }
    }
}
