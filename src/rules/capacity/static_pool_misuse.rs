use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools with `replicas` where the controller in the input has the feature gate `StaticCapacity` off.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter accepts the NodePool, but keeps no nodes for it while the gate is off.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   replicas: 3
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: kubernetes.io/arch, operator: In, values: [amd64]}
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
    ///       featureGates: {staticCapacity: false}
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
    ///   replicas: 3
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: kubernetes.io/arch, operator: In, values: [amd64]}
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
    ///       featureGates: {staticCapacity: true}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The values of the chart, or the Deployment of the controller, must be in the input and set the gate. If the input
    /// has several of them, each must turn the gate off. The policy looks up none of them, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - `FeatureGates.StaticCapacity` in `pkg/controllers/controllers.go` of kubernetes-sigs/karpenter at v1.8.0 and v1.14.1: the
    ///   controllers of static NodePools run only with the gate
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(8),
        fix: Fixes::None,
        summary: "a NodePool has replicas, but the feature gate for static capacity is off",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // EKS Auto Mode has no gates.
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let Some(replicas) = pool.replicas().filter(|replicas| !replicas.is_null()) else { return };
    if context.inventory.index::<Gates>().is_off("StaticCapacity") {
        let message = "the feature gate StaticCapacity is off, so Karpenter keeps no nodes for this NodePool";
        findings.push(
            Finding::new(&RULE, Place::key(replicas), message)
                .help("turn on `settings.featureGates.staticCapacity`, or remove `replicas`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn with(replicas: &str, values: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  {replicas}
  template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter, namespace: kube-system}}
spec: {{chart: {{spec: {{chart: karpenter}}}}, values: {{settings: {{featureGates: {{{values}}}}}}}}}
"
        )
    }

    #[test]
    fn reports_replicas_where_the_gate_is_off() {
        insta::assert_snapshot!(findings(&RULE, &with("replicas: 3", "staticCapacity: false")), @"
          5 |   replicas: 3
            |   ^^^^^^^^
        warning NodePool/a spec.replicas [since 1.8]
          the feature gate StaticCapacity is off, so Karpenter keeps no nodes for this NodePool
          help: turn on `settings.featureGates.staticCapacity`, or remove `replicas`
        ");
    }

    #[test]
    fn accepts_the_gate_on_or_unknown_and_pools_without_replicas() {
        silent(&RULE, &with("replicas: 3", "staticCapacity: true"));
        silent(&RULE, &with("replicas: 3", ""));
        silent(&RULE, &with("weight: 3", "staticCapacity: false"));
        let other = with("weight: 3", "staticCapacity: true").replace("name: a}", "name: b}");
        silent(&RULE, &format!("{}---\n{other}", with("replicas: 3", "staticCapacity: false")));
    }
}
