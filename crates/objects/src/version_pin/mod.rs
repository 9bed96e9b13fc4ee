//! The version of Karpenter that a document pins: the tag of the controller's image, the version of its chart in the objects
//! and files of deployment tools, and the labels of rendered charts.
//!
//! Only Karpenter's own charts count: `karpenter`, and `karpenter-crd` for the custom resource definitions. Source:
//! charts/karpenter and charts/karpenter-crd of aws/karpenter-provider-aws at v1.0.0 to v1.14.1, where `version` and
//! `appVersion` of a chart are the version of Karpenter. A placeholder pins nothing.

mod files;
mod markdown;
mod script;
mod sources;
mod terraform;
#[cfg(test)]
mod tests;

use karpenter::release::PinnedVersion;
use manifest::is_markdown;
use manifest::tree::{Node, Tree, items_of};

pub use script::{TextPin, pins_in_text};

use crate::controller::{is_of_other_cloud, pinned_tag};

/// A version of Karpenter, and the node that pins it.
#[derive(Clone, Copy, Debug)]
pub struct VersionPin<'d> {
    /// The version.
    pub version: PinnedVersion,
    /// The node that holds the version.
    pub node: Node<'d>,
    /// The part of Karpenter that has the version.
    pub part: PinnedPart,
}

/// Part of Karpenter whose version is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinnedPart {
    /// The controller.
    Controller,
    /// The custom resource definitions, which have a separate chart. They are often upgraded later.
    Definitions,
}

/// Returns the pins of a document. `file` is the name of its file, which identifies documents without a kind.
pub fn pins<'d>(tree: &'d Tree, file: &str) -> Vec<VersionPin<'d>> {
    let mut pins = Pins::default();
    let root = tree.root();
    match root.get("items").filter(|items| items.is_sequence() && root.get("kind").is_some()) {
        Some(items) => items.items().for_each(|item| pins.of_object(item)),
        None if root.get("kind").is_some() => pins.of_object(root),
        None => files::collect(root, file, &mut pins),
    }
    pins.0
}

/// Returns the pins of a text beside the manifests, such as the script that installs Karpenter. `file` is its name. Markdown counts only
/// where it shows how to install Karpenter.
pub fn pins_beside(text: &str, file: &str) -> Vec<TextPin> {
    if is_markdown(file) { markdown::pins(text) } else { pins_in_text(text) }
}

/// The pins that were found so far.
#[derive(Debug, Default)]
struct Pins<'d>(Vec<VersionPin<'d>>);

impl<'d> Pins<'d> {
    /// Adds a pin if the node has a version.
    fn add(&mut self, part: PinnedPart, node: Option<Node<'d>>) {
        let text = node.and_then(Node::as_str);
        self.add_text(part, node, text);
    }

    /// Adds a pin if a part of the node's text is a version.
    fn add_text(&mut self, part: PinnedPart, node: Option<Node<'d>>, text: Option<&str>) {
        let version = text.and_then(PinnedVersion::parse);
        self.0.extend(version.zip(node).map(|(version, node)| VersionPin { version, node, part }));
    }

    /// Adds the version of a chart if the chart is Karpenter's.
    fn add_chart(&mut self, chart: Option<&str>, repository: Option<&str>, version: Option<Node<'d>>) {
        if repository.is_some_and(is_not_published) {
            return;
        }
        if let Some(part) = chart.and_then(part_of_chart) {
            self.add(part, version);
        }
    }

    /// Adds the version in the address of a file or folder of Karpenter's repository.
    fn add_address(&mut self, node: Node<'d>) {
        let version = node.as_str().and_then(version_in_address);
        self.add_text(PinnedPart::Definitions, Some(node), version);
    }

    fn of_object(&mut self, object: Node<'d>) {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, object.str_at(&["kind"]).unwrap_or_default()) {
            ("apps", "Deployment") if self.of_deployment(object) => {}
            ("kustomize.config.k8s.io", _) => files::kustomization(object, self),
            (group, kind) => {
                sources::collect(object, group, kind, self);
                self.of_labels(object);
            }
        }
    }

    /// Adds the tags of the controller's images; returns whether there are any.
    fn of_deployment(&mut self, deployment: Node<'d>) -> bool {
        let before = self.0.len();
        let containers = deployment.at_path(&["spec", "template", "spec", "containers"]);
        for image in items_of(containers).filter_map(|container| container.get("image")) {
            self.add_text(PinnedPart::Controller, Some(image), image.as_str().and_then(pinned_tag));
        }
        self.0.len() > before
    }

    /// Adds the version in the labels that Karpenter's chart gives to its objects. If the labels contradict each other, the
    /// object belongs to a chart that wraps Karpenter's.
    ///
    /// Source: `karpenter.labels` in charts/karpenter/templates/_helpers.tpl at v1.0.0 to v1.14.1.
    fn of_labels(&mut self, object: Node<'d>) {
        let Some(labels) = object.at_path(&["metadata", "labels"]) else { return };
        if labels.str_at(&["app.kubernetes.io/name"]) != Some("karpenter") {
            return;
        }
        let (chart, app) = (labels.get("helm.sh/chart"), labels.get("app.kubernetes.io/version"));
        let of_chart = chart.and_then(Node::as_str).and_then(|chart| chart.strip_prefix("karpenter-"));
        let of_app = app.and_then(Node::as_str);
        match (chart, app) {
            (Some(_), Some(_)) if of_chart != of_app => {}
            (Some(_), _) => self.add_text(PinnedPart::Controller, chart, of_chart),
            (None, _) => self.add(PinnedPart::Controller, app),
        }
    }
}

/// The part of Karpenter that a chart installs: `karpenter`, `karpenter/karpenter` or
/// `oci://public.ecr.aws/karpenter/karpenter`; `None` for another chart, and for a chart in a folder, whose own `Chart.yaml`
/// pins the version.
fn part_of_chart(chart: &str) -> Option<PinnedPart> {
    if is_not_published(chart) {
        return None;
    }
    match chart.rsplit('/').next() {
        Some("karpenter") => Some(PinnedPart::Controller),
        Some("karpenter-crd") => Some(PinnedPart::Definitions),
        _ => None,
    }
}

/// Whether a chart or repository is a folder, or belongs to Karpenter for another cloud.
fn is_not_published(reference: &str) -> bool {
    reference.starts_with(['.', '/']) || reference.starts_with("file:") || is_of_other_cloud(reference)
}

/// Whether an address is Karpenter's repository, whose tags are its versions.
fn is_own_repository(address: &str) -> bool {
    after_repository(address).is_some_and(|rest| matches!(rest, "" | "/" | ".git"))
}

/// The rest of an address after the name of Karpenter's repository.
fn after_repository(address: &str) -> Option<&str> {
    let (_, rest) =
        address.split_once("aws/karpenter-provider-aws").or_else(|| address.split_once("aws/karpenter"))?;
    Some(rest)
}

/// The version in the address of a file or folder of Karpenter's repository: `…/v1.6.2/pkg/apis/crds/…`, as in raw contents,
/// or `…?ref=v1.6.2`, as in the resources of a kustomization.
fn version_in_address(address: &str) -> Option<&str> {
    let rest = after_repository(address)?;
    match rest.split_once("ref=") {
        Some((_, tag)) => tag.split('&').next(),
        None => rest.strip_prefix('/')?.split('/').next(),
    }
}
