use cluster::index::Index;
use cluster::inventory::Inventory;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use karpenter::labels::ZONE;
use karpenter::release::Releases;
use karpenter::zones::region_of_zone;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, Ec2NodeClassStatus};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::zones::listed_zones;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::NodeClasses;

rule! {
    /// ## What it does
    ///
    /// Finds zones that a NodePool requires but in which its EC2NodeClass has no subnet. The status of the EC2NodeClass lists the
    /// subnets, in objects as a cluster returns them, such as the snapshot of `karpwarden collect`. Without the status, the rule
    /// compares the region of the zones with the region of another NodePool of the same EC2NodeClass in the same file.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches nothing in a zone without a subnet. If that holds for all zones of the NodePool, it launches no nodes from
    /// it. Otherwise the NodePool has fewer zones than it lists, and pods that require the missing zone stay Pending. Karpenter also counts
    /// the zone as a topology of every pod, so that pods of other NodePools are not spread as they ask.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec: {}
    /// status:
    ///   subnets:
    ///     - {id: subnet-0a1b2c3d, zone: eu-west-1a}
    ///     - {id: subnet-1a2b3c4d, zone: eu-west-1b}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1c]}
    /// ```
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec: {}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: batch
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [eu-central-1b]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec: {}
    /// status:
    ///   subnets:
    ///     - {id: subnet-0a1b2c3d, zone: eu-west-1a}
    ///     - {id: subnet-1a2b3c4d, zone: eu-west-1b}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the NodePool and its EC2NodeClass. The policy looks up only the names of node classes, so the
    /// finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - `computeRequirements` in `pkg/providers/instancetype/types.go` of aws/karpenter-provider-aws at v1.14.1: the zones of the offerings
    ///   and of the subnets, intersected
    /// - aws/karpenter-provider-aws#8637, kubernetes-sigs/karpenter#1306
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool lists a zone in which its EC2NodeClass has no subnet",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some((class, _)) = context.inventory.index::<NodeClasses>().of_pool(pool) else { return };
    let subnets = class.status().and_then(Ec2NodeClassStatus::subnets);
    findings.extend(match subnets.filter(|subnets| !subnets.is_empty()) {
        Some(subnets) => without_subnet(pool, class, subnets),
        None => in_another_region(pool, class, context),
    });
}

/// Compares the zones of a NodePool with the subnets in the status of its EC2NodeClass.
fn without_subnet<'d>(pool: NodePool<'d>, class: Ec2NodeClass<'d>, subnets: Node<'d>) -> Option<Finding<'d>> {
    let served: BTreeSet<&str> = subnets.items().filter_map(|subnet| subnet.str_at(&["zone"])).collect();
    let mut texts = listed_zones(pool).map(|(zone, _)| zone).chain(served.iter().copied());
    if served.is_empty() || texts.any(|zone| is_replaced(ZONE, zone)) {
        return None;
    }
    let is_missing = |(zone, _): &(&str, Node<'_>)| !served.contains(zone);
    let (zone, node) = listed_zones(pool).find(is_missing)?;
    let effect = if listed_zones(pool).all(|zone| is_missing(&zone)) {
        "launches no nodes from this NodePool"
    } else {
        "launches nothing there"
    };
    let message = format!(
        "the EC2NodeClass `{}` has no subnet in `{zone}`, so Karpenter {effect}",
        class.object().name()
    );
    let finding = Finding::new(&RULE, Place::value(node), message)
        .help("select a subnet of the zone in the EC2NodeClass, or remove the zone")
        .related(Place::key(subnets), "the subnets of the EC2NodeClass");
    Some(finding)
}

/// Compares the region of a NodePool with the region of the first NodePool of the same EC2NodeClass and file. Files can be for
/// several clusters.
fn in_another_region<'d>(
    pool: NodePool<'d>,
    class: Ec2NodeClass<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let class = class.object().name();
    let (first, first_zone, first_node) = *context.inventory.index::<ZonesOfClasses>().get(class)?;
    let (zone, node, region) =
        listed_zones(pool).find_map(|(zone, node)| Some((zone, node, region_of_zone(zone)?)))?;
    let is_same_file = core::ptr::eq(first_node.source(), node.source());
    if !is_same_file || region_of_zone(first_zone) == Some(region) {
        return None;
    }
    let message = format!(
        "`{zone}` is in the region {region}, but the NodePool `{}` of the same EC2NodeClass `{class}` lists `{first_zone}`: the subnets of an EC2NodeClass are in one region, so Karpenter launches nothing in one of the two zones",
        first.object().name()
    );
    let finding = Finding::new(&RULE, Place::value(node), message)
        .help("list only zones of the region of the cluster")
        .related(Place::value(first_node), "names another region");
    Some(finding)
}

