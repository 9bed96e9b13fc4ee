//! Functions of maps.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/collection.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Answer, Call};
use crate::convert::convert;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedMembers, EvaluatedValue, Knowledge};

fn members<'c>(call: &'c Call<'_>, index: usize) -> Result<&'c EvaluatedMembers, String> {
    call.argument(index)?.members().ok_or_else(|| "The argument must be a map.".to_owned())
}

pub(super) fn keys(call: &Call<'_>) -> Answer {
    let members = members(call, 0)?.as_map();
    call.spend(members.len())?;
    let keys = members.iter().map(|(name, member)| EvaluatedValue::string(Arc::clone(name), member.key));
    match call.argument(0)?.data {
        Data::Map(..) => call.value(Data::List(Type::String, keys.collect())),
        _ => Ok(EvaluatedValue::tuple(keys, call.place)),
    }
}

pub(super) fn values(call: &Call<'_>) -> Answer {
    let members = members(call, 0)?.as_map();
    call.spend(members.len())?;
    let values = members.values().map(|member| member.value.clone());
    match &call.argument(0)?.data {
        Data::Map(element, _) => call.value(Data::List(element.clone(), values.collect())),
        _ => Ok(EvaluatedValue::tuple(values, call.place)),
    }
}

pub(super) fn lookup(call: &Call<'_>) -> Answer {
    let (map, key) = (call.argument(0)?, call.str(1)?);
    if call.arguments.len() > 3 {
        return Err("The function takes two or three arguments.".to_owned());
    }
    let found = members(call, 0)?.get(key);
    let default = call.arguments.get(2);
    match (&map.data, found, default) {
        // All values of a map have one type, which the default gets too.
        (Data::Map(element, _), found, Some(default)) => {
            let default = convert(default, element)?;
            Ok(found.unwrap_or(&default).clone().at(call.place))
        }
        (_, Some(found), _) => Ok(found.clone().at(call.place)),
        (_, None, Some(default)) => Ok(default.clone().at(call.place)),
        (_, None, None) => Err(format!("The map has no key \"{key}\".")),
    }
}

pub(super) fn merge(call: &Call<'_>) -> Answer {
    let mut merged: BTreeMap<Arc<str>, EvaluatedMember> = BTreeMap::new();
    let mut map_type = None;
    let mut is_object = false;
    for argument in &call.arguments {
        match &argument.data {
            Data::Null(Type::Dynamic | Type::Map(_) | Type::Object(_)) => continue,
            Data::Map(..) | Data::Object(_) => {}
            _ => return Err("The arguments must be maps.".to_owned()),
        }
        let of = argument.type_of();
        is_object |= !matches!(of, Type::Map(_)) || map_type.as_ref().is_some_and(|known| *known != of);
        map_type = Some(of);
        let members = argument.members().map(EvaluatedMembers::as_map);
        for (name, member) in members.into_iter().flatten() {
            call.spend(1)?;
            merged.insert(Arc::clone(name), member.clone());
        }
    }
    let members: EvaluatedMembers = merged.into_iter().collect();
    match map_type {
        Some(Type::Map(element)) if !is_object => call.value(Data::Map(Type::clone(&element), members)),
        _ => call.value(Data::Object(members)),
    }
}

/// `transpose`: a map of lists of strings, from each string to the keys whose list has it.
///
/// Reference: hashicorp/terraform `internal/lang/funcs/collection.go`.
pub(super) fn transpose(call: &Call<'_>) -> Answer {
    let mut keys: BTreeMap<Arc<str>, Vec<EvaluatedValue>> = BTreeMap::new();
    for (name, member) in members(call, 0)?.as_map() {
        let items = member.value.items().ok_or("A value of the map must be a list of strings.")?;
        call.spend(items.len())?;
        for item in items {
            let text = item.as_text().ok_or("An item of a list is null.")?;
            let known = keys.entry(text.shared()).or_default();
            known.push(EvaluatedValue::string(Arc::clone(name), member.key));
        }
    }
    let member = |(name, mut keys): (Arc<str>, Vec<EvaluatedValue>)| {
        keys.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        let value = EvaluatedValue::new(Data::List(Type::String, keys.into_iter().collect()), call.place);
        (name, EvaluatedMember { key: call.place, value })
    };
    call.value(Data::Map(Type::list(Type::String), keys.into_iter().map(member).collect()))
}

pub(super) fn zipmap(call: &Call<'_>) -> Answer {
    let keys = call.argument(0)?;
    if keys.knowledge() > Knowledge::Known {
        return call.unknown(Type::Dynamic);
    }
    let (names, values) = (call.items(0)?, call.argument(1)?);
    let items = match &values.data {
        Data::List(_, items) | Data::Tuple(items) => items.as_slice(),
        _ => return Err("The second argument must be a list.".to_owned()),
    };
    if names.len() != items.len() {
        return Err("The number of keys is not the number of values.".to_owned());
    }
    let mut members = Vec::new();
    for (name, value) in names.iter().zip(items) {
        let Some(text) = name.as_text() else { return Err("A key is null.".to_owned()) };
        members.push((text.shared(), EvaluatedMember { key: name.place, value: value.clone() }));
    }
    match &values.data {
        Data::List(element, _) => call.value(Data::Map(element.clone(), members.into_iter().collect())),
        _ => Ok(EvaluatedValue::object(members, call.place)),
    }
}
