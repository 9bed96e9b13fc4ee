use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use lint::fix::Fix;
use manifest::edit::Change;
use karpenter::release::Releases;
use karpenter::startup_taints;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Finds taints of a NodePool that an agent takes off once the node is ready, such as
    /// `node.cilium.io/agent-not-ready`, under `taints` instead of `startupTaints`.
    ///
    /// ## Why it is bad
    ///
    /// A taint under `taints` is there for good: Karpenter launches nodes only for pods that tolerate it. Pods do not
    /// tolerate a taint that is meant to be gone by the time they come, so nothing is launched (`did not tolerate …`). A
    /// taint under `startupTaints` is put on the node all the same, and pods need not tolerate it; Karpenter waits until the
    /// agent has taken it off.
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
    /// Safe: the nodes get the same taints as before. All such taints of a NodePool are moved together.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5293, #628
    /// - docs.cilium.io, "Considerations on Node Pool Taints and Unmanaged Pods"
    /// - kubernetes-sigs/karpenter `pkg/controllers/provisioning/scheduling/nodeclaim.go`, 1.0-1.14: pods are held against
    ///   `taints` alone
    RULE {
        name: "taint-should-be-startup-taint",
        family: Family::Bootstrap,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a taint that an agent takes off stands under `taints`, so no ordinary pod gets a node",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(spec) = object.at(&["spec", "template", "spec"]) else { return };
    let Some(list) = spec.get("taints") else { return };
    let passing: Vec<Node<'d>> = list.items().filter(|taint| is_passing(*taint)).collect();
    let mut fix = moved(spec, list, &passing);
    for taint in passing {
        let key = taint.str_at(&["key"]).unwrap_or_default();
        let remover = startup_taints::remover(key);
        let whose = remover.map_or_else(
            || "its name says that an agent takes it off once the node is ready".to_owned(),
            |remover| format!("{remover} takes it off once the node is ready"),
        );
        // Only the scheduler minds this effect, and Karpenter passes over it where it has to.
        let soft = taint.str_at(&["effect"]) == Some("PreferNoSchedule");
        let effect = if soft {
            "Karpenter takes it for one that stays"
        } else {
            "Karpenter takes it for one that stays and launches nodes only for pods that tolerate it"
        };
        let message = format!("the taint `{key}` stands under `taints`, and {effect}; {whose}");
        let severity = if soft || remover.is_none() { Severity::Warning } else { Severity::Error };
        let draft = Draft::new(&RULE, taint.get("key").map_or_else(|| Place::value(taint), Place::value_under_parent), message)
            .help("move it to `startupTaints`, which pods need not tolerate")
            .severity(severity);
        // The first carries the fix for all, so that no two edits meet.
        drafts.push(match fix.take() {
            Some(fix) => draft.fix(fix),
            None => draft,
        });
    }
}

fn is_passing(taint: Node<'_>) -> bool {
    let key = taint.str_at(&["key"]).unwrap_or_default();
    startup_taints::remover(key).is_some() || startup_taints::is_named_not_ready(key)
}

