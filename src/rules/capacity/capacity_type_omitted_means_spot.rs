use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools without a requirement on `karpenter.sh/capacity-type`.
    ///
    /// ## Why it is bad
    ///
    /// A NodePool without the requirement takes every capacity type. Karpenter prefers reserved capacity, then spot,
    /// then on-demand, so most nodes are spot instances, which EC2 can take back with a notice of two minutes. The
    /// Provisioners before v1beta1 defaulted to on-demand, so a migration can change that silently.
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
    ///       - {key: kubernetes.io/arch, operator: In, values: [amd64]}
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
    ///       - {key: kubernetes.io/arch, operator: In, values: [amd64]}
    ///       - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2407, #5743
    /// - `pkg/providers/instance/instance.go` of aws/karpenter-provider-aws at v1.14.1: `getCapacityType`
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool without a capacity type launches spot instances first",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let asks = pool
        .requirements()
        .items()
        .any(|item| item.key().is_some_and(|key| key == labels::CAPACITY_TYPE || has_placeholder(key)));
    let is_labelled = pool.node_labels().any(|(key, _)| key == labels::CAPACITY_TYPE);
    // Without any requirement the API server refuses the NodePool.
    let Some(list) = pool.requirements().node().filter(|list| list.is_sequence() && !asks && !is_labelled)
    else {
        return;
    };
    let message = "this NodePool takes every capacity type, and Karpenter prefers spot instances to on-demand instances";
    findings.push(Finding::new(&RULE, Place::key(list), message).help(
        "require `karpenter.sh/capacity-type` with the values that the workloads tolerate: `spot`, `on-demand` or both",
    ));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(requirements: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{requirements}]
"
        )
    }

    #[test]
    fn reports_pools_without_the_requirement() {
        insta::assert_snapshot!(findings(&RULE, &pool("{key: kubernetes.io/arch, operator: In, values: [amd64]}")), @"
          8 |       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
            |       ^^^^^^^^^^^^
        info NodePool/a spec.template.spec.requirements [all]
          this NodePool takes every capacity type, and Karpenter prefers spot instances to on-demand instances
          help: require `karpenter.sh/capacity-type` with the values that the workloads tolerate: `spot`, `on-demand` or both
        ");
    }

    #[test]
    fn accepts_any_requirement_on_the_capacity_type_and_auto_mode() {
        silent(&RULE, &pool("{key: '${KEY}', operator: Exists}"));
        silent(&RULE, &pool("").replace("[]", "'${REQUIREMENTS}'"));
        for operator in
            ["operator: Exists", "operator: In, values: [spot]", "operator: NotIn, values: [spot]"]
        {
            silent(&RULE, &pool(&format!("{{key: karpenter.sh/capacity-type, {operator}}}")));
        }
        silent(
            &RULE,
            &pool("").replace("karpenter.k8s.aws, kind: EC2NodeClass", "eks.amazonaws.com, kind: NodeClass"),
        );
    }

    #[test]
    fn accepts_a_label_that_sets_the_capacity_type() {
        let labelled = |label: &str| {
            let metadata = format!("template:\n    metadata: {{labels: {{{label}}}}}\n");
            pool("{key: kubernetes.io/arch, operator: Exists}").replace("template:\n", &metadata)
        };
        silent(&RULE, &labelled("karpenter.sh/capacity-type: on-demand"));
        assert!(!findings(&RULE, &labelled("team: web")).is_empty());
    }
}
