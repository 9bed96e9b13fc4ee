//! Functions of any collection.
//!
//! Reference: hashicorp/terraform `internal/lang/funcs/collection.go`.

use super::chars::characters;
use super::{Answer, Call};
use crate::convert::convert;
use crate::types::Type;
use crate::unify::unify;
use crate::value::{Data, EvaluatedValue, Knowledge};

pub(super) fn length(call: &Call<'_>) -> Answer {
    let value = call.argument(0)?;
    let count = match &value.data {
        Data::String(text) => match characters(text.as_str()) {
            Some(characters) => characters.len(),
            None => return call.unknown(Type::Number),
        },
        // Elements that are not known may turn out equal.
        Data::Set(_, items) if value.knowledge() > Knowledge::Known && items.as_slice().len() > 1 => {
            return call.unknown(Type::Number);
        }
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => items.as_slice().len(),
        Data::Map(_, members) | Data::Object(members) => members.as_map().len(),
        Data::Unknown(unknown) => match &unknown.of {
            Type::Bool | Type::Number => {
                return Err("The argument must be a string or a collection.".to_owned());
            }
            _ => return call.unknown(Type::Number),
        },
        _ => return Err("The argument must be a string or a collection.".to_owned()),
    };
    Ok(EvaluatedValue::count(count, call.place))
}

pub(super) fn alltrue(call: &Call<'_>) -> Answer {
    every(call, true)
}

pub(super) fn anytrue(call: &Call<'_>) -> Answer {
    every(call, false)
}

/// The neutral value, unless an element is the other one. An unknown element decides nothing.
fn every(call: &Call<'_>, neutral: bool) -> Answer {
    let Some(items) = call.argument(0)?.items() else { return call.unknown(Type::Bool) };
    let mut is_known = true;
    for item in items {
        match item.as_bool() {
            // A null is false.
            None if item.is_null() && neutral => return call.bool(false),
            None => is_known = is_known && item.is_null(),
            Some(value) if value != neutral => return call.bool(!neutral),
            Some(_) => {}
        }
    }
    if is_known { call.bool(neutral) } else { call.unknown(Type::Bool) }
}

pub(super) fn coalesce(call: &Call<'_>) -> Answer {
    let types: Vec<Type> = call.arguments.iter().map(EvaluatedValue::type_of).collect();
    let of = unify(&types).ok_or("The arguments must have one type.")?;
    for argument in &call.arguments {
        if let Some(unknown) = argument.as_unknown() {
            // A string of which a part is known is neither null nor empty.
            let is_certain = of == Type::String && unknown.text.pieces().len() > 1;
            return if is_certain { Ok(argument.clone().at(call.place)) } else { call.unknown(of) };
        }
        let value = convert(argument, &of)?;
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value.at(call.place));
        }
    }
    Err("All arguments are null or empty.".to_owned())
}

pub(super) fn coalescelist(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return Err("The function takes at least one argument.".to_owned());
    }
    let mut found = None;
    for argument in &call.arguments {
        match &argument.data {
            Data::Unknown(unknown)
                if matches!(unknown.of, Type::Dynamic | Type::List(_) | Type::Tuple(_)) =>
            {
                return call.unknown(Type::Dynamic);
            }
            Data::List(_, items) | Data::Tuple(items) => {
                if found.is_none() && !items.as_slice().is_empty() {
                    found = Some(argument.clone().at(call.place));
                }
            }
            // A set is a list here too.
            Data::Set(_, items) if !items.as_slice().is_empty() && found.is_none() => {
                return call.unknown(Type::Dynamic);
            }
            Data::Null(Type::List(_) | Type::Tuple(_) | Type::Set(_)) | Data::Set(..) => {}
            _ => return Err("The arguments must be lists.".to_owned()),
        }
    }
    found.ok_or_else(|| "All lists are empty.".to_owned())
}
