use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::instance_types::EXTENDED_RESOURCES;
use karpenter::release::Releases;
use manifest::tree::{Node, items_of, members_of};
use objects::node_overlay::NodeOverlay;
use objects::object::{Object, Operation};
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::{is_for_karpenter, is_meant_for_other_nodes};
use scheduling::provisionable::is_provisionable;
use std::collections::BTreeSet;
use values::placeholder::has_placeholder;
use values::quantity::Quantity;
use values::spelling::did_you_mean;

use crate::rules::indexes::Pools;
use crate::rules::node_room;

rule! {
    /// ## What it does
    ///
    /// Finds pods that request a resource which no instance type has for Karpenter, and which no NodeOverlay in the input
    /// adds: resources of other device plugins, parts of GPUs, huge pages, and misspelt names.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches no node for a pod that requests a resource which it does not know, even if a device plugin would
    /// register the resource on the new node. The pod stays Pending until another node has the resource. Since 1.7 a
    /// NodeOverlay can add the resource to instance types.
    ///
    /// The finding is an info, because a NodeOverlay outside the input may add the resource. It is a warning if the input
    /// holds every NodePool (`--complete`) and the name is similar to one that Karpenter knows. Without `--complete`, or if
    /// the input has nodes of a node group, only pods that select a label of Karpenter's nodes are reported.
    ///
    /// ## Example
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: build
    /// spec:
    ///   containers:
    ///   - name: build
    ///     image: "example.com/build:1"
    ///     resources: {limits: {smarter-devices/fuse: 1}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: fuse
    /// spec:
    ///   requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
    ///   capacity: {smarter-devices/fuse: "20"}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: build
    /// spec:
    ///   containers:
    ///   - name: build
    ///     image: "example.com/build:1"
    ///     resources: {limits: {smarter-devices/fuse: 1}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the pod, a NodePool and the NodeOverlays. The policy in the cluster does not look up
    /// NodeOverlays, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#308, #751, #1305; aws/karpenter-provider-aws#1900, #5403
    /// - `computeCapacity` in pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod requests a resource for which Karpenter launches no node",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let Some(resource) = unknown_resource(pod) else { return };
    let pools = context.inventory.index::<Pools>();
    let is_judged = object.operation() == Operation::Apply && !pools.is_empty() && pools.is_known();
    let has_overlay =
        || context.anywhere(|inventory| inventory.index::<OverlayResources>().contains(resource.key()));
    let is_elsewhere = || is_meant_for_other_nodes(pod) || node_room::runs_elsewhere(pod, context);
    if !is_judged || is_elsewhere() || has_overlay() {
        return;
    }
    let is_complete = context.inventory.is_complete();
    if !is_complete && !is_for_karpenter(pod) {
        return;
    }
    let name = resource.key();
    let hint = did_you_mean(name, EXTENDED_RESOURCES);
    let severity = if is_complete && !hint.is_empty() { Severity::Warning } else { Severity::Info };
    let message =
        format!("Karpenter launches no node for this pod: it knows no instance type with `{name}`{hint}");
    findings.push(
        Finding::new(&RULE, Place::key(resource), message)
            .severity(severity)
            .help("add the resource to instance types with `capacity` of a NodeOverlay, or run the pod on nodes of a node group"),
    );
}

