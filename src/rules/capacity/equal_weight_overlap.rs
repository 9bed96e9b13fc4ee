use crate::rules::indexes::pool_order::{first_pool, weight};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::template::NodeTemplate;

use crate::rules::indexes::Pools;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools without taints that share instances with another NodePool of the same weight, if their names decide
    /// between them.
    ///
    /// The rule does not report a NodePool with a custom label, which pods can select. It compares a NodePool only with the
    /// NodePool that Karpenter tries first at the same weight.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter does not spread pods over NodePools of equal weight, and it does not compare their prices: of the NodePools that
    /// a pod fits, it always takes the one whose name comes last in the alphabet. The other NodePool gets only pods that require
    /// something that the first one lacks, or all pods once the first one has reached its limits. Another name for a NodePool
    /// moves the pods.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: web
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}
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
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: web
    /// spec:
    ///   weight: 10
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have both NodePools. The policy does not look up the weights of other NodePools, so the finding is only in the
    /// report of files.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2976; aws/karpenter-provider-aws#6049, #9265, #3921
    /// - `OrderByWeight` in `pkg/utils/nodepool/nodepool.go` and `addToNewNodeClaim` in
    ///   `pkg/controllers/provisioning/scheduling/scheduler.go` of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the names of two NodePools of equal weight decide which of them launches nodes",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let pools = context.inventory.index::<Pools>();
    let Some(weight) = weight(pool).filter(|_| pools.is_known() && !pools.has_placeholder()) else { return };
    let Some(first) = first_pool(context.inventory, Some(weight)) else { return };
    let name = first.pool.object().name();
    let mine = NodeTemplate::of(pool);
    let is_apart = name == object.name()
        || !mine.taints.is_empty()
        || mine.has_label_beyond(first.template)
        || first.template.requirements.conflict(&mine.requirements).is_some();
    if is_apart {
        return;
    }
    let message = format!(
        "this NodePool has the same weight ({weight}) as `{name}`, whose name comes later: a pod that fits both always gets its node from `{name}`"
    );
    findings.push(
        Finding::new(&RULE, Place::value(pool.weight().unwrap_or(object.name_node())), message)
            .help("give the NodePool that Karpenter should try first the greater `weight`, or let the requirements of the two exclude each other")
            .related(Place::value(first.pool.object().name_node()), "Karpenter tries this NodePool first"),
    );
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
  template: {{metadata: {{}}, spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}, {template}}}}}
  limits: {{cpu: 9}}
  {spec}
---
"
        )
    }

    const CATEGORY: &str =
        "requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}]";
    const OTHER: &str =
        "requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [r]}]";
    const CUSTOM: &str = "requirements: [{key: example.com/team, operator: In, values: [a]}]";

    #[test]
    fn reports_the_pool_whose_name_comes_earlier() {
        let text = pool("a", "weight: 3", CATEGORY) + &pool("b", "weight: 3", "");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |   weight: 3
            |           ^
        info NodePool/a spec.weight [all]
          this NodePool has the same weight (3) as `b`, whose name comes later: a pod that fits both always gets its node from `b`
          help: give the NodePool that Karpenter should try first the greater `weight`, or let the requirements of the two exclude each other
          see line 11 metadata.name: Karpenter tries this NodePool first
        ");
        let default = pool("b", "disruption: {}", "") + &pool("a", "weight: 0", "");
        assert!(findings(&RULE, &default).contains("NodePool/a spec.weight"));
    }

    #[test]
    fn accepts_other_weights_and_requirements_and_taints() {
        let with = |spec: &str, template: &str| pool("a", spec, template) + &pool("b", "weight: 3", CATEGORY);
        assert!(!findings(&RULE, &with("weight: 3", "")).is_empty());
        for (spec, template) in [
            ("weight: 4", ""),
            ("weight: '${WEIGHT}'", ""),
            ("replicas: 3", ""),
            ("weight: 3", OTHER),
            ("weight: 3", CUSTOM),
            ("weight: 3", "taints: [{key: a, effect: NoSchedule}]"),
            ("weight: 3", "startupTaints: [], requirements: [{key: '${KEY}', operator: Exists}]"),
        ] {
            silent(&RULE, &with(spec, template));
        }
        let unresolved = pool("c", "weight: 1", &CATEGORY.replace("c, m", "'${CATEGORY}'"));
        silent(&RULE, &(with("weight: 3", "") + &unresolved));
    }

    #[test]
    fn ignores_first_pools_that_are_static_or_tainted() {
        let first = |spec: &str, template: &str| pool("a", "weight: 3", "") + &pool("b", spec, template);
        silent(&RULE, &first("replicas: 3", ""));
        silent(&RULE, &first("weight: 3", "taints: [{key: a, effect: NoSchedule}]"));
        silent(&RULE, &pool("a", "weight: 3", ""));
        silent(&RULE, &(pool("a", "weight: 0", "") + &pool("b", "replicas: 3", "")));
    }

    #[test]
    fn names_the_first_of_two_pools_with_one_name() {
        let text = pool("a", "weight: 3", "") + &pool("b", "weight: 3", "").repeat(2);
        assert!(findings(&RULE, &text).contains("see line 11 metadata.name"));
    }
}
