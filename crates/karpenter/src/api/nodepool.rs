//! `karpenter.sh/v1` NodePool. Source: `pkg/apis/crds/karpenter.sh_nodepools.yaml`, v1.0.0 to v1.14.1; for
//! 1.15 the sources beside the fields.

use super::metadata::{CONDITIONS, STATUS_RESOURCES};
use super::node::{
    DURATION_OR_NEVER_TEXT, EXPIRE_AFTER, NODE_CLASS_REF, NODE_POOL_REQUIREMENT, QUANTITY_OR_INT,
    STARTUP_TAINTS, TAINTS, TERMINATION_GRACE_PERIOD, requirements_of,
};
use super::pattern::{BUDGET_DURATION, BUDGET_NODES, LABEL_VALUE, SCHEDULE};
use super::relations::{keys, node_pool};
use super::schema::{
    ANY_TEXT, FieldSchema, KindSchema, Limit, Schema, constraint, integer, integer_within, list, map,
    matching, max_items, max_properties, minimum, object, one_of, optional, required, text, value,
    value_since,
};
use super::stored::DefaultValue;
use crate::kind::Kind;
use crate::release::Releases;

/// The NodePool.
pub(super) const NODE_POOL: KindSchema = KindSchema {
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

const SPEC: &[FieldSchema] = &[
    required("template", object(TEMPLATE)),
    // v1.0.0 to v1.0.3 have no default for `disruption`, which changes no verdict.
    optional("disruption", object(DISRUPTION)).or_in(
        Releases::since_patch(0, 4),
        DefaultValue::Object(&[("consolidateAfter", DefaultValue::Text("0s"))]),
    ),
    optional("limits", map(&QUANTITY_OR_INT, &[])),
    optional("weight", integer_within!(1, 100)),
    optional("replicas", integer(&[minimum(0)])).since(8),
];

const DISRUPTION: &[FieldSchema] = &[
    required("consolidateAfter", DURATION_OR_NEVER_TEXT).until(14),
    // kubernetes-sigs/karpenter#3220
    optional("consolidateAfter", DURATION_OR_NEVER_TEXT).since(15).or(DefaultValue::Text("0s")),
    optional(
        "consolidationPolicy",
        text(&[one_of(&[
            value("WhenEmpty"),
            value("WhenEmptyOrUnderutilized"),
            value_since(14, "Balanced"),
        ])]),
    )
    .or(DefaultValue::Text("WhenEmptyOrUnderutilized")),
    optional("budgets", list(&BUDGET, &[max_items(50)]).with(node_pool::BUDGETS))
        .or(DefaultValue::List(&[DefaultValue::Object(&[("nodes", DefaultValue::Text("10%"))])])),
];

const BUDGET: Schema = object(&[
    required("nodes", text(&[matching(BUDGET_NODES)])).or(DefaultValue::Text("10%")),
    optional("schedule", text(&[matching(SCHEDULE)])),
    optional("duration", text(&[matching(BUDGET_DURATION)])),
    optional(
        "reasons",
        list(
            // `Unhealthy`: upgrade guide, 1.15.0.
            &text(&[one_of(&[
                value("Underutilized"),
                value("Empty"),
                value("Drifted"),
                value_since(15, "Unhealthy"),
            ])]),
            &[max_items(50).since(8), constraint(Limit::UniqueItems).since(13)],
        ),
    ),
]);

const TEMPLATE: &[FieldSchema] = &[
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

const TEMPLATE_METADATA: &[FieldSchema] = &[
    optional(
        "labels",
        map(&text(&[matching(LABEL_VALUE), constraint(Limit::MaxLength(63))]), &[max_properties(100)])
            .with(keys::OF_NODE_POOL_LABELS),
    ),
    optional("annotations", map(&ANY_TEXT, &[])),
];
