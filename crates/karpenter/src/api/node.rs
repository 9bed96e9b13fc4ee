//! The fields that NodePools and NodeClaims share: requirements, taints, the node class, durations.

use super::pattern::{DURATION, DURATION_OR_NEVER, LABEL_KEY, LOOSE_DURATION, NO_SLASH, QUANTITY};
use super::relations::{keys, nonempty, requirements};
use super::schema::{
    ANY_TEXT, Constraint, EnumValue, FieldSchema, Limit, Schema, SchemaType, constraint, integer_within,
    list, matching, max_items, object, one_of, optional, required, text, value, value_since,
};
use super::stored::DefaultValue;

/// A duration or `Never`. 1.4 fixed the expression.
pub(super) const DURATION_OR_NEVER_TEXT: Schema =
    text(&[matching(LOOSE_DURATION).until(3), matching(DURATION_OR_NEVER).since(4)]);

/// `terminationGracePeriod`.
pub(super) const TERMINATION_GRACE_PERIOD: FieldSchema =
    optional("terminationGracePeriod", text(&[matching(DURATION)]));

/// `expireAfter`.
pub(super) const EXPIRE_AFTER: FieldSchema =
    optional("expireAfter", DURATION_OR_NEVER_TEXT).or(DefaultValue::Text("720h"));

/// An amount of a resource, as a number or as text.
pub(super) const QUANTITY_OR_INT: Schema = Schema::new(SchemaType::IntOrText, &[matching(QUANTITY)]);

const OPERATORS: &[EnumValue] = &[
    value("In"),
    value("NotIn"),
    value("Exists"),
    value("DoesNotExist"),
    value("Gt"),
    value("Lt"),
    value_since(9, "Gte"),
    value_since(9, "Lte"),
];

/// The longest key of a requirement has a domain of 253 characters, a slash and a name of 62.
const KEY_CONSTRAINTS: &[Constraint] = &[matching(LABEL_KEY), constraint(Limit::MaxLength(316))];

const OPERATOR: FieldSchema = required("operator", text(&[one_of(OPERATORS)]));

// The definition puts a pattern and a length on the *list* of values, which has no effect on its items.
const VALUES: FieldSchema = optional("values", list(&ANY_TEXT, &[]));

const MIN_VALUES: FieldSchema = optional("minValues", integer_within!(1, 50));

/// An item of a NodePool's requirements.
pub(super) const NODE_POOL_REQUIREMENT: Schema = object(&[
    required("key", text(KEY_CONSTRAINTS).with(keys::OF_NODE_POOL_REQUIREMENT)),
    OPERATOR,
    VALUES,
    MIN_VALUES,
]);

/// An item of a NodeClaim's requirements.
pub(super) const NODE_CLAIM_REQUIREMENT: Schema = object(&[
    required("key", text(KEY_CONSTRAINTS).with(keys::OF_NODE_CLAIM_REQUIREMENT)),
    OPERATOR,
    VALUES,
    MIN_VALUES,
]);

/// An item of a NodeOverlay's requirements.
pub(super) const NODE_OVERLAY_REQUIREMENT: Schema = object(&[
    required("key", text(KEY_CONSTRAINTS).with(keys::OF_NODE_OVERLAY_REQUIREMENT)),
    OPERATOR,
    VALUES,
]);

const AT_MOST_100: &[Constraint] = &[max_items(100)];

/// The requirements of a NodePool or a NodeClaim.
pub(super) const fn requirements_of(item: &'static Schema) -> FieldSchema {
    required("requirements", list(item, AT_MOST_100).with(requirements::OF_NODES))
}

const TAINT: Schema = object(&[
    required("key", text(&[matching(LABEL_KEY), constraint(Limit::MinLength(1))])),
    optional("value", text(&[matching(LABEL_KEY)])),
    required(
        "effect",
        text(&[one_of(&[value("NoSchedule"), value("PreferNoSchedule"), value("NoExecute")])]),
    ),
    optional("timeAdded", text(&[constraint(Limit::DateTime)])),
]);

/// `taints`.
pub(super) const TAINTS: FieldSchema = optional("taints", list(&TAINT, &[]));

/// `startupTaints`.
pub(super) const STARTUP_TAINTS: FieldSchema = optional("startupTaints", list(&TAINT, &[]));

/// The fields of `nodeClassRef`.
pub(super) const NODE_CLASS_REF: &[FieldSchema] = &[
    required("group", text(&[matching(NO_SLASH)]).with(nonempty::SINCE_1_1)),
    required("kind", ANY_TEXT.with(nonempty::SINCE_1_1)),
    required("name", ANY_TEXT.with(nonempty::SINCE_1_1)),
];
