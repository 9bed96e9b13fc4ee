use karpenter::kind::Kind;
use karpenter::labels::{self, HOSTNAME, ZONE};
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::is_meant_for_other_nodes;
use scheduling::provisionable::is_provisionable;
use values::placeholder::has_placeholder;

use crate::rules::indexes::Pools;

rule! {
    /// ## What it does
    ///
    /// Checks the `topologyKey` of hard topology spread constraints, and of required pod affinity and anti-affinity: Karpenter
    /// must know the label, or a NodePool in the input must set it.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter finds the values of a topology in its instance types and in the labels and requirements of the NodePools.
    /// Of another label it knows no value, so it launches no node for the pod, and logs `unsatisfiable topology constraint`.
    ///
    /// Deprecated labels such as `failure-domain.beta.kubernetes.io/zone` are other labels: Karpenter replaces them with their
    /// current names in node selectors and requirements, but not in a `topologyKey`.
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
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   labels: {app: web}
    /// spec:
    ///   topologySpreadConstraints:
    ///   - maxSkew: 1
    ///     topologyKey: example.com/rack
    ///     whenUnsatisfiable: DoNotSchedule
    ///     labelSelector: {matchLabels: {app: web}}
    ///   containers: [{name: web, image: "example.com/web:1"}]
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
    ///       requirements: [{key: example.com/rack, operator: In, values: [one, two]}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   labels: {app: web}
    /// spec:
    ///   topologySpreadConstraints:
    ///   - maxSkew: 1
    ///     topologyKey: example.com/rack
    ///     whenUnsatisfiable: DoNotSchedule
    ///     labelSelector: {matchLabels: {app: web}}
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the NodePools. The policy looks up only the NodePools that decide about a pod, so the finding
    /// is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1863, #3239, #4440, #6440
    /// - `buildDomainGroups` in pkg/controllers/provisioning/scheduling/topology.go of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod depends on a topology that neither Karpenter nor a NodePool knows",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let is_shown = object.operation() == Operation::Apply && !context.may_be_in_environment(Kind::NODE_POOL);
    let pools = context.inventory.index::<Pools>();
    let Some(pool) = pools.first().filter(|_| is_shown && pools.is_known()) else { return };
    if pools.has_placeholder() || is_meant_for_other_nodes(pod) {
        return;
    }
    for node in keys(pod) {
        let Some(key) = node.as_str().filter(|key| !has_placeholder(key)) else { continue };
        let is_known = key == HOSTNAME || !labels::well_known(key).is_empty();
        if is_known || context.anywhere(|inventory| inventory.index::<Pools>().sets_label(key)) {
            continue;
        }
        let message = format!(
            "Karpenter launches no node for this pod: it knows no value of `{key}`, which no NodePool in {} sets",
            context.scope()
        );
        let help = match labels::likely_topology(key) {
            Some(meant) => format!("write `{meant}`"),
            None => format!("write `{ZONE}` or `{HOSTNAME}`, or let each NodePool set the label"),
        };
        findings.push(
            Finding::new(&RULE, Place::value(node), message)
                .help(help)
                .related(Place::value(pool.name_node()), "a NodePool without the label"),
        );
    }
}

/// The topology keys that must have a value on the node of a pod.
fn keys(pod: Pod<'_>) -> impl Iterator<Item = Node<'_>> {
    let is_hard =
        |constraint: &TopologySpreadConstraint<'_>| constraint.when_unsatisfiable() == Some("DoNotSchedule");
    let spreads = pod.spec().topology_spread_constraints().filter(is_hard);
    let affinity = pod.spec().required_pod_affinity_terms();
    let terms = affinity.chain(pod.spec().required_pod_anti_affinity_terms());
    spreads
        .filter_map(TopologySpreadConstraint::topology_key)
        .chain(terms.filter_map(PodAffinityTerm::topology_key))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, request, silent};

    fn manifest(pool: &str, pod: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{template: {{{pool}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  containers: []
  {pod}
"
        )
    }

    const POOL: &str = "spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}";

    fn spread(key: &str, condition: &str) -> String {
        format!(
            "topologySpreadConstraints: [{{topologyKey: '{key}', whenUnsatisfiable: {condition}, maxSkew: 1}}]"
        )
    }

    #[test]
    fn reports_topologies_without_values() {
        let text = manifest(POOL, &spread("example.com/rack", "DoNotSchedule"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
         11 |   topologySpreadConstraints: [{topologyKey: 'example.com/rack', whenUnsatisfiable: DoNotSchedule, maxSkew: 1}]
            |                                             ^^^^^^^^^^^^^^^^^^
        warning Pod/web spec.topologySpreadConstraints[0].topologyKey [all]
          Karpenter launches no node for this pod: it knows no value of `example.com/rack`, which no NodePool in this input sets
          help: write `topology.kubernetes.io/zone` or `kubernetes.io/hostname`, or let each NodePool set the label
          see line 3 metadata.name: a NodePool without the label
        ");
        let affinity = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: example.com/rack}]}}";
        assert!(!findings(&RULE, &manifest(POOL, affinity)).is_empty());
        assert!(
            !findings(&RULE, &manifest(POOL, &affinity.replace("podAffinity", "podAntiAffinity"))).is_empty()
        );
        silent(&RULE, &manifest(POOL, &affinity.replace("required", "preferred")));
    }

    #[test]
    fn names_the_label_that_a_deprecated_or_invented_key_means() {
        for (key, meant) in [
            ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
            ("topology.kubernetes.io/hostname", "kubernetes.io/hostname"),
        ] {
            let affinity = format!(
                "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}}}]}}}}"
            );
            for pod in [spread(key, "DoNotSchedule"), affinity] {
                let found = findings(&RULE, &manifest(POOL, &pod));
                assert!(found.contains(&format!("help: write `{meant}`\n")), "{found}");
            }
        }
    }

    #[test]
    fn accepts_known_labels_and_labels_of_nodepools() {
        for key in [
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
            "karpenter.sh/capacity-type",
            "kubernetes.io/arch",
            "${KEY}",
        ] {
            silent(&RULE, &manifest(POOL, &spread(key, "DoNotSchedule")));
        }
        let labelled = "metadata: {labels: {example.com/rack: one}}";
        silent(&RULE, &manifest(labelled, &spread("example.com/rack", "DoNotSchedule")));
    }

    #[test]
    fn accepts_preferences_other_nodes_and_missing_nodepools() {
        silent(&RULE, &manifest(POOL, &spread("example.com/rack", "ScheduleAnyway")));
        let other = spread("example.com/rack", "DoNotSchedule")
            + "\n  nodeSelector: {eks.amazonaws.com/nodegroup: a}";
        silent(&RULE, &manifest(POOL, &other));
        let text = manifest(POOL, &spread("example.com/rack", "DoNotSchedule"));
        let (pool, pod) = text.split_once("---\n").unwrap();
        silent(&RULE, pod);
        // A request does not show all NodePools.
        silent(&RULE, &format!("{pool}---\n{}", request("CREATE", pod)));
    }
}
