use crate::rules::indexes::pool_order::{first_pool, weight};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirement};
use scheduling::template::NodeTemplate;

use crate::rules::indexes::Pools;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools that a NodePool of greater weight leaves without pods: the other NodePool has no taints and no limits, uses
    /// the same EC2NodeClass, and allows all instances that this NodePool allows.
    ///
    /// The rule does not report a NodePool with a custom label, which pods can select. It compares a NodePool only with the
    /// NodePool that Karpenter tries first.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter tries the NodePools in the order of their weights, and takes the first that a pod fits. Every pod that fits the
    /// specific NodePool fits the broad one as well, so the specific NodePool launches nodes only for pods that ask for
    /// `karpenter.sh/nodepool` with its name.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general
    /// spec:
    ///   weight: 50
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: compute
    /// spec:
    ///   weight: 10
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general
    /// spec:
    ///   weight: 10
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: compute
    /// spec:
    ///   weight: 50
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have both NodePools. The policy does not look up the weights of other NodePools, so the finding is only in the
    /// report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6883; website/content/en/docs/concepts/scheduling.md at v1.14.1, "Weighted NodePools"
    /// - `OrderByWeight` in `pkg/utils/nodepool/nodepool.go` and `addToNewNodeClaim` in
    ///   `pkg/controllers/provisioning/scheduling/scheduler.go` of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a broader NodePool of greater weight takes all pods of a NodePool",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let pools = context.inventory.index::<Pools>();
    let Some(weight) = weight(pool).filter(|_| pools.is_known()) else { return };
    let Some(first) = first_pool(context.inventory, None).filter(|first| first.weight > weight) else {
        return;
    };
    let has_limits = first.pool.limits().is_some_and(|limits| !limits.is_null());
    if has_limits
        || class(first.pool).is_none()
        || class(first.pool) != class(pool)
        || pools.has_placeholder()
    {
        return;
    }
    let mine = NodeTemplate::of(pool);
    if mine.has_label_beyond(first.template) || !covers(first.template, &mine) {
        return;
    }
    let name = first.pool.object().name();
    let message = format!(
        "`{name}` has the greater weight ({}), no taints and no limits, and allows all instances of this NodePool: Karpenter launches nodes from this NodePool only for pods that ask for it by name",
        first.weight
    );
    findings.push(
        Finding::new(&RULE, Place::value(pool.weight().unwrap_or(object.name_node())), message)
            .help("give this NodePool the greater `weight`, or a label that its pods select")
            .related(
                Place::value(first.pool.weight().unwrap_or(first.pool.object().name_node())),
                "the greater weight",
            ),
    );
}

fn class(pool: NodePool<'_>) -> Option<&str> {
    pool.node_class_ref()?.name()?.as_str()
}

/// Whether every node of the second template can be a node of the first.
fn covers(broad: &NodeTemplate<'_>, specific: &NodeTemplate<'_>) -> bool {
    let accepts = |broad: &Requirement<'_>, specific: &Requirement<'_>| match specific.operator() {
        EffectiveOperator::In => specific.named_values().all(|value| broad.has(value)),
        _ => broad == specific,
    };
    !broad.requirements.has_min_values()
        && broad.requirements.iter().all(|(key, broad)| {
            specific.requirements.get(key).is_some_and(|specific| accepts(broad, specific))
        })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(name: &str, spec: &str, template: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  {spec}
  template: {{metadata: {{}}, spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}, {template}}}}}
---
"
        )
    }

    fn requirement(key: &str, values: &str) -> String {
        format!("requirements: [{{key: {key}, operator: In, values: [{values}]}}]")
    }

    const CATEGORY: &str = "karpenter.k8s.aws/instance-category";

    #[test]
    fn reports_a_pool_that_the_first_pool_covers() {
        let broad = pool("broad", "weight: 9", &requirement(CATEGORY, "c, m"));
        let text = broad.clone() + &pool("narrow", "weight: 3", &requirement(CATEGORY, "c"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
         12 |   weight: 3
            |           ^
        info NodePool/narrow spec.weight [all]
          `broad` has the greater weight (9), no taints and no limits, and allows all instances of this NodePool: Karpenter launches nodes from this NodePool only for pods that ask for it by name
          help: give this NodePool the greater `weight`, or a label that its pods select
          see line 5 spec.weight: the greater weight
        ");
        let tainted = format!("{}, taints: [{{key: gpu, effect: NoSchedule}}]", requirement(CATEGORY, "c"));
        assert!(
            findings(&RULE, &(broad + &pool("a", "disruption: {}", &tainted)))
                .contains("NodePool/a metadata.name")
        );
    }

    #[test]
    fn reports_a_pool_that_repeats_a_requirement_of_the_first_pool() {
        let newer =
            "requirements: [{key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ['5']}]";
        let pools = |narrow: &str| {
            pool("broad", "weight: 9", newer) + &pool("narrow", "weight: 3", &newer.replace("'5'", narrow))
        };
        assert!(findings(&RULE, &pools("'5'")).contains("NodePool/narrow spec.weight"));
        silent(&RULE, &pools("'4'"));
    }

    #[test]
    fn accepts_pools_that_launch_other_nodes_or_can_be_selected() {
        let broad = pool("broad", "weight: 9", &requirement(CATEGORY, "c, m"));
        for template in [
            "startupTaints: []",
            &requirement(CATEGORY, "c, r"),
            &requirement(CATEGORY, "'${CATEGORY}'"),
            &requirement("example.com/team", "a"),
            &requirement(CATEGORY, "c").replace("]}]", "]}, {key: example.com/team, operator: Exists}]"),
        ] {
            silent(&RULE, &(broad.clone() + &pool("narrow", "weight: 3", template)));
        }
        let narrow = pool("narrow", "weight: 9", &requirement(CATEGORY, "c"));
        silent(&RULE, &(broad.clone() + &narrow));
        silent(
            &RULE,
            &(broad.clone() + &narrow.replace("weight: 9", "weight: 3").replace("name: a}", "name: other}")),
        );
        let unresolved = pool("other", "weight: 1", &requirement(CATEGORY, "'${CATEGORY}'"));
        silent(&RULE, &(broad + &narrow.replace("weight: 9", "weight: 3") + &unresolved));
    }

    #[test]
    fn accepts_first_pools_that_leave_pods_over() {
        let narrow = pool("narrow", "weight: 3", &requirement(CATEGORY, "c"));
        let with = |spec: &str, template: &str| narrow.clone() + &pool("broad", spec, template);
        assert!(!findings(&RULE, &with("weight: 9", "startupTaints: []")).is_empty());
        silent(&RULE, &with("limits: {cpu: 9}\n  weight: 9", "startupTaints: []"));
        silent(&RULE, &with("weight: 9", "taints: [{key: a, effect: NoSchedule}]"));
        let least = requirement(CATEGORY, "c, m").replace("]}]", "], minValues: 2}]");
        silent(&RULE, &with("weight: 9", &least));
    }
}
