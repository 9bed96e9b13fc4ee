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
    /// Finds pods with `karpenter.sh/do-not-disrupt: "true"` if a NodePool that takes them has a `terminationGracePeriod`.
    ///
    /// ## Why it is bad
    ///
    /// With a `terminationGracePeriod`, Karpenter replaces a drifted node although the annotation protects one of its pods.
    /// It deletes the pod before the time is over, whether the pod has finished or not. A pod whose
    /// `terminationGracePeriodSeconds` is longer than the time is deleted at once. This may be wanted: the time also ends a
    /// drain that nothing else ends.
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
    ///       terminationGracePeriod: 10m
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
    /// Let a NodePool without the time take the pods. Its nodes must not expire, because their drain would not end:
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       expireAfter: Never
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
    /// - aws/karpenter-provider-aws#7708, #7710; kubernetes-sigs/karpenter#1702
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "TerminationGracePeriod"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter deletes a protected pod when the `terminationGracePeriod` of its node is over",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

/// The default of `terminationGracePeriodSeconds`: `SetDefaults_PodSpec` in pkg/apis/core/v1/defaults.go of
/// kubernetes/kubernetes.
const DEFAULT_SECONDS: i64 = 30;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let protection = pod.metadata().annotation(DO_NOT_DISRUPT).filter(|node| node.as_str() == Some("true"));
    let Some(protection) = protection else { return };
    let mut pools = pools_of_pod::of_pod(pod, context).into_iter();
    let Some((pool, node, time)) = pools.find_map(deadline) else { return };
    let own = pod.spec().node().get("terminationGracePeriodSeconds").and_then(Node::as_int);
    let message = if own.unwrap_or(DEFAULT_SECONDS) > time / SECOND {
        "the annotation does not keep this pod: Karpenter deletes it as soon as it drains a drifted or expired node, because the pod may take longer to end than the node"
    } else {
        "the annotation does not keep this pod: Karpenter drains a drifted or expired node and deletes the pod before the `terminationGracePeriod` of the node is over"
    };
    findings.push(
        Finding::new(&RULE, Place::key(protection), message)
            .help("if the pod must finish, let only a NodePool without `terminationGracePeriod` and with `expireAfter: Never` take it")
            .related(Place::value(node), format!("the time of the NodePool `{}`", pool.object().name())),
    );
}

/// The `terminationGracePeriod` of a NodePool, also in nanoseconds.
fn deadline(pool: NodePool<'_>) -> Option<(NodePool<'_>, Node<'_>, i64)> {
    let node = pool.claim_spec().and_then(NodeClaimSpec::termination_grace_period)?;
    match NillableDuration::parse(node.as_str()?) {
        Ok(NillableDuration::After(time)) => Some((pool, node, time.nanoseconds())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn manifest(pool: &str, value: &str, spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec: {{{pool}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: db, annotations: {{karpenter.sh/do-not-disrupt: '{value}'}}}}
spec: {{containers: [], {spec}}}
"
        )
    }

    #[test]
    fn reports_protected_pods_with_a_deadline() {
        insta::assert_snapshot!(findings(&RULE, &manifest("terminationGracePeriod: 10m", "true", "")), @"
         10 | metadata: {name: db, annotations: {karpenter.sh/do-not-disrupt: 'true'}}
            |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/db metadata.annotations.karpenter.sh/do-not-disrupt [all]
          the annotation does not keep this pod: Karpenter drains a drifted or expired node and deletes the pod before the `terminationGracePeriod` of the node is over
          help: if the pod must finish, let only a NodePool without `terminationGracePeriod` and with `expireAfter: Never` take it
          see line 6 spec.template.spec.terminationGracePeriod: the time of the NodePool `a`
        ");
    }

    #[test]
    fn says_when_the_pod_takes_longer_than_the_node() {
        let report = |seconds| {
            let spec = format!("terminationGracePeriodSeconds: {seconds}");
            findings(&RULE, &manifest("terminationGracePeriod: 10m", "true", &spec))
        };
        assert!(report(601).contains("as soon as it drains"));
        assert!(report(600).contains("before the `terminationGracePeriod`"));
        let default =
            |time| findings(&RULE, &manifest(&format!("terminationGracePeriod: {time}"), "true", ""));
        assert!(default("29s").contains("as soon as it drains"));
        assert!(default("30s").contains("before the `terminationGracePeriod`"));
    }

    #[test]
    fn accepts_nodes_without_a_deadline_and_pods_without_protection() {
        silent(&RULE, &manifest("expireAfter: 336h", "true", ""));
        silent(&RULE, &manifest("terminationGracePeriod: '${TIME}'", "true", ""));
        silent(&RULE, &manifest("terminationGracePeriod: 10m", "false", ""));
        let other = "nodeSelector: {karpenter.sh/nodepool: b}";
        silent(&RULE, &manifest("terminationGracePeriod: 10m", "true", other));
    }
}
