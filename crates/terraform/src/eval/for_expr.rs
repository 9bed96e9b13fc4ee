//! `for` expressions and what else goes through the elements of a collection.
//!
//! Reference: hashicorp/hcl `hclsyntax/expression.go`, `ForExpr`.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::expr::{Expression, ForExpr};

use crate::convert::convert;
use crate::eval::{Evaluation, NameScope};
use crate::place::TextPlace;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue};

/// Keys and values of a collection.
pub(crate) type Pairs = Vec<(EvaluatedValue, EvaluatedValue)>;

/// The keys and values of a collection; none if the collection is not known.
pub(crate) fn pairs(collection: &EvaluatedValue) -> Result<Option<Pairs>, EvaluatedValue> {
    let place = collection.place;
    Ok(Some(match &collection.data {
        Data::List(_, items) | Data::Tuple(items) => {
            let items = items.as_slice().iter().enumerate();
            items.map(|(index, item)| (EvaluatedValue::count(index, place), item.clone())).collect()
        }
        Data::Set(_, items) => items.as_slice().iter().map(|item| (item.clone(), item.clone())).collect(),
        Data::Map(_, members) | Data::Object(members) => {
            let pair = |(name, member): (&Arc<str>, &EvaluatedMember)| {
                (EvaluatedValue::string(Arc::clone(name), member.key), member.value.clone())
            };
            members.as_map().iter().map(pair).collect()
        }
        Data::Unknown(unknown) if unknown.failure.is_some() => return Err(collection.clone()),
        Data::Unknown(unknown) if matches!(unknown.of, Type::Bool | Type::Number | Type::String) => {
            return Err(EvaluatedValue::failed(place, "The value has no elements."));
        }
        Data::Unknown(_) => return Ok(None),
        Data::Null(_) => return Err(EvaluatedValue::failed(place, "The collection is null.")),
        _ => return Err(EvaluatedValue::failed(place, "The value has no elements.")),
    }))
}

impl Evaluation<'_> {
    /// Evaluates something for each element of a collection, with the names of its key and value. None if the collection is not
    /// known.
    pub(crate) fn each<T>(
        &self,
        collection: &EvaluatedValue,
        names: (Option<&str>, &str),
        mut run: impl FnMut(&Evaluation<'_>) -> Result<T, EvaluatedValue>,
    ) -> Result<Option<Vec<T>>, EvaluatedValue> {
        let Some(pairs) = pairs(collection)? else { return Ok(None) };
        let mut results = Vec::new();
        for (key, value) in pairs {
            if !self.session.spend(1) {
                return Err(EvaluatedValue::failed(
                    collection.place,
                    "The configuration takes too many steps to evaluate.",
                ));
            }
            let names = [(names.0.unwrap_or_default(), key), (names.1, value)];
            let names = if names[0].0.is_empty() { &names[1..] } else { &names[..] };
            let scope = NameScope::within(self.scope, names);
            results.push(run(&Evaluation { scope: &scope, ..*self })?);
        }
        Ok(Some(results))
    }

    pub(super) fn for_expression(&self, expression: &ForExpr, place: TextPlace) -> EvaluatedValue {
        let intro = &expression.intro;
        let collection = self.value(&intro.collection_expr);
        let names = (intro.key_var.as_ref().map(|name| name.as_str()), intro.value_var.as_str());
        // A condition or a key that is not known makes the whole result unknown.
        let mut unknown = None;
        let results = self.each(&collection, names, |each| {
            if let Some(condition) = &expression.cond {
                let condition = each.value(&condition.expr);
                match Self::condition(condition.clone())? {
                    Some(true) => {}
                    Some(false) => return Ok(None),
                    None => {
                        unknown = Some(condition);
                        return Ok(None);
                    }
                }
            }
            let Some(key) = &expression.key_expr else {
                return Ok(Some((None, each.value(&expression.value_expr))));
            };
            let key = each.for_key(key)?;
            let value = each.value(&expression.value_expr);
            if key.as_str().is_none() {
                unknown = Some(key);
                return Ok(None);
            }
            Ok(Some((Some(key), value)))
        });
        let results = match results {
            Ok(Some(results)) => results,
            Ok(None) => return self.derived(place, Type::Dynamic, &[&collection]),
            Err(failed) => return failed.at(place),
        };
        if let Some(unknown) = unknown {
            return self.derived(place, Type::Dynamic, &[&unknown]);
        }
        let results = results.into_iter().flatten();
        if expression.key_expr.is_none() {
            return EvaluatedValue::tuple(results.map(|(_, value)| value), place);
        }
        let mut groups: BTreeMap<Arc<str>, (TextPlace, Vec<EvaluatedValue>)> = BTreeMap::new();
        for (key, value) in results {
            let Some(EvaluatedValue { data: Data::String(name), place: key_place, .. }) = key else {
                continue;
            };
            let (_, values) = groups.entry(name.shared()).or_insert_with(|| (key_place, Vec::new()));
            values.push(value);
            if values.len() > 1 && !expression.grouping {
                return EvaluatedValue::failed(
                    place,
                    format!("Two elements have the key \"{}\".", name.as_str()),
                );
            }
        }
        let members = groups.into_iter().filter_map(|(name, (key, mut values))| {
            let value =
                if expression.grouping { EvaluatedValue::tuple(values, place) } else { values.pop()? };
            Some((name, EvaluatedMember { key, value }))
        });
        EvaluatedValue::object(members, place)
    }

    fn for_key(&self, key: &Expression) -> Result<EvaluatedValue, EvaluatedValue> {
        let key = self.value(key);
        if key.failure().is_some() {
            return Err(key);
        }
        match convert(&key, &Type::String) {
            Ok(key) if !key.is_null() => Ok(key),
            _ => Err(EvaluatedValue::failed(key.place, "The key must be a string that is not null.")),
        }
    }
}
