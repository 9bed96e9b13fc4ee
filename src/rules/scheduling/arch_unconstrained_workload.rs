use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::{Pods, Pools};
use crate::rules::pools_of_pod;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools that list both `amd64` and `arm64`, if a workload in the input that they take selects no
    /// architecture.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches whichever architecture is cheaper. If an image is not built for it, its container ends with
    /// `exec format error`. Images for several architectures are not affected; the manifest does not show them.
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
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers: [{name: web, image: "example.com/web:1"}]
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
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       nodeSelector: {kubernetes.io/arch: amd64}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the NodePool and the workload. The rule reads the first 50 pods and pod templates of the input,
    /// and reports each NodePool once.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2407, #1540, #8696
    /// - website/content/en/v1.14/concepts/nodepools.md of aws/karpenter-provider-aws, "Architecture"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a workload that selects no architecture may land on one for which its image is not built",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

const ARCH: &str = "kubernetes.io/arch";

/// Maximum number of pods, and of NodePools, to compare, so that many of both take linear time.
const MAX_COMPARED: usize = 50;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let both = NodePool::of(object).and_then(both_architectures);
    let Some(both) = both.filter(|_| context.inventory.index::<Pools>().len() <= MAX_COMPARED) else {
        return;
    };
    let is_open = |pod: &&Pod<'d>| {
        let mut expressions = pod.expressions();
        !expressions.any(|expression| labels::normalised(expression.key) == ARCH)
            && pools_of_pod::of_pod(**pod, context).iter().any(|pool| pool.object() == object)
    };
    let Some(pod) = context.inventory.index::<Pods>().iter().take(MAX_COMPARED).find(is_open) else { return };
    let workload = pod.object();
    let message = format!(
        "this NodePool launches nodes of both architectures, and the {} `{}` selects none: its images must be built for both",
        workload.kind(),
        workload.name()
    );
    findings.push(
        Finding::new(&RULE, Place::value(both), message)
            .help("if an image is built for one architecture, select it with `kubernetes.io/arch` in the pod, or remove the other one here")
            .related(Place::value(workload.name_node()), "a workload without an architecture"),
    );
}

/// The requirement of a NodePool that lists both architectures.
fn both_architectures(pool: NodePool<'_>) -> Option<Node<'_>> {
    let lists_both = |values: Vec<&str>| ["amd64", "arm64"].iter().all(|arch| values.contains(arch));
    let mut items = pool.requirements().items();
    let item = items.find(|item| {
        let is_arch = item.key().map(labels::normalised) == Some(ARCH);
        is_arch
            && item.operator() == Some(Operator::In)
            && lists_both(item.values().filter_map(Node::as_str).collect())
    })?;
    Some(item.node())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn manifest(architectures: &str, pod: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements: [{{key: kubernetes.io/arch, operator: In, values: [{architectures}]}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec: {{containers: [], {pod}}}
"
        )
    }

    #[test]
    fn reports_pods_without_an_architecture() {
        insta::assert_snapshot!(findings(&RULE, &manifest("amd64, arm64", "")), @"
          7 |       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}]
            |                       ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          this NodePool launches nodes of both architectures, and the Pod `web` selects none: its images must be built for both
          help: if an image is built for one architecture, select it with `kubernetes.io/arch` in the pod, or remove the other one here
          see line 11 metadata.name: a workload without an architecture
        ");
    }

    #[test]
    fn accepts_one_architecture_selected_architectures_and_other_nodes() {
        silent(&RULE, &manifest("amd64", ""));
        silent(&RULE, &manifest("amd64, arm64", "nodeSelector: {kubernetes.io/arch: amd64}"));
        silent(&RULE, &manifest("amd64, arm64", "nodeSelector: {beta.kubernetes.io/arch: amd64}"));
        silent(&RULE, &manifest("amd64, arm64", "nodeSelector: {karpenter.sh/nodepool: b}"));
        silent(&RULE, &manifest("amd64, arm64", "").replace("kind: Pod", "kind: DaemonSet"));
    }
}
