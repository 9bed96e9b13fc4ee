use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{Pod, has_node_expressions};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::matching::Unschedulable;
use scheduling::taints::{PoolTaint, Toleration};
use scheduling::template::Obstacle;

use crate::rules::indexes::POOLS;
use crate::rules::labels::pod_no_matching_pool::{is_certain, releases, stuck};

rule! {
    /// ## What it does
    ///
    /// Checks that a pod which selects a NodePool, by name or by a label that the NodePool sets, tolerates the
    /// NodePool's taints. The rule reports the pod only if every NodePool that it selects has a taint which it does not
    /// tolerate.
    ///
    /// Start-up taints (`spec.template.spec.startupTaints`) and taints with the effect `PreferNoSchedule` do not count,
    /// because they do not keep pods away permanently. Neither does a taint `NoSchedule` whose key is an extended resource
    /// that the pod requests, such as `nvidia.com/gpu`: EKS enables the admission plugin `ExtendedResourceToleration`, which
    /// adds the toleration.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays Pending, and the controller logs `did not tolerate taint (taint=dedicated=gpu:NoSchedule)`. A
    /// toleration with another value or effect does not match the taint, and neither does `Equal` without a value.
    ///
    /// The finding is an error if the input holds every NodePool (`--complete`) and the pod selects a label that only
    /// Karpenter's nodes have, such as `karpenter.sh/nodepool`. Otherwise it is a warning, because a managed node group
    /// may have the label.
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
    ///       requirements: []
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: gpu}
    ///   tolerations: [{key: dedicated, operator: Equal, effect: NoSchedule}]
    ///   containers: [{name: train, image: "example.com/train:1"}]
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
    ///       requirements: []
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: gpu}
    ///   tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}]
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5101, #5169, #7636, #2150; kubernetes-sigs/karpenter#2123
    /// - pkg/scheduling/taints.go of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod selects a NodePool but does not tolerate its taint",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[POOLS],
        looks_up: has_node_expressions,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    stuck(pod, context, |stuck| findings.extend(finding(pod, stuck, context)));
}

fn finding<'d>(pod: Pod<'d>, stuck: &Unschedulable<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let (pool, taint) = stuck.untolerated?;
    let near_miss = near_miss(pod, &taint);
    let place = match &near_miss {
        Some((item, _)) => Place::value(*item),
        None => Obstacle::Taint(taint).place_in_pod(pod)?,
    };
    let difference =
        near_miss.map(|(_, difference)| format!("; the pod's toleration {difference}")).unwrap_or_default();
    let name = pool.name();
    let message = format!(
        "Karpenter launches no node for this pod: it selects the NodePool `{name}` but does not tolerate the taint `{taint}`{difference}"
    );
    let value = if taint.value.is_empty() { String::new() } else { format!(" value: {},", taint.value) };
    let operator = if taint.value.is_empty() { "Exists" } else { "Equal" };
    let help = format!(
        "use the toleration `{{key: {}, operator: {operator},{value} effect: {}}}`",
        taint.key, taint.effect
    );
    let severity = if is_certain(pod, context) { Severity::Error } else { Severity::Warning };
    let finding = Finding::new(&RULE, place, message).severity(severity).releases(releases(pod)).help(help);
    let place = NodePool::of(pool).and_then(|pool| Obstacle::Taint(taint).place_in_pool(pool))?;
    Some(finding.related(place, format!("taint of the NodePool `{name}`")))
}