/// By EC2NodeClass: the first zone of a known region that a NodePool lists, with the NodePool.
pub(crate) struct ZonesOfClasses;

impl Index for ZonesOfClasses {
    type Value<'d> = BTreeMap<&'d str, (NodePool<'d>, &'d str, Node<'d>)>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Self::Value<'d> {
        let mut zones = BTreeMap::new();
        for pool in inventory.objects_of(Kind::NODE_POOL).filter_map(NodePool::of) {
            let first = listed_zones(pool).find(|(zone, _)| region_of_zone(zone).is_some());
            let class = pool.node_class_ref().and_then(|class| class.name()?.as_str());
            if let (Some(class), Some((zone, node))) = (class, first) {
                zones.entry(class).or_insert((pool, zone, node));
            }
        }
        zones
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(zones: &str, status: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{key: topology.kubernetes.io/zone, operator: In, values: [{zones}]}}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
status: {status}
"
        )
    }

    const SUBNETS: &str =
        "{subnets: [{id: subnet-1, zone: eu-west-1a, zoneID: euw1-az1}, {id: subnet-2, zone: eu-west-1b}]}";

    #[test]
    fn reports_a_zone_without_a_subnet() {
        insta::assert_snapshot!(findings(&RULE, &text("eu-west-1a, eu-west-1c", SUBNETS)), @"
          8 |       requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1c]}]
            |                                                                                            ^^^^^^^^^^
        warning NodePool/a spec.template.spec.requirements[0].values[1] [all]
          the EC2NodeClass `a` has no subnet in `eu-west-1c`, so Karpenter launches nothing there
          help: select a subnet of the zone in the EC2NodeClass, or remove the zone
          see line 13 status.subnets: the subnets of the EC2NodeClass
        ");
        let none = findings(&RULE, &text("eu-west-1c", SUBNETS));
        assert!(none.contains("launches no nodes from this NodePool"), "{none}");
    }

    #[test]
    fn accepts_zones_with_subnets_and_unknown_subnets() {
        silent(&RULE, &text("eu-west-1a, eu-west-1b", SUBNETS));
        silent(&RULE, &text("eu-west-1c, '${ZONE}'", SUBNETS));
        silent(&RULE, &text("eu-west-1c", "{subnets: []}"));
        silent(&RULE, &text("eu-west-1c", "{}"));
        silent(&RULE, &text("eu-west-1c", "{subnets: [{id: subnet-1, zone: '${ZONE}'}]}"));
        silent(&RULE, &text("eu-west-1c", SUBNETS).replace("operator: In", "operator: NotIn"));
    }

    #[test]
    fn reports_a_pool_in_another_region_than_the_first_of_its_class() {
        let other = |zone: &str, class: &str| {
            let pool =
                text(zone, "{}").split("---\n").next().unwrap().replace("name: a}\nspec", "name: b}\nspec");
            format!("{}---\n{}", text("eu-west-1a", "{}"), pool.replace("EC2NodeClass, name: a", class))
        };
        let same = "EC2NodeClass, name: a";
        insta::assert_snapshot!(findings(&RULE, &other("eu-central-1b", same)), @"
         22 |       requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-central-1b]}]
            |                                                                                ^^^^^^^^^^^^^
        warning NodePool/b spec.template.spec.requirements[0].values[0] [all]
          `eu-central-1b` is in the region eu-central-1, but the NodePool `a` of the same EC2NodeClass `a` lists `eu-west-1a`: the subnets of an EC2NodeClass are in one region, so Karpenter launches nothing in one of the two zones
          help: list only zones of the region of the cluster
          see line 8 spec.template.spec.requirements[0].values[0]: names another region
        ");
        silent(&RULE, &other("eu-west-1b", same));
        silent(&RULE, &other("eu-west-1-lax-1a", same));
        silent(&RULE, &other("'${REGION}b'", same));
        silent(&RULE, &other("eu-central-1b", "EC2NodeClass, name: b"));
    }
}
