//! NodePools of v1beta1.

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::claim::reference;
use super::kubelet;
use super::value::{copy, get, known, member, text};
use super::{Conversion, Neighbours};
use crate::object::Object;

/// The policy of v1beta1 that v1 calls [`WHEN_EMPTY_OR_UNDERUTILIZED`].
const WHEN_UNDERUTILIZED: &str = "WhenUnderutilized";
pub(super) const WHEN_EMPTY_OR_UNDERUTILIZED: &str = "WhenEmptyOrUnderutilized";
pub(super) const WHEN_EMPTY: &str = "WhenEmpty";

/// Sources: pkg/controllers/disruption/expiration.go of kubernetes-sigs/karpenter at v0.37.0, which respects budgets, and
/// pkg/controllers/nodeclaim/expiration/controller.go at v1.0.0, which does not.
const EXPIRATION: &str =
    "since Karpenter 1.0 nodes that reach `expireAfter` are drained whatever the disruption budgets allow";

pub(super) fn convert<'d>(object: Object<'d>, neighbours: &Neighbours<'d>, conversion: &mut Conversion<'d>) {
    let spec = object.spec();
    let Some((spec, template)) = spec.and_then(|spec| Some((spec, spec.at_path(&["template", "spec"])?)))
    else {
        return conversion.undecided("`spec.template.spec` is missing");
    };
    reference(template, "spec.template.spec.nodeClassRef", conversion);
    if let Some(disruption) = get(spec, "disruption") {
        convert_disruption(disruption, template, conversion);
    }
    kubelet::convert(object, template, neighbours, conversion);
}

/// Converts `spec.disruption`. Without it, both versions have the same defaults: `consolidateAfter: 0s` with the policy for
/// empty and underutilized nodes, and `expireAfter: 720h`.
fn convert_disruption<'d>(disruption: Node<'d>, template: Node<'d>, conversion: &mut Conversion<'d>) {
    let policy = get(disruption, "consolidationPolicy");
    let kept = match policy.map(known) {
        None => None,
        Some(Some(WHEN_UNDERUTILIZED)) => Some(WHEN_EMPTY_OR_UNDERUTILIZED),
        Some(Some(policy @ (WHEN_EMPTY | WHEN_EMPTY_OR_UNDERUTILIZED))) => Some(policy),
        Some(_) => {
            return conversion.undecided(
                "`spec.disruption.consolidationPolicy` is `WhenEmpty` or `WhenEmptyOrUnderutilized` in v1",
            );
        }
    };
    let after = get(disruption, "consolidateAfter");
    match after.map(known) {
        // The webhook writes `0s` instead, which would turn consolidation on.
        Some(Some("Never")) => {}
        Some(_) if kept != Some(WHEN_EMPTY) => conversion.review(
            "`consolidateAfter` was refused with `WhenUnderutilized`, and in v1 delays the consolidation of underutilized nodes",
        ),
        None if kept == Some(WHEN_EMPTY) => {
            return conversion.undecided("`WhenEmpty` requires `spec.disruption.consolidateAfter`");
        }
        _ => {}
    }
    let expires = get(disruption, "expireAfter");
    if let Some(expires) = expires {
        if get(template, "expireAfter").is_some() {
            return conversion
                .undecided("`expireAfter` is under `spec.disruption` and under `spec.template.spec`");
        }
        let Some(anchor) = template.get("nodeClassRef") else { return };
        if known(expires) != Some("Never") {
            conversion.notes.push(EXPIRATION.to_owned());
        }
        let moved = Composed::Copy(expires);
        conversion.changes.push(Change::AddAfter(anchor, "expireAfter".to_owned(), moved));
    }
    if expires.is_none() && after.is_some() {
        if let (Some(policy), Some(kept)) = (policy, kept.filter(|kept| policy_differs(policy, kept))) {
            conversion.changes.push(Change::Set(policy, kept.to_owned()));
        }
        return;
    }
    let mut members = Vec::new();
    if policy.is_none() && after.is_none() {
        members.push(text("consolidateAfter", "0s"));
    }
    for (key, node) in disruption.members().filter(|(_, node)| !node.is_overridden() && !node.is_null()) {
        match (key, kept) {
            ("expireAfter", _) => {}
            ("consolidationPolicy", Some(kept)) => {
                members.push(member(key, Composed::CopyWith(node, kept.to_owned())));
                if after.is_none() {
                    members.push(text("consolidateAfter", "0s"));
                }
            }
            _ => members.push(copy(key, node)),
        }
    }
    conversion.changes.push(Change::Write(disruption, Composed::Object(members)));
}

fn policy_differs(policy: Option<Node<'_>>, kept: &str) -> bool {
    policy.and_then(Node::as_str) != Some(kept)
}
