//! Relations between the fields of a NodePool.

use manifest::tree::{Node, sort_by_text};

use super::super::stored::{StoredValue, may_be_absent, members, present};
use super::relation::{CheckedValue, Relation, Violations, always, compared};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[
    compared(stays_static_or_dynamic).since(8),
    always(static_limits).since(8),
    always(static_weight).since(8),
];

/// `spec.disruption.budgets`.
pub(in super::super) const BUDGETS: &[Relation] = &[always(schedule_with_duration)];

/// `spec.template.spec.nodeClassRef`. A NodeClaim has no such relation.
pub(in super::super) const NODE_CLASS_REF: &[Relation] = &[compared(same_node_class_kind).since(1)];

/// The API server's message about a change of `replicas`.
const STATIC_OR_DYNAMIC: &str = "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes";

fn stays_static_or_dynamic<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(old) = checked.old else { return };
    match (checked.get("replicas"), old.get("replicas")) {
        (Some(replicas), None) => violations.add_key(
            replicas,
            "`spec.replicas` would turn a NodePool that scales with its pods into a static NodePool",
            "create another NodePool with `replicas`, and delete this one",
        ).says(STATIC_OR_DYNAMIC),
        (None, Some(_)) => violations.add(
            checked.node,
            "without `spec.replicas`, a static NodePool would become a NodePool that scales with its pods",
            "create another NodePool without `replicas`, and delete this one",
        ).says(STATIC_OR_DYNAMIC),
        _ => {}
    }
}

fn static_limits<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(limits) = checked.get("limits").filter(|_| checked.certain("replicas").is_some()) else {
        return;
    };
    let is_other = |(key, limit): &(&str, Node<'d>)| *key != "nodes" && !may_be_absent(*limit);
    let mut others: Vec<_> = members(limits).filter(is_other).collect();
    sort_by_text(&mut others);
    let Some((_, first)) = others.first() else { return };
    let keys: Vec<_> = others.iter().map(|(key, _)| *key).collect();
    let noun = if keys.len() == 1 { "limit" } else { "limits" };
    violations.add_key(
        *first,
        format!(
            "the NodePool has `replicas` and the {noun} `{}`, but a static NodePool supports only the limit `nodes`",
            keys.join("`, `")
        ),
        format!("remove `limits.{}`", keys.join("` and `limits.")),
    ).says("only 'limits.nodes' is supported on static NodePools");
}

fn static_weight<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let (Some(weight), Some(_)) = (checked.certain("weight"), checked.certain("replicas")) else { return };
    violations
        .add_key(
            weight,
            "the NodePool has `replicas` and a `weight`, but a static NodePool does not compete for pods",
            "remove `spec.weight`",
        )
        .says("'weight' is not supported on static NodePools");
}

fn schedule_with_duration<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for budget in checked.node.items() {
        // With a schedule, a limit other than 0 holds only in its window, which `budget-window-inverted` reports.
        // A placeholder may become 0.
        let blocks = present(budget, "nodes").is_some_and(|nodes| {
            let number = match nodes.as_str() {
                Some(text) => text.trim_end_matches('%').parse().ok(),
                None => nodes.as_int(),
            };
            number.is_none_or(|number: i64| number == 0)
        });
        let (written, help) = match (present(budget, "schedule"), present(budget, "duration")) {
            (Some(only), None) | (None, Some(only)) if may_be_absent(only) => continue,
            (Some(schedule), None) if blocks => (
                schedule,
                "write `duration`, such as `8h`: the time for which the budget is active after each start",
            ),
            (Some(schedule), None) => (
                schedule,
                "remove `schedule`, so that the budget is always active; with a `duration` it limits disruption only \
                 after each start, and not at other times",
            ),
            (None, Some(duration)) if blocks => (
                duration,
                "write `schedule`, such as `0 9 * * mon-fri`: the times at which the budget starts; or remove `duration`",
            ),
            (None, Some(duration)) => (
                duration,
                "remove `duration`, so that the budget is always active; with a `schedule` it limits disruption only \
                 after each start, and not at other times",
            ),
            _ => continue,
        };
        let (has, lacks) =
            if written.key() == "schedule" { ("schedule", "duration") } else { ("duration", "schedule") };
        violations
            .add_key(written, format!("a disruption budget has a `{has}` without a `{lacks}`"), help)
            .says("'schedule' must be set with 'duration'");
    }
}

fn same_node_class_kind<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(old) = checked.old else { return };
    for field in ["group", "kind"] {
        let was = old.get(field).and_then(StoredValue::as_str);
        let now = checked.get(field);
        if now.and_then(Node::as_str) == was {
            continue;
        }
        violations
            .add(
                now.unwrap_or(checked.node),
                format!(
                    "`nodeClassRef.{field}` changes from `{}`, but is immutable since 1.1",
                    was.unwrap_or_default()
                ),
                "create another NodePool that refers to the other kind of node class",
            )
            .says(format!("nodeClassRef.{field} is immutable"));
    }
}
