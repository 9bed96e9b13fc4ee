use std::collections::BTreeSet;

use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use objects::pod::{Pod, TopologySpreadConstraint};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::{is_for_karpenter, is_meant_for_other_nodes};
use scheduling::pool_index::PoolGroup;
use scheduling::provisionable::is_provisionable;
use scheduling::taints::Toleration;
use scheduling::template::check_taints;

use crate::rules::indexes::Pools;
use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Checks that pods with a topology spread constraint on zones do not need more zones (`minDomains`) than the
    /// NodePools serve whose taints the pods tolerate.
    ///
    /// ## Why it is bad
    ///
    /// With fewer zones than `minDomains`, each zone takes at most `maxSkew` pods of the workload, and the other pods stay
    /// Pending. The controller logs `unsatisfiable topology constraint for topology spread`. The finding compares this
    /// number with `replicas`, or with the minimum of the workload's autoscaler.
    ///
    /// The rule reports nothing unless every such NodePool lists its zones. The finding is an error if the input holds
    /// every NodePool (`--complete`) and the pod selects a label that only Karpenter's nodes have. Otherwise it is a
    /// warning, because other nodes may run in a further zone.
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
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 3
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       topologySpreadConstraints:
    ///       - maxSkew: 1
    ///         minDomains: 3
    ///         topologyKey: topology.kubernetes.io/zone
    ///         whenUnsatisfiable: DoNotSchedule
    ///         labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: web, image: nginx}]
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
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b, eu-west-1c]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 3
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       topologySpreadConstraints:
    ///       - maxSkew: 1
    ///         minDomains: 3
    ///         topologyKey: topology.kubernetes.io/zone
    ///         whenUnsatisfiable: DoNotSchedule
    ///         labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// The rule does not run in the cluster, where the policy reads only the NodePools that decide about a pod.
    ///
    /// ## References
    ///
    /// - pkg/controllers/provisioning/scheduling/topologygroup.go of kubernetes-sigs/karpenter at v1.14.0
    /// - kubernetes-sigs/karpenter#2257, #1306
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a spread constraint needs more zones than the NodePools serve",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// The label of the zone.
const ZONE: &str = "topology.kubernetes.io/zone";
/// Maximum number of different NodePools to compare a pod with, so that many pods and NodePools take linear time.
const MAX_COMPARISONS: usize = 250;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| constraints(*pod).next().is_some()) else { return };
    let replicated = object.group() == "apps" && !pod.is_daemon();
    // The policy reads only the NodePools that decide about a pod.
    if object.operation() != Operation::Apply
        || !replicated
        || !is_provisionable(pod)
        || is_meant_for_other_nodes(pod)
    {
        return;
    }
    if context.may_be_in_environment(Kind::NODE_POOL) {
        return;
    }
    let Some((zones, pool)) = zones_for(pod, context) else { return };
    let Some(replicas) = context.inventory.index::<PodDisruptionBudgets>().least_replicas(object) else {
        return;
    };
    for (constraint, needed) in constraints(pod) {
        let skew = constraint.node().get("maxSkew").and_then(Node::as_int).unwrap_or(1);
        let Ok(number) = i64::try_from(zones.len()) else { return };
        let room = skew.saturating_mul(number);
        let Some(least) = needed.as_int().filter(|least| *least > number) else { continue };
        if replicas.number <= room {
            continue;
        }
        let names: Vec<_> = zones.iter().map(|zone| format!("`{zone}`")).collect();
        let message = format!(
            "the pods need {least} zones, but the NodePools serve only {}: {room} of {} pods get a node, and the others stay Pending",
            names.join(", "),
            replicas.number
        );
        let certain = context.inventory.is_complete() && is_for_karpenter(pod);
        let severity = if certain { Severity::Error } else { Severity::Warning };
        let finding = Finding::new(&RULE, Place::value(needed), message).severity(severity);
        let finding = finding.help("let a NodePool serve another zone, or lower `minDomains`");
        findings.push(finding.related(Place::value(pool), "the zones of a NodePool that takes these pods"));
    }
}

/// The hard constraints on zones that have `minDomains`, each with that field.
fn constraints(pod: Pod<'_>) -> impl Iterator<Item = (TopologySpreadConstraint<'_>, Node<'_>)> {
    pod.spec().topology_spread_constraints().filter_map(|constraint| {
        let is_zone = constraint.topology_key().and_then(Node::as_str) == Some(ZONE);
        let condition = constraint.node().get("whenUnsatisfiable").and_then(Node::as_str);
        let needed = constraint.node().get("minDomains")?;
        (is_zone && condition == Some("DoNotSchedule")).then_some((constraint, needed))
    })
}

/// The zones of the NodePools whose taints a pod tolerates, and the requirement of the first of these NodePools. `None` if
/// one of them is open to every zone.
fn zones_for<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> Option<(BTreeSet<&'d str>, Node<'d>)> {
    let pools = context.inventory.index::<Pools>();
    if !pools.is_known() || pools.has_placeholder() || pools.groups().len() > MAX_COMPARISONS {
        return None;
    }
    let tolerations: Vec<_> = pod.spec().tolerations().map(Toleration::from_item).collect();
    let mut zones = BTreeSet::new();
    let mut first = None;
    for group in pools.groups().iter().filter(|group| is_tolerated(group, &tolerations)) {
        let requirements = group.pools.first().and_then(|pool| NodePool::of(*pool))?.requirements();
        let listed = requirements.items().find(|item| {
            item.key().map(labels::normalised) == Some(ZONE) && item.operator() == Some(Operator::In)
        })?;
        zones.extend(listed.values().filter_map(Node::as_str));
        first = first.or(Some(listed.node()));
    }
    Some((zones, first?))
}

