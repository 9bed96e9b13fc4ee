//! Provisioners, which are NodePools in v1.
//!
//! Source: `convertProvisioner` in tools/karpenter-convert/pkg/convert/convert.go of aws/karpenter-provider-aws at v0.32.10,
//! which calls `SetDefaults` in pkg/apis/v1alpha5/provisioner.go there and `New` in pkg/utils/nodepool/nodepool.go of
//! kubernetes-sigs/karpenter at v0.32.10.

use karpenter::labels;
use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::claim::{GROUP, KIND};
use super::node_pool::{WHEN_EMPTY, WHEN_EMPTY_OR_UNDERUTILIZED};
use super::value::{copy, duration, filled, get, known, member, text};
use super::{Conversion, Neighbours, kubelet};
use crate::object::Object;

/// The fields that are converted.
const CONVERTED: [&str; 12] = [
    "annotations",
    "consolidation",
    "kubeletConfiguration",
    "labels",
    "limits",
    "provider",
    "providerRef",
    "requirements",
    "startupTaints",
    "taints",
    "ttlSecondsAfterEmpty",
    "ttlSecondsUntilExpired",
];

/// Requirements that a Provisioner had if it had none for any of the keys.
struct DefaultedKeys {
    keys: &'static [&'static str],
    requirements: &'static [DefaultRequirement],
}

struct DefaultRequirement {
    key: &'static str,
    operator: &'static str,
    values: &'static [&'static str],
}

const DEFAULTS: [DefaultedKeys; 4] = [
    DefaultedKeys {
        keys: &["kubernetes.io/os"],
        requirements: &[DefaultRequirement { key: "kubernetes.io/os", operator: "In", values: &["linux"] }],
    },
    DefaultedKeys {
        keys: &["kubernetes.io/arch"],
        requirements: &[DefaultRequirement { key: "kubernetes.io/arch", operator: "In", values: &["amd64"] }],
    },
    DefaultedKeys {
        keys: &["karpenter.sh/capacity-type"],
        requirements: &[DefaultRequirement {
            key: "karpenter.sh/capacity-type",
            operator: "In",
            values: &["on-demand"],
        }],
    },
    DefaultedKeys {
        keys: &[
            "node.kubernetes.io/instance-type",
            "karpenter.k8s.aws/instance-family",
            "karpenter.k8s.aws/instance-category",
            "karpenter.k8s.aws/instance-generation",
        ],
        requirements: &[
            DefaultRequirement {
                key: "karpenter.k8s.aws/instance-category",
                operator: "In",
                values: &["c", "m", "r"],
            },
            DefaultRequirement {
                key: "karpenter.k8s.aws/instance-generation",
                operator: "Gt",
                values: &["2"],
            },
        ],
    },
];

pub(super) fn convert<'d>(object: Object<'d>, neighbours: &Neighbours<'d>, conversion: &mut Conversion<'d>) {
    let Some(spec) = object.spec() else { return conversion.undecided("`spec` is missing") };
    for (key, _) in spec.members() {
        if key != "weight" && !CONVERTED.contains(&key) {
            conversion.undecided(format!("v1 has no `spec.{key}`"));
        }
    }
    let mut members = vec![member("template", template(spec, conversion))];
    members.push(member("disruption", disruption(spec, conversion)));
    if let Some(limits) = filled(spec, "limits") {
        if limits.members().any(|(key, _)| key != "resources") {
            conversion.undecided("`spec.limits` has other members than `resources`");
        }
        members.extend(filled(limits, "resources").map(|resources| copy("limits", resources)));
    }
    members.extend(get(spec, "weight").map(|weight| copy("weight", weight)));
    conversion.changes.push(Change::Write(spec, Composed::Object(members)));
    kubelet::convert_provisioner(object, spec, neighbours, conversion);
    if let Some(status) = object.root().get("status") {
        conversion.changes.push(Change::Remove(status));
    }
    conversion.notes.push(
        "nodes get the label `karpenter.sh/nodepool` instead of `karpenter.sh/provisioner-name`, and drift is always on"
            .to_owned(),
    );
}

