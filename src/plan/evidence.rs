//! Drift that the status of a NodeClaim and of its EC2NodeClass shows.

use drift::{DriftReason, FieldChange};
use karpenter::labels;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use values::placeholder::has_placeholder;

const IMAGES: &str = "spec.amiSelectorTerms";
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
        Some(field) => has_selected_image(claim, field.new),
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

/// Whether the status of the EC2NodeClass has the image of a NodeClaim; `None` if one of them is not known.
pub(super) fn has_listed_image(claim: Object<'_>, class: Option<Object<'_>>) -> Option<bool> {
    let image = image_of(claim)?;
    let mut images = listed(class, "amis", "id").peekable();
    images.peek()?;
    Some(images.any(|id| id == image))
}

/// Whether selector terms that name images by ID name the image of a NodeClaim; `None` if they name images otherwise, or by a placeholder.
fn has_selected_image(claim: Object<'_>, terms: Option<Node<'_>>) -> Option<bool> {
    let image = image_of(claim)?;
    let ids: Option<Vec<&str>> = items_of(terms).map(|term| term.get("id")?.as_str()).collect();
    let is_known = |ids: &Vec<&str>| !ids.is_empty() && !ids.iter().any(|id| has_placeholder(id));
    ids.filter(is_known).map(|ids| ids.contains(&image))
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