fn is_tolerated(group: &PoolGroup<'_>, tolerations: &[Toleration<'_>]) -> bool {
    check_taints(&group.template.taints, tolerations).is_ok()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, request, silent};
    use rule::settings::Settings;

    fn pool(name: &str, zones: &str, taints: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      taints: [{taints}]
      requirements: [{zones}]
---
"
        )
    }

    fn two_zones() -> String {
        pool("two", "{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}", "")
    }

    fn deployment(replicas: u8, constraint: &str, more: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  template:
    spec:
      containers: []
      {more}
      topologySpreadConstraints: [{{topologyKey: topology.kubernetes.io/zone, {constraint}}}]
"
        )
    }

    const HARD: &str = "maxSkew: 1, minDomains: 3, whenUnsatisfiable: DoNotSchedule";

    #[test]
    fn reports_pods_that_exceed_the_zones_of_the_pools() {
        insta::assert_snapshot!(findings(&RULE, &(two_zones() + &deployment(3, HARD, ""))), @"
         19 |       topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, minDomains: 3, whenUnsatisfiable: DoNotSchedule}]
            |                                                                                                      ^
        warning Deployment/web spec.template.spec.topologySpreadConstraints[0].minDomains [all]
          the pods need 3 zones, but the NodePools serve only `a`, `b`: 2 of 3 pods get a node, and the others stay Pending
          help: let a NodePool serve another zone, or lower `minDomains`
          see line 8 spec.template.spec.requirements[0]: the zones of a NodePool that takes these pods
        ");
        silent(&RULE, &(two_zones() + &deployment(2, HARD, "")));
        silent(&RULE, &(two_zones() + &deployment(4, &HARD.replace("Skew: 1", "Skew: 2"), "")));
        silent(&RULE, &(two_zones() + &deployment(3, &HARD.replace("Domains: 3", "Domains: 2"), "")));
    }

    #[test]
    fn is_an_error_only_where_no_other_node_can_take_the_pods() {
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        let own = deployment(3, HARD, "nodeSelector: {karpenter.sh/nodepool: two}");
        assert!(findings_with(&RULE, &(two_zones() + &own), &complete).contains("error Deployment/web"));
        let any = two_zones() + &deployment(3, HARD, "");
        assert!(findings_with(&RULE, &any, &complete).contains("warning Deployment/web"));
    }

    #[test]
    fn counts_pools_whose_taints_the_pods_tolerate() {
        let third = pool(
            "third",
            "{key: topology.kubernetes.io/zone, operator: In, values: [c]}",
            "{key: team, value: ml, effect: NoSchedule}",
        );
        let pools = two_zones() + &third;
        assert!(findings(&RULE, &(pools.clone() + &deployment(3, HARD, ""))).contains("`a`, `b`"));
        silent(&RULE, &(pools + &deployment(3, HARD, "tolerations: [{operator: Exists}]")));
    }

    #[test]
    fn accepts_open_pools_preferences_and_unknown_pools() {
        silent(&RULE, &(two_zones() + &pool("open", "", "") + &deployment(3, HARD, "")));
        let not_in = pool("not-in", "{key: topology.kubernetes.io/zone, operator: NotIn, values: [a]}", "");
        silent(&RULE, &(two_zones() + &not_in + &deployment(3, HARD, "")));
        silent(&RULE, &(two_zones() + &deployment(3, &HARD.replace("DoNotSchedule", "ScheduleAnyway"), "")));
        silent(&RULE, &deployment(3, HARD, ""));
        let autoscaler = r"---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, scaleTargetRef: {kind: Deployment, name: web}}
";
        silent(&RULE, &(two_zones() + &deployment(3, HARD, "") + autoscaler));
    }

    #[test]
    fn ignores_pods_that_karpenter_does_not_place() {
        for more in ["nodeSelector: {eks.amazonaws.com/nodegroup: a}", "schedulerName: other"] {
            silent(&RULE, &(two_zones() + &deployment(3, HARD, more)));
        }
    }

    #[test]
    fn ignores_workloads_of_other_groups() {
        let rollout = deployment(3, HARD, "")
            .replace("apps/v1", "argoproj.io/v1alpha1")
            .replace("kind: Deployment", "kind: Rollout");
        silent(&RULE, &(two_zones() + &rollout));
    }

    #[test]
    fn ignores_requests_that_do_not_show_all_pools() {
        silent(&RULE, &(two_zones() + &request("CREATE", &deployment(3, HARD, ""))));
    }

    #[test]
    fn compares_a_pod_with_a_bounded_number_of_pools() {
        let found = |count: usize| {
            let others: String = (1..count)
                .map(|index| {
                    pool(&format!("p{index}"), "", &format!("{{key: t{index}, effect: NoSchedule}}"))
                })
                .collect();
            findings(&RULE, &(two_zones() + &others + &deployment(3, HARD, "")))
        };
        assert!(!found(super::MAX_COMPARISONS).is_empty());
        assert_eq!(found(super::MAX_COMPARISONS + 1), "");
    }

    #[test]
    fn ignores_pools_with_placeholders() {
        let unresolved = pool("'${NAME}'", "", "{key: a, value: '${VALUE}', effect: NoSchedule}");
        silent(&RULE, &(two_zones() + &unresolved + &deployment(3, HARD, "")));
    }
}
