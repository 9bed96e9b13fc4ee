//! Relations between the operator and the values of a requirement.

use super::super::stored::present;
use super::relation::{CheckedValue, Relation, Violations, always, is_unknown};
use manifest::tree::{Children, Node, Value, items_of};

/// The requirements of a NodePool or a NodeClaim. Earlier releases than 1.9 do not have the operators `Gte` and `Lte`.
pub(in super::super) const OF_NODES: &[Relation] = &[
    always(in_has_values),
    always(|checked, violations| {
        bound_is_one_number(
            checked,
            "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
            violations,
        );
    }),
    always(enough_values),
];

/// The requirements of a NodeOverlay.
pub(in super::super) const OF_NODE_OVERLAYS: &[Relation] = &[
    always(in_has_values),
    always(not_in_has_values),
    always(|checked, violations| {
        bound_is_one_number(
            checked,
            "requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value",
            violations,
        );
    }),
];

/// The error of a rule that reads `values` where a requirement has none.
const NO_VALUES: &str = "no such key: values";

/// The requirements with an operator: the requirement, and its operator as text and as node.
fn each(checked: CheckedValue<'_>) -> impl Iterator<Item = (Node<'_>, &str, Node<'_>)> {
    checked.node.items().filter_map(|item| {
        let operator = present(item, "operator")?;
        Some((item, operator.as_str()?, operator))
    })
}

/// The values of a requirement.
fn values_of(item: Node<'_>) -> Children<'_> {
    items_of(present(item, "values"))
}

/// The list of values, or the operator if the list is absent.
fn values_or<'d>(item: Node<'d>, operator: Node<'d>) -> Node<'d> {
    present(item, "values").unwrap_or(operator)
}

fn in_has_values<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    without_values(checked, "In", "or `Exists` for any value", violations);
}

fn not_in_has_values<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    without_values(checked, "NotIn", "or `Exists` for any value", violations);
}

fn without_values<'d>(checked: CheckedValue<'d>, wanted: &str, or: &str, violations: &mut Violations<'d>) {
    for (item, name, operator) in each(checked) {
        if name == wanted && values_of(item).next().is_none() {
            violations
                .add(
                    values_or(item, operator),
                    format!("a requirement with operator `{wanted}` has no `values`"),
                    format!("write at least one value, {or}"),
                )
                .says(format!("requirements with operator '{wanted}' must have a value defined"));
            if present(item, "values").is_none() {
                violations.stops_with(NO_VALUES);
            }
        }
    }
}

fn bound_is_one_number<'d>(checked: CheckedValue<'d>, words: &'static str, violations: &mut Violations<'d>) {
    for (item, name, operator) in each(checked) {
        if !matches!(name, "Gt" | "Lt" | "Gte" | "Lte") {
            continue;
        }
        let values: Vec<Node<'_>> = values_of(item).collect();
        let (at, what) = match values.as_slice() {
            [] => (values_or(item, operator), "has no `values`".to_owned()),
            [value] => {
                // The server accepts a sign and leading zeros, but not numbers above 64 bits.
                let Some(text) = value.as_str() else { continue };
                if text.parse::<i64>().is_ok_and(|number| number >= 0) {
                    continue;
                }
                (*value, format!("compares with `{text}`, which is not a whole number of at least 0"))
            }
            [_, second, ..] => {
                (*second, format!("compares with {} values, but supports only one", values.len()))
            }
        };
        let message = format!("a requirement with operator `{name}` {what}");
        violations.add(at, message, "write one whole number as text, such as `values: [\"4\"]`").says(words);
        violations
            .said_until(8, "requirements operator 'Gt' or 'Lt' must have a single positive integer value");
        match values.as_slice() {
            [] if present(item, "values").is_none() => violations.stops_with(NO_VALUES),
            [value] if value.as_str().is_some_and(|text| text.parse::<i64>().is_err()) => {
                violations.stops_with("type conversion error from 'string' to 'int'");
            }
            _ => {}
        }
    }
}

/// The API server's message about `minValues`.
const ENOUGH_VALUES: &str =
    "requirements with 'minValues' must have at least that many values specified in the 'values' field";

fn enough_values<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (item, name, _) in each(checked) {
        let Some(least) = present(item, "minValues").filter(|_| name == "In") else { continue };
        if item.get("values").is_some_and(is_unknown) {
            continue;
        }
        let count = values_of(item).count();
        let message = match least.value() {
            Value::Int(wanted) if i64::try_from(count).is_ok_and(|count| count >= wanted) => continue,
            Value::Int(wanted) => {
                format!("`minValues` is {wanted}, but the requirement has only {count} values")
            }
            Value::Float(_) => {
                "`minValues` is not a whole number, so the API server cannot compare it".to_owned()
            }
            _ => continue,
        };
        violations
            .add(least, message, "write more `values`, or a smaller whole number as `minValues`")
            .says(ENOUGH_VALUES);
    }
}
