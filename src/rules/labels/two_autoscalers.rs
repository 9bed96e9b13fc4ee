use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod::Pod;
use objects::workload::Workload;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::{POOLS, Pools};

rule! {
    /// ## What it does
    ///
    /// Looks for a running Cluster Autoscaler in a cluster with NodePools, and for AWS Node Termination Handler in a
    /// cluster whose Karpenter controller reads an interruption queue.
    ///
    /// ## Why it is bad
    ///
    /// Both autoscalers react to the same pending pods: two nodes start for one pod, and one of them stays empty and is
    /// removed again. The handler and the controller both drain a node that is about to be interrupted, and the handler
    /// knows nothing about Karpenter's replacement node.
    ///
    /// Both autoscalers can run on purpose, for node groups that no NodePool overlaps with, if taints keep their pods
    /// apart. The manifests of Cluster Autoscaler do not show that, so the finding is a warning. A Cluster Autoscaler
    /// without replicas is the final state of a migration, and the rule does not report it.
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
    ///       requirements: []
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: cluster-autoscaler
    ///   namespace: kube-system
    /// spec:
    ///   replicas: 1
    ///   selector: {matchLabels: {app: cluster-autoscaler}}
    ///   template:
    ///     metadata: {labels: {app: cluster-autoscaler}}
    ///     spec:
    ///       containers: [{name: cluster-autoscaler, image: "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0"}]
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
    ///       requirements: []
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: cluster-autoscaler
    ///   namespace: kube-system
    /// spec:
    ///   replicas: 0
    ///   selector: {matchLabels: {app: cluster-autoscaler}}
    ///   template:
    ///     metadata: {labels: {app: cluster-autoscaler}}
    ///     spec:
    ///       containers: [{name: cluster-autoscaler, image: "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0"}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6544
    /// - Karpenter's guide to migrating from Cluster Autoscaler, and its page on disruption (interruption)
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Cluster Autoscaler or Node Termination Handler runs beside Karpenter and reacts to the same events",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[POOLS],
        looks_up: |object| Pod::of(object).is_some_and(|pod| image(pod, "cluster-autoscaler").is_some()),
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let replicas = Workload::of(object).replicas();
    let is_unknown = |replicas: Node<'_>| replicas.as_str().is_some_and(has_placeholder);
    let stopped = replicas.is_some_and(|replicas| replicas.as_int() == Some(0) || is_unknown(replicas));
    let running_image = |name: &str| if stopped { None } else { image(pod, name) };
    if let Some(place) = running_image("cluster-autoscaler")
        && let Some(pool) = context.inventory.index::<Pools>().first()
    {
        let message =
            "Cluster Autoscaler and Karpenter both react to pending pods, so two nodes start for one pod";
        let help = "scale Cluster Autoscaler to zero once Karpenter runs the workloads, or keep their pods apart with taints";
        let name = pool.name_node();
        let finding = Finding::new(&RULE, Place::value(place), message).help(help);
        findings.push(finding.related(Place::value(name), "Karpenter launches nodes for this NodePool"));
    }
    if let Some(place) = running_image("aws-node-termination-handler")
        && let Some(queue) = queue(context)
    {
        let message =
            "Node Termination Handler and Karpenter both drain nodes that are about to be interrupted";
        let help = "remove the handler from Karpenter's nodes, or remove Karpenter's interruption queue";
        let finding = Finding::new(&RULE, Place::value(place), message).help(help);
        findings.push(finding.related(Place::value(queue), "Karpenter reads this queue"));
    }
}

/// First container image of a pod with the given name, without registry, path, tag and digest.
fn image<'d>(pod: Pod<'d>, name: &str) -> Option<Node<'d>> {
    pod.spec().containers().find_map(|container| {
        let node = container.image()?;
        let image = node.as_str()?.rsplit('/').next()?;
        (image.split(['@', ':']).next()? == name).then_some(node)
    })
}

/// The interruption queue of a Karpenter controller in the inventory.
fn queue<'d>(context: &Context<'_, 'd>) -> Option<Node<'d>> {
    /// Maximum number of Deployments searched. A cluster has one or two controllers; without a bound, each of many
    /// handlers would search all Deployments.
    const MAX_SEARCHED: usize = 1_000;
    context.inventory.objects_of(Kind::DEPLOYMENT).take(MAX_SEARCHED).filter_map(Pod::of).find_map(queue_of)
}

fn queue_of(pod: Pod<'_>) -> Option<Node<'_>> {
    let mut variables =
        pod.spec().containers().flat_map(|container| container.variables("INTERRUPTION_QUEUE"));
    variables.next()?.value().filter(|queue| queue.as_str().is_some_and(|name| !name.is_empty()))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {}
---
";

    fn workload(kind: &str, image: &str, more: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: {kind}
metadata: {{name: b}}
spec:
  {more}
  template:
    spec:
      containers:
      - image: {image}
---
"
        )
    }

    const CONTROLLER: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec: {template: {spec: {containers: [{image: public.ecr.aws/karpenter/controller:1.8.0, env: [{name: INTERRUPTION_QUEUE, value: prod}]}]}}}
";

    #[test]
    fn reports_cluster_autoscaler_unless_it_has_no_replicas() {
        let image = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0@sha256:00";
        insta::assert_snapshot!(findings(&super::RULE, &(POOL.to_owned() + &workload("Deployment", image, "replicas: 1"))), @"
         14 |       - image: registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0@sha256:00
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/b spec.template.spec.containers[0].image [all]
          Cluster Autoscaler and Karpenter both react to pending pods, so two nodes start for one pod
          help: scale Cluster Autoscaler to zero once Karpenter runs the workloads, or keep their pods apart with taints
          see line 3 metadata.name: Karpenter launches nodes for this NodePool
        ");
        silent(&super::RULE, &(POOL.to_owned() + &workload("Deployment", image, "replicas: 0")));
        silent(&super::RULE, &workload("Deployment", image, "replicas: 1"));
    }

    #[test]
    fn ignores_other_autoscalers_with_similar_names() {
        let image = "registry.k8s.io/cpa/cluster-proportional-autoscaler:v1.9.0";
        silent(&super::RULE, &(POOL.to_owned() + &workload("Deployment", image, "replicas: 1")));
    }

    #[test]
    fn reports_termination_handler_if_karpenter_reads_a_queue() {
        let handler =
            workload("DaemonSet", "public.ecr.aws/aws-ec2/aws-node-termination-handler:v1.25.0", "");
        insta::assert_snapshot!(findings(&super::RULE, &(handler.clone() + CONTROLLER)), @"
          9 |       - image: public.ecr.aws/aws-ec2/aws-node-termination-handler:v1.25.0
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning DaemonSet/b spec.template.spec.containers[0].image [all]
          Node Termination Handler and Karpenter both drain nodes that are about to be interrupted
          help: remove the handler from Karpenter's nodes, or remove Karpenter's interruption queue
          see line 14 spec.template.spec.containers[0].env[0].value: Karpenter reads this queue
        ");
        silent(&super::RULE, &(handler + &CONTROLLER.replace("value: prod", "value: ''")));
    }
}
