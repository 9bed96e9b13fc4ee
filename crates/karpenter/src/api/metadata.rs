//! `metadata`, and the parts of `status` that several kinds share.

use super::node::QUANTITY_OR_INT;
use super::schema::{ANY_TEXT, FieldSchema, Schema, boolean, integer, list, map, object, optional};

/// The fields of `metadata`. Source: k8s.io/apimachinery pkg/apis/meta/v1 types.go, `ObjectMeta`.
pub const METADATA: &[FieldSchema] = &[
    optional("name", ANY_TEXT),
    optional("generateName", ANY_TEXT),
    optional("namespace", ANY_TEXT),
    optional("selfLink", ANY_TEXT),
    optional("uid", ANY_TEXT),
    optional("resourceVersion", ANY_TEXT),
    optional("generation", integer(&[])),
    optional("creationTimestamp", ANY_TEXT),
    optional("deletionTimestamp", ANY_TEXT),
    optional("deletionGracePeriodSeconds", integer(&[])),
    optional("labels", map(&ANY_TEXT, &[])),
    optional("annotations", map(&ANY_TEXT, &[])),
    optional("ownerReferences", list(&OWNER, &[])),
    optional("finalizers", list(&ANY_TEXT, &[])),
    optional("managedFields", list(&MANAGED_FIELDS, &[])),
];

const OWNER: Schema = object(&[
    optional("apiVersion", ANY_TEXT),
    optional("kind", ANY_TEXT),
    optional("name", ANY_TEXT),
    optional("uid", ANY_TEXT),
    optional("controller", boolean()),
    optional("blockOwnerDeletion", boolean()),
]);

const MANAGED_FIELDS: Schema = object(&[
    optional("manager", ANY_TEXT),
    optional("operation", ANY_TEXT),
    optional("apiVersion", ANY_TEXT),
    optional("time", ANY_TEXT),
    optional("fieldsType", ANY_TEXT),
    optional("fieldsV1", FREE),
    optional("subresource", ANY_TEXT),
]);

/// The value of `fieldsV1`: objects nested to any depth.
const FREE: Schema = map(&FREE_MEMBER, &[]);
static FREE_MEMBER: Schema = map(&FREE_MEMBER, &[]);

/// `status.conditions`.
pub(super) const CONDITIONS: FieldSchema = optional("conditions", list(&CONDITION, &[]));

const CONDITION: Schema = object(&[
    optional("lastTransitionTime", ANY_TEXT),
    optional("message", ANY_TEXT),
    optional("observedGeneration", integer(&[])),
    optional("reason", ANY_TEXT),
    optional("status", ANY_TEXT),
    optional("type", ANY_TEXT),
]);

/// `status.resources`.
pub(super) const STATUS_RESOURCES: FieldSchema = optional("resources", map(&QUANTITY_OR_INT, &[]));
