use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{Container, ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Finds pods that select nodes with GPUs by a label such as `karpenter.k8s.aws/instance-gpu-name`, but request no GPU.
    /// It also finds an accelerator directly below `resources`, instead of below `limits`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches an instance with GPUs for the pod, but counts its GPUs as free, and places other pods there that
    /// request them. A container that requests no GPU sees none or, with an image made for CUDA, shares all GPUs of the node
    /// with those pods. The API server knows only `limits`, `requests` and `claims` below `resources`, and drops or refuses
    /// everything else.
    ///
    /// A selector without a request is an info, because such a pod may work; a misplaced request is a warning.
    ///
    /// ## What is not reported
    ///
    /// - DaemonSets, which manage the GPUs for other pods;
    /// - pods that get a GPU in another way: with `resourceClaims`, with a `runtimeClassName`, with the environment variable
    ///   `NVIDIA_VISIBLE_DEVICES`, or as a privileged container;
    /// - pods that request any extended resource, such as a part of a GPU.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.k8s.aws/instance-gpu-name: a10g}
    ///   containers:
    ///   - name: train
    ///     image: "example.com/train:1"
    ///     resources: {requests: {cpu: "2"}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.k8s.aws/instance-gpu-name: a10g}
    ///   containers:
    ///   - name: train
    ///     image: "example.com/train:1"
    ///     resources: {requests: {cpu: "2"}, limits: {nvidia.com/gpu: 1}}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3862, #1459
    /// - NVIDIA/k8s-device-plugin#61, #87: a container made for CUDA that requests no GPU sees all of them
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws, "Accelerators/GPU Resources"
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod selects nodes with GPUs but requests no GPU",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// The accelerators that containers request.
const ACCELERATORS: [&str; 4] = ["nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron"];

/// The labels that only instance types with GPUs have.
const GPU_LABELS: &str = "karpenter.k8s.aws/instance-gpu-";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let mut requests_device = false;
    for resources in pod.spec().containers().filter_map(|container| container.node().get("resources")) {
        requests_device |= has_placeholder_below(resources);
        for list in resources.children() {
            if ACCELERATORS.contains(&list.key()) {
                findings.push(misplaced(list));
                return;
            }
            requests_device |= list.children().any(|resource| resource.key().contains('/'));
        }
    }
    if let Some(selector) = selects_gpu(pod).filter(|_| !requests_device && !sees_gpu(pod)) {
        let message = format!(
            "the pod selects nodes with GPUs by `{}`, but no container requests a GPU: Karpenter counts the GPUs as free, and the pod sees none or, with a CUDA image, shares all of them",
            selector.key
        );
        let help =
            "add the limit `nvidia.com/gpu: 1` to the container that needs the GPU, or remove the selector";
        findings.push(Finding::new(&RULE, selector.place(), message).severity(Severity::Info).help(help));
    }
}

fn misplaced(resource: Node<'_>) -> Finding<'_> {
    let message =
        format!("`{}` is not below `limits`, so the container requests no accelerator", resource.key());
    Finding::new(&RULE, Place::key(resource), message).help("move the line below `limits`")
}

/// An expression that only nodes with GPUs meet: in the node selector, or one in every required term.
fn selects_gpu(pod: Pod<'_>) -> Option<LabelExpression<'_>> {
    let mut selector = None;
    let mut terms = 0;
    for expression in pod.expressions() {
        let is_of_gpu = expression.key.starts_with(GPU_LABELS) && !expression.operator.is_negative();
        match expression.origin {
            ExpressionOrigin::NodeSelector if is_of_gpu => return Some(expression),
            // The terms come one after the other.
            ExpressionOrigin::Required { term } if is_of_gpu && term <= terms => {
                terms = term + 1;
                selector = selector.or(Some(expression));
            }
            _ => {}
        }
    }
    selector.filter(|_| pod.spec().required_terms().count() == terms)
}

/// Whether the pod has access to GPUs without a request.
fn sees_gpu(pod: Pod<'_>) -> bool {
    let spec = pod.spec();
    let sees = |container: Container<'_>| {
        let privileged = container.node().at_path(&["securityContext", "privileged"]);
        privileged.and_then(Node::as_bool) == Some(true)
            || container.variables("NVIDIA_VISIBLE_DEVICES").next().is_some()
    };
    spec.node().get("runtimeClassName").is_some()
        || spec.resource_claims().is_some()
        || spec.containers().any(sees)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const SELECTOR: &str = "nodeSelector: {karpenter.k8s.aws/instance-gpu-name: a10g}";

    fn pod(fields: &str, container: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  {fields}
  containers:
  - name: a
    {container}
"
        )
    }

    fn affinity(terms: &str) -> String {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}"
        )
    }

    fn term(key: &str, operator: &str) -> String {
        format!("{{matchExpressions: [{{key: karpenter.k8s.aws/instance-{key}, operator: {operator}}}]}}")
    }

    #[test]
    fn reports_pods_that_select_gpus_and_request_none() {
        insta::assert_snapshot!(findings(&RULE, &pod(SELECTOR, "resources: {limits: {cpu: 2}}")), @"
          5 |   nodeSelector: {karpenter.k8s.aws/instance-gpu-name: a10g}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Pod/a spec.nodeSelector [all]
          the pod selects nodes with GPUs by `karpenter.k8s.aws/instance-gpu-name`, but no container requests a GPU: Karpenter counts the GPUs as free, and the pod sees none or, with a CUDA image, shares all of them
          help: add the limit `nvidia.com/gpu: 1` to the container that needs the GPU, or remove the selector
        ");
        let every = affinity(&[term("gpu-count", "Exists"), term("gpu-memory", "Exists")].join(", "));
        assert!(
            findings(&RULE, &pod(&every, "image: a"))
                .contains("selects nodes with GPUs by `karpenter.k8s.aws/instance-gpu-count`")
        );
    }

    #[test]
    fn reports_accelerators_outside_limits() {
        let text = pod("", "resources: {limits: {cpu: 2}, nvidia.com/gpu: 1}");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          8 |     resources: {limits: {cpu: 2}, nvidia.com/gpu: 1}
            |                                   ^^^^^^^^^^^^^^
        warning Pod/a spec.containers[0].resources.nvidia.com/gpu [all]
          `nvidia.com/gpu` is not below `limits`, so the container requests no accelerator
          help: move the line below `limits`
        ");
    }

    #[test]
    fn accepts_requests_and_other_ways_to_a_gpu() {
        for container in [
            "resources: {limits: {nvidia.com/gpu: 1}}",
            "resources: {requests: {nvidia.com/mig-1g.5gb: 1}}",
            "resources: '${RESOURCES}'",
            "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]",
            "securityContext: {privileged: true}",
        ] {
            silent(&RULE, &pod(SELECTOR, container));
        }
        silent(&RULE, &pod(&format!("runtimeClassName: nvidia\n  {SELECTOR}"), "image: a"));
        silent(&RULE, &pod(&format!("resourceClaims: [{{name: gpu}}]\n  {SELECTOR}"), "image: a"));
        silent(&RULE, &pod(SELECTOR, "image: a").replace("kind: Pod", "kind: DaemonSet"));
    }

    #[test]
    fn accepts_pods_that_may_run_without_a_gpu() {
        let either = affinity(&[term("gpu-count", "Exists"), term("cpu", "Exists")].join(", "));
        silent(&RULE, &pod(&either, "image: a"));
        silent(&RULE, &pod(&affinity(&term("gpu-count", "DoesNotExist")), "image: a"));
        silent(&RULE, &pod("nodeSelector: {karpenter.k8s.aws/instance-family: g5}", "image: a"));
    }
}
