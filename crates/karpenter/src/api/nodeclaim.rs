//! `karpenter.sh/v1` NodeClaim. Source: `pkg/apis/crds/karpenter.sh_nodeclaims.yaml`, v1.0.0 to v1.14.1.

use super::metadata::CONDITIONS;
use super::node::{
    EXPIRE_AFTER, NODE_CLAIM_REQUIREMENT, NODE_CLASS_REF, QUANTITY_OR_INT, STARTUP_TAINTS, TAINTS,
    TERMINATION_GRACE_PERIOD, requirements_of,
};
use super::relations::immutable;
use super::schema::{ANY_TEXT, FieldSchema, KindSchema, map, object, optional, required};
use crate::kind::Kind;
use crate::release::Releases;

/// The NodeClaim.
pub(super) const NODE_CLAIM: KindSchema = KindSchema {
    kind: Kind::NODE_CLAIM,
    releases: Releases::ALL,
    spec: required("spec", object(SPEC).with(immutable::NODE_CLAIM_SPEC)),
    status: &[
        CONDITIONS,
        optional("allocatable", map(&QUANTITY_OR_INT, &[])),
        optional("capacity", map(&QUANTITY_OR_INT, &[])),
        optional("imageID", ANY_TEXT),
        optional("lastPodEventTime", ANY_TEXT),
        optional("nodeName", ANY_TEXT),
        optional("providerID", ANY_TEXT),
    ],
    scale: Releases::NONE,
};

const SPEC: &[FieldSchema] = &[
    required("nodeClassRef", object(NODE_CLASS_REF)),
    requirements_of(&NODE_CLAIM_REQUIREMENT),
    optional("resources", object(&[optional("requests", map(&QUANTITY_OR_INT, &[]))])),
    TAINTS,
    STARTUP_TAINTS,
    EXPIRE_AFTER,
    TERMINATION_GRACE_PERIOD,
];
