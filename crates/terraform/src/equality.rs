//! Equality of values.
//!
//! Reference: zclconf/go-cty `cty/value_ops.go`, `Equals` and `RawEquals`.

use crate::types::Type;
use crate::value::{Data, EvaluatedValue, Knowledge};

/// Whether two values are equal; none if that depends on a value that is not known. Values of different types are not equal.
pub(crate) fn equals(one: &EvaluatedValue, other: &EvaluatedValue) -> Option<bool> {
    match (&one.data, &other.data) {
        (Data::Null(_), Data::Null(_)) => return Some(true),
        (Data::Null(_), Data::Unknown(_)) | (Data::Unknown(_), Data::Null(_)) => return None,
        (Data::Unknown(_), _) | (_, Data::Unknown(_)) => {
            // Values of different types are not equal, whatever they are.
            let (one, other) = (one.type_of(), other.type_of());
            let is_certain = !one.has_dynamic() && !other.has_dynamic() && one != other;
            return is_certain.then_some(false);
        }
        (Data::Null(_), _) | (_, Data::Null(_)) => return Some(false),
        _ => {}
    }
    if one.knowledge().max(other.knowledge()) == Knowledge::Known && one.type_of() != other.type_of() {
        // A null in a list has the type that its list was written with.
        return Some(
            is_same_kind(one, other) && compare(one, other)? && types_match(&one.type_of(), &other.type_of()),
        );
    }
    compare(one, other)
}

/// Whether types differ at most where one of them is the type of a null.
fn types_match(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Dynamic, _) | (_, Type::Dynamic) => true,
        (Type::List(one), Type::List(other))
        | (Type::Set(one), Type::Set(other))
        | (Type::Map(one), Type::Map(other)) => types_match(one, other),
        (Type::Tuple(one), Type::Tuple(other)) => {
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|(one, other)| types_match(one, other))
        }
        (Type::Object(one), Type::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|((name, one), (other_name, other))| {
                    name == other_name && types_match(&one.of, &other.of)
                })
        }
        (one, other) => one == other,
    }
}

fn is_same_kind(one: &EvaluatedValue, other: &EvaluatedValue) -> bool {
    core::mem::discriminant(&one.data) == core::mem::discriminant(&other.data)
}

fn compare(one: &EvaluatedValue, other: &EvaluatedValue) -> Option<bool> {
    match (&one.data, &other.data) {
        (Data::Bool(one), Data::Bool(other)) => Some(one == other),
        (Data::Number(one), Data::Number(other)) => Some(one == other),
        (Data::String(one), Data::String(other)) => Some(one == other),
        (Data::Set(..), Data::Set(..)) if one.knowledge().max(other.knowledge()) > Knowledge::Known => None,
        (Data::List(_, one), Data::List(_, other))
        | (Data::Set(_, one), Data::Set(_, other))
        | (Data::Tuple(one), Data::Tuple(other)) => {
            let (one, other) = (one.as_slice(), other.as_slice());
            if one.len() != other.len() {
                return Some(false);
            }
            all(one.iter().zip(other))
        }
        (Data::Map(_, one), Data::Map(_, other)) | (Data::Object(one), Data::Object(other)) => {
            let (one, other) = (one.as_map(), other.as_map());
            if !one.keys().eq(other.keys()) {
                return Some(false);
            }
            all(one.values().zip(other.values()).map(|(one, other)| (&one.value, &other.value)))
        }
        _ => Some(false),
    }
}

/// Whether all pairs are equal. One pair that is not decides, whatever is not known.
fn all<'v>(pairs: impl Iterator<Item = (&'v EvaluatedValue, &'v EvaluatedValue)>) -> Option<bool> {
    let mut result = Some(true);
    for (one, other) in pairs {
        match equals(one, other) {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

/// Whether two values are the same, unknown values included.
pub(crate) fn is_same(one: &EvaluatedValue, other: &EvaluatedValue) -> bool {
    match (&one.data, &other.data) {
        (Data::Null(_), Data::Null(_)) => true,
        (Data::Unknown(one), Data::Unknown(other)) => {
            one.failure == other.failure && one.text.as_str() == other.text.as_str()
        }
        _ => equals(one, other) == Some(true),
    }
}
