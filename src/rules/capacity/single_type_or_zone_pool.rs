use karpenter::instance_types::category_and_generation_of_family;
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::storage::ZONE_KEYS;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirements};
use scheduling::template::NodeTemplate;

use crate::rules::indexes::{POOLS, ZonesOfPools};

rule! {
    /// ## What it does
    ///
    /// Finds NodePools that allow a single instance type of the families a, c, m, r and t, and NodePools that require one zone
    /// where every NodePool requires the same zone. The rule does not report NodePools for capacity reservations.
    ///
    /// ## Why it is bad
    ///
    /// While EC2 has no capacity for the instance type, or in the zone, Karpenter has nothing else to launch, and pods stay Pending. With
    /// spot instances this happens often, and Karpenter replaces no spot instance by a cheaper one unless it can choose among 15 types.
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
    ///         - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.xlarge]}
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
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The check of the instance type needs only the NodePool. The check of the zone needs all NodePools: the policy runs it only with
    /// `completeInventory`.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2470, #2414, #1653, #1124; aws/karpenter-provider-aws#9617, #5789, #5578, #4935
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool has one instance type or zone, so nothing replaces missing capacity",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[POOLS],
        opt_in: true,
        check: check,
    }
}

const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const SIZE: &str = "karpenter.k8s.aws/instance-size";
const TYPE: &str = "node.kubernetes.io/instance-type";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let requirements = NodeTemplate::of(pool).requirements;
    let types = requirements.get(labels::CAPACITY_TYPE);
    let is_reserved = types.is_some_and(|types| types.named_values().any(|value| value == "reserved"));
    if is_reserved || pool.requirements().node().is_some_and(has_placeholder_below) {
        return;
    }
    let mut report = |keys: &[&str], message: String, help: &str| {
        let item = pool.requirements().parsed().find(|item| keys.contains(&item.label()));
        let place = Place::value(item.map_or(object.name_node(), |item| item.item.node()));
        findings.push(Finding::new(&RULE, place, message).help(help));
    };
    if let Some(name) = only_type(&requirements) {
        let message = format!(
            "this NodePool allows only `{name}`: while EC2 has no capacity for it, Karpenter launches no nodes from this NodePool"
        );
        report(&[TYPE, SIZE], message, "allow several families and sizes");
    }
    let sees_all = context.is_text || context.inventory.is_complete();
    let zone = context
        .inventory
        .index::<ZonesOfPools>()
        .only()
        .filter(|_| sees_all && !context.may_be_in_environment(Kind::NODE_POOL));
    if let Some(zone) = zone {
        let message = format!(
            "every NodePool of {} launches nodes only in `{zone}`: while the zone has no capacity, or fails, pods stay Pending",
            context.scope()
        );
        report(&ZONE_KEYS, message, "allow the other zones of the cluster's subnets");
    }
}

/// The only instance type of a general family that requirements allow.
fn only_type(requirements: &Requirements<'_>) -> Option<String> {
    let only = |key: &str| {
        let names = requirements.get(key).filter(|names| names.operator() == EffectiveOperator::In)?;
        let mut names = names.named_values();
        names.next().filter(|_| names.next().is_none())
    };
    let name = match only(TYPE) {
        Some(name) => name.to_owned(),
        None => format!("{}.{}", only(FAMILY)?, only(SIZE)?),
    };
    let (category, _) = category_and_generation_of_family(name.split('.').next()?)?;
    matches!(category, "a" | "c" | "m" | "r" | "t").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn pool(requirements: &[&str]) -> String {
        let items: Vec<_> = requirements.iter().map(|item| format!("      - {{key: {item}}}\n")).collect();
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements:
{}---
",
            items.concat()
        )
    }

    const FAMILY: &str = "karpenter.k8s.aws/instance-family, operator: In, values: [c7i]";
    const SIZE: &str = "karpenter.k8s.aws/instance-size, operator: In, values: [large]";
    const ZONE: &str = "topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]";

    fn of_type(values: &str) -> String {
        format!("node.kubernetes.io/instance-type, operator: In, values: [{values}]")
    }

    #[test]
    fn reports_a_single_instance_type() {
        insta::assert_snapshot!(findings(&RULE, &pool(&[&of_type("m7i.large")])), @"
          9 |       - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]}
            |          ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          this NodePool allows only `m7i.large`: while EC2 has no capacity for it, Karpenter launches no nodes from this NodePool
          help: allow several families and sizes
        ");
        assert!(
            findings(&RULE, &pool(&[FAMILY, SIZE]))
                .contains("requirements[1] [all]\n  this NodePool allows only `c7i.large`")
        );
        let spot = "karpenter.sh/capacity-type, operator: In, values: [spot]";
        assert!(!findings(&RULE, &pool(&[FAMILY, SIZE, spot])).is_empty());
    }

    #[test]
    fn accepts_several_types_accelerators_and_reservations() {
        for requirements in [
            &[of_type("m7i.large, m7i.xlarge").as_str()][..],
            &[of_type("p5.48xlarge").as_str()],
            &[of_type("'${TYPE}'").as_str()],
            &[FAMILY],
            &[SIZE],
            &[FAMILY, SIZE, "karpenter.sh/capacity-type, operator: In, values: [reserved, spot]"],
        ] {
            silent(&RULE, &pool(requirements));
        }
    }

    #[test]
    fn reports_the_only_zone_of_all_pools() {
        insta::assert_snapshot!(findings(&RULE, &pool(&[ZONE])), @"
          9 |       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}
            |          ^^^
        info NodePool/a spec.template.spec.requirements[0] [all]
          every NodePool of this input launches nodes only in `eu-west-1a`: while the zone has no capacity, or fails, pods stay Pending
          help: allow the other zones of the cluster's subnets
        ");
        assert_eq!(findings(&RULE, &(pool(&[ZONE]) + &pool(&[ZONE]))).matches("every NodePool").count(), 2);
        silent(&RULE, &(pool(&[ZONE]) + &pool(&[&ZONE.replace("1a", "1b")])));
        silent(&RULE, &(pool(&[ZONE]) + &pool(&[])));
        silent(&RULE, &pool(&[&ZONE.replace("eu-west-1a", "'${ZONE}'")]));
    }

    #[test]
    fn ignores_the_zone_of_a_pool_beside_the_pools_of_environments() {
        let (shared, other) = (pool(&[ZONE]), pool(&[&ZONE.replace("1a", "1b")]));
        let files =
            [("base/pool.yaml", &*shared), ("envs/dev/pool.yaml", &*other), ("envs/prod/pool.yaml", &*other)];
        let found = findings_in_files(&RULE, &files, &Settings::default());
        assert!(!found.contains("`eu-west-1a`"), "{found}");
    }
}
