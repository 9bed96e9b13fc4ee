//! The kind `AWSNodeTemplate`, which is EC2NodeClass in v1.
//!
//! Source: `convertNodeTemplate` in tools/karpenter-convert/pkg/convert/convert.go and pkg/apis/v1alpha1/provider.go of
//! aws/karpenter-provider-aws at v0.32.10. The tool leaves a placeholder for the role; v1 takes the instance profile too.

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::node_class::{alias, convert_family, review_alias, review_family};
use super::value::{filled, get, known, member};
use super::{Conversion, selector};
use crate::object::Object;

/// The fields that v1 has with the same meaning.
const KEPT: [&str; 8] = [
    "blockDeviceMappings",
    "context",
    "detailedMonitoring",
    "instanceProfile",
    // A Provisioner that was converted before has moved its settings.
    "kubelet",
    "metadataOptions",
    "tags",
    "userData",
];

/// The fields that are converted.
const CONVERTED: [&str; 4] = ["amiFamily", "amiSelector", "securityGroupSelector", "subnetSelector"];

pub(super) fn convert<'d>(object: Object<'d>, conversion: &mut Conversion<'d>) {
    let Some(spec) = object.spec() else { return conversion.undecided("`spec` is missing") };
    for (key, _) in spec.members() {
        match key {
            "launchTemplate" => conversion
                .undecided("v1 has no `spec.launchTemplate`; write its settings into the EC2NodeClass"),
            _ if KEPT.contains(&key) || CONVERTED.contains(&key) => {}
            _ => conversion.undecided(format!("v1 has no `spec.{key}`")),
        }
    }
    if get(spec, "instanceProfile").is_none() {
        conversion.undecided("name the role of the nodes in `spec.role`, or the instance profile that `aws.defaultInstanceProfile` of `karpenter-global-settings` named in `spec.instanceProfile`");
    }
    for key in ["subnetSelector", "securityGroupSelector"] {
        if get(spec, key).is_none() {
            conversion.undecided(format!("`spec.{key}Terms` is required"));
        }
    }
    family(spec, conversion);
    selector::convert(spec, conversion);
    metadata_options(spec, conversion);
    if let Some(status) = object.root().get("status") {
        conversion.changes.push(Change::Remove(status));
    }
}

/// The default of the AMI family is AL2.
fn family<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) {
    let selects = filled(spec, "amiSelector");
    match (get(spec, "amiFamily"), selects) {
        (Some(family), None) => convert_family(spec, family, conversion),
        (Some(family), Some(_)) => match known(family) {
            Some(family @ ("AL2" | "AL2023" | "Bottlerocket" | "Custom" | "Windows2019" | "Windows2022")) => {
                review_family(family, conversion);
            }
            _ => conversion.undecided("v1 has no such `spec.amiFamily`"),
        },
        (None, selects) => {
            let Some(first) = spec.children().last() else { return };
            let (key, value) = match selects {
                Some(_) => ("amiFamily", Composed::Text("AL2".to_owned())),
                None => ("amiSelectorTerms", alias("AL2")),
            };
            conversion.changes.push(Change::AddAfter(first, key.to_owned(), value));
            match selects {
                Some(_) => review_family("AL2", conversion),
                None => review_alias("AL2", conversion),
            }
        }
    }
}

/// Writes the options that the alpha version had as defaults. If some options were there, EC2 had the defaults of the others.
/// Source: `DefaultMetadataOptions` in pkg/providers/amifamily/resolver.go and `MetadataOptions` in
/// pkg/apis/v1alpha1/provider.go at v0.32.10.
fn metadata_options<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) {
    let Some(options) = get(spec, "metadataOptions") else {
        let hops = member("httpPutResponseHopLimit", Composed::Number(2));
        if let Some(last) = spec.children().last().filter(|_| spec.get("metadataOptions").is_none()) {
            let value = Composed::Object(vec![hops]);
            conversion.changes.push(Change::AddAfter(last, "metadataOptions".to_owned(), value));
        }
        conversion.notes.push(
            "in a cluster with IPv6 write `httpProtocolIPv6: enabled` into `metadataOptions`".to_owned(),
        );
        return;
    };
    if get(options, "httpTokens").is_none() {
        conversion.review(
            "`metadataOptions.httpTokens` was `optional` where it is missing, and is `required` in v1",
        );
    }
}
