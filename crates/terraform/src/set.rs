//! Sets, sorted as Terraform sorts them.
//!
//! Reference: zclconf/go-cty `cty/set_internals.go`.

use core::cmp::Ordering;
use core::fmt::Write as _;

use crate::equality::is_same;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// A set of values of one type.
pub(crate) fn of(element: Type, mut values: Vec<EvaluatedValue>) -> Data {
    values.sort_by(order);
    values.dedup_by(|one, other| is_same(one, other));
    Data::Set(element, values.into_iter().collect())
}

fn order(one: &EvaluatedValue, other: &EvaluatedValue) -> Ordering {
    let rank = |value: &EvaluatedValue| match value.data {
        Data::Null(_) => 2,
        Data::Unknown(_) => 1,
        _ => 0,
    };
    rank(one).cmp(&rank(other)).then_with(|| match (&one.data, &other.data) {
        (Data::String(one), Data::String(other)) => one.as_str().cmp(other.as_str()),
        (Data::Number(one), Data::Number(other)) => one.cmp(other),
        (Data::Bool(one), Data::Bool(other)) => one.cmp(other),
        _ => {
            let bytes = |value: &EvaluatedValue| {
                let mut text = String::new();
                hash(value, &mut text);
                text
            };
            bytes(one).cmp(&bytes(other))
        }
    })
}

/// Writes the bytes by which Terraform sorts values without an order.
fn hash(value: &EvaluatedValue, into: &mut String) {
    match &value.data {
        Data::Null(_) => into.push('~'),
        Data::Unknown(_) => into.push('?'),
        Data::Bool(value) => into.push(if *value { 'T' } else { 'F' }),
        Data::Number(number) => into.push_str(&number.decimal().scientific(Some(9))),
        Data::String(text) => {
            let _ = write!(into, "{:?}", text.as_str());
        }
        Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
            into.push(if matches!(value.data, Data::Tuple(_)) { '<' } else { '[' });
            for item in value.items().unwrap_or_default() {
                hash(item, into);
                into.push(';');
            }
            into.push(if matches!(value.data, Data::Tuple(_)) { '>' } else { ']' });
        }
        Data::Map(_, members) | Data::Object(members) => {
            let is_map = matches!(value.data, Data::Map(..));
            into.push(if is_map { '{' } else { '<' });
            for (name, member) in members.as_map() {
                if is_map {
                    let _ = write!(into, "{name:?}:");
                }
                hash(&member.value, into);
                into.push(';');
            }
            into.push(if is_map { '}' } else { '>' });
        }
    }
}
