use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::labels::HOSTNAME;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::{Controller, PREFERENCE_POLICY};
use objects::object::Object;
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::provisionable::is_provisionable;
use scheduling::simulation::{LabelSelector, labels_of};

use crate::rules::indexes::Controllers;
use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds workloads of at least three pods that prefer a node for each pod: preferred anti-affinity, or a spread
    /// constraint with `ScheduleAnyway`, on `kubernetes.io/hostname`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter first treats a preference as a requirement, and launches a node for each pod although the pods would fit on
    /// fewer. Consolidation obeys the preference too, so it does not remove these nodes. From 1.4 on, the setting
    /// `preferencePolicy: Ignore` ignores preferences.
    ///
    /// ## Example
    ///
    /// ```yaml
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
    ///         topologyKey: kubernetes.io/hostname
    ///         whenUnsatisfiable: ScheduleAnyway
    ///         labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
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
    ///         topologyKey: topology.kubernetes.io/zone
    ///         whenUnsatisfiable: ScheduleAnyway
    ///         labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The number of pods: `replicas`, or the minimum of the workload's autoscaler if the input has it. A controller in the
    /// input that ignores preferences silences the rule.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#666, #1300, #1256; aws/karpenter-provider-aws#3406, #3921
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws, "Preferences"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter launches a node for each pod, although the pods only prefer that",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        depends_on_karpenter: true,
        check: check,
    }
}

/// The least number of pods that the rule reports.
const PODS: i64 = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let is_replicated = matches!(object.kind(), "Deployment" | "StatefulSet" | "ReplicaSet");
    let Some(pod) = Pod::of(object).filter(|pod| is_replicated && is_provisionable(*pod)) else { return };
    let Some(key) = preferred_hostname(pod) else { return };
    let Some(least) = context
        .inventory
        .index::<PodDisruptionBudgets>()
        .least_replicas(object)
        .filter(|least| least.number >= PODS)
    else {
        return;
    };
    if context.anywhere(|inventory| *inventory.index::<PreferencesIgnored>()) {
        return;
    }
    let message = format!(
        "Karpenter launches a node for each of the {} pods, and does not consolidate these nodes: it treats this preference as a requirement while it can",
        least.number
    );
    let finding = Finding::new(&RULE, Place::value(key), message).help(
        "remove the preference or prefer zones, or set `preferencePolicy: Ignore` in the chart of Karpenter from 1.4 on",
    );
    findings.push(match least.node {
        Some(node) => finding.related(Place::value(node), "the number of pods"),
        None => finding,
    });
}

/// The topology key of the first preference for a node without a further pod of the same workload.
fn preferred_hostname(pod: Pod<'_>) -> Option<Node<'_>> {
    let labels = labels_of(pod.metadata().label_map());
    let selects_own =
        |selector| LabelSelector::parse(selector).is_some_and(|selector| selector.matches(&labels));
    let terms = pod.spec().preferred_pod_anti_affinity_terms();
    let terms = terms.filter(|term| selects_own(term.label_selector()));
    let spreads = pod.spec().topology_spread_constraints();
    let spreads = spreads.filter(|spread| {
        spread.when_unsatisfiable() == Some("ScheduleAnyway") && selects_own(spread.label_selector())
    });
    let mut keys = terms
        .filter_map(PodAffinityTerm::topology_key)
        .chain(spreads.filter_map(TopologySpreadConstraint::topology_key));
    keys.find(|key| key.as_str() == Some(HOSTNAME))
}

/// Whether a controller, or values of its chart, ignore the preferences of pods.
struct PreferencesIgnored;

impl Index for PreferencesIgnored {
    type Value<'d> = bool;

    fn compute(inventory: &Inventory<'_>) -> bool {
        const IGNORE: &str = "Ignore";
        let is_set = |one: &Controller<'_>| {
            one.setting(PREFERENCE_POLICY).text().is_some_and(|(text, _)| text == IGNORE)
        };
        let in_values = |object: &Object<'_>| {
            let settings = chart_values::of(*object).and_then(ChartValues::settings);
            settings.is_some_and(|settings| settings.node().str_at(&["preferencePolicy"]) == Some(IGNORE))
        };
        inventory.index::<Controllers>().iter().any(is_set) || inventory.objects().iter().any(in_values)
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn workload(replicas: &str, rule: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: []
      {rule}
"
        )
    }

    fn spread(key: &str, condition: &str) -> String {
        format!(
            "topologySpreadConstraints: [{{topologyKey: {key}, whenUnsatisfiable: {condition}, maxSkew: 1, labelSelector: {{matchLabels: {{app: web}}}}}}]"
        )
    }

    const ANTI: &str = "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}";

    #[test]
    fn reports_preferences_for_a_node_for_each_pod() {
        insta::assert_snapshot!(findings(&RULE, &workload("3", ANTI)), @"
         10 |       affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}
            |                                                                                                                                 ^^^^^^^^^^^^^^^^^^^^^^
        info Deployment/web spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey [all]
          Karpenter launches a node for each of the 3 pods, and does not consolidate these nodes: it treats this preference as a requirement while it can
          help: remove the preference or prefer zones, or set `preferencePolicy: Ignore` in the chart of Karpenter from 1.4 on
          see line 5 spec.replicas: the number of pods
        ");
        let soft = spread("kubernetes.io/hostname", "ScheduleAnyway");
        assert!(!findings(&RULE, &workload("3", &soft)).is_empty());
    }

    #[test]
    fn accepts_few_pods_zones_and_requirements() {
        silent(&RULE, &workload("2", ANTI));
        silent(&RULE, &workload("'${REPLICAS}'", ANTI));
        silent(&RULE, &workload("3", &format!("schedulerName: volcano\n      {ANTI}")));
        silent(&RULE, &workload("3", &ANTI.replace("app: web", "app: noisy")));
        silent(&RULE, &workload("3", &ANTI.replace("podAntiAffinity", "podAffinity")));
        silent(&RULE, &workload("3", &spread("topology.kubernetes.io/zone", "ScheduleAnyway")));
        silent(&RULE, &workload("3", &spread("kubernetes.io/hostname", "DoNotSchedule")));
    }

    #[test]
    fn accepts_a_controller_that_ignores_preferences() {
        let controller = |policy: &str| {
            format!(
                r"---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec: {{template: {{spec: {{containers: [{{name: controller, image: 'public.ecr.aws/karpenter/controller:1.14.0', env: [{{name: PREFERENCE_POLICY, value: {policy}}}]}}]}}}}}}
"
            )
        };
        silent(&RULE, &(workload("3", ANTI) + &controller("Ignore")));
        let values = "---\nsettings: {clusterName: prod, preferencePolicy: Ignore}\n";
        silent(&RULE, &(workload("3", ANTI) + values));
        assert!(!findings(&RULE, &(workload("3", ANTI) + &controller("Respect"))).is_empty());
    }
}
