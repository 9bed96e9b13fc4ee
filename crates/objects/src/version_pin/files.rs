//! Documents without a kind that name a chart and its version: files of Helm, Helmfile, Kustomize and Terraform.

use karpenter::chart;
use manifest::tree::{Node, items_of};

use super::{PinnedPart, Pins};
use crate::controller::{is_of_other_cloud, pinned_tag};

/// Adds the pins of a document without a kind.
pub(super) fn collect<'d>(root: Node<'d>, file: &str, pins: &mut Pins<'d>) {
    match file.rsplit('/').next() {
        Some("Chart.yaml" | "Chart.yml" | "requirements.yaml" | "Chart.lock") => return chart(root, pins),
        Some("kustomization.yaml" | "kustomization.yml") => return kustomization(root, pins),
        _ => {}
    }
    for release in items_of(root.get("releases")) {
        // Source: docs/index.md of helmfile/helmfile, `releases`.
        pins.add_chart(release.str_at(&["chart"]), None, release.get("version"));
    }
    terraform(root, pins);
    cloud_formation(root, pins);
    values(root, pins);
}

/// Adds the pin of a CloudFormation template from the getting started guide of 0.31 or earlier: its role of the nodes has an
/// instance profile, which Karpenter has created since 0.32, and its policy names nothing that later policies do.
///
/// Source: cloudformation.yaml in website/content/en/preview/getting-started of aws/karpenter-provider-aws at v0.5.6, v0.13.2,
/// v0.31.4, v0.32.10 and v1.0.0.
fn cloud_formation<'d>(root: Node<'d>, pins: &mut Pins<'d>) {
    /// Texts in the policy of every later template.
    const LATER: [&str; 3] = ["karpenter.sh/nodepool", "iam:GetInstanceProfile", "eks:eks-cluster-name"];
    let description = root.str_at(&["Description"]).unwrap_or_default();
    if !description.contains("Resources used by https://github.com/aws") || !description.contains("karpenter")
    {
        return;
    }
    let Some(resources) = root.get("Resources") else { return };
    let profile = resources
        .members()
        .find(|(_, resource)| resource.str_at(&["Type"]) == Some("AWS::IAM::InstanceProfile"));
    let mut texts = resources.children().flat_map(strings_below);
    if let Some((_, profile)) = profile
        && !texts.any(|text| LATER.iter().any(|later| text.contains(later)))
    {
        pins.add_text(PinnedPart::Controller, profile.get("Type"), Some("0.31"));
    }
}

/// The strings and keys at and below a node.
fn strings_below(node: Node<'_>) -> Vec<&str> {
    let mut texts = vec![node.key()];
    texts.extend(node.as_str());
    texts.extend(node.children().flat_map(strings_below));
    texts
}

/// Adds the pin of a `Chart.yaml`. The version of a chart that depends on Karpenter's chart says nothing. The chart
/// `karpenter` is Karpenter's if both of its versions are equal.
///
/// Source: charts/karpenter/Chart.yaml of aws/karpenter-provider-aws at v0.35.10 and v1.0.0 to v1.14.1; docs/topics/charts.mdx
/// of helm/helm-www, "Chart dependencies".
fn chart<'d>(root: Node<'d>, pins: &mut Pins<'d>) {
    for dependency in items_of(root.get("dependencies")) {
        let repository = dependency.str_at(&["repository"]);
        pins.add_chart(dependency.str_at(&["name"]), repository, dependency.get("version"));
    }
    let (version, app) = (root.get("version"), root.get("appVersion"));
    let text = |node: Option<Node<'d>>| node.and_then(Node::as_str).map(|text| text.trim_start_matches('v'));
    if pins.0.is_empty() && text(version).is_some() && text(version) == text(app) {
        pins.add_chart(root.str_at(&["name"]), None, version);
    }
}

/// Adds the pins of a kustomization: charts, the image of the controller, and files of Karpenter's repository.
///
/// Source: api/types/kustomization.go, api/types/helmchartargs.go and api/types/image.go of kubernetes-sigs/kustomize.
pub(super) fn kustomization<'d>(root: Node<'d>, pins: &mut Pins<'d>) {
    for chart in items_of(root.get("helmCharts")) {
        pins.add_chart(chart.str_at(&["name"]), chart.str_at(&["repo"]), chart.get("version"));
    }
    for chart in items_of(root.get("helmChartInflationGenerator")) {
        let repository = chart.str_at(&["chartRepoUrl"]);
        pins.add_chart(chart.str_at(&["chartName"]), repository, chart.get("chartVersion"));
    }
    for image in items_of(root.get("images")) {
        let name = image.str_at(&["newName"]).or_else(|| image.str_at(&["name"])).unwrap_or_default();
        let tag = image.get("newTag");
        if pinned_tag(&format!("{name}:tag")).is_some() {
            pins.add(PinnedPart::Controller, tag);
        }
    }
    items_of(root.get("resources")).for_each(|resource| pins.add_address(resource));
}

/// Adds the pins of `helm_release` resources in Terraform's JSON syntax.
///
/// Source: docs/resources/release.md of hashicorp/terraform-provider-helm; website/docs/language/syntax/json.mdx of
/// hashicorp/terraform.
fn terraform<'d>(root: Node<'d>, pins: &mut Pins<'d>) {
    let Some(resources) = root.get("resource") else { return };
    let blocks = core::iter::once(resources).chain(resources.items());
    for releases in blocks.filter_map(|block| block.get("helm_release")) {
        for (_, release) in releases.members() {
            let repository = release.str_at(&["repository"]);
            pins.add_chart(release.str_at(&["chart"]), repository, release.get("version"));
        }
    }
}

/// Adds the tag of the controller's image in values of the chart. Some write it in a top-level `image`, which the chart does
/// not read but which still shows the version that they mean.
///
/// Source: `controller.image` in charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.0.0 to v1.14.1.
fn values<'d>(root: Node<'d>, pins: &mut Pins<'d>) {
    let Some(values) = chart::values_in(root) else { return };
    if let Some(image) = values.at_path(&["controller", "image"]) {
        if !image.str_at(&["repository"]).is_some_and(is_of_other_cloud) {
            pins.add(PinnedPart::Controller, image.get("tag"));
        }
    } else if let Some(image) = values.get("image")
        && image
            .str_at(&["repository"])
            .is_some_and(|repository| repository.starts_with("public.ecr.aws/karpenter/"))
    {
        pins.add(PinnedPart::Controller, image.get("tag"));
    }
}