/// Toleration with the taint's key that does not match the taint, and how it differs.
fn near_miss<'d>(pod: Pod<'d>, taint: &PoolTaint<'d>) -> Option<(Node<'d>, String)> {
    let mut same_key = pod.spec().tolerations().filter(|item| item.key() == Some(taint.key));
    same_key.next().map(|item| {
        let toleration = Toleration::from_item(item);
        let equal = matches!(toleration.operator, "" | "Equal");
        let difference = if equal && toleration.value.is_empty() && !taint.value.is_empty() {
            "has no value".to_owned()
        } else if equal && toleration.value != taint.value {
            format!("has the value `{}`", toleration.value)
        } else {
            format!("has the effect `{}`", toleration.effect)
        };
        (item.node(), difference)
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn pool(name: &str, labels: &str, taints: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    metadata: {{labels: {{{labels}}}}}
    spec:
      {taints}
---
"
        )
    }

    fn pod(spec: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  {spec}
"
        )
    }

    const GPU: &str = "taints: [{key: dedicated, value: gpu, effect: NoSchedule}]";

    #[test]
    fn points_at_the_missing_toleration_and_at_the_taint() {
        let text = pool("gpu", "", GPU) + &pod("nodeSelector: {karpenter.sh/nodepool: gpu}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         13 | spec:
            | ^^^^
        warning Pod/a spec.tolerations [all]
          Karpenter launches no node for this pod: it selects the NodePool `gpu` but does not tolerate the taint `dedicated=gpu:NoSchedule`
          help: use the toleration `{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}`
          see line 8 spec.template.spec.taints[0]: taint of the NodePool `gpu`
        ");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("error Pod/a spec.tolerations"));
    }

    #[test]
    fn explains_why_a_toleration_does_not_match() {
        let report_with = |toleration: &str| {
            let spec = format!("nodeSelector: {{team: ml}}\n  tolerations:\n  - {toleration}");
            findings(&super::RULE, &(pool("gpu", "team: ml", GPU) + &pod(&spec)))
        };
        insta::assert_snapshot!(report_with("{key: dedicated, value: cpu}"), @"
         17 |   - {key: dedicated, value: cpu}
            |      ^^^
        warning Pod/a spec.tolerations[0] [all]
          Karpenter launches no node for this pod: it selects the NodePool `gpu` but does not tolerate the taint `dedicated=gpu:NoSchedule`; the pod's toleration has the value `cpu`
          help: use the toleration `{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}`
          see line 8 spec.template.spec.taints[0]: taint of the NodePool `gpu`
        ");
        assert!(
            report_with("{key: dedicated, operator: Exists, effect: NoExecute}")
                .contains("has the effect `NoExecute`")
        );
        assert!(report_with("{key: dedicated}").contains("has no value"));
        assert_eq!(report_with("{key: dedicated, operator: Exists}"), "");
        assert_eq!(report_with("{operator: Exists}"), "");
    }

    #[test]
    fn checks_every_pod_template_of_a_custom_resource() {
        let template = |spec: &str| format!("{{spec: {{containers: [{{name: a, image: b}}], {spec}}}}}");
        let selects = template("nodeSelector: {team: ml}");
        let tolerates =
            template("nodeSelector: {team: ml}, tolerations: [{key: dedicated, operator: Exists}]");
        let cluster = format!(
            r"apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: a}}
spec:
  headGroupSpec: {{template: {selects}}}
  workerGroupSpecs: [{{template: {tolerates}}}, {{template: {selects}}}]
"
        );
        let output = findings(&super::RULE, &(pool("gpu", "team: ml", GPU) + &cluster));
        let paths = output.lines().filter(|line| line.starts_with("warning"));
        assert_eq!(
            paths.collect::<Vec<_>>(),
            [
                "warning RayCluster/a spec.headGroupSpec.template.spec.tolerations [all]",
                "warning RayCluster/a spec.workerGroupSpecs[1].template.spec.tolerations [all]"
            ]
        );
    }

    #[test]
    fn checks_templates_of_a_workflow_with_the_selector_and_tolerations_of_the_workflow() {
        let workflow = |spec: &str| {
            format!(
                r"apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {{name: a}}
spec:
  {spec}
  templates:
  - {{name: x, container: {{image: b}}}}
  - {{name: y, nodeSelector: {{team: ml}}, container: {{image: b}}}}
"
            )
        };
        let pools = pool("gpu", "team: ml", GPU);
        let output = findings(&super::RULE, &(pools.clone() + &workflow("arguments: {}")));
        assert!(output.contains("warning Workflow/a spec.templates[1].tolerations [all]"), "{output}");
        assert!(!output.contains("templates[0]"), "{output}");
        silent(&super::RULE, &(pools + &workflow("tolerations: [{key: dedicated, operator: Exists}]")));
    }

    #[test]
    fn accepts_another_selected_pool_without_taints() {
        let pools = pool("gpu", "team: ml", GPU) + &pool("open", "team: ml", "requirements: []");
        silent(&super::RULE, &(pools + &pod("nodeSelector: {team: ml}")));
    }

    #[test]
    fn accepts_taints_that_eks_adds_tolerations_for() {
        let text = |key: &str, effect: &str| {
            let pod = pod("nodeSelector: {karpenter.sh/nodepool: gpu}")
                .replace("containers: []", "containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]");
            pool("gpu", "", &format!("taints: [{{key: {key}, value: a, effect: {effect}}}]")) + &pod
        };
        silent(&super::RULE, &text("nvidia.com/gpu", "NoSchedule"));
        assert!(!findings(&super::RULE, &text("nvidia.com/gpu", "NoExecute")).is_empty());
        assert!(!findings(&super::RULE, &text("dedicated", "NoSchedule")).is_empty());
    }

    #[test]
    fn ignores_startup_taints_and_prefer_no_schedule() {
        for taints in
            ["startupTaints: [{key: a, effect: NoExecute}]", "taints: [{key: a, effect: PreferNoSchedule}]"]
        {
            silent(
                &super::RULE,
                &(pool("gpu", "", taints) + &pod("nodeSelector: {karpenter.sh/nodepool: gpu}")),
            );
        }
    }

    #[test]
    fn ignores_pods_that_select_no_pool() {
        silent(&super::RULE, &(pool("gpu", "", GPU) + &pod("nodeSelector: {kubernetes.io/arch: arm64}")));
        silent(&super::RULE, &(pool("gpu", "", GPU) + &pod("tolerations: []")));
    }
}
