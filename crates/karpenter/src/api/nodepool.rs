//! `karpenter.sh/v1` NodePool. Source: `pkg/apis/crds/karpenter.sh_nodepools.yaml`, v1.0.0 to v1.14.1.

use super::metadata::{CONDITIONS, STATUS_RESOURCES};
use super::node::{
    DURATION_OR_NEVER_TEXT, EXPIRE_AFTER, NODE_CLASS_REF, NODE_POOL_REQUIREMENT, QUANTITY_OR_INT,
    STARTUP_TAINTS, TAINTS, TERMINATION_GRACE_PERIOD, requirements_of,
};
use super::pattern::{BUDGET_DURATION, BUDGET_NODES, LABEL_VALUE, SCHEDULE};
use super::relations::{keys, node_pool};
use super::{
    ANY_TEXT, Field, Limit, Literal, Root, Schema, at_least, fact, form, integer, list, map, most_items,
    most_members, object, one_of, optional, required, text, word, word_since,
};
use crate::kind::Kind;
use crate::release::Releases;

/// The NodePool.
pub(super) const NODE_POOL: Root = Root {
    kind: Kind::NODE_POOL,
    releases: Releases::ALL,
    spec: required("spec", object(SPEC).with(node_pool::SPEC)),
    status: &[
        CONDITIONS,
        STATUS_RESOURCES,
        optional("nodes", integer(&[])).since(8),
        optional("nodeClassObservedGeneration", integer(&[])).since(4),
    ],
    scale: Releases::since(8),
};

const SPEC: &[Field] = &[
    required("template", object(TEMPLATE)),
    // v1.0.0 to v1.0.3 store no `disruption` where none is given; that changes no verdict.
    optional("disruption", object(DISRUPTION))
        .or_in(Releases::since_patch(0, 4), Literal::Object(&[("consolidateAfter", Literal::Text("0s"))])),
    optional("limits", map(&QUANTITY_OR_INT, &[])),
    optional("weight", super::integer_within!(1, 100)),
    optional("replicas", integer(&[at_least(0)])).since(8),
];

const DISRUPTION: &[Field] = &[
    required("consolidateAfter", DURATION_OR_NEVER_TEXT),
    optional(
        "consolidationPolicy",
        text(&[one_of(&[word("WhenEmpty"), word("WhenEmptyOrUnderutilized"), word_since(14, "Balanced")])]),
    )
    .or(Literal::Text("WhenEmptyOrUnderutilized")),
    optional("budgets", list(&BUDGET, &[most_items(50)]).with(node_pool::BUDGETS))
        .or(Literal::List(&[Literal::Object(&[("nodes", Literal::Text("10%"))])])),
];

const BUDGET: Schema = object(&[
    required("nodes", text(&[form(BUDGET_NODES)])).or(Literal::Text("10%")),
    optional("schedule", text(&[form(SCHEDULE)])),
    optional("duration", text(&[form(BUDGET_DURATION)])),
    optional(
        "reasons",
        list(
            &text(&[one_of(&[word("Underutilized"), word("Empty"), word("Drifted")])]),
            &[most_items(50).since(8), fact(Limit::Distinct).since(13)],
        ),
    ),
]);

const TEMPLATE: &[Field] = &[
    optional("metadata", object(TEMPLATE_METADATA)),
    required(
        "spec",
        object(&[
            required("nodeClassRef", object(NODE_CLASS_REF).with(node_pool::NODE_CLASS_REF)),
            requirements_of(&NODE_POOL_REQUIREMENT),
            TAINTS,
            STARTUP_TAINTS,
            EXPIRE_AFTER,
            TERMINATION_GRACE_PERIOD,
        ]),
    ),
];

const TEMPLATE_METADATA: &[Field] = &[
    optional(
        "labels",
        map(&text(&[form(LABEL_VALUE), fact(Limit::MostLetters(63))]), &[most_members(100)])
            .with(keys::OF_NODE_POOL_LABELS),
    ),
    optional("annotations", map(&ANY_TEXT, &[])),
];
