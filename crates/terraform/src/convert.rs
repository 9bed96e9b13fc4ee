//! Conversions of values to other types.
//!
//! Reference: zclconf/go-cty `cty/convert`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::number::Number;
use crate::set;
use crate::text::EvaluatedText;
use crate::types::{AttributeType, Type};
use crate::unify::unify;
use crate::value::{Data, EvaluatedMember, EvaluatedMembers, EvaluatedValue, Items, Unknown};

/// Converts a value to a type. An error says which type is required, without a place.
pub(crate) fn convert(value: &EvaluatedValue, to: &Type) -> Result<EvaluatedValue, String> {
    let wrong =
        || Err(format!("{} is required, but the value is {}.", article(to), article(&value.type_of())));
    if *to == Type::Dynamic {
        return Ok(value.clone());
    }
    let data = match (&value.data, to) {
        (Data::Unknown(unknown), _) => {
            let is_possible = unknown.failure.is_some() || convertible(&unknown.of, to, true);
            return if is_possible { Ok(unknown_as(value, unknown, to)) } else { wrong() };
        }
        // The type of a bare null is not known before it is used.
        (Data::Null(Type::Dynamic), Type::Tuple(_) | Type::Object(_)) => return Ok(value.clone()),
        (Data::Null(of), _) => {
            return if convertible(of, to, true) { Ok(with(value, Data::Null(plain(to)))) } else { wrong() };
        }
        (Data::Bool(_), Type::Bool) | (Data::Number(_), Type::Number) | (Data::String(_), Type::String) => {
            return Ok(value.clone());
        }
        (Data::Number(number), Type::String) => {
            Data::String(EvaluatedText::computed(number.text(), value.place))
        }
        (Data::Bool(bool), Type::String) => {
            Data::String(EvaluatedText::computed(bool.to_string(), value.place))
        }
        (Data::String(text), Type::Number) => match Number::parse(text.as_str()) {
            Some(number) => Data::Number(number),
            None => return wrong(),
        },
        (Data::String(text), Type::Bool) => match text.as_str() {
            "true" | "1" => Data::Bool(true),
            "false" | "0" => Data::Bool(false),
            _ => return wrong(),
        },
        (Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items), Type::List(element)) => {
            let (element, items) = elements(value, items.as_slice(), element)?;
            Data::List(element, items.into_iter().collect())
        }
        (Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items), Type::Set(element)) => {
            let (element, items) = elements(value, items.as_slice(), element)?;
            set::of(element, items)
        }
        (Data::Tuple(items), Type::Tuple(types)) if items.as_slice().len() == types.len() => {
            let pairs = items.as_slice().iter().zip(types.iter());
            Data::Tuple(pairs.map(|(item, to)| convert(item, to)).collect::<Result<_, _>>()?)
        }
        (Data::Map(_, members) | Data::Object(members), Type::Map(element)) => {
            let values: Vec<&EvaluatedValue> =
                members.as_map().values().map(|member| &member.value).collect();
            let (element, values) = elements(value, values, element)?;
            let members = members.as_map().iter().zip(values);
            let members = members.map(|((name, member), value)| {
                (Arc::clone(name), EvaluatedMember { key: member.key, value })
            });
            Data::Map(element, members.collect())
        }
        (Data::Map(_, members) | Data::Object(members), Type::Object(attributes)) => {
            Data::Object(attributes_of(value, members, attributes)?)
        }
        _ => return wrong(),
    };
    Ok(with(value, data))
}

fn attributes_of(
    value: &EvaluatedValue,
    members: &EvaluatedMembers,
    attributes: &BTreeMap<Arc<str>, AttributeType>,
) -> Result<EvaluatedMembers, String> {
    let mut converted = Vec::new();
    for (name, attribute) in attributes {
        let member = match members.as_map().get(name) {
            Some(member) => {
                let within = |message| format!("Attribute \"{name}\": {message}");
                EvaluatedMember {
                    key: member.key,
                    value: convert(&member.value, &attribute.of).map_err(within)?,
                }
            }
            None if attribute.is_optional => EvaluatedMember {
                key: value.place,
                value: EvaluatedValue::null(plain(&attribute.of), value.place),
            },
            None => return Err(format!("Attribute \"{name}\" is required.")),
        };
        converted.push((Arc::clone(name), member));
    }
    Ok(converted.into_iter().collect())
}

