//! NodeClaims of v1beta1, and the fields that a NodePool's template shares with them.

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::Conversion;
use super::value::{copy, filled, get, known, text};
use crate::object::Object;

/// Group of the node classes of the AWS provider, which the webhook writes if a reference has none: `GetNodeClasses` in
/// pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.0.8.
pub(super) const GROUP: &str = "karpenter.k8s.aws";

/// Kind of the node classes of the AWS provider.
pub(super) const KIND: &str = "EC2NodeClass";

pub(super) fn convert<'d>(object: Object<'d>, conversion: &mut Conversion<'d>) {
    let Some(spec) = object.spec() else { return conversion.undecided("`spec` is missing") };
    reference(spec, "spec.nodeClassRef", conversion);
    if filled(spec, "kubelet").is_some() {
        conversion.undecided("v1 has no `spec.kubelet`; the settings belong to the EC2NodeClass");
    }
    conversion.review("Karpenter writes NodeClaims itself, with the lifetime of their NodePool; apply it only to restore a NodeClaim");
}

/// Converts `nodeClassRef`: `apiVersion` becomes `group`, and group and kind are required.
pub(super) fn reference<'d>(spec: Node<'d>, path: &str, conversion: &mut Conversion<'d>) {
    let Some(reference) = filled(spec, "nodeClassRef") else {
        return conversion.undecided(format!("`{path}` is missing"));
    };
    if get(reference, "name").is_none() {
        return conversion.undecided(format!("`{path}.name` is missing"));
    }
    let api_version = get(reference, "apiVersion");
    let group = match api_version.map(known) {
        None => GROUP,
        Some(Some(api_version)) => api_version.split('/').next().unwrap_or(GROUP),
        Some(None) => {
            return conversion
                .undecided(format!("`{path}.group` replaces `apiVersion`, which has a placeholder"));
        }
    };
    let kind = get(reference, "kind");
    let has_group = get(reference, "group").is_some();
    if let (Some(api_version), Some(_), false) = (api_version, kind, has_group) {
        conversion.changes.push(Change::Rename(api_version, "group".to_owned()));
        conversion.changes.push(Change::Set(api_version, group.to_owned()));
        return;
    }
    if api_version.is_none() && kind.is_some() && has_group {
        return;
    }
    let mut members = vec![match get(reference, "group") {
        Some(group) => copy("group", group),
        None => text("group", group),
    }];
    members.push(kind.map_or_else(|| text("kind", KIND), |kind| copy("kind", kind)));
    let others = reference
        .members()
        .filter(|(key, node)| !node.is_overridden() && !matches!(*key, "apiVersion" | "group" | "kind"));
    members.extend(others.map(|(key, node)| copy(key, node)));
    conversion.changes.push(Change::Write(reference, Composed::Object(members)));
}
