use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_agents::NodeAgent;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{Container, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::taints::PoolTaint;
use scheduling::template::Obstacle;

use crate::rules::indexes::Agents;
use crate::rules::pools_of_pod::of_daemon_set;

rule! {
    /// ## What it does
    ///
    /// Checks that the DaemonSets of network plugins, of kube-proxy and of the EBS CSI driver tolerate the taints of every
    /// NodePool in the input. The drivers for EFS, FSx and S3 are not checked, because a cluster may run them on some nodes.
    ///
    /// ## Why it is bad
    ///
    /// Other pods cannot work without these agents. Without the network plugin a node never becomes ready; without
    /// kube-proxy its pods reach no Services; without the EBS CSI driver pods with EBS volumes do not start. The manifests of
    /// these agents tolerate every taint.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
    /// ---
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
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: ebs-csi-node, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app: ebs-csi-node}}
    ///   template:
    ///     metadata: {labels: {app: ebs-csi-node}}
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       containers:
    ///       - {name: ebs-plugin, image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0"}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the DaemonSet and the NodePool. The policy looks up only the NodePools that decide about a
    /// pod, so the finding is only in the report of files. Startup taints do not count here.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2150
    /// - config/master/aws-k8s-cni.yaml of aws/amazon-vpc-cni-k8s: the toleration `operator: Exists`
    /// - charts/aws-ebs-csi-driver/values.yaml of kubernetes-sigs/aws-ebs-csi-driver: `node.tolerateAllTaints` is true
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a network plugin, kube-proxy or CSI driver does not run on the nodes of a tainted NodePool",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of NodePools that a finding shows.
const MAX_RELATED: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((pod, agent, _)) = only_agent(object, context) else { return };
    let missed = |(pool, taint): (NodePool<'d>, Option<PoolTaint<'d>>)| Some((pool, taint?));
    // The DaemonSet controller adds tolerations of Kubernetes' own taints.
    let is_own = |taint: &PoolTaint<'d>| !taint.key.starts_with("node.kubernetes.io/");
    let missed: Vec<_> = of_daemon_set(pod, context)
        .into_iter()
        .filter_map(missed)
        .filter(|(_, taint)| is_own(taint))
        .collect();
    let Some((pool, taint)) = missed.first() else { return };
    let place = match pod.spec().toleration_list() {
        Some(list) => Place::key(list),
        None => Place::missing(pod.spec().node(), "tolerations"),
    };
    let message = format!(
        "{agent} does not run on the nodes of the NodePool `{}`: it does not tolerate the taint `{taint}`",
        pool.object().name()
    );
    let mut finding = Finding::new(&RULE, place, message)
        .help("add the toleration `{operator: Exists}`, as the agent's own manifest has it");
    for (pool, taint) in missed.into_iter().take(MAX_RELATED) {
        if let Some(place) = Obstacle::Taint(taint).place_in_pool(pool) {
            finding = finding.related(place, format!("taint of the NodePool `{}`", pool.object().name()));
        }
    }
    findings.push(finding);
}

/// An agent without which most pods of its node do not work: its pod, its name in messages, and its image. `None` if another
/// DaemonSet of the input runs the same agent, perhaps on the other nodes.
pub(super) fn only_agent<'d>(
    object: Object<'d>,
    context: &Context<'_, 'd>,
) -> Option<(Pod<'d>, &'static str, Node<'d>)> {
    let pod = Pod::of(object)?;
    let Some((agent, image)) = NodeAgent::find(pod) else {
        let image = kube_proxy(pod)?;
        return Some((pod, "kube-proxy", image));
    };
    let is_only = context.inventory.index::<Agents>().is_only(agent, object);
    (is_only && !agent.is_optional()).then_some((pod, agent.name(), image))
}

