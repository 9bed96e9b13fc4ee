use karpenter::labels::DO_NOT_DISRUPT;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds `karpenter.sh/do-not-disrupt` where Karpenter does not read it: as an annotation of a workload, or as a
    /// label.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter reads the annotation of pods and of nodes. Kubernetes copies no annotation from a Deployment or a Job to its
    /// pods, so the pods are not protected: Karpenter evicts them when it consolidates or replaces their node.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: migrate
    ///   annotations: {karpenter.sh/do-not-disrupt: "true"}
    /// spec:
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers: [{name: migrate, image: "example.com/migrate:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: migrate
    /// spec:
    ///   template:
    ///     metadata:
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
    ///     spec:
    ///       restartPolicy: Never
    ///       containers: [{name: migrate, image: "example.com/migrate:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "Pod-Level Controls"
    /// - pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        fix: Fixes::None,
        summary: "`karpenter.sh/do-not-disrupt` protects nothing outside the annotations of pods and nodes",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    if let Some(label) = pod.metadata().label(DO_NOT_DISRUPT).filter(|node| protects(*node)) {
        findings.push(report(label, "this is a label, but Karpenter reads the annotation with this key"));
    }
    let is_template = object.kind() != "Pod";
    let own = object.metadata().annotation(DO_NOT_DISRUPT).filter(|node| is_template && protects(*node));
    if let Some(node) = own.filter(|_| pod.metadata().annotation(DO_NOT_DISRUPT).is_none()) {
        let kind = object.kind();
        let place =
            format!("Karpenter reads the annotation of pods, and the pods of a {kind} do not inherit it");
        findings.push(report(node, &place));
    }
}

/// Whether the author means to protect pods. `false` asks for nothing.
fn protects(node: Node<'_>) -> bool {
    node.as_str().is_some_and(|text| text != "false")
}

fn report<'d>(node: Node<'d>, why: &str) -> Finding<'d> {
    let message = format!("{why}: nothing protects the pods, and Karpenter may evict them at any time");
    Finding::new(&RULE, Place::key(node), message)
        .help(format!("write `{DO_NOT_DISRUPT}: \"true\"` to the annotations of the pod, `spec.template.metadata.annotations` of a workload"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn deployment(metadata: &str, template: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
  {metadata}
spec:
  template:
    metadata: {{{template}}}
    spec: {{containers: []}}
"
        )
    }

    #[test]
    fn reports_annotations_of_workloads() {
        let text = deployment("annotations: {karpenter.sh/do-not-disrupt: 'true'}", "");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          5 |   annotations: {karpenter.sh/do-not-disrupt: 'true'}
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a metadata.annotations.karpenter.sh/do-not-disrupt [all]
          Karpenter reads the annotation of pods, and the pods of a Deployment do not inherit it: nothing protects the pods, and Karpenter may evict them at any time
          help: write `karpenter.sh/do-not-disrupt: "true"` to the annotations of the pod, `spec.template.metadata.annotations` of a workload
        "#);
    }

    #[test]
    fn reports_labels_of_pods() {
        let text = deployment("labels: {}", "labels: {karpenter.sh/do-not-disrupt: 'true'}");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          8 |     metadata: {labels: {karpenter.sh/do-not-disrupt: 'true'}}
            |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a spec.template.metadata.labels.karpenter.sh/do-not-disrupt [all]
          this is a label, but Karpenter reads the annotation with this key: nothing protects the pods, and Karpenter may evict them at any time
          help: write `karpenter.sh/do-not-disrupt: "true"` to the annotations of the pod, `spec.template.metadata.annotations` of a workload
        "#);
    }

    #[test]
    fn accepts_the_annotation_of_the_pod_template_and_of_nodes() {
        silent(&RULE, &deployment("labels: {}", "annotations: {karpenter.sh/do-not-disrupt: 'true'}"));
        let both = deployment(
            "annotations: {karpenter.sh/do-not-disrupt: 'true'}",
            "annotations: {karpenter.sh/do-not-disrupt: 'true'}",
        );
        silent(&RULE, &both);
        silent(&RULE, &deployment("annotations: {karpenter.sh/do-not-disrupt: 'false'}", ""));
        silent(
            &RULE,
            r"apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {karpenter.sh/do-not-disrupt: 'true'}}
spec: {containers: []}
",
        );
        silent(
            &RULE,
            r"apiVersion: v1
kind: Node
metadata: {name: a, annotations: {karpenter.sh/do-not-disrupt: 'true'}}
",
        );
    }
}
