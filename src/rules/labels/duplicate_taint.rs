use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::taint::TaintItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::taint;

rule! {
    /// ## What it does
    ///
    /// Checks that no two taints of a NodePool have the same key and effect, across `taints` and `startupTaints`.
    ///
    /// ## Why it is bad
    ///
    /// A node has at most one taint per key and effect, whatever the value. The API server does not check this.
    /// Karpenter does: it sets `ValidationSucceeded=False` with `duplicate taint Key/Effect pair`, and launches nothing
    /// from the NodePool.
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
    /// Safe: the fix removes a taint only if the same list contains an identical taint. If the values or the lists
    /// differ, only the author knows which taint to keep, so there is no fix.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodeclaim_validation.go` `validateTaintsField`, 1.0-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "two taints have the same key and effect, so the NodePool fails Karpenter's validation",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

#[derive(Clone, Copy)]
struct Taint<'d> {
    item: TaintItem<'d>,
    list: TaintField,
    key: &'d str,
    effect: &'d str,
    value: &'d str,
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let mut seen = BTreeMap::<(&str, &str), Taint<'d>>::new();
    let Some(pool) = NodePool::of(object) else { return };
    for list in TaintField::ALL {
        for taint in pool.taints(list).filter_map(|item| parse(item, list)) {
            match seen.entry((taint.key, taint.effect)) {
                Entry::Occupied(first) => findings.push(duplicate(*first.get(), taint)),
                Entry::Vacant(place) => {
                    place.insert(taint);
                }
            }
        }
    }
}

fn parse<'d>(item: TaintItem<'d>, list: TaintField) -> Option<Taint<'d>> {
    let text = |node: Option<Node<'d>>| node.map_or(Some(""), Node::as_str);
    let (effect, value) = (text(item.effect_node())?, text(item.value_node())?);
    let taint = Taint { item, list, key: item.key()?, effect, value };
    (!has_placeholder(taint.key) && !has_placeholder(taint.effect)).then_some(taint)
}

fn duplicate<'d>(first: Taint<'d>, again: Taint<'d>) -> Finding<'d> {
    let (key, effect) = (again.key, again.effect);
    let message = format!(
        "the taint `{key}:{effect}` is listed twice; the NodePool fails Karpenter's validation, and Karpenter launches no \
         nodes from it"
    );
    let finding = Finding::new(&RULE, taint::place(again.item), message)
        .related(taint::place(first.item), format!("first listed here, under `{}`", first.list.name()));
    if first.list != again.list {
        return finding.help(
            "keep it under `startupTaints` if a component removes it once the node is ready, otherwise under `taints`",
        );
    }
    if first.value != again.value {
        let help = "remove one of the two: a node has only one taint per key and effect, whatever the value; use a different \
                    key for the second value";
        return finding.help(help);
    }
    finding
        .help("remove one of the two")
        .safe_fix("remove the second taint", Change::Remove(again.item.node()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(taints: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
{taints}"
        )
    }

    #[test]
    fn finds_duplicates_across_taints_and_startup_taints() {
        let text = pool(
            r"      taints:
      - {key: a/b, effect: NoSchedule}
      startupTaints:
      - key: a/b
        effect: NoSchedule
",
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
         10 |       - key: a/b
            |              ^^^
        error NodePool/a spec.template.spec.startupTaints[0] [all]
          the taint `a/b:NoSchedule` is listed twice; the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it
          help: keep it under `startupTaints` if a component removes it once the node is ready, otherwise under `taints`
          see line 8 spec.template.spec.taints[0]: first listed here, under `taints`
        ");
    }

    #[test]
    fn ignores_the_value_when_comparing_taints() {
        let text = pool(
            "      taints: [{key: a, value: one, effect: NoSchedule}, {key: a, value: two, effect: NoSchedule}]\n",
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |       taints: [{key: a, value: one, effect: NoSchedule}, {key: a, value: two, effect: NoSchedule}]
            |                                                                ^
        error NodePool/a spec.template.spec.taints[1] [all]
          the taint `a:NoSchedule` is listed twice; the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it
          help: remove one of the two: a node has only one taint per key and effect, whatever the value; use a different key for the second value
          see line 7 spec.template.spec.taints[0]: first listed here, under `taints`
        ");
    }

    #[test]
    fn fix_removes_an_identical_taint() {
        let text = pool(
            r"      taints:
      - {key: a, effect: NoSchedule}
      - key: a # again
        effect: NoSchedule
      - {key: b, effect: NoSchedule}
",
        );
        assert_eq!(
            fixed(&RULE, &text),
            pool(
                "      taints:\n      - {key: a, effect: NoSchedule}\n      - {key: b, effect: NoSchedule}\n"
            )
        );
    }

    #[test]
    fn accepts_different_keys_or_effects_and_unresolved_keys() {
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
