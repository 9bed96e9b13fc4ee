//! Objects of deployment tools that name a chart and its version.

use manifest::tree::{Node, items_of};

use super::{PinnedPart, Pins, is_own_repository};

/// Adds the pins of an object.
///
/// Sources: docs/user-guide/helm.md and docs/user-guide/multiple_sources.md of argoproj/argo-cd;
/// docs/spec/v2/helmreleases.md of fluxcd/helm-controller; docs/spec/v1/helmcharts.md and docs/spec/v1/ocirepositories.md
/// of fluxcd/source-controller; `HelmChartSpec` in pkg/apis/helm.cattle.io/v1/types.go of k3s-io/helm-controller;
/// `Karpenter` in pkg/apis/eksctl.io/v1alpha5/types.go of eksctl-io/eksctl.
pub(super) fn collect<'d>(object: Node<'d>, group: &str, kind: &str, pins: &mut Pins<'d>) {
    let Some(spec) = object.get("spec").or_else(|| object.get("karpenter")) else { return };
    match (group, kind) {
        ("argoproj.io", "Application") => of_argo(spec, pins),
        ("argoproj.io", "ApplicationSet") => {
            spec.at_path(&["template", "spec"]).into_iter().for_each(|spec| of_argo(spec, pins));
        }
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            let version = spec.at_path(&["chart", "spec", "version"]);
            pins.add_chart(spec.str_at(&["chart", "spec", "chart"]), None, version);
        }
        ("source.toolkit.fluxcd.io" | "helm.cattle.io", "HelmChart") => {
            pins.add_chart(spec.str_at(&["chart"]), spec.str_at(&["repo"]), spec.get("version"));
        }
        ("source.toolkit.fluxcd.io", "OCIRepository") => {
            let reference = spec.get("ref");
            let version = reference.and_then(|one| one.get("tag").or_else(|| one.get("semver")));
            pins.add_chart(spec.str_at(&["url"]), None, version);
        }
        ("source.toolkit.fluxcd.io", "GitRepository")
            if spec.str_at(&["url"]).is_some_and(is_own_repository) =>
        {
            pins.add(PinnedPart::Definitions, spec.at_path(&["ref", "tag"]));
        }
        ("eksctl.io", "ClusterConfig") => {
            pins.add(PinnedPart::Controller, object.at_path(&["karpenter", "version"]));
        }
        _ => {}
    }
}

/// Adds the pins of the sources of an Application.
fn of_argo<'d>(spec: Node<'d>, pins: &mut Pins<'d>) {
    let sources = spec.get("source").into_iter().chain(items_of(spec.get("sources")));
    for source in sources {
        let version = source.get("targetRevision");
        let url = source.str_at(&["repoURL"]).unwrap_or_default();
        match source.str_at(&["chart"]).filter(|chart| !chart.is_empty()) {
            Some(chart) => pins.add_chart(Some(chart), Some(url), version),
            None if is_own_repository(url) => of_repository(source, pins),
            // The address of an OCI artifact names the chart.
            None if url.starts_with("oci://") => {
                pins.add_chart(Some(url), None, version);
            }
            None => {}
        }
    }
}

/// Adds the tag of Karpenter's Git repository if the source is one of its charts, or the custom resource definitions.
fn of_repository<'d>(source: Node<'d>, pins: &mut Pins<'d>) {
    let part = match source.str_at(&["path"]).map(|path| path.trim_matches('/')) {
        Some("charts/karpenter") => PinnedPart::Controller,
        Some("charts/karpenter-crd" | "pkg/apis/crds") => PinnedPart::Definitions,
        _ => return,
    };
    pins.add(part, source.get("targetRevision"));
}