/// The image of kube-proxy in its DaemonSet.
fn kube_proxy(pod: Pod<'_>) -> Option<Node<'_>> {
    let is_proxy = |container: &Container<'_>| container.image_name() == Some("kube-proxy");
    let object = pod.object();
    let is_daemon_set = object.kind() == "DaemonSet" && object.name() == "kube-proxy";
    pod.spec().containers().filter(|_| is_daemon_set).find(is_proxy)?.image()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(name: &str, taint: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      taints: [{taint}]
      requirements: [{{key: kubernetes.io/os, operator: In, values: [linux]}}]
---
"
        )
    }

    fn agent(name: &str, image: &str, spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {name}}}
spec:
  template:
    spec:
      {spec}
      containers: [{{name: a, image: 'example.com/{image}:v1'}}]
"
        )
    }

    const GPU: &str = "{key: gpu, effect: NoSchedule}";
    const CNI: &str = "amazon-k8s-cni";

    #[test]
    fn reports_agents_that_miss_a_nodepool() {
        let pools = pool("open", "") + &pool("gpu", GPU) + &pool("ml", "{key: ml, effect: NoExecute}");
        let cni = agent("aws-node", CNI, "tolerations: [{key: ml, operator: Exists}]");
        insta::assert_snapshot!(findings(&RULE, &(pools.clone() + &cni)), @"
         34 |       tolerations: [{key: ml, operator: Exists}]
            |       ^^^^^^^^^^^
        warning DaemonSet/aws-node spec.template.spec.tolerations [all]
          the VPC CNI plugin does not run on the nodes of the NodePool `gpu`: it does not tolerate the taint `gpu:NoSchedule`
          help: add the toleration `{operator: Exists}`, as the agent's own manifest has it
          see line 16 spec.template.spec.taints[0]: taint of the NodePool `gpu`
        ");
        let proxy = agent("kube-proxy", "eks/kube-proxy", "hostNetwork: true");
        assert!(findings(&RULE, &(pools + &proxy)).contains("kube-proxy does not run on"));
    }

    #[test]
    fn accepts_agents_that_tolerate_every_taint() {
        silent(&RULE, &(pool("gpu", GPU) + &agent("aws-node", CNI, "tolerations: [{operator: Exists}]")));
        silent(&RULE, &(pool("gpu", GPU) + &agent("aws-node", CNI, "tolerations: ['${TOLERATION}']")));
        let soft = pool("gpu", "{key: gpu, effect: PreferNoSchedule}");
        silent(&RULE, &(soft + &agent("aws-node", CNI, "hostNetwork: true")));
        let of_kubernetes = pool("gpu", "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}");
        silent(&RULE, &(of_kubernetes + &agent("aws-node", CNI, "hostNetwork: true")));
    }

    #[test]
    fn accepts_drivers_that_only_some_pods_need_and_chosen_instance_types() {
        let own = "tolerations: [{key: CriticalAddonsOnly, operator: Exists}]";
        for driver in ["aws-efs-csi-driver", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver"] {
            silent(&RULE, &(pool("gpu", GPU) + &agent("driver", driver, own)));
        }
        let ebs = pool("gpu", GPU) + &agent("driver", "aws-ebs-csi-driver", own);
        assert!(findings(&RULE, &ebs).contains("the EBS CSI driver does not run on"));
        let types = "nodeSelector: {node.kubernetes.io/instance-type: m5.large}";
        silent(&RULE, &(pool("gpu", GPU) + &agent("driver", "aws-ebs-csi-driver", types)));
    }

    #[test]
    fn accepts_other_daemon_sets_other_nodes_and_a_second_daemon_set_of_the_agent() {
        silent(&RULE, &(pool("gpu", GPU) + &agent("logs", "fluent-bit", "hostNetwork: true")));
        let windows = agent("aws-node", CNI, "nodeSelector: {kubernetes.io/os: windows}");
        silent(&RULE, &(pool("gpu", GPU) + &windows));
        let both =
            agent("aws-node", CNI, "hostNetwork: true") + "---\n" + &agent("gpu", CNI, "hostNetwork: true");
        silent(&RULE, &(pool("gpu", GPU) + &both));
    }
}
