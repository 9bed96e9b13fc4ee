//! The operators of requirements, and the values that they take.

use super::super::stored::present;
use super::{Breaches, Held, Relation, always};
use manifest::tree::{Node, Value};

/// The requirements of a NodePool or a NodeClaim. `Gte` and `Lte` exist from 1.9 on; before, they are no operators at all.
pub(in super::super) const OF_NODES: &[Relation] =
    &[always(in_has_values), always(bound_is_one_number), always(enough_values)];

/// The requirements of a NodeOverlay.
pub(in super::super) const OF_NODE_OVERLAYS: &[Relation] =
    &[always(in_has_values), always(not_in_has_values), always(bound_is_one_number)];

/// The items, each with its operator, the node of that and how many values it has.
fn each(held: Held<'_>) -> impl Iterator<Item = (Node<'_>, &str, Node<'_>, Vec<Node<'_>>)> {
    held.node.items().filter_map(|item| {
        let operator = present(item, "operator")?;
        let values = present(item, "values").map(|values| values.items().collect()).unwrap_or_default();
        Some((item, operator.as_str()?, operator, values))
    })
}

/// The list of values, or the operator where there is none.
fn values_or<'d>(item: Node<'d>, operator: Node<'d>) -> Node<'d> {
    present(item, "values").unwrap_or(operator)
}

fn in_has_values<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    without_values(held, "In", "or `Exists` for any value", breaches);
}

fn not_in_has_values<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    without_values(held, "NotIn", "or `Exists` for any value", breaches);
}

fn without_values<'d>(held: Held<'d>, wanted: &str, or: &str, breaches: &mut Breaches<'d>) {
    for (item, name, operator, values) in each(held) {
        if name == wanted && values.is_empty() {
            breaches.add(
                values_or(item, operator),
                format!("a requirement with operator `{wanted}` has no `values`"),
                format!("write at least one value, {or}"),
            );
        }
    }
}

fn bound_is_one_number<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (item, name, operator, values) in each(held) {
        if !matches!(name, "Gt" | "Lt" | "Gte" | "Lte") {
            continue;
        }
        let (at, what) = match values.as_slice() {
            [] => (values_or(item, operator), "has no `values`".to_owned()),
            [value] => {
                // A sign and leading zeros are fine; what does not fit 64 bits is not.
                let Some(text) = value.as_str() else { continue };
                if text.parse::<i64>().is_ok_and(|number| number >= 0) {
                    continue;
                }
                (*value, format!("compares with `{text}`, which is no whole number from 0 on"))
            }
            [_, second, ..] => (*second, format!("compares with {} values at once", values.len())),
        };
        let message = format!("a requirement with operator `{name}` {what}");
        breaches.add(at, message, "write one whole number as text, such as `values: [\"4\"]`");
    }
}

fn enough_values<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (item, name, _, values) in each(held) {
        let Some(least) = present(item, "minValues").filter(|_| name == "In") else { continue };
        let count = values.len();
        let message = match least.value() {
            Value::Int(wanted) if i64::try_from(count).is_ok_and(|count| count >= wanted) => continue,
            Value::Int(wanted) => format!("`minValues` asks for {wanted} values of {count}"),
            Value::Float(_) => "`minValues` is no whole number for the API server's comparison".to_owned(),
            _ => continue,
        };
        breaches.add(least, message, "write as many `values`, or a smaller `minValues` without a fraction");
    }
}
