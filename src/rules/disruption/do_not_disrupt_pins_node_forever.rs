use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::duration::NillableDuration;

use crate::rules::pools_of_pod;

rule! {
    /// ## What it does
    ///
    /// Finds Deployments and StatefulSets whose pods have `karpenter.sh/do-not-disrupt: "true"`, if the nodes of every
    /// NodePool that takes them expire, and none of these NodePools has a `terminationGracePeriod`.
    ///
    /// ## Why it is bad
    ///
    /// The annotation does not prevent expiry, which is on unless the NodePool says `expireAfter: Never`: the default is
    /// 720h. Karpenter taints the expired node and launches its replacement, but it never evicts the pod. The drain waits
    /// without an end, and both nodes cost money.
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
    ///       expireAfter: 336h
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ---
    /// apiVersion: apps/v1
    /// kind: StatefulSet
    /// metadata:
    ///   name: db
    /// spec:
    ///   selector: {matchLabels: {app: db}}
    ///   template:
    ///     metadata:
    ///       labels: {app: db}
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
    ///     spec:
    ///       containers: [{name: db, image: "example.com/db:1"}]
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
    ///       expireAfter: 336h
    ///       terminationGracePeriod: 24h
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ---
    /// apiVersion: apps/v1
    /// kind: StatefulSet
    /// metadata:
    ///   name: db
    /// spec:
    ///   selector: {matchLabels: {app: db}}
    ///   template:
    ///     metadata:
    ///       labels: {app: db}
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
    ///     spec:
    ///       containers: [{name: db, image: "example.com/db:1"}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the workload and the NodePools. The policy looks up only a part of each NodePool, so the
    /// finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#1789, #1776, #1928
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "Expiration"
    /// - `IsEvictable` and `IsDrainable` in pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a protected pod keeps its expired node forever, beside the replacement of the node",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of NodePools that a finding shows.
const MAX_RELATED: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let runs_on = matches!(object.kind(), "Deployment" | "StatefulSet" | "ReplicaSet");
    let Some(pod) = Pod::of(object).filter(|_| runs_on) else { return };
    let protection = pod.metadata().annotation(DO_NOT_DISRUPT).filter(|node| node.as_str() == Some("true"));
    let Some(protection) = protection else { return };
    let pools = pools_of_pod::of_pod(pod, context);
    let expiries: Option<Vec<_>> = pools.iter().map(|pool| endless_drain(*pool)).collect();
    let Some(expiries) = expiries.filter(|expiries| !expiries.is_empty()) else { return };
    let message = "when the node of this pod expires, Karpenter never evicts the pod: the old node stays forever, beside its replacement";
    let mut finding = Finding::new(&RULE, Place::key(protection), message)
        .help("set `terminationGracePeriod` in the NodePool to the longest time that the pod may keep an expired node, or set `expireAfter: Never`");
    for (place, message) in expiries.into_iter().take(MAX_RELATED) {
        finding = finding.related(place, message);
    }
    findings.push(finding);
}

