//! What the fields of a NodePool ask of one another.

use super::super::stored::{members, present};
use super::{Breaches, Held, Relation, always, compared};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[
    compared(stays_static_or_dynamic).since(8),
    always(static_limits).since(8),
    always(static_weight).since(8),
];

/// `spec.disruption.budgets`.
pub(in super::super) const BUDGETS: &[Relation] = &[always(schedule_with_duration)];

/// `spec.template.spec.nodeClassRef`. That of a NodeClaim has no such relation.
pub(in super::super) const NODE_CLASS_REF: &[Relation] = &[compared(same_node_class_kind).since(1)];

fn stays_static_or_dynamic<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(old) = held.old else { return };
    match (held.get("replicas"), old.get("replicas")) {
        (Some(replicas), None) => breaches.add_key(
            replicas,
            "`spec.replicas` makes a static NodePool of one that scales with its pods",
            "make another NodePool with `replicas`, and delete this one",
        ),
        (None, Some(_)) => breaches.add(
            held.node,
            "without `spec.replicas` a static NodePool would scale with its pods",
            "make another NodePool without `replicas`, and delete this one",
        ),
        _ => {}
    }
}

fn static_limits<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(limits) = held.get("limits").filter(|_| held.has("replicas")) else { return };
    let others = members(limits).filter(|(key, _)| *key != "nodes");
    for (key, limit) in others {
        breaches.add_key(
            limit,
            format!("a NodePool with `replicas` has the limit `{key}`; a static NodePool is limited by `nodes` alone"),
            format!("remove `limits.{key}`"),
        );
    }
}

fn static_weight<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(weight) = held.get("weight").filter(|_| held.has("replicas")) else { return };
    breaches.add_key(
        weight,
        "a NodePool with `replicas` has a `weight`; a static NodePool does not compete for pods",
        "remove `spec.weight`",
    );
}

fn schedule_with_duration<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for budget in held.node.items() {
        match (present(budget, "schedule"), present(budget, "duration")) {
            (Some(schedule), None) => breaches.add_key(
                schedule,
                "a disruption budget has a `schedule` without a `duration`",
                "write `duration`, such as `8h`, for how long the budget holds after each start",
            ),
            (None, Some(duration)) => breaches.add_key(
                duration,
                "a disruption budget has a `duration` without a `schedule`",
                "write `schedule`, such as `0 9 * * mon-fri`, for when it starts, or remove `duration`",
            ),
            _ => {}
        }
    }
}

fn same_node_class_kind<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(old) = held.old else { return };
    for field in ["group", "kind"] {
        let was = old.get(field).and_then(super::Stored::as_str);
        let now = held.get(field);
        if now.and_then(manifest::tree::Node::as_str) == was {
            continue;
        }
        breaches.add(
            now.unwrap_or(held.node),
            format!(
                "`nodeClassRef.{field}` changes from `{}`, and from 1.1 on it never changes",
                was.unwrap_or_default()
            ),
            "make another NodePool that refers to the other kind of node class",
        );
    }
}
