use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::Disruption;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools for spot instances only, with the policy `WhenEmptyOrUnderutilized`, where the controller has
    /// the feature gate `SpotToSpotConsolidation` off.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter then replaces no spot instance by a cheaper spot instance. It still removes nodes whose pods fit on
    /// others, but a large node that became half empty stays large.
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
    ///       - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       featureGates: {spotToSpotConsolidation: false}
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
    ///       - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       featureGates: {spotToSpotConsolidation: true}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The values of the chart, or the Deployment of the controller, must be in the input and set the gate. If the input
    /// has several of them, each must turn the gate off. The policy looks up none of them, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6635; kubernetes-sigs/karpenter#763, #1653
    /// - `pkg/controllers/disruption/consolidation.go` of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "spot nodes are never replaced by cheaper spot nodes, because the feature gate is off",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let policy = pool.disruption().and_then(Disruption::consolidation_policy).and_then(Node::as_str);
    let is_off = context.inventory.index::<Gates>().is_off("SpotToSpotConsolidation");
    if policy == Some("WhenEmpty") || !is_off {
        return;
    }
    let capacity = pool.requirements().items().find(|item| item.key() == Some(labels::CAPACITY_TYPE));
    let Some(capacity) = capacity.filter(|item| item.operator_text() == Some("In")) else { return };
    let mut values = capacity.values().filter_map(Node::as_str).peekable();
    if values.peek().is_some() && values.all(|value| value == "spot") {
        let message = "the feature gate SpotToSpotConsolidation is off, so Karpenter never replaces a spot node of this NodePool by a cheaper one";
        findings.push(Finding::new(&RULE, Place::value(capacity.node()), message).help(
            "turn on `settings.featureGates.spotToSpotConsolidation`, and allow at least 15 instance types",
        ));
    }
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

    const SPOT: &str = "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}";

    fn values(on: bool) -> String {
        format!(
            r"---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter, namespace: kube-system}}
spec: {{chart: {{spec: {{chart: karpenter}}}}, values: {{settings: {{featureGates: {{spotToSpotConsolidation: {on}}}}}}}}}
"
        )
    }

    #[test]
    fn reports_spot_pools_where_the_gate_is_off() {
        insta::assert_snapshot!(findings(&RULE, &(pool(SPOT) + &values(false))), @"
          8 |       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
            |                       ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          the feature gate SpotToSpotConsolidation is off, so Karpenter never replaces a spot node of this NodePool by a cheaper one
          help: turn on `settings.featureGates.spotToSpotConsolidation`, and allow at least 15 instance types
        ");
    }

    #[test]
    fn accepts_the_gate_on_or_unknown_and_other_capacity() {
        silent(&RULE, &(pool(SPOT) + &values(true)));
        silent(&RULE, &(pool(SPOT) + &values(true) + &values(false)));
        silent(&RULE, &pool(SPOT));
        silent(
            &RULE,
            &(pool("{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}")
                + &values(false)),
        );
    }
}
