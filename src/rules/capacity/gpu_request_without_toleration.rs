use karpenter::instance_types::EXTENDED_RESOURCES;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::taints::PoolTaint;
use scheduling::template::Obstacle;

use crate::rules::labels::pod_no_matching_pool::{is_certain, stuck};
use crate::rules::{node_room, pools_of_pod};

rule! {
    /// ## What it does
    ///
    /// Finds pods that request an accelerator, such as `nvidia.com/gpu`, if every NodePool of the input that offers the
    /// accelerator has a taint that the pod does not tolerate.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays Pending. The controller logs `did not tolerate taint`, and for the NodePools without accelerators
    /// `no instance type has enough resources`.
    ///
    /// A taint with the effect `NoSchedule` whose key is the name of the resource needs no toleration in the manifest: EKS
    /// enables the admission plugin `ExtendedResourceToleration`, which adds it. A pod that selects the NodePool by its name
    /// or by a label is reported by `pod-missing-toleration`.
    ///
    /// The finding is a warning if the input holds every NodePool (`--complete`) or the pod selects a label of Karpenter's
    /// nodes, and an info otherwise: the pod may run on another node group, or a webhook may add the toleration.
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
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   containers:
    ///   - name: train
    ///     image: "example.com/train:1"
    ///     resources: {limits: {nvidia.com/gpu: 1}}
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
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   tolerations: [{key: dedicated, value: gpu, effect: NoSchedule}]
    ///   containers:
    ///   - name: train
    ///     image: "example.com/train:1"
    ///     resources: {limits: {nvidia.com/gpu: 1}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the pod, the NodePools and their node classes. The policy in the cluster does not have the
    /// instance types, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1459; kubernetes-sigs/karpenter#1802
    /// - kubernetes/kubernetes#55839: the admission plugin `ExtendedResourceToleration`
    /// - latest/ug/clusters/platform-versions.adoc of awsdocs/amazon-eks-user-guide: the plugins of EKS
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod requests an accelerator, but does not tolerate the taint of the NodePools that have it",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((pod, request)) = Pod::of(object).and_then(|pod| Some((pod, accelerator(pod)?))) else { return };
    let misfit = node_room::misfit(pod, context).filter(node_room::needs_toleration);
    let Some(misfit) =
        misfit.filter(|_| !is_reported(pod, context) && !node_room::runs_elsewhere(pod, context))
    else {
        return;
    };
    let selected = pools_of_pod::selected(pod, context).into_iter();
    let tainted: Vec<(NodePool<'d>, PoolTaint<'d>)> = selected
        .filter(|(pool, _)| misfit.tainted.iter().any(|name| name == pool.object().name()))
        .filter_map(|(pool, taint)| Some((pool, taint?)))
        .collect();
    let severity =
        node_room::severity(pod, &misfit.shortages, context).map(|found| found.max(Severity::Warning));
    findings.extend(severity.and_then(|severity| finding(pod, request, &tainted, severity)));
}

/// Whether `pod-missing-toleration` or `pod-no-matching-pool` reports the pod.
fn is_reported<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> bool {
    let mut is_reported = false;
    stuck(pod, context, |stuck| is_reported = stuck.untolerated.is_some() || is_certain(pod, context));
    is_reported
}

fn finding<'d>(
    pod: Pod<'d>,
    request: Node<'d>,
    tainted: &[(NodePool<'d>, PoolTaint<'d>)],
    severity: Severity,
) -> Option<Finding<'d>> {
    let (pool, taint) = tainted.first()?;
    let resource = request.key();
    let message = format!(
        "Karpenter launches no node for this pod: it requests `{resource}`, but does not tolerate the taint `{taint}` of the NodePool `{}`, which offers it",
        pool.object().name()
    );
    let (operator, value) = match taint.value {
        "" => ("Exists", String::new()),
        value => ("Equal", format!(" value: {value},")),
    };
    let others = if tainted.len() > 1 { "; it is enough to tolerate one of the NodePools" } else { "" };
    let help = format!(
        "use the toleration `{{key: {}, operator: {operator},{value} effect: {}}}`{others}",
        taint.key, taint.effect
    );
    let mut finding = Finding::new(&RULE, Place::value(request), message)
        .severity(severity)
        .help(help)
        .related(Obstacle::Taint(*taint).place_in_pod(pod)?, "the tolerations of the pod");
    for (pool, taint) in tainted {
        if let Some(place) = Obstacle::Taint(*taint).place_in_pool(*pool) {
            finding = finding.related(place, format!("taint of the NodePool `{}`", pool.object().name()));
        }
    }
    Some(finding)
}

