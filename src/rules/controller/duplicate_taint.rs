use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use manifest::edit::Change;
use karpenter::release::Releases;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that no two taints of a NodePool have the same key and effect, over `taints` and `startupTaints` together.
    ///
    /// ## Why it is bad
    ///
    /// A node has at most one taint of a key and effect, whatever the value. The API server does not look; Karpenter does,
    /// sets `ValidationSucceeded=False` with `duplicate taint Key/Effect pair`, and launches nothing from the NodePool.
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
    ///         - {key: dedicated, value: batch, effect: NoSchedule}
    ///         - {key: dedicated, value: batch, effect: NoSchedule}
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
    ///         - {key: dedicated, value: batch, effect: NoSchedule}
    ///         - {key: dedicated, value: batch, effect: NoExecute}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: only a taint that stands in the same list word for word is removed. Which of two values is meant, or which of
    /// the two lists, is for the author to say.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodeclaim_validation.go` `validateTaintsField`, 1.0-1.14
    RULE {
        name: "duplicate-taint",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "two taints have the same key and effect, which stops the NodePool",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

#[derive(Clone, Copy)]
struct Taint<'d> {
    node: Node<'d>,
    list: &'static str,
    key: &'d str,
    effect: &'d str,
    value: &'d str,
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let mut seen: Vec<Taint<'d>> = Vec::new();
    for list in ["taints", "startupTaints"] {
        let items = object.at(&["spec", "template", "spec", list]);
        for taint in items_of(items).filter_map(|node| read(node, list)) {
            let same = |other: &&Taint<'_>| other.key == taint.key && other.effect == taint.effect;
            match seen.iter().find(same) {
                Some(first) => drafts.push(duplicate(*first, taint)),
                None => seen.push(taint),
            }
        }
    }
}

fn read<'d>(node: Node<'d>, list: &'static str) -> Option<Taint<'d>> {
    let text = |key: &str| node.get(key).map_or(Some(""), Node::as_str);
    let taint = Taint { node, list, key: node.str_at(&["key"])?, effect: text("effect")?, value: text("value")? };
    (!is_unresolved(taint.key) && !is_unresolved(taint.effect)).then_some(taint)
}

/// The taint, marked at its key.
fn place(taint: Node<'_>) -> Place<'_> {
    taint.get("key").map_or_else(|| Place::value(taint), Place::value_under_parent)
}

fn duplicate<'d>(first: Taint<'d>, again: Taint<'d>) -> Draft<'d> {
    let (key, effect) = (again.key, again.effect);
    let message = format!(
        "the taint `{key}:{effect}` stands here for the second time; Karpenter refuses the NodePool and launches \
         nothing from it"
    );
    let draft = Draft::new(&RULE, place(again.node), message)
        .related(place(first.node), format!("here for the first time, under `{}`", first.list));
    if first.list != again.list {
        return draft.help(
            "keep it under `startupTaints` if something takes it off once the node is ready, else under `taints`",
        );
    }
    if first.value != again.value {
        let help = "remove one of the two: a node has one taint of a key and effect, whatever its value; a second value needs \
                    a key of its own";
        return draft.help(help);
    }
    draft.help("remove one of the two").mend("remove the second", Change::Remove(again.node))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(taints: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n{taints}"
        )
    }

    #[test]
    fn the_two_lists_count_together() {
        let text = pool(
            "      taints:\n      - {key: a/b, effect: NoSchedule}\n      startupTaints:\n      - key: a/b\n        effect: NoSchedule\n",
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
         10 |       - key: a/b
            |              ^^^
        error NodePool/a spec.template.spec.startupTaints[0] [1.0-1.14]
          the taint `a/b:NoSchedule` stands here for the second time; Karpenter refuses the NodePool and launches nothing from it
          help: keep it under `startupTaints` if something takes it off once the node is ready, else under `taints`
          see line 8 spec.template.spec.taints[0]: here for the first time, under `taints`
        ");
    }

    #[test]
    fn the_value_does_not_tell_taints_apart() {
        let text = pool(
            "      taints: [{key: a, value: one, effect: NoSchedule}, {key: a, value: two, effect: NoSchedule}]\n",
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |       taints: [{key: a, value: one, effect: NoSchedule}, {key: a, value: two, effect: NoSchedule}]
            |                                                                ^
        error NodePool/a spec.template.spec.taints[1] [1.0-1.14]
          the taint `a:NoSchedule` stands here for the second time; Karpenter refuses the NodePool and launches nothing from it
          help: remove one of the two: a node has one taint of a key and effect, whatever its value; a second value needs a key of its own
          see line 7 spec.template.spec.taints[0]: here for the first time, under `taints`
        ");
    }

    #[test]
    fn a_taint_that_is_there_word_for_word_is_removed() {
        let text = pool(
            "      taints:\n      - {key: a, effect: NoSchedule}\n      - key: a # again\n        effect: NoSchedule\n      - {key: b, effect: NoSchedule}\n",
        );
        assert_eq!(
            fixed(&RULE, &text),
            pool("      taints:\n      - {key: a, effect: NoSchedule}\n      - {key: b, effect: NoSchedule}\n")
        );
    }

    #[test]
    fn another_effect_or_an_unresolved_key_is_another_taint() {
        for taints in [
            "[{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]",
            "[{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]",
            "[{key: '${K}', effect: NoSchedule}, {key: '${K}', effect: NoSchedule}]",
            "[{effect: NoSchedule}, {effect: NoSchedule}]",
        ] {
            silent(&RULE, &pool(&format!("      taints: {taints}\n")));
        }
    }
}
