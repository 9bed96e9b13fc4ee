//! Functions of sets.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/set.go` and `collection.go`.

use super::{Answer, Call};
use crate::convert::convert;
use crate::equality::is_same;
use crate::set;
use crate::types::Type;
use crate::unify::unify;
use crate::value::{Data, EvaluatedValue};

/// The items of all arguments as values of one type, and the type.
fn unified(call: &Call<'_>) -> Result<(Type, Vec<Vec<EvaluatedValue>>), String> {
    let elements: Vec<Type> = call
        .arguments
        .iter()
        .filter(|argument| argument.items().is_some_and(|items| !items.is_empty()))
        .filter_map(|argument| argument.type_of().element().cloned())
        .collect();
    let all: Vec<Type> =
        call.arguments.iter().filter_map(|argument| argument.type_of().element().cloned()).collect();
    let of = unify(if elements.is_empty() { &all } else { &elements })
        .ok_or("The sets must have elements of one type.")?;
    let items = |argument: &EvaluatedValue| {
        argument
            .items()
            .unwrap_or_default()
            .iter()
            .map(|item| convert(item, &of))
            .collect::<Result<Vec<_>, _>>()
    };
    let sets = call.arguments.iter().map(items).collect::<Result<Vec<_>, _>>()?;
    call.spend(sets.iter().map(Vec::len).sum())?;
    Ok((of, sets))
}

pub(super) fn setunion(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return Err("The function takes at least one set.".to_owned());
    }
    let (of, sets) = unified(call)?;
    call.value(set::of(of, sets.into_iter().flatten().collect()))
}

pub(super) fn setintersection(call: &Call<'_>) -> Answer {
    let (of, sets) = unified(call)?;
    let mut sets = sets.into_iter();
    let mut left = sets.next().ok_or("The function takes at least one set.")?;
    for other in sets {
        call.spend(left.len().saturating_mul(other.len()))?;
        left.retain(|item| other.iter().any(|known| is_same(known, item)));
    }
    call.value(set::of(of, left))
}

pub(super) fn setsubtract(call: &Call<'_>) -> Answer {
    let (of, sets) = unified(call)?;
    let [left, right] = sets.as_slice() else { return Err("The function takes two sets.".to_owned()) };
    call.spend(left.len().saturating_mul(right.len()))?;
    let left = left.iter().filter(|item| !right.iter().any(|known| is_same(known, item)));
    call.value(set::of(of, left.cloned().collect()))
}

/// `setproduct`: of lists a list of tuples, of sets a set.
pub(super) fn setproduct(call: &Call<'_>) -> Answer {
    if call.arguments.len() < 2 {
        return Err("The function takes at least two sets.".to_owned());
    }
    let is_list = !call.arguments.iter().any(|argument| matches!(argument.data, Data::Set(..)));
    let (mut types, mut factors) = (Vec::new(), Vec::new());
    for argument in &call.arguments {
        let (of, items): (Type, Vec<EvaluatedValue>) = match &argument.data {
            Data::List(of, items) | Data::Set(of, items) => (of.clone(), items.as_slice().to_vec()),
            Data::Tuple(items) => {
                let all: Vec<Type> = items.as_slice().iter().map(EvaluatedValue::type_of).collect();
                let of = if all.is_empty() { Some(Type::Dynamic) } else { unify(&all) };
                let of = of.ok_or("The elements must have one type.")?;
                let items =
                    items.as_slice().iter().map(|item| convert(item, &of)).collect::<Result<_, _>>()?;
                (of, items)
            }
            _ => return Err("The arguments must be sets or lists.".to_owned()),
        };
        types.push(of);
        factors.push(items);
    }
    let of = Type::Tuple(types.into());
    let mut products: Vec<Vec<EvaluatedValue>> = vec![Vec::new()];
    for items in &factors {
        call.spend(products.len().saturating_mul(items.len()).saturating_mul(factors.len()))?;
        let extend = |product: &Vec<EvaluatedValue>| {
            items
                .iter()
                .map(|item| [product.as_slice(), core::slice::from_ref(item)].concat())
                .collect::<Vec<_>>()
        };
        products = products.iter().flat_map(extend).collect();
    }
    let tuples = products.into_iter().map(|product| EvaluatedValue::tuple(product, call.place));
    call.value(if is_list { Data::List(of, tuples.collect()) } else { set::of(of, tuples.collect()) })
}
