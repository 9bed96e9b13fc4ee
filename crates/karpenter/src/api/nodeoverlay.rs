//! `karpenter.sh/v1alpha1` NodeOverlay. Source: `pkg/apis/crds/karpenter.sh_nodeoverlays.yaml`, v1.7.0 to v1.14.1.

use super::metadata::CONDITIONS;
use super::node::{NODE_OVERLAY_REQUIREMENT, QUANTITY_OR_INT};
use super::pattern::{PRICE, PRICE_ADJUSTMENT};
use super::relations::{node_overlay, requirements};
use super::schema::{
    FieldSchema, KindSchema, integer_within, list, map, matching, max_items, object, optional, required, text,
};
use crate::kind::Kind;
use crate::release::Releases;

/// The NodeOverlay.
pub(super) const NODE_OVERLAY: KindSchema = KindSchema {
    kind: Kind::NODE_OVERLAY,
    releases: Releases::since(7),
    spec: required("spec", object(SPEC).with(node_overlay::SPEC)),
    status: &[CONDITIONS],
    scale: Releases::NONE,
};

const SPEC: &[FieldSchema] = &[
    required(
        "requirements",
        list(&NODE_OVERLAY_REQUIREMENT, &[max_items(100)]).with(requirements::OF_NODE_OVERLAYS),
    ),
    optional("price", text(&[matching(PRICE)])),
    optional("priceAdjustment", text(&[matching(PRICE_ADJUSTMENT)])),
    optional("capacity", map(&QUANTITY_OR_INT, &[]).with(node_overlay::CAPACITY)),
    optional("weight", integer_within!(1, 10_000)),
];