/// The first resource of a pod that Karpenter does not know.
fn unknown_resource(pod: Pod<'_>) -> Option<Node<'_>> {
    let spec = pod.spec().node();
    let containers = ["containers", "initContainers"].into_iter().flat_map(|list| items_of(spec.get(list)));
    let lists = containers
        .filter_map(|container| container.get("resources"))
        .flat_map(|resources| ["requests", "limits"].into_iter().filter_map(move |list| resources.get(list)));
    let mut requested = lists.flat_map(|list| members_of(Some(list)));
    requested.find(|(name, node)| is_unknown(name) && asks(*node)).map(|(_, node)| node)
}

/// Whether a name is one of an extended resource that no instance type has.
fn is_unknown(name: &str) -> bool {
    let is_extended = name.starts_with("hugepages-")
        || name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"));
    is_extended && !EXTENDED_RESOURCES.contains(&name) && !has_placeholder(name)
}

/// Whether an amount is not zero.
fn asks(node: Node<'_>) -> bool {
    let is_zero = |text: &str| Quantity::parse(text).is_ok_and(Quantity::is_zero);
    node.as_int() != Some(0) && !node.as_str().is_some_and(is_zero)
}

/// The resources that NodeOverlays add to instance types.
struct OverlayResources;

impl Index for OverlayResources {
    type Value<'d> = BTreeSet<&'d str>;

    fn compute<'d>(inventory: &Inventory<'d>) -> BTreeSet<&'d str> {
        let overlays = inventory.objects().iter().filter_map(|object| NodeOverlay::of(*object));
        overlays.flat_map(|overlay| members_of(overlay.capacity())).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
---
";
    const OF_KARPENTER: &str = "nodeSelector: {karpenter.sh/nodepool: a}";

    fn pod(resources: &str, fields: &str) -> String {
        format!(
            r"{POOL}apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  {fields}
  containers:
  - name: a
    resources: {{limits: {{{resources}}}}}
---
"
        )
    }

    fn in_complete(text: &str) -> String {
        findings_with(&RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    #[test]
    fn informs_of_unknown_resources_and_warns_of_misspelt_ones_if_the_input_is_complete() {
        insta::assert_snapshot!(in_complete(&pod("smarter-devices/fuse: 1", "")), @"
         16 |     resources: {limits: {smarter-devices/fuse: 1}}
            |                          ^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.containers[0].resources.limits.smarter-devices/fuse [all]
          Karpenter launches no node for this pod: it knows no instance type with `smarter-devices/fuse`
          help: add the resource to instance types with `capacity` of a NodeOverlay, or run the pod on nodes of a node group
        ");
        assert!(in_complete(&pod("hugepages-2Mi: 64Mi", "")).contains("hugepages-2Mi"));
        let misspelt = in_complete(&pod("nvidia.com/gpus: 1", ""));
        assert!(misspelt.contains("warning Pod/a") && misspelt.contains("(did you mean `nvidia.com/gpu`?)"));
    }

    #[test]
    fn informs_of_pods_for_karpenter_otherwise() {
        assert!(findings(&RULE, &pod("example.com/fpga: 1", OF_KARPENTER)).contains("\ninfo Pod/a"));
        silent(&RULE, &pod("example.com/fpga: 1", ""));
    }

    #[test]
    fn accepts_resources_of_instance_types_and_of_kubernetes() {
        for resource in [
            "nvidia.com/gpu",
            "aws.amazon.com/neuron",
            "vpc.amazonaws.com/pod-eni",
            "cpu",
            "ephemeral-storage",
            "${NAME}/gpu",
        ] {
            assert_eq!(in_complete(&pod(&format!("{resource}: 1"), OF_KARPENTER)), "");
        }
        for none in ["0", "0Mi"] {
            assert_eq!(in_complete(&pod(&format!("example.com/fpga: {none}"), "")), "");
        }
    }

    #[test]
    fn accepts_resources_that_a_node_overlay_adds() {
        let overlay = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec:
  capacity: {example.com/fpga: 1}
";
        assert_eq!(in_complete(&(pod("example.com/fpga: 1", "") + overlay)), "");
        assert_ne!(in_complete(&(pod("example.com/other: 1", "") + overlay)), "");
    }

    #[test]
    fn ignores_pods_on_other_nodes_and_inputs_without_nodepools() {
        assert_eq!(
            in_complete(&pod("example.com/fpga: 1", "nodeSelector: {eks.amazonaws.com/nodegroup: a}")),
            ""
        );
        assert_eq!(in_complete(&pod("example.com/fpga: 1", "nodeName: a")), "");
        assert_eq!(in_complete(&pod("example.com/fpga: 1", "").replace(POOL, "")), "");
    }
}
