use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirement};

use crate::rules::indexes::{POOLS, Pools};

rule! {
    /// ## What it does
    ///
    /// Checks that at least one NodePool allows on-demand or reserved capacity. The finding is at the first NodePool only.
    ///
    /// ## Why it is bad
    ///
    /// While EC2 has no spot capacity for a pod, Karpenter launches nothing for it: no NodePool has another capacity type to fall back
    /// to. This is fine for batch work that can wait, and seldom for anything else.
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have all NodePools. The policy runs the rule only with `completeInventory`.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5743, #8885, #5789
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "every NodePool allows only spot capacity, so nothing replaces missing spot capacity",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[POOLS],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let pools = context.inventory.index::<Pools>();
    let sees_all = context.is_text || context.inventory.is_complete();
    let is_known = sees_all
        && pools.first() == Some(object)
        && pools.is_known()
        && !pools.has_placeholder()
        && !context.may_be_in_environment(Kind::NODE_POOL);
    let is_spot = |types: &Requirement<'d>| {
        types.operator() == EffectiveOperator::In && types.named_values().all(|value| value == "spot")
    };
    let mut groups =
        pools.groups().iter().map(|group| group.template.requirements.get(labels::CAPACITY_TYPE));
    if !is_known || !groups.all(|types| types.is_some_and(is_spot)) {
        return;
    }
    let mut items = NodePool::of(object).into_iter().flat_map(|pool| pool.requirements().parsed());
    let item = items.find(|item| item.label() == labels::CAPACITY_TYPE);
    let place = Place::value(item.map_or(object.name_node(), |item| item.item.node()));
    let message = format!(
        "every NodePool of {} allows only spot capacity: while EC2 has none for a pod, the pod stays Pending",
        context.scope()
    );
    findings.push(
        Finding::new(&RULE, place, message)
            .help("allow `on-demand` in this NodePool, or add a NodePool of lower weight that does"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(name: &str, types: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{key: karpenter.sh/capacity-type, operator: {types}}}]
---
"
        )
    }

    const SPOT: &str = "In, values: [spot]";

    #[test]
    fn reports_the_first_pool_if_all_are_spot_only() {
        insta::assert_snapshot!(findings(&RULE, &(pool("a", SPOT) + &pool("b", SPOT))), @"
          8 |       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
            |                       ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          every NodePool of this input allows only spot capacity: while EC2 has none for a pod, the pod stays Pending
          help: allow `on-demand` in this NodePool, or add a NodePool of lower weight that does
        ");
    }

    #[test]
    fn accepts_another_capacity_type_in_any_pool() {
        for types in
            ["In, values: [on-demand]", "In, values: [spot, reserved]", "Exists", "In, values: ['${TYPE}']"]
        {
            silent(&RULE, &(pool("a", SPOT) + &pool("b", types)));
        }
        silent(
            &RULE,
            &(pool("a", SPOT)
                + &pool("b", SPOT).replace(
                    "group: karpenter.k8s.aws, kind: EC2NodeClass",
                    "group: eks.amazonaws.com, kind: NodeClass",
                )),
        );
    }
}