/// The template of the NodePool.
fn template<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) -> Composed<'d> {
    let metadata: Vec<_> =
        ["labels", "annotations"].iter().filter_map(|key| Some(copy(key, filled(spec, key)?))).collect();
    let mut inner = vec![member("nodeClassRef", node_class_ref(spec, conversion))];
    inner.push(member("requirements", requirements(spec, conversion)));
    inner.extend(["taints", "startupTaints"].iter().filter_map(|key| Some(copy(key, filled(spec, key)?))));
    inner.push(member("expireAfter", lifetime(spec, "ttlSecondsUntilExpired", conversion)));
    let mut members = Vec::new();
    if !metadata.is_empty() {
        members.push(member("metadata", Composed::Object(metadata)));
    }
    members.push(member("spec", Composed::Object(inner)));
    Composed::Object(members)
}

/// The reference to the EC2NodeClass that the `AWSNodeTemplate` becomes.
fn node_class_ref<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) -> Composed<'d> {
    let mut members = vec![text("group", GROUP), text("kind", KIND)];
    if filled(spec, "provider").is_some() {
        conversion.undecided(
            "write the fields of `spec.provider` into an EC2NodeClass, and name it in `nodeClassRef`",
        );
    } else if let Some(reference) = filled(spec, "providerRef") {
        let is_template = |kind| matches!(known(kind), Some("AWSNodeTemplate" | "EC2NodeClass"));
        match get(reference, "name") {
            Some(name) if get(reference, "kind").is_none_or(is_template) => members.push(copy("name", name)),
            _ => conversion.undecided("`spec.providerRef` does not name an AWSNodeTemplate"),
        }
    } else {
        conversion.undecided("v1 requires `spec.template.spec.nodeClassRef`, the name of an EC2NodeClass");
    }
    Composed::Object(members)
}

/// The requirements, with the default requirements of a Provisioner.
fn requirements<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) -> Composed<'d> {
    let list = filled(spec, "requirements");
    let items = || list.into_iter().flat_map(Node::items);
    let key = |item: Node<'d>| get(item, "key").and_then(known).map(labels::normalised);
    if items().any(|item| key(item).is_none()) {
        conversion
            .undecided("`spec.requirements` has a key that is not known, so the defaults are not known");
    }
    let is_missing = |keys: &[&str]| !items().filter_map(key).any(|key| keys.contains(&key));
    let missing = DEFAULTS.iter().filter(|default| is_missing(default.keys));
    let added: Vec<_> = missing.flat_map(|default| default.requirements).map(requirement).collect();
    match list {
        Some(list) if added.is_empty() => Composed::Copy(list),
        _ => Composed::List(items().map(Composed::Copy).chain(added).collect()),
    }
}

fn requirement<'d>(default: &DefaultRequirement) -> Composed<'d> {
    let values = default.values.iter().map(|value| Composed::Text((*value).to_owned())).collect();
    Composed::Object(vec![
        text("key", default.key),
        text("operator", default.operator),
        member("values", Composed::List(values)),
    ])
}

/// The disruption that a Provisioner had: none, unless it is consolidated or removes empty nodes.
fn disruption<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) -> Composed<'d> {
    let consolidates = match spec.at_path(&["consolidation", "enabled"]).filter(|enabled| !enabled.is_null())
    {
        None => false,
        Some(enabled) => enabled.as_bool().unwrap_or_else(|| {
            conversion.undecided("`spec.consolidation.enabled` is neither true nor false");
            false
        }),
    };
    let is_emptied = get(spec, "ttlSecondsAfterEmpty").is_some();
    if consolidates && is_emptied {
        conversion
            .review("`ttlSecondsAfterEmpty` had no effect beside `consolidation.enabled`, and is left out");
    }
    let (policy, after) = if consolidates {
        (WHEN_EMPTY_OR_UNDERUTILIZED, Composed::Text("0s".to_owned()))
    } else {
        (WHEN_EMPTY, lifetime(spec, "ttlSecondsAfterEmpty", conversion))
    };
    Composed::Object(vec![text("consolidationPolicy", policy), member("consolidateAfter", after)])
}

/// A number of seconds as a duration; `Never` if it is missing.
fn lifetime<'d>(spec: Node<'d>, key: &str, conversion: &mut Conversion<'d>) -> Composed<'d> {
    let Some(node) = get(spec, key) else { return Composed::Text("Never".to_owned()) };
    if let Some(seconds) = node.as_int().filter(|seconds| *seconds >= 0) {
        return Composed::CopyWith(node, duration(seconds));
    }
    conversion.undecided(format!("`spec.{key}` is not a number of seconds"));
    Composed::Text("Never".to_owned())
}
