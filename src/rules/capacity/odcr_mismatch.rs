use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::SelectorField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::EffectiveOperator;
use scheduling::template::NodeTemplate;

use crate::rules::indexes::NodeClasses;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools that allow only the capacity type `reserved`, but whose EC2NodeClass has no
    /// `capacityReservationSelectorTerms`.
    ///
    /// ## Why it is bad
    ///
    /// Instances of an EC2NodeClass have the capacity type `reserved` only in the capacity reservations that it selects. Without
    /// any, no instance meets the requirement, and Karpenter launches no nodes from the NodePool.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   capacityReservationSelectorTerms: [{tags: {purpose: training}}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the NodePool and its EC2NodeClass. The policy looks up only the names of node classes, so the finding is
    /// only in the report of files.
    ///
    /// ## References
    ///
    /// - `computeRequirements` in `pkg/providers/instancetype/types.go` of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#5716; zalando-incubator/kubernetes-on-aws#11623, #12193
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(3),
        fix: Fixes::None,
        summary: "a NodePool allows only reserved capacity, but its EC2NodeClass selects no reservations",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| names_reserved(*pool)) else { return };
    let template = NodeTemplate::of(pool);
    let is_reserved = template.requirements.get(labels::CAPACITY_TYPE).is_some_and(|types| {
        types.operator() == EffectiveOperator::In && types.named_values().all(|value| value == "reserved")
    });
    let Some((class, name)) = context.inventory.index::<NodeClasses>().of_pool(pool).filter(|_| is_reserved)
    else {
        return;
    };
    let Some(spec) = class.object().at(&["spec"]).filter(|spec| spec.is_mapping()) else { return };
    let terms = class.terms(SelectorField::CapacityReservations).node();
    let selects_none = |terms: Node<'_>| terms.is_null() || (terms.is_sequence() && terms.is_empty());
    if !terms.is_none_or(selects_none) {
        return;
    }
    let item = pool.requirements().parsed().find(|item| item.label() == labels::CAPACITY_TYPE);
    let place = item.map_or(Place::value(name), |item| Place::value(item.item.node()));
    let message = format!(
        "this NodePool allows only reserved capacity, but the EC2NodeClass `{}` selects no capacity reservations, so Karpenter launches no nodes from this NodePool",
        class.object().name()
    );
    findings.push(
        Finding::new(&RULE, place, message)
            .help("add `capacityReservationSelectorTerms` to the EC2NodeClass, or allow `on-demand` as well")
            .related(Place::key(terms.unwrap_or(spec)), "selects no capacity reservations"),
    );
}

/// Whether a requirement or a label of a NodePool has the value `reserved`. Most NodePools do not.
fn names_reserved(pool: NodePool<'_>) -> bool {
    let required = pool.requirements().items().flat_map(RequirementItem::values);
    let mut values = required.chain(pool.node_labels().map(|(_, value)| value));
    values.any(|value| value.as_str() == Some("reserved"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(values: &str, spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{key: karpenter.sh/capacity-type, operator: In, values: [{values}]}}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
{spec}
"
        )
    }

    #[test]
    fn reports_reserved_capacity_without_reservations() {
        insta::assert_snapshot!(findings(&RULE, &text("reserved", "spec: {role: a}")), @"
          8 |       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]
            |                       ^^^
        warning NodePool/a spec.template.spec.requirements[0] [since 1.3]
          this NodePool allows only reserved capacity, but the EC2NodeClass `a` selects no capacity reservations, so Karpenter launches no nodes from this NodePool
          help: add `capacityReservationSelectorTerms` to the EC2NodeClass, or allow `on-demand` as well
          see line 13 spec: selects no capacity reservations
        ");
        for spec in
            ["spec: {capacityReservationSelectorTerms: []}", "spec: {capacityReservationSelectorTerms: null}"]
        {
            assert!(findings(&RULE, &text("reserved", spec)).contains("reserved capacity"), "{spec}");
        }
    }

    #[test]
    fn accepts_other_capacity_selected_reservations_and_what_is_not_known() {
        silent(&RULE, &text("reserved, on-demand", "spec: {role: a}"));
        silent(&RULE, &text("'${TYPE}'", "spec: {role: a}"));
        silent(&RULE, &text("reserved", "spec: {capacityReservationSelectorTerms: [{id: cr-1}]}"));
        silent(&RULE, &text("reserved", "spec: {capacityReservationSelectorTerms: '${TERMS}'}"));
        silent(
            &RULE,
            &text("reserved", "spec: {role: a}").replace("EC2NodeClass, name: a", "EC2NodeClass, name: b"),
        );
        // Two classes of the same name are of several clusters.
        let class = r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {}
";
        silent(&RULE, &(text("reserved", "spec: {role: a}") + class));
        silent(&RULE, &text("reserved", "status: {}"));
    }
}