/// The first request or limit of an accelerator or of another device of instance types.
fn accelerator(pod: Pod<'_>) -> Option<Node<'_>> {
    pod.spec().containers().find_map(|container| {
        let mut names = EXTENDED_RESOURCES.into_iter();
        names.find_map(|name| container.limit(name).or_else(|| container.request(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::node_room::fixtures::{al2023, pod, pool};
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    const TAINT: &str = "taints: [{key: dedicated, value: gpu, effect: NoSchedule}]";
    const GPU: &str = "nvidia.com/gpu: 1";

    fn pools(taint: &str) -> String {
        al2023() + &pool("default", "m6i.large", "") + &pool("gpu", "g5.xlarge", taint)
    }

    #[test]
    fn reports_pods_that_do_not_tolerate_the_taint_of_the_only_nodepool_with_gpus() {
        insta::assert_snapshot!(findings(&RULE, &(pools(TAINT) + &pod(GPU, ""))), @"
         35 |     resources: {requests: {nvidia.com/gpu: 1}}
            |                                            ^
        info Pod/a spec.containers[0].resources.requests.nvidia.com/gpu [all]
          Karpenter launches no node for this pod: it requests `nvidia.com/gpu`, but does not tolerate the taint `dedicated=gpu:NoSchedule` of the NodePool `gpu`, which offers it
          help: use the toleration `{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}`
          see line 31 spec.tolerations: the tolerations of the pod
          see line 26 spec.template.spec.taints[0]: taint of the NodePool `gpu`
        ");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&RULE, &(pools(TAINT) + &pod(GPU, "")), &complete).contains("warning Pod/a"));
        let only = al2023() + &pool("gpu", "g5.xlarge", TAINT) + &pod(GPU, "");
        assert!(findings(&RULE, &only).contains("does not tolerate the taint `dedicated=gpu:NoSchedule`"));
    }

    #[test]
    fn one_of_several_taints_is_enough() {
        let several = pools(TAINT) + &pool("more", "g5.xlarge", TAINT) + &pod(GPU, "");
        let found = findings(&RULE, &several);
        assert!(
            found.contains("effect: NoSchedule}`; it is enough to tolerate one of the NodePools"),
            "{found}"
        );
    }

    #[test]
    fn accepts_tolerations_open_nodepools_and_other_pods() {
        silent(&RULE, &(pools(TAINT) + &pod(GPU, "tolerations: [{key: dedicated, operator: Exists}]")));
        silent(&RULE, &(pools(TAINT) + &pool("open", "g5.xlarge", "") + &pod(GPU, "")));
        silent(&RULE, &(pools(TAINT) + &pod("cpu: 64", "")));
        silent(&RULE, &(pools(TAINT) + &pod("nvidia.com/gpu: 8", "")));
    }

    /// `requests-exceed-any-type` reports the pod and mentions the taint.
    #[test]
    fn leaves_pods_that_need_more_accelerators_than_an_open_nodepool_has() {
        let one = al2023() + &pool("small", "g5.xlarge", "") + &pool("gpu", "g5.48xlarge", TAINT);
        silent(&RULE, &(one + &pod("nvidia.com/gpu: 8", "")));
    }

    #[test]
    fn accepts_taints_that_eks_adds_tolerations_for() {
        silent(
            &RULE,
            &(pools("taints: [{key: nvidia.com/gpu, value: 'true', effect: NoSchedule}]") + &pod(GPU, "")),
        );
        let other = pools("taints: [{key: nvidia.com/gpu, effect: NoExecute}]") + &pod(GPU, "");
        assert!(!findings(&RULE, &other).is_empty());
    }

    #[test]
    fn leaves_selected_nodepools_to_the_rules_about_tolerations() {
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        let selected = pools(TAINT) + &pod(GPU, "nodeSelector: {karpenter.sh/nodepool: gpu}");
        silent(&RULE, &selected);
        assert_eq!(findings_with(&RULE, &selected, &complete), "");
        let by_family = pools(TAINT) + &pod(GPU, "nodeSelector: {karpenter.k8s.aws/instance-family: g5}");
        assert!(!findings(&RULE, &by_family).is_empty());
    }
}
