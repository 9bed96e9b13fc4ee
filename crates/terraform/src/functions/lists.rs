//! Functions of lists.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/collection.go` and `sequence.go`.

use super::{Answer, Call};
use crate::convert::convert;
use crate::equality::equals;
use crate::types::Type;
use crate::unify::unify;
use crate::value::{Data, EvaluatedValue, Knowledge};

/// The items of a list or a tuple; sets have no order.
fn ordered<'c>(call: &'c Call<'_>, index: usize) -> Result<&'c [EvaluatedValue], String> {
    match &call.argument(index)?.data {
        Data::List(_, items) | Data::Tuple(items) => Ok(items.as_slice()),
        _ => Err("The argument must be a list.".to_owned()),
    }
}

fn list(call: &Call<'_>, element: Type, items: Vec<EvaluatedValue>) -> Answer {
    call.spend(items.len())?;
    call.value(Data::List(element, items.into_iter().collect()))
}

/// Items as a collection of the kind of an argument.
fn like(call: &Call<'_>, argument: &EvaluatedValue, items: Vec<EvaluatedValue>) -> Answer {
    match &argument.data {
        Data::List(element, _) => list(call, element.clone(), items),
        _ => Ok(EvaluatedValue::tuple(items, call.place)),
    }
}

fn element_type(argument: &EvaluatedValue) -> Type {
    argument.type_of().element().cloned().unwrap_or(Type::Dynamic)
}

pub(super) fn chunklist(call: &Call<'_>) -> Answer {
    let items = call.items(0)?;
    let size = call.int(1)?;
    let of = element_type(call.argument(0)?);
    let size = usize::try_from(size).map_err(|_| "The size is negative.")?;
    let size = if size == 0 { items.len().max(1) } else { size };
    let chunk = |chunk: &[EvaluatedValue]| {
        EvaluatedValue::new(Data::List(of.clone(), chunk.iter().cloned().collect()), call.place)
    };
    list(call, Type::list(of.clone()), items.chunks(size).map(chunk).collect())
}

pub(super) fn compact(call: &Call<'_>) -> Answer {
    let items = call.items(0)?.iter().filter(|item| item.as_str().is_some_and(|text| !text.is_empty()));
    list(call, Type::String, items.cloned().collect())
}

pub(super) fn concat(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return Err("The function takes at least one list.".to_owned());
    }
    let mut items = Vec::new();
    for index in 0..call.arguments.len() {
        items.extend_from_slice(ordered(call, index)?);
    }
    // Lists of types that unify are a list, everything else a tuple.
    let elements: Option<Vec<Type>> =
        call.arguments.iter().map(|list| list.type_of().element().cloned()).collect();
    if let Some(element) = elements.and_then(|elements| unify(&elements)) {
        let items = items.iter().map(|item| convert(item, &element)).collect::<Result<Vec<_>, _>>()?;
        return list(call, element, items);
    }
    call.spend(items.len())?;
    Ok(EvaluatedValue::tuple(items, call.place))
}

pub(super) fn contains(call: &Call<'_>) -> Answer {
    let (items, wanted) = (call.items(0)?, call.argument(1)?);
    let mut is_known = true;
    for item in items {
        match equals(item, wanted) {
            Some(true) => return call.bool(true),
            Some(false) => {}
            None => is_known = false,
        }
    }
    if is_known { call.bool(false) } else { call.unknown(Type::Bool) }
}

pub(super) fn distinct(call: &Call<'_>) -> Answer {
    let items = call.items(0)?;
    let mut distinct: Vec<EvaluatedValue> = Vec::new();
    for item in items {
        call.spend(distinct.len() + 1)?;
        if !distinct.iter().any(|known| equals(known, item) == Some(true)) {
            distinct.push(item.clone());
        }
    }
    list(call, element_type(call.argument(0)?), distinct)
}

pub(super) fn element(call: &Call<'_>) -> Answer {
    let items = ordered(call, 0)?;
    let index = call.int(1)?;
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if index < 0 {
        return Err("The index is negative.".to_owned());
    }
    if count == 0 {
        return Err("The list is empty.".to_owned());
    }
    let index = usize::try_from(index.rem_euclid(count)).unwrap_or(0);
    let item = items.get(index).ok_or("The list has no such element.")?;
    Ok(item.clone().at(call.place))
}

pub(super) fn flatten(call: &Call<'_>) -> Answer {
    let argument = call.argument(0)?;
    call.items(0)?;
    let mut flat = Vec::new();
    if !flatten_into(call, argument, &mut flat)? {
        return call.unknown(Type::Dynamic);
    }
    Ok(EvaluatedValue::tuple(flat, call.place))
}

/// Adds the items of nested lists; false if one of them is not known.
fn flatten_into(
    call: &Call<'_>,
    value: &EvaluatedValue,
    flat: &mut Vec<EvaluatedValue>,
) -> Result<bool, String> {
    let Some(items) = value.items() else { return Ok(true) };
    call.spend(items.len())?;
    for item in items {
        match &item.data {
            Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
                if !flatten_into(call, item, flat)? {
                    return Ok(false);
                }
            }
            Data::Unknown(unknown)
                if matches!(unknown.of, Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Tuple(_)) =>
            {
                return Ok(false);
            }
            _ => flat.push(item.clone()),
        }
    }
    Ok(true)
}

pub(super) fn index(call: &Call<'_>) -> Answer {
    let (items, wanted) = (ordered(call, 0)?, call.argument(1)?);
    let found = items.iter().position(|item| equals(item, wanted) == Some(true));
    Ok(EvaluatedValue::count(found.ok_or("The list does not have the element.")?, call.place))
}

pub(super) fn one(call: &Call<'_>) -> Answer {
    let argument = call.argument(0)?;
    match call.items(0)? {
        [] => Ok(EvaluatedValue::null(element_type(argument), call.place)),
        [item] => Ok(item.clone().at(call.place)),
        _ if matches!(argument.data, Data::Set(..)) && argument.knowledge() > Knowledge::Known => {
            call.unknown(Type::Dynamic)
        }
        _ => Err("The list has more than one element.".to_owned()),
    }
}

pub(super) fn reverse(call: &Call<'_>) -> Answer {
    let argument = call.argument(0)?;
    let items: Vec<EvaluatedValue> = call.items(0)?.iter().rev().cloned().collect();
    match &argument.data {
        Data::Set(_, _) if argument.knowledge() > Knowledge::Known => call.unknown(Type::Dynamic),
        Data::Set(element, _) => list(call, element.clone(), items),
        _ => like(call, argument, items),
    }
}

pub(super) fn slice(call: &Call<'_>) -> Answer {
    let items = ordered(call, 0)?;
    let bound = |index: usize| -> Result<usize, String> {
        usize::try_from(call.int(index)?).map_err(|_| "The index is negative.".to_owned())
    };
    let (start, end) = (bound(1)?, bound(2)?);
    let within = items.get(start..end).ok_or("The indexes are not within the list.")?;
    like(call, call.argument(0)?, within.to_vec())
}

pub(super) fn sort(call: &Call<'_>) -> Answer {
    let mut items = call.items(0)?.to_vec();
    if items.iter().any(EvaluatedValue::is_null) {
        return Err("An element of the list is null.".to_owned());
    }
    items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    list(call, Type::String, items)
}
