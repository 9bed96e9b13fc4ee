//! The type to which values of several types convert.
//!
//! Reference: zclconf/go-cty `cty/convert/unify.go`, in its unsafe mode, which conditional expressions and collections use.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::convert::convertible;
use crate::types::Type;

/// The type to which values of all types convert; none if there is no such type.
pub(crate) fn unify(types: &[Type]) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|of| of == first) {
        return Some(first.clone());
    }
    let known: Vec<&Type> = types.iter().filter(|of| **of != Type::Dynamic).collect();
    let is_object = |of: &&Type| matches!(of, Type::Object(_));
    let is_tuple = |of: &&Type| matches!(of, Type::Tuple(_));
    let (objects, tuples) = (known.iter().any(is_object), known.iter().any(is_tuple));
    if objects && tuples {
        return None;
    }
    if objects && known.iter().all(is_object) {
        return unify_objects(&known);
    }
    if tuples && known.iter().all(is_tuple) {
        return unify_tuples(&known);
    }
    if let Some((kind, elements)) = collections(&known) {
        return unify(&elements).map(kind);
    }
    let mut candidates: Vec<&Type> = known.clone();
    candidates.sort_by_key(|of| preference(of));
    candidates
        .into_iter()
        .find(|to| types.iter().all(|from| from == *to || convertible(from, to, true)))
        .cloned()
}

/// Makes the type of a collection from the type of its elements.
type Kind = fn(Type) -> Type;

/// The kind of collections, tuples or objects beside them included, and the types of all elements.
fn collections(types: &[&Type]) -> Option<(Kind, Vec<Type>)> {
    let kind: Kind = if types.iter().all(|of| matches!(of, Type::List(_) | Type::Tuple(_))) {
        Type::list
    } else if types.iter().all(|of| matches!(of, Type::Set(_))) {
        Type::set
    } else if types.iter().all(|of| matches!(of, Type::Map(_) | Type::Object(_))) {
        Type::map
    } else {
        return None;
    };
    let elements = types.iter().flat_map(|of| match of {
        Type::Tuple(elements) => elements.to_vec(),
        Type::Object(attributes) => attributes.values().map(|attribute| attribute.of.clone()).collect(),
        other => other.element().cloned().into_iter().collect(),
    });
    Some((kind, elements.collect()))
}

/// Types that others convert to come first.
fn preference(of: &Type) -> u8 {
    match of {
        Type::String => 0,
        Type::List(_) | Type::Map(_) => 1,
        Type::Set(_) => 2,
        Type::Bool | Type::Number | Type::Tuple(_) | Type::Object(_) => 3,
        Type::Dynamic => 4,
    }
}

fn unify_objects(types: &[&Type]) -> Option<Type> {
    let attributes: Vec<_> =
        types.iter().filter_map(|of| if let Type::Object(of) = of { Some(of) } else { None }).collect();
    let first = attributes.first()?;
    let is_same = attributes.iter().all(|other| other.keys().eq(first.keys()));
    if !is_same {
        let all: Vec<Type> =
            attributes.iter().flat_map(|of| of.values().map(|attribute| attribute.of.clone())).collect();
        let map = Type::map(unify(&all)?);
        return types.iter().all(|from| convertible(from, &map, true)).then_some(map);
    }
    let mut unified: BTreeMap<Arc<str>, Type> = BTreeMap::new();
    for name in first.keys() {
        let across: Vec<Type> =
            attributes.iter().filter_map(|of| of.get(name)).map(|attribute| attribute.of.clone()).collect();
        unified.insert(Arc::clone(name), unify(&across)?);
    }
    Some(Type::object(unified))
}

fn unify_tuples(types: &[&Type]) -> Option<Type> {
    let elements: Vec<_> =
        types.iter().filter_map(|of| if let Type::Tuple(of) = of { Some(of) } else { None }).collect();
    let first = elements.first()?;
    if elements.iter().any(|other| other.len() != first.len()) {
        let all: Vec<Type> = elements.iter().flat_map(|of| of.iter().cloned()).collect();
        let list = Type::list(unify(&all)?);
        return types.iter().all(|from| convertible(from, &list, true)).then_some(list);
    }
    let across = |index: usize| elements.iter().filter_map(|of| of.get(index).cloned()).collect::<Vec<_>>();
    let unified: Option<Vec<Type>> = (0..first.len()).map(|index| unify(&across(index))).collect();
    Some(Type::Tuple(unified?.into()))
}
