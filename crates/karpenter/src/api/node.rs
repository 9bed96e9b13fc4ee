//! What a NodePool and a NodeClaim say of nodes in the same words: requirements, taints, the node class, durations.

use super::pattern::{DURATION, DURATION_OR_NEVER, LABEL_KEY, LOOSE_DURATION, NO_SLASH, QUANTITY};
use super::relations::{keys, nonempty, requirements};
use super::{
    ANY_TEXT, Fact, Field, Limit, Literal, Schema, Shape, Word, fact, form, list, object, one_of, optional,
    required, text, word, word_since,
};

/// A duration or `Never`; the expression was mended in 1.4.
pub(super) const DURATION_OR_NEVER_TEXT: Schema =
    text(&[form(LOOSE_DURATION).until(3), form(DURATION_OR_NEVER).since(4)]);

/// `terminationGracePeriod`.
pub(super) const TERMINATION_GRACE_PERIOD: Field =
    optional("terminationGracePeriod", text(&[form(DURATION)]));

/// `expireAfter`.
pub(super) const EXPIRE_AFTER: Field =
    optional("expireAfter", DURATION_OR_NEVER_TEXT).or(Literal::Text("720h"));

/// An amount of a resource, as a number or as text.
pub(super) const QUANTITY_OR_INT: Schema = Schema::new(Shape::IntOrText, &[form(QUANTITY)]);

const OPERATORS: &[Word] = &[
    word("In"),
    word("NotIn"),
    word("Exists"),
    word("DoesNotExist"),
    word("Gt"),
    word("Lt"),
    word_since(9, "Gte"),
    word_since(9, "Lte"),
];

/// The longest key of a requirement: a domain of 253 letters, a slash, a name of 62.
const KEY_FACTS: &[Fact] = &[form(LABEL_KEY), fact(Limit::MostLetters(316))];

const OPERATOR: Field = required("operator", text(&[one_of(OPERATORS)]));

// The definition asks a form and a length of the *list* of values, which means nothing for its items.
const VALUES: Field = optional("values", list(&ANY_TEXT, &[]));

const MIN_VALUES: Field = optional("minValues", super::integer_within!(1, 50));

/// An item of a NodePool's requirements.
pub(super) const NODE_POOL_REQUIREMENT: Schema = object(&[
    required("key", text(KEY_FACTS).with(keys::OF_NODE_POOL_REQUIREMENT)),
    OPERATOR,
    VALUES,
    MIN_VALUES,
]);

/// An item of a NodeClaim's requirements.
pub(super) const NODE_CLAIM_REQUIREMENT: Schema = object(&[
    required("key", text(KEY_FACTS).with(keys::OF_NODE_CLAIM_REQUIREMENT)),
    OPERATOR,
    VALUES,
    MIN_VALUES,
]);

/// An item of a NodeOverlay's requirements.
pub(super) const NODE_OVERLAY_REQUIREMENT: Schema =
    object(&[required("key", text(KEY_FACTS).with(keys::OF_NODE_OVERLAY_REQUIREMENT)), OPERATOR, VALUES]);

const AT_MOST_100: &[Fact] = &[super::most_items(100)];

/// The requirements of a NodePool or a NodeClaim.
pub(super) const fn requirements_of(item: &'static Schema) -> Field {
    required("requirements", list(item, AT_MOST_100).with(requirements::OF_NODES))
}

const TAINT: Schema = object(&[
    required("key", text(&[form(LABEL_KEY), fact(Limit::LeastLetters(1))])),
    optional("value", text(&[form(LABEL_KEY)])),
    required("effect", text(&[one_of(&[word("NoSchedule"), word("PreferNoSchedule"), word("NoExecute")])])),
    optional("timeAdded", text(&[fact(Limit::DateTime)])),
]);

/// `taints`.
pub(super) const TAINTS: Field = optional("taints", list(&TAINT, &[]));

/// `startupTaints`.
pub(super) const STARTUP_TAINTS: Field = optional("startupTaints", list(&TAINT, &[]));

/// The fields of `nodeClassRef`.
pub(super) const NODE_CLASS_REF: &[Field] = &[
    required("group", text(&[form(NO_SLASH)]).with(nonempty::SINCE_1_1)),
    required("kind", ANY_TEXT.with(nonempty::SINCE_1_1)),
    required("name", ANY_TEXT.with(nonempty::SINCE_1_1)),
];
