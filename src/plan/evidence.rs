//! Drift that the status of a NodeClaim and of its EC2NodeClass shows.

use std::collections::BTreeSet;

use drift::{DriftReason, FieldChange, selected_image};
use karpenter::labels;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use values::placeholder::has_placeholder;

const IMAGES: &str = "spec.amiSelectorTerms";
const GROUPS: &str = "spec.securityGroupSelectorTerms";
const SUBNETS: &str = "spec.subnetSelectorTerms";

/// The reason for which a node has drifted, as the status shows, before Karpenter has said so: the EC2NodeClass no
/// longer has its image, or a subnet in its zone. The status says nothing about selector terms that change.
///
/// Source: `isAMIDrifted` and `isSubnetDrifted` in pkg/cloudprovider/drift.go of aws/karpenter-provider-aws at v1.14.1.
pub(super) fn shown_drift<'d>(
    claim: Object<'d>,
    class: Option<Object<'d>>,
    changed: &[FieldChange<'d>],
) -> Option<DriftReason> {
    let change = |path: &str| changed.iter().find(|field| field.path == path);
    let has_image = match change(IMAGES) {
        None => has_listed_image(claim, class),
        Some(field) => drifts_by_ids(claim, class, field).map(|drifts| !drifts),
    };
    if has_image == Some(false) {
        return Some(DriftReason::AmiDrift);
    }
    if change(SUBNETS).is_none() {
        let zone = claim.metadata().label(labels::ZONE).and_then(Node::as_str)?;
        let mut zones = listed(class, "subnets", "zone").peekable();
        return (zones.peek().is_some() && !zones.any(|one| one == zone)).then_some(DriftReason::SubnetDrift);
    }
    None
}

/// Whether a NodeClaim has the image that the EC2NodeClass selects for it, as the status shows; `None` if one of them is not known.
pub(super) fn has_listed_image(claim: Object<'_>, class: Option<Object<'_>>) -> Option<bool> {
    let image = image_of(claim)?;
    let mut images = listed(class, "amis", "id").peekable();
    images.peek()?;
    if !images.any(|id| id == image) {
        return Some(false);
    }
    Some(selected_image(class?, claim).is_none_or(|first| first == image))
}

/// Whether a node drifts because of new selector terms that name all that they select by ID; `None` if that is not known.
///
/// Source: `isAMIDrifted`, `areSecurityGroupsDrifted` and `isSubnetDrifted` in pkg/cloudprovider/drift.go of
/// aws/karpenter-provider-aws at v1.14.1.
pub(super) fn drifts_by_ids(
    claim: Object<'_>,
    class: Option<Object<'_>>,
    field: &FieldChange<'_>,
) -> Option<bool> {
    let ids: Option<BTreeSet<&str>> = items_of(field.new).map(|term| term.get("id")?.as_str()).collect();
    let ids = ids.filter(|ids| !ids.is_empty() && !ids.iter().any(|id| has_placeholder(id)))?;
    match field.path.as_str() {
        IMAGES => {
            let is_selected = ids.contains(image_of(claim)?);
            // Of several images, another one may be the first that fits.
            (!is_selected || ids.len() == 1).then_some(!is_selected)
        }
        GROUPS => {
            let own: BTreeSet<&str> = listed(class, "securityGroups", "id").collect();
            (own == ids).then_some(false)
        }
        SUBNETS => {
            let zone = claim.metadata().label(labels::ZONE).and_then(Node::as_str)?;
            let subnets = items_of(class?.at(&["status", "subnets"]));
            let mut own = subnets.filter(|subnet| subnet.str_at(&["zone"]) == Some(zone)).peekable();
            own.peek()?;
            own.all(|subnet| subnet.str_at(&["id"]).is_some_and(|id| ids.contains(id))).then_some(false)
        }
        _ => None,
    }
}

fn image_of(claim: Object<'_>) -> Option<&str> {
    claim.str_at(&["status", "imageID"]).filter(|image| !image.is_empty())
}

fn listed<'d>(
    class: Option<Object<'d>>,
    list: &'static str,
    key: &'static str,
) -> impl Iterator<Item = &'d str> {
    let all = class.map(|class| items_of(class.at(&["status", list])));
    all.into_iter().flatten().filter_map(move |item| item.get(key)?.as_str())
}