/// The taints moved to the other list; but those that stand there already are only removed here.
fn moved<'d>(spec: Node<'d>, list: Node<'d>, passing: &[Node<'d>]) -> Option<Fix<'d>> {
    const TO: &str = "startupTaints";
    let whole = passing.len() == list.len();
    let title = "move it to `startupTaints`";
    let target = spec.get(TO);
    if target.is_none() && whole {
        return Some(Fix::safe_one(title, Change::Rename(list, TO.to_owned())));
    }
    if target.is_some_and(|target| !target.is_sequence()) {
        return None;
    }
    let same = |one: Node<'_>, other: Node<'_>| {
        ["key", "effect"].iter().all(|field| one.str_at(&[field]) == other.str_at(&[field]))
    };
    let mut new: Vec<Node<'d>> = Vec::new();
    for taint in passing {
        // Where there is no other list, this one is taken as it is.
        let stands = items_of(target).any(|other| same(*taint, other))
            || (target.is_some() && new.iter().any(|other| same(*taint, *other)));
        if !stands {
            new.push(*taint);
        }
    }
    let mut changes = Vec::new();
    if !new.is_empty() {
        changes.push(Change::Append(spec, TO, new));
    }
    if whole {
        changes.push(Change::Remove(list));
    } else {
        for taint in passing.iter().rev() {
            changes.push(Change::Remove(*taint));
        }
    }
    Some(Fix::safe(title, changes))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(spec: &str) -> String {
        format!("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n{spec}")
    }

    const CILIUM: &str = "{key: node.cilium.io/agent-not-ready, effect: NoExecute}";
    const EBS: &str = "{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}";
    const WEB: &str = "{key: web, effect: NoSchedule}";

    #[test]
    fn the_message_names_the_agent() {
        insta::assert_snapshot!(findings(&RULE, &pool(&format!("      taints: [{CILIUM}]\n"))), @r#"
          7 |       taints: [{key: node.cilium.io/agent-not-ready, effect: NoExecute}]
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.taints[0] [1.0-1.14]
          the taint `node.cilium.io/agent-not-ready` stands under `taints`, and Karpenter takes it for one that stays and launches nodes only for pods that tolerate it; the Cilium agent takes it off once the node is ready
          help: move it to `startupTaints`, which pods need not tolerate
          fix: move it to `startupTaints`: "startupTaints"
        "#);
    }

    #[test]
    fn a_name_alone_and_a_soft_effect_are_warnings() {
        insta::assert_snapshot!(findings(&RULE, &pool("      taints:\n      - key: zalando.org/node-not-ready\n        effect: NoSchedule\n")), @r#"
          8 |       - key: zalando.org/node-not-ready
            |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.taints[0] [1.0-1.14]
          the taint `zalando.org/node-not-ready` stands under `taints`, and Karpenter takes it for one that stays and launches nodes only for pods that tolerate it; its name says that an agent takes it off once the node is ready
          help: move it to `startupTaints`, which pods need not tolerate
          fix: move it to `startupTaints`: "startupTaints"
        "#);
        let soft = pool("      taints: [{key: node.cilium.io/agent-not-ready, effect: PreferNoSchedule}]\n");
        assert!(findings(&RULE, &soft).contains("warning"));
    }

    #[test]
    fn where_all_move_and_there_is_no_list_the_key_is_renamed() {
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints: # agents\n      - {CILIUM}\n      - {EBS}\n"))),
            pool(&format!("      startupTaints: # agents\n      - {CILIUM}\n      - {EBS}\n"))
        );
    }

    #[test]
    fn where_some_stay_the_others_move() {
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints:\n      - {CILIUM}\n      - {WEB}\n      - {EBS}\n"))),
            pool(&format!("      startupTaints:\n      - {CILIUM}\n      - {EBS}\n      taints:\n      - {WEB}\n"))
        );
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints: [{WEB}, {CILIUM}]\n"))),
            pool(&format!("      startupTaints: [{CILIUM}]\n      taints: [{WEB}]\n"))
        );
    }

    #[test]
    fn what_stands_in_the_other_list_is_not_written_twice() {
        assert_eq!(
            fixed(&RULE, &pool(&format!("      taints:\n      - {WEB}\n      - {CILIUM}\n      startupTaints:\n      - {CILIUM}\n"))),
            pool(&format!("      taints:\n      - {WEB}\n      startupTaints:\n      - {CILIUM}\n"))
        );
        assert_eq!(
            fixed(&RULE, &pool(&format!("      startupTaints:\n      - {CILIUM}\n      taints:\n      - {EBS}\n      expireAfter: 1h\n"))),
            pool(&format!("      startupTaints:\n      - {CILIUM}\n      - {EBS}\n      expireAfter: 1h\n"))
        );
    }

    #[test]
    fn taints_that_stay_are_left_alone() {
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
