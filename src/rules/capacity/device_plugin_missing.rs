use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::release::Releases;
use objects::device_plugins::{DevicePlugins, device, resources};
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::taints::PoolTaint;
use scheduling::template::Obstacle;
use userdata::image_family::ImageFamily;

use crate::rules::indexes::{NodeClasses, Pods};
use crate::rules::{ami_family, node_room, pools_of_pod};

rule! {
    /// ## What it does
    ///
    /// Checks that the DaemonSet of a device plugin tolerates the taints of every NodePool in the input all of whose instance
    /// types have the device: the device plugins of NVIDIA and AMD GPUs, of AWS Neuron and of EFA. If the input has every
    /// NodePool (`--complete`) and DaemonSets, but no device plugin, an info names the pods that request the device: an add-on
    /// of EKS may install the plugin.
    ///
    /// ## Why it is bad
    ///
    /// Nodes without the device plugin do not register the resource, such as `nvidia.com/gpu`. Pods that request it do not
    /// start there, and a node that Karpenter launched for such a pod is never initialized: Karpenter neither consolidates
    /// nor replaces it.
    ///
    /// ## What is not reported
    ///
    /// - NodePools with Bottlerocket, whose NVIDIA variants contain the device plugin;
    /// - NodePools that allow instance types without the device, too: Karpenter launches one with the device only for a pod
    ///   that requests it;
    /// - device plugins of which the input has several DaemonSets, which may run on different nodes.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    ///       requirements:
    ///       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: nvidia-device-plugin, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app: nvidia-device-plugin}}
    ///   template:
    ///     metadata: {labels: {app: nvidia-device-plugin}}
    ///     spec:
    ///       tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
    ///       containers:
    ///       - {name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    ///       requirements:
    ///       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: nvidia-device-plugin, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app: nvidia-device-plugin}}
    ///   template:
    ///     metadata: {labels: {app: nvidia-device-plugin}}
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       containers:
    ///       - {name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the DaemonSet, the NodePool and its node class. The policy in the cluster does not have the
    /// instance types, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1914, #3794, #2737, #3862
    /// - website/content/en/v1.14/troubleshooting.md of aws/karpenter-provider-aws, "Nodes not initialized"
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a device plugin does not run on the nodes that have its device",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of NodePools that a finding shows.
const MAX_RELATED: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|_| object.operation() == Operation::Apply) else { return };
    findings.extend(match device(pod) {
        Some(resource) => missed_pool(pod, resource, context),
        None => without_plugin(pod, context),
    });
}

/// The device plugin does not tolerate the taint of a NodePool.
fn missed_pool<'d>(pod: Pod<'d>, resource: &str, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    if context.inventory.index::<Plugins>().count(resource) > 1 || !node_room::is_known(context) {
        return None;
    }
    let tainted = |(pool, taint)| Some((pool, taint?));
    let selected = pools_of_pod::selected(pod, context).into_iter().filter_map(tainted);
    // Other NodePools get instance types with the device only if a pod asks for it.
    let room = node_room::room_of(context.inventory, context);
    let is_for_device = |pool: NodePool<'d>| {
        room.offers_only(pool.object().name(), resource) && !is_on_bottlerocket(pool, context)
    };
    let missed: Vec<(NodePool<'d>, PoolTaint<'d>)> =
        selected.filter(|(pool, _)| is_for_device(*pool)).take(MAX_RELATED).collect();
    let (pool, taint) = missed.first()?;
    let message = format!(
        "the device plugin does not run on the nodes of the NodePool `{}`, because it does not tolerate the taint `{taint}`: these nodes never register `{resource}`",
        pool.object().name()
    );
    let place = Obstacle::Taint(*taint).place_in_pod(pod)?;
    let mut finding = Finding::new(&RULE, place, message).help("add the toleration `{operator: Exists}`");
    for (pool, taint) in missed {
        if let Some(place) = Obstacle::Taint(taint).place_in_pool(pool) {
            finding = finding.related(place, format!("taint of the NodePool `{}`", pool.object().name()));
        }
    }
    Some(finding)
}

/// A pod requests a device, and no DaemonSet of the input registers it.
fn without_plugin<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let request = |name| {
        pod.spec()
            .containers()
            .find_map(|container| container.limit(name).or_else(|| container.request(name)))
    };
    let request = resources().find_map(request)?;
    let resource = request.key();
    let plugins = |inventory: &Inventory<'d>| !inventory.index::<Plugins>().lacks(resource);
    if !context.inventory.is_complete() || context.anywhere(plugins) {
        return None;
    }
    let room = node_room::room_of(context.inventory, context);
    let offers = |pool: &NodePool<'d>| {
        room.offers(pool.object().name(), resource) && !is_on_bottlerocket(*pool, context)
    };
    let pool = pools_of_pod::of_pod(pod, context).into_iter().find(offers)?;
    let name = pool.object().name();
    let message = format!(
        "no DaemonSet of {} is the device plugin for `{resource}`: without the plugin, nodes of the NodePool `{name}` never register the resource, and the pod does not start",
        context.scope()
    );
    // An add-on of EKS or another repository may install the plugin.
    let finding = Finding::new(&RULE, Place::value(request), message)
        .severity(Severity::Info)
        .help("install the device plugin, with a toleration for the taints of the NodePool, unless an add-on or another repository does");
    Some(finding.related(
        node_room::place_of_types(pool),
        format!("instance types of the NodePool `{name}` have `{resource}`"),
    ))
}