/// Converts the elements of a collection to one type; finds the type if it is [`Type::Dynamic`].
fn elements<'v>(
    collection: &EvaluatedValue,
    values: impl IntoIterator<Item = &'v EvaluatedValue>,
    to: &Type,
) -> Result<(Type, Vec<EvaluatedValue>), String> {
    let values: Vec<&EvaluatedValue> = values.into_iter().collect();
    if values.is_empty() {
        let known = collection.type_of().element().filter(|_| *to == Type::Dynamic).cloned();
        return Ok((known.unwrap_or_else(|| plain(to)), Vec::new()));
    }
    let to = if *to == Type::Dynamic { common(values.iter().copied())? } else { to.clone() };
    let converted: Vec<EvaluatedValue> =
        values.iter().map(|value| convert(value, &to)).collect::<Result<_, _>>()?;
    if !to.has_dynamic() {
        return Ok((plain(&to), converted));
    }
    // `any` within the type of the elements is the same type for all of them.
    let to = common(converted.iter())?;
    let converted = converted.iter().map(|value| convert(value, &to)).collect::<Result<_, _>>()?;
    Ok((to, converted))
}

/// The type to which all values convert.
pub(crate) fn common<'v>(values: impl Iterator<Item = &'v EvaluatedValue>) -> Result<Type, String> {
    let mut types: Vec<Type> = values.map(EvaluatedValue::type_of).collect();
    types.dedup();
    unify(&types).ok_or_else(|| "All elements must have the same type.".to_owned())
}

/// The value with other data, at the same places.
pub(crate) fn with(value: &EvaluatedValue, data: Data) -> EvaluatedValue {
    EvaluatedValue { data, ..*value }
}

fn unknown_as(value: &EvaluatedValue, unknown: &Unknown, to: &Type) -> EvaluatedValue {
    let of = if unknown.of.has_dynamic() || unknown.of != *to { plain(to) } else { unknown.of.clone() };
    let mut text = unknown.text.clone();
    if let Some(object) = unknown.object().filter(|_| unknown.of != of) {
        text = text.with_encoded_or_none(convert(object, to).ok());
    }
    let possible = unknown.possible.as_ref().filter(|_| unknown.failure.is_none());
    let possible = possible.and_then(|possible| possible.converted(to)).map(Arc::new);
    with(value, Data::Unknown(Unknown { of, text, possible, ..unknown.clone() }))
}

/// The type of values that a constraint has: without optional attributes.
pub(crate) fn plain(of: &Type) -> Type {
    match of {
        Type::List(element) => Type::list(plain(element)),
        Type::Set(element) => Type::set(plain(element)),
        Type::Map(element) => Type::map(plain(element)),
        Type::Tuple(elements) => Type::Tuple(elements.iter().map(plain).collect()),
        Type::Object(attributes) => {
            Type::object(attributes.iter().map(|(name, attribute)| (Arc::clone(name), plain(&attribute.of))))
        }
        simple => simple.clone(),
    }
}

/// Whether values of a type may convert to another one. Conversions that not all values allow, such as from a string to a number, are
/// unsafe.
pub(crate) fn convertible(from: &Type, to: &Type, is_unsafe: bool) -> bool {
    match (from, to) {
        (_, Type::Dynamic) => true,
        (Type::Dynamic, _) => is_unsafe,
        (from, to) if from == to => true,
        (Type::Number | Type::Bool, Type::String) => true,
        (Type::String, Type::Number | Type::Bool) => is_unsafe,
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => convertible(from, to, is_unsafe),
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => {
            has_common(from, to, is_unsafe) && from.iter().all(|from| convertible(from, to, is_unsafe))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len()
                && from.iter().zip(to.iter()).all(|(from, to)| convertible(from, to, is_unsafe))
        }
        (Type::Object(from), Type::Map(to)) => {
            let types: Vec<Type> = from.values().map(|attribute| attribute.of.clone()).collect();
            has_common(&types, to, is_unsafe) && types.iter().all(|from| convertible(from, to, is_unsafe))
        }
        (Type::Object(from), Type::Object(to)) => to.iter().all(|(name, attribute)| match from.get(name) {
            Some(from) => convertible(&from.of, &attribute.of, is_unsafe),
            None => attribute.is_optional,
        }),
        (Type::Map(from), Type::Object(to)) => {
            is_unsafe && to.values().all(|attribute| convertible(from, &attribute.of, is_unsafe))
        }
        _ => false,
    }
}

fn has_common(types: &[Type], to: &Type, _is_unsafe: bool) -> bool {
    *to != Type::Dynamic || types.is_empty() || unify(types).is_some()
}

/// The items as a collection of one type.
pub(crate) fn list_of(element: Type, items: Vec<EvaluatedValue>) -> Data {
    Data::List(element, items.into_iter().collect::<Items>())
}

/// The name of a type with its article.
pub(crate) fn article(of: &Type) -> String {
    match of {
        Type::Dynamic => "a value".to_owned(),
        Type::Bool => "a bool".to_owned(),
        Type::Number => "a number".to_owned(),
        Type::String => "a string".to_owned(),
        Type::List(_) => "a list".to_owned(),
        Type::Set(_) => "a set".to_owned(),
        Type::Map(_) => "a map".to_owned(),
        Type::Tuple(_) => "a tuple".to_owned(),
        Type::Object(_) => "an object".to_owned(),
    }
}
