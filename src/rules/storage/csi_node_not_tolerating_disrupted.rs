use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{Container, Pod, TolerationItem};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::state::DISRUPTED;
use scheduling::taints::Toleration;

rule! {
    /// ## What it does
    ///
    /// Checks that the DaemonSet of the EBS CSI driver tolerates the taint `karpenter.sh/disrupted:NoSchedule`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter evicts every pod that does not tolerate this taint before it terminates a node. Without the driver, nothing
    /// unmounts the volumes of the other pods, which delays the termination and the start of these pods elsewhere. The chart
    /// of the driver tolerates every taint unless `node.tolerateAllTaints` is `false`.
    ///
    /// The taint has this key since 1.0.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: ebs-csi-node, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app: ebs-csi-node}}
    ///   template:
    ///     metadata: {labels: {app: ebs-csi-node}}
    ///     spec:
    ///       tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
    ///       containers:
    ///       - {name: ebs-plugin, image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: ebs-csi-node, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app: ebs-csi-node}}
    ///   template:
    ///     metadata: {labels: {app: ebs-csi-node}}
    ///     spec:
    ///       tolerations:
    ///       - {key: CriticalAddonsOnly, operator: Exists}
    ///       - {key: karpenter.sh/disrupted, operator: Exists, effect: NoSchedule}
    ///       containers:
    ///       - {name: ebs-plugin, image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0"}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7451; kubernetes-sigs/aws-ebs-csi-driver#1955, #2158
    /// - `IsDrainable` in pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter evicts the EBS CSI driver before the volumes of a node are unmounted",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| pod.is_daemon()) else { return };
    let Some(image) = driver_image(pod) else { return };
    let may_tolerate = |item: TolerationItem<'d>| {
        has_placeholder_below(item.node()) || Toleration::from_item(item).tolerates(&DISRUPTED)
    };
    if pod.spec().tolerations().any(may_tolerate) {
        return;
    }
    let place = match pod.spec().toleration_list() {
        Some(list) => Place::key(list),
        None => Place::missing(pod.spec().node(), "tolerations"),
    };
    let message = "Karpenter evicts these pods when it drains a node: nothing unmounts the volumes of the node then, and their pods start later on another node";
    findings.push(
        Finding::new(&RULE, place, message)
            .help("add the toleration `{key: karpenter.sh/disrupted, operator: Exists, effect: NoSchedule}`")
            .related(Place::value(image), "the EBS CSI driver"),
    );
}

/// The image of the EBS CSI driver in a pod. A sidecar has another image.
fn driver_image(pod: Pod<'_>) -> Option<Node<'_>> {
    let is_driver = |container: &Container<'_>| container.image_name() == Some("aws-ebs-csi-driver");
    pod.spec().containers().find(is_driver)?.image()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn driver(kind: &str, image: &str, tolerations: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: {kind}
metadata: {{name: ebs-csi-node}}
spec:
  template:
    spec:
      {tolerations}
      containers: [{{name: ebs-plugin, image: '{image}'}}]
"
        )
    }

    const IMAGE: &str = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0";

    #[test]
    fn reports_a_driver_that_karpenter_evicts() {
        let old = "tolerations: [{key: karpenter.sh/disruption, operator: Exists}]";
        insta::assert_snapshot!(findings(&RULE, &driver("DaemonSet", IMAGE, old)), @"
          7 |       tolerations: [{key: karpenter.sh/disruption, operator: Exists}]
            |       ^^^^^^^^^^^
        info DaemonSet/ebs-csi-node spec.template.spec.tolerations [all]
          Karpenter evicts these pods when it drains a node: nothing unmounts the volumes of the node then, and their pods start later on another node
          help: add the toleration `{key: karpenter.sh/disrupted, operator: Exists, effect: NoSchedule}`
          see line 8 spec.template.spec.containers[0].image: the EBS CSI driver
        ");
        assert!(
            findings(&RULE, &driver("DaemonSet", IMAGE, "hostNetwork: false")).contains("spec.tolerations")
        );
        let other_effect =
            "tolerations: [{key: karpenter.sh/disrupted, operator: Exists, effect: NoExecute}]";
        assert!(!findings(&RULE, &driver("DaemonSet", IMAGE, other_effect)).is_empty());
    }

    #[test]
    fn accepts_a_driver_that_stays_and_other_pods() {
        silent(&RULE, &driver("DaemonSet", IMAGE, "tolerations: [{operator: Exists}]"));
        let own = "tolerations: [{key: karpenter.sh/disrupted, operator: Exists, effect: NoSchedule}]";
        silent(&RULE, &driver("DaemonSet", IMAGE, own));
        silent(&RULE, &driver("DaemonSet", IMAGE, "tolerations: [{key: '${KEY}', operator: Exists}]"));
        silent(&RULE, &driver("Deployment", IMAGE, "tolerations: []"));
        silent(&RULE, &driver("DaemonSet", "example.com/aws-ebs-csi-driver-tests:v1", "tolerations: []"));
    }
}