/// Whether the nodes of a NodePool run Bottlerocket.
fn is_on_bottlerocket<'d>(pool: NodePool<'d>, context: &Context<'_, 'd>) -> bool {
    let class = context.inventory.index::<NodeClasses>().of_pool(pool);
    class.is_some_and(|(class, _)| ami_family::family_of(class) == Some(ImageFamily::Bottlerocket))
}

/// The device plugins.
struct Plugins;

impl Index for Plugins {
    type Value<'d> = DevicePlugins;

    fn compute(inventory: &Inventory<'_>) -> DevicePlugins {
        DevicePlugins::of(inventory.index::<Pods>().as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::node_room::fixtures::{al2023, class, daemon, pod, pool};
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    const TAINT: &str = "taints: [{key: dedicated, effect: NoSchedule}]";
    const IMAGE: &str = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1";

    fn plugin(name: &str, tolerations: &str) -> String {
        daemon(name, "cpu: 10m", tolerations).replace("example.com/agent:1", IMAGE)
    }

    fn gpus() -> String {
        al2023() + &pool("gpu", "g5.xlarge", TAINT)
    }

    fn in_complete(text: &str) -> String {
        findings_with(&RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    #[test]
    fn reports_device_plugins_that_miss_a_nodepool() {
        let tolerations = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]";
        insta::assert_snapshot!(findings(&RULE, &(gpus() + &plugin("nvidia", tolerations))), @"
         24 |       tolerations: [{key: nvidia.com/gpu, operator: Exists}]
            |       ^^^^^^^^^^^
        warning DaemonSet/nvidia spec.template.spec.tolerations [all]
          the device plugin does not run on the nodes of the NodePool `gpu`, because it does not tolerate the taint `dedicated:NoSchedule`: these nodes never register `nvidia.com/gpu`
          help: add the toleration `{operator: Exists}`
          see line 16 spec.template.spec.taints[0]: taint of the NodePool `gpu`
        ");
        silent(&RULE, &(gpus() + &plugin("nvidia", "tolerations: [{operator: Exists}]")));
        silent(
            &RULE,
            &(gpus() + &plugin("nvidia", "") + &plugin("other", "tolerations: [{operator: Exists}]")),
        );
    }

    #[test]
    fn accepts_tainted_nodepools_that_have_the_device_only_if_a_pod_asks_for_it() {
        let infra = pool("infra", "m6i.large, g5.xlarge", TAINT);
        silent(&RULE, &(al2023() + &infra + &plugin("nvidia", "tolerations: [{key: nvidia.com/gpu}]")));
    }

    #[test]
    fn accepts_nodepools_without_the_device_or_with_bottlerocket() {
        silent(&RULE, &(al2023() + &pool("other", "m6i.large", TAINT) + &plugin("nvidia", "")));
        silent(&RULE, &(al2023() + &pool("neuron", "inf2.xlarge", TAINT) + &plugin("nvidia", "")));
        let bottlerocket = class("default", "amiSelectorTerms: [{alias: bottlerocket@latest}]");
        silent(&RULE, &(bottlerocket + &pool("gpu", "g5.xlarge", TAINT) + &plugin("nvidia", "")));
        silent(&RULE, &(gpus() + &daemon("logs", "cpu: 10m", "")));
    }

    #[test]
    fn reports_pods_without_a_device_plugin_in_a_complete_input() {
        let open = al2023() + &pool("gpu", "g5.xlarge", "") + &pod("nvidia.com/gpu: 1", "");
        let with_daemon = open.clone() + &daemon("logs", "cpu: 10m", "");
        insta::assert_snapshot!(in_complete(&with_daemon), @"
         25 |     resources: {requests: {nvidia.com/gpu: 1}}
            |                                            ^
        info Pod/a spec.containers[0].resources.requests.nvidia.com/gpu [all]
          no DaemonSet of this input is the device plugin for `nvidia.com/gpu`: without the plugin, nodes of the NodePool `gpu` never register the resource, and the pod does not start
          help: install the device plugin, with a toleration for the taints of the NodePool, unless an add-on or another repository does
          see line 15 spec.template.spec.requirements: instance types of the NodePool `gpu` have `nvidia.com/gpu`
        ");
        silent(&RULE, &with_daemon);
        // Without any DaemonSet, the input has only a part of the cluster.
        assert_eq!(in_complete(&open), "");
        assert_eq!(in_complete(&(open.clone() + &plugin("nvidia", ""))), "");
        let operator = daemon("logs", "cpu: 10m", "")
            .replace("example.com/agent:1", "nvcr.io/nvidia/gpu-operator:v25.3.0");
        assert_eq!(in_complete(&(open + &operator)), "");
    }

    #[test]
    fn accepts_pods_on_bottlerocket_and_without_a_nodepool_that_has_the_device() {
        let rest = pod("nvidia.com/gpu: 1", "") + &daemon("logs", "cpu: 10m", "");
        let bottlerocket = class("default", "amiSelectorTerms: [{alias: bottlerocket@latest}]");
        assert_eq!(in_complete(&(bottlerocket + &pool("gpu", "g5.xlarge", "") + &rest)), "");
        assert_eq!(in_complete(&(al2023() + &pool("cpu", "m6i.large", "") + &rest)), "");
    }
}
