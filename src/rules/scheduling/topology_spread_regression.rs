use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::{Pod, TopologySpreadConstraint};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Finds pods with `topologySpreadConstraints` on an upgrade path that ends at 1.8.4.
    ///
    /// ## Why it is bad
    ///
    /// 1.8.4 counts the domains of a topology spread differently. It finds no node for some pods that 1.8.3 and 1.8.5
    /// can schedule: pods whose constraint respects node affinity (`nodeAffinityPolicy: Honor`, the default). The
    /// upgrade guide recommends skipping this release; 1.8.5 reverts the change.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.8.3 to 1.8.4
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   template:
    ///     spec:
    ///       topologySpreadConstraints:
    ///         - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Another release: an upgrade to 1.8.5 or later is not reported.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2785, #2639, #2791; upgrade guide, 1.8.0
    /// - Release 1.8.4 of the provider uses kubernetes-sigs/karpenter v1.8.1, release 1.8.5 uses v1.8.2
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::patches(8, 4, 4),
        summary: "1.8.4 creates no node for some pods with topology spread constraints",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let respects_affinity =
        |constraint: &TopologySpreadConstraint<'_>| constraint.node_affinity_policy() != Some("Ignore");
    if let Some(constraint) = pod.spec().topology_spread_constraints().find(respects_affinity) {
        let place = Place::value(constraint.topology_key().unwrap_or(constraint.node()));
        let message = "Karpenter may create no node for pods with this constraint, because this release counts the domains of a topology spread wrongly";
        findings.push(Finding::new(&RULE, place, message).help("choose 1.8.5 or later instead"));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn workload(policy: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    spec:
      containers: []
      topologySpreadConstraints:
      - topologyKey: topology.kubernetes.io/zone{policy}
"
        )
    }

    #[test]
    fn reports_only_paths_that_end_at_1_8_4() {
        insta::assert_snapshot!(begins(&super::RULE, "1.7", "1.8.4", &workload("")), @"
        from 1.8.4 on
          9 |       - topologyKey: topology.kubernetes.io/zone
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.topologySpreadConstraints[0].topologyKey [1.8.4]
          Karpenter may create no node for pods with this constraint, because this release counts the domains of a topology spread wrongly
          help: choose 1.8.5 or later instead
        ");
        assert!(!begins(&super::RULE, "1.9", "1.8.4", &workload("")).is_empty());
        for (from, to) in [("1.7", "1.8.3"), ("1.8.3", "1.8.5"), ("1.7", "1.14"), ("1.8.4", "1.9")] {
            begins_nothing(&super::RULE, from, to, &workload(""));
        }
        begins_nothing(&super::RULE, "1.7", "1.8.4", &workload("\n        nodeAffinityPolicy: Ignore"));
    }
}