/// The expiry of a NodePool without `terminationGracePeriod`, with its text. `None` if its nodes do not expire, if their drain
/// ends, or if a placeholder hides it.
fn endless_drain(pool: NodePool<'_>) -> Option<(Place<'_>, String)> {
    let is_written = |node: &Node<'_>| !node.is_null();
    let spec = pool.claim_spec().filter(|spec| spec.node().as_str().is_none())?;
    if spec.termination_grace_period().is_some_and(|node| is_written(&node)) {
        return None;
    }
    let name = pool.object().name();
    let Some(node) = NodeClaimSpec::expire_after(spec).filter(is_written) else {
        let message = format!("nodes of the NodePool `{name}` expire after 720h by default");
        return Some((Place::value(pool.object().name_node()), message));
    };
    match NillableDuration::parse(node.as_str()?) {
        Ok(NillableDuration::After(time)) if time.nanoseconds() >= 0 => {
            let message = format!("nodes of the NodePool `{name}` expire at this age");
            Some((Place::value(node), message))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(name: &str, spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec: {{{spec}}}
---
"
        )
    }

    fn workload(kind: &str, value: &str, spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: {kind}
metadata: {{name: db}}
spec:
  template:
    metadata: {{annotations: {{karpenter.sh/do-not-disrupt: '{value}'}}}}
    spec: {{containers: [], {spec}}}
"
        )
    }

    #[test]
    fn reports_pods_whose_drain_never_ends() {
        let text = pool("a", "expireAfter: 336h") + &pool("b", "") + &workload("StatefulSet", "true", "");
        insta::assert_snapshot!(findings(&RULE, &text), @"
         20 |     metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}
            |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning StatefulSet/db spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [all]
          when the node of this pod expires, Karpenter never evicts the pod: the old node stays forever, beside its replacement
          help: set `terminationGracePeriod` in the NodePool to the longest time that the pod may keep an expired node, or set `expireAfter: Never`
          see line 6 spec.template.spec.expireAfter: nodes of the NodePool `a` expire at this age
          see line 10 metadata.name: nodes of the NodePool `b` expire after 720h by default
        ");
    }

    #[test]
    fn accepts_a_drain_that_ends_and_nodes_that_do_not_expire() {
        let protected = workload("Deployment", "true", "");
        for spec in [
            "expireAfter: Never",
            "expireAfter: 336h, terminationGracePeriod: 24h",
            "terminationGracePeriod: 24h",
            "expireAfter: '${EXPIRY}'",
            // The API server refuses a negative duration.
            "expireAfter: -1h",
        ] {
            silent(&RULE, &(pool("a", spec) + &protected));
            silent(&RULE, &(pool("a", spec) + &pool("b", "") + &protected));
        }
        assert!(!findings(&RULE, &(pool("b", "expireAfter: null") + &protected)).is_empty());
    }

    #[test]
    fn counts_only_nodepools_that_take_the_pod() {
        let pools = pool("a", "") + &pool("b", "expireAfter: Never");
        let chosen = |name: &str| {
            workload("Deployment", "true", &format!("nodeSelector: {{karpenter.sh/nodepool: {name}}}"))
        };
        assert!(!findings(&RULE, &(pools.clone() + &chosen("a"))).is_empty());
        silent(&RULE, &(pools + &chosen("b")));
        let tainted = pool("a", "taints: [{key: team, effect: NoSchedule}]");
        silent(&RULE, &(tainted.clone() + &workload("Deployment", "true", "")));
        let tolerant = workload("Deployment", "true", "tolerations: [{operator: Exists}]");
        assert!(!findings(&RULE, &(tainted + &tolerant)).is_empty());
    }

    #[test]
    fn accepts_other_values_other_workloads_and_missing_nodepools() {
        silent(&RULE, &(pool("a", "") + &workload("Deployment", "false", "")));
        silent(&RULE, &(pool("a", "") + &workload("Deployment", "4h", "")));
        silent(&RULE, &(pool("a", "") + &workload("DaemonSet", "true", "")));
        silent(&RULE, &workload("Deployment", "true", ""));
        silent(
            &RULE,
            &(pool("a", "")
                + &workload("Deployment", "true", "nodeSelector: {eks.amazonaws.com/nodegroup: a}")),
        );
    }

    #[test]
    fn ignores_pods_that_likely_run_on_other_nodes() {
        let found = |spec: &str| findings(&RULE, &(pool("a", "") + &workload("Deployment", "true", spec)));
        let terms = |first: &str| {
            format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{first}]}}, {{matchExpressions: [{{key: karpenter.sh/nodepool, operator: Exists}}]}}]}}}}}}"
            )
        };
        let critical = "priorityClassName: system-cluster-critical";
        assert_eq!(found("schedulerName: volcano"), "");
        assert_eq!(found(critical), "");
        assert!(!found(&format!("{critical}, nodeSelector: {{karpenter.sh/nodepool: a}}")).is_empty());
        assert_eq!(found(&terms("{key: eks.amazonaws.com/nodegroup, operator: Exists}")), "");
        assert!(!found(&terms("{key: team, operator: Exists}")).is_empty());
    }

    #[test]
    fn compares_a_pod_with_at_most_fifty_nodepools() {
        let pools = |count: usize| (0..count).map(|index| pool(&format!("p{index}"), "")).collect::<String>();
        let protected = workload("Deployment", "true", "");
        assert!(!findings(&RULE, &(pools(50) + &protected)).is_empty());
        silent(&RULE, &(pools(51) + &protected));
    }
}
