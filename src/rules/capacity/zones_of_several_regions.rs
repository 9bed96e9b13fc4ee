use karpenter::kind::Kind;
use karpenter::release::Releases;
use karpenter::zones::region_of_zone;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::zones::listed_zones;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose requirements name zones of more than one AWS region.
    ///
    /// ## Why it is bad
    ///
    /// A cluster has its nodes in one region. Karpenter launches nothing in the zones of other regions, so the NodePool
    /// has fewer zones than it lists. Often one zone keeps the region of the manifest it was copied from.
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
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-central-1b]}
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
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ```
    ///
    /// ## References
    ///
    /// - `computeRequirements` in `pkg/providers/instancetype/types.go` of aws/karpenter-provider-aws at v1.14.1: the instance types
    ///   have the region of the controller, and the zones of their offerings and of the subnets, intersected
    /// - `NewOperator` in `pkg/operator/operator.go`: the controller works in one region
    /// - aws/karpenter-provider-aws#8637
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool lists zones of more than one region",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let mut zones = listed_zones(pool).filter_map(with_region);
    let Some((first, region, first_node)) = zones.next() else { return };
    if let Some((zone, other, node)) = zones.find(|(_, other, _)| *other != region) {
        let message = format!(
            "`{zone}` is in the region {other}, but `{first}` is in {region}, and a cluster has its nodes in one region"
        );
        findings.push(
            Finding::new(&RULE, Place::value(node), message)
                .related(Place::value(first_node), "names another region")
                .help("list only zones of the region of the cluster"),
        );
    }
}

fn with_region<'d>((zone, node): (&'d str, Node<'d>)) -> Option<(&'d str, &'d str, Node<'d>)> {
    Some((zone, region_of_zone(zone)?, node))
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

    fn zones(values: &str) -> String {
        pool(&format!("{{key: topology.kubernetes.io/zone, operator: In, values: [{values}]}}"))
    }

    #[test]
    fn reports_a_zone_of_another_region() {
        insta::assert_snapshot!(findings(&RULE, &zones("eu-west-1a, eu-west-1b, us-gov-west-1a")), @"
          8 |       requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b, us-gov-west-1a]}]
            |                                                                                                        ^^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.requirements[0].values[2] [all]
          `us-gov-west-1a` is in the region us-gov-west-1, but `eu-west-1a` is in eu-west-1, and a cluster has its nodes in one region
          help: list only zones of the region of the cluster
          see line 8 spec.template.spec.requirements[0].values[0]: names another region
        ");
    }

    #[test]
    fn accepts_one_region_local_zones_and_placeholders() {
        for values in [
            "eu-west-1a, eu-west-1b",
            "us-west-2a, us-west-2-lax-1a",
            "eu-west-1a, '${REGION}a'",
            "use1-az1, us-east-1a",
        ] {
            silent(&RULE, &zones(values));
        }
        silent(&RULE, &zones("eu-west-1a, us-east-1a").replace("operator: In", "operator: NotIn"));
    }
}
