use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools for instances with accelerators that have no taint.
    ///
    /// ## Why it is bad
    ///
    /// Pods that need no accelerator fit such nodes as well. They keep expensive nodes alive after the last pod that
    /// needed them, and take the room of pods that do.
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
    ///       - {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}
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
    ///       taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
    ///       requirements:
    ///       - {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1459, #4533
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws, "Accelerators/GPU Resources"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "pods that need no accelerator land on nodes that have one",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
const GPU_COUNT: &str = "karpenter.k8s.aws/instance-gpu-count";

/// The categories of instance types that all have accelerators: `crates/karpenter/src/instance_types`.
const ACCELERATED: [&str; 6] = ["p", "g", "gr", "trn", "inf", "dl"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    if pool.taints(TaintField::Taints).next().is_some() {
        return;
    }
    let asks = pool.requirements().items().find(|item| match (item.key(), item.operator_text()) {
        (Some(CATEGORY), Some("In")) => {
            let mut values = item.values().filter_map(Node::as_str).peekable();
            values.peek().is_some() && values.all(|value| ACCELERATED.contains(&value))
        }
        (Some(GPU_COUNT), Some("Gt" | "Gte" | "Exists")) => true,
        _ => false,
    });
    let Some(asks) = asks else { return };
    let message =
        "every node of this NodePool has accelerators and no taint, so pods that need none land there too";
    findings.push(
        Finding::new(&RULE, Place::value(asks.node()), message)
            .help("taint the NodePool, for example with `nvidia.com/gpu:NoSchedule`, which many device plugins tolerate"),
    );
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
    fn reports_accelerators_without_a_taint() {
        insta::assert_snapshot!(findings(&RULE, &pool("{key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}")), @"
          8 |       requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}]
            |                       ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          every node of this NodePool has accelerators and no taint, so pods that need none land there too
          help: taint the NodePool, for example with `nvidia.com/gpu:NoSchedule`, which many device plugins tolerate
        ");
        assert!(
            !findings(
                &RULE,
                &pool("{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['0']}")
            )
            .is_empty()
        );
    }

    #[test]
    fn accepts_taints_and_other_categories() {
        let tainted = pool("{key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}").replace(
            "      requirements",
            "      taints: [{key: gpu, effect: NoSchedule}]\n      requirements",
        );
        silent(&RULE, &tainted);
        silent(&RULE, &pool("{key: karpenter.k8s.aws/instance-category, operator: In, values: [g, m]}"));
        silent(&RULE, &pool("{key: karpenter.k8s.aws/instance-category, operator: NotIn, values: [g]}"));
    }
}
