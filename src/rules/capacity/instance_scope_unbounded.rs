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
    /// Finds NodePools whose requirements do not restrict the size of their instances: neither type, family, category
    /// and generation, size, CPU nor memory.
    ///
    /// ## Why it is bad
    ///
    /// Such a NodePool offers every instance type of the region, from `t3.nano` to metal servers. Karpenter packs few
    /// pods on very small nodes, where DaemonSets take most of the room, and old generations cost more for less.
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
    ///       - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
    ///       - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["4"]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2483, #7627
    /// - website/content/en/v1.14/concepts/nodepools.md of aws/karpenter-provider-aws: the recommended requirements
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool offers every instance type, from the smallest to metal servers",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let restricts = |key: &str| {
        let key = labels::normalised(key);
        key == "node.kubernetes.io/instance-type"
            || key.starts_with("karpenter.k8s.aws/instance-")
            || has_placeholder(key)
    };
    let is_bounded = pool.requirements().items().any(|item| item.key().is_some_and(restricts));
    let is_labelled = pool.node_labels().any(|(key, _)| restricts(key));
    let Some(list) =
        pool.requirements().node().filter(|list| list.is_sequence() && !is_bounded && !is_labelled)
    else {
        return;
    };
    let message = "no requirement restricts the instance types, so Karpenter may launch any, from `t3.nano` to metal servers";
    findings.push(Finding::new(&RULE, Place::key(list), message).help(
        "require `karpenter.k8s.aws/instance-category` and `karpenter.k8s.aws/instance-generation`, as Karpenter's documentation does",
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
    fn reports_pools_that_offer_every_type() {
        insta::assert_snapshot!(findings(&RULE, &pool("{key: kubernetes.io/arch, operator: In, values: [amd64]}")), @"
          8 |       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
            |       ^^^^^^^^^^^^
        info NodePool/a spec.template.spec.requirements [all]
          no requirement restricts the instance types, so Karpenter may launch any, from `t3.nano` to metal servers
          help: require `karpenter.k8s.aws/instance-category` and `karpenter.k8s.aws/instance-generation`, as Karpenter's documentation does
        ");
    }

    #[test]
    fn accepts_any_restriction() {
        for key in [
            "node.kubernetes.io/instance-type",
            "karpenter.k8s.aws/instance-category",
            "karpenter.k8s.aws/instance-cpu",
            "beta.kubernetes.io/instance-type",
            "'${KEY}'",
        ] {
            silent(&RULE, &pool(&format!("{{key: {key}, operator: In, values: [a]}}")));
        }
        silent(
            &RULE,
            &pool("").replace("karpenter.k8s.aws, kind: EC2NodeClass", "eks.amazonaws.com, kind: NodeClass"),
        );
    }
}
