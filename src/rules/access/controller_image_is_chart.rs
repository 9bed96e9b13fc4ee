use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that the image of Karpenter's controller, in a Deployment or in `controller.image.repository` of the Helm
    /// values, is not the repository of a Helm chart: `public.ecr.aws/karpenter/karpenter` or
    /// `public.ecr.aws/karpenter/karpenter-crd`.
    ///
    /// ## Why it is bad
    ///
    /// These repositories hold charts, not container images, under the same tags. The kubelet cannot run a chart: the pod
    /// stays in `ImagePullBackOff` or `ErrImagePull`, and Karpenter does not start.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/karpenter:1.14.1
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/controller:1.14.1
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix replaces the repository, and the images have the same tags as the charts. It is offered if the image
    /// has no digest.
    ///
    /// ## References
    ///
    /// - charts/karpenter/values.yaml at v1.0.0 and v1.14.1: `public.ecr.aws/karpenter/controller`
    /// - website/content/en/docs/getting-started/getting-started-with-karpenter at v1.14.1: the charts are
    ///   `oci://public.ecr.aws/karpenter/karpenter` and `oci://public.ecr.aws/karpenter/karpenter-crd`
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the controller's image is the repository of Karpenter's Helm chart",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if object.is(Kind::DEPLOYMENT) {
        let containers = Pod::of(object).into_iter().flat_map(|pod| pod.spec().containers());
        findings.extend(containers.filter_map(|container| check_image(container.image()?)));
    }
    if let Some(repository) = chart_values::of(object).and_then(ChartValues::image_repository) {
        findings.extend(check_image(repository));
    }
}

/// Reports an image, with or without a tag, that is a chart.
fn check_image(node: Node<'_>) -> Option<Finding<'_>> {
    const REGISTRY: &str = "public.ecr.aws/karpenter/";
    let text = node.as_str()?;
    let name = text.strip_prefix(REGISTRY)?.split([':', '@']).next()?;
    if !matches!(name, "karpenter" | "karpenter-crd") {
        return None;
    }
    let message = format!(
        "`{REGISTRY}{name}` is a Helm chart, not an image: the pod cannot start, and Karpenter does not run"
    );
    let finding = Finding::at(&RULE, node, message).help(format!("write `{REGISTRY}controller`"));
    if text.contains('@') {
        return Some(finding);
    }
    let span = Span::new(REGISTRY.len(), REGISTRY.len() + name.len());
    Some(
        finding
            .safe_fix("write the controller's image", Change::Replace(node, span, "controller".to_owned())),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn controller(image: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: {image}
"
        )
    }

    #[test]
    fn reports_chart_as_image_and_writes_the_image() {
        let text = controller("public.ecr.aws/karpenter/karpenter:1.14.1");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          9 |         image: public.ecr.aws/karpenter/karpenter:1.14.1
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].image [all]
          `public.ecr.aws/karpenter/karpenter` is a Helm chart, not an image: the pod cannot start, and Karpenter does not run
          help: write `public.ecr.aws/karpenter/controller`
          fix: write the controller's image: "controller"
        "#);
        assert_eq!(fixed(&RULE, &text), controller("public.ecr.aws/karpenter/controller:1.14.1"));
        let crd = controller("public.ecr.aws/karpenter/karpenter-crd");
        assert_eq!(fixed(&RULE, &crd), controller("public.ecr.aws/karpenter/controller"));
    }

    #[test]
    fn offers_no_fix_for_an_image_with_a_digest() {
        let output = findings(&RULE, &controller("public.ecr.aws/karpenter/karpenter:1.14.1@sha256:ab"));
        assert!(output.contains("is a Helm chart") && !output.contains("fix:"), "{output}");
    }

    #[test]
    fn reports_repository_in_chart_values() {
        let values = "settings: {clusterName: a}\ncontroller: {image: {repository: public.ecr.aws/karpenter/karpenter, tag: 1.14.1}}\n";
        assert!(findings(&RULE, values).contains("error / controller.image.repository [all]"));
        silent(&RULE, &values.replace("karpenter/karpenter", "karpenter/controller"));
    }

    #[test]
    fn accepts_images_and_other_registries() {
        for image in [
            "public.ecr.aws/karpenter/controller:1.14.1",
            "mirror.example.net/karpenter/karpenter:1.14.1",
            "public.ecr.aws/karpenter/karpenter-tools:1",
            "'${IMAGE}'",
        ] {
            silent(&RULE, &controller(image));
        }
    }
}
