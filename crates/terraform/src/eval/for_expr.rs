//! `for` expressions and what else goes through the elements of a collection.
//!
//! Reference: hashicorp/hcl `hclsyntax/expression.go`, `ForExpr`.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::expr::{Expression, ForExpr};

use crate::convert::convert;
use crate::eval::{Evaluation, NameScope, PossibleElements, derived};
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

/// Result of a `for` expression for an element.
struct ForElement {
    /// The condition, if it is not known.
    condition: Option<EvaluatedValue>,
    key: Option<EvaluatedValue>,
    value: EvaluatedValue,
}

fn is_unknown(key: &EvaluatedValue) -> bool {
    key.as_str().is_none()
}

/// The members of an object that a `for` expression makes.
fn grouped(
    results: impl Iterator<Item = ForElement>,
    is_grouping: bool,
    place: TextPlace,
) -> Result<Vec<(Arc<str>, EvaluatedMember)>, String> {
    let mut groups: BTreeMap<Arc<str>, (TextPlace, Vec<EvaluatedValue>)> = BTreeMap::new();
    for ForElement { key, value, .. } in results {
        let Some(EvaluatedValue { data: Data::String(name), place: key_place, .. }) = key else { continue };
        let (_, values) = groups.entry(name.shared()).or_insert_with(|| (key_place, Vec::new()));
        values.push(value);
        if values.len() > 1 && !is_grouping {
            return Err(format!("Two elements have the key \"{}\".", name.as_str()));
        }
    }
    let member = |(name, (key, mut values)): (Arc<str>, (TextPlace, Vec<EvaluatedValue>))| {
        let value = if is_grouping { EvaluatedValue::tuple(values, place) } else { values.pop()? };
        Some((name, EvaluatedMember { key, value }))
    };
    Ok(groups.into_iter().filter_map(member).collect())
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
        // The elements that a collection may have, or the members that it has beside others.
        let possible = collection.as_unknown().and_then(|_| PossibleElements::of(&collection));
        let known = collection.as_unknown().filter(|unknown| unknown.failure.is_none());
        let known = known.and_then(|unknown| unknown.text.known_members()).filter(|_| possible.is_none());
        let known = known.map(|known| EvaluatedValue::new(Data::Object(known.clone()), collection.place));
        let elements = possible.as_ref().map(|possible| &possible.all).or(known.as_ref());
        let results = self.each(elements.unwrap_or(&collection), names, |each| each.for_element(expression));
        let results = match results {
            Ok(Some(results)) => results,
            Ok(None) => {
                let body = self.for_body(expression, names, &collection);
                let causes: Vec<&EvaluatedValue> = core::iter::once(&collection).chain(&body).collect();
                let name = self.name_of(place, self.slice(place), &causes);
                return derived(place, &name, Type::Dynamic, [&collection]);
            }
            Err(failed) => return failed.at(place),
        };
        let is_uncertain =
            |result: &ForElement| result.condition.is_some() || result.key.as_ref().is_some_and(is_unknown);
        if elements.is_some() || results.iter().flatten().any(is_uncertain) {
            return self.for_unknown(expression, place, (&collection, possible.as_ref()), results);
        }
        let results = results.into_iter().flatten();
        if expression.key_expr.is_none() {
            return EvaluatedValue::tuple(results.map(|result| result.value), place);
        }
        match grouped(results, expression.grouping, place) {
            Ok(members) => EvaluatedValue::object(members, place),
            Err(message) => EvaluatedValue::failed(place, message),
        }
    }

    /// The result for an element; none for an element that the condition leaves out.
    fn for_element(&self, expression: &ForExpr) -> Result<Option<ForElement>, EvaluatedValue> {
        let mut unknown = None;
        if let Some(condition) = &expression.cond {
            let condition = self.value(&condition.expr);
            match Self::condition(condition.clone())? {
                Some(true) => {}
                Some(false) => return Ok(None),
                None => unknown = Some(condition),
            }
        }
        let key = expression.key_expr.as_ref().map(|key| self.for_key(key)).transpose()?;
        Ok(Some(ForElement { condition: unknown, key, value: self.value(&expression.value_expr) }))
    }

    /// The condition, the key and the value for an element that is not known, which a comparison needs.
    fn for_body(
        &self,
        expression: &ForExpr,
        names: (Option<&str>, &str),
        collection: &EvaluatedValue,
    ) -> Vec<EvaluatedValue> {
        if !self.session.input.names_show_contents() {
            return Vec::new();
        }
        let element = |name| (name, EvaluatedValue::unknown(Type::Dynamic, name, collection.place));
        let names: Vec<_> = names.0.into_iter().chain([names.1]).map(element).collect();
        let scope = NameScope::within(self.scope, &names);
        let each = Evaluation { scope: &scope, ..*self };
        let condition = expression.cond.as_ref().map(|condition| &condition.expr);
        let parts = condition.into_iter().chain(&expression.key_expr).chain([&expression.value_expr]);
        parts.map(|part| each.value(part)).collect()
    }

    /// The result if only Terraform knows which elements there are.
    fn for_unknown(
        &self,
        expression: &ForExpr,
        place: TextPlace,
        (collection, possible): (&EvaluatedValue, Option<&PossibleElements>),
        results: Vec<Option<ForElement>>,
    ) -> EvaluatedValue {
        let is_whole = collection.as_unknown().is_none() || possible.is_some();
        let decided: Vec<Option<Arc<str>>> = match possible {
            Some(possible) => possible.by_position(),
            None => Vec::new(),
        };
        let mut causes = vec![collection.clone()];
        let mut elements = Vec::new();
        let mut conditions: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for (position, result) in results.into_iter().enumerate() {
            let Some(result) = result else { continue };
            causes.extend(result.condition.iter().chain(&result.key).cloned().chain([result.value.clone()]));
            let by_source = decided.get(position).cloned().flatten();
            let own = result.condition.as_ref().and_then(EvaluatedValue::as_unknown);
            let all: Vec<&str> =
                by_source.as_deref().into_iter().chain(own.map(|own| own.text.as_str())).collect();
            let text = result.key.as_ref().unwrap_or(&result.value).as_text();
            if let Some(text) = text.filter(|_| !all.is_empty()) {
                conditions.insert(text.shared(), Arc::from(all.join("; ")));
            }
            elements.push(result);
        }
        let unknown_key = elements.iter().filter_map(|result| result.key.as_ref()).any(is_unknown);
        let own_cause = Some(collection).filter(|collection| collection.as_unknown().is_some());
        let unknown_keys = elements.iter().filter_map(|result| result.key.as_ref()).chain(own_cause);
        let failed: Vec<&EvaluatedValue> = unknown_keys.collect();
        let name = self.name_of(place, self.slice(place), &causes.iter().collect::<Vec<_>>());
        let mut value = derived(place, &name, Type::Dynamic, failed);
        let Data::Unknown(unknown) = &mut value.data else { return value };
        if unknown_key || unknown.failure.is_some() {
            return value;
        }
        let all = if expression.key_expr.is_none() {
            Some(EvaluatedValue::tuple(elements.into_iter().map(|result| result.value), place))
        } else {
            let certain = elements.into_iter().filter(|result| is_whole || result.condition.is_none());
            let members = grouped(certain, false, place).ok().filter(|_| !expression.grouping);
            members.map(|members| EvaluatedValue::object(members, place))
        };
        let Some(all) = all else { return value };
        if let Some(items) = all.items() {
            let items = items.iter().cloned().collect();
            unknown.text = core::mem::take(&mut unknown.text).with_known_items(items);
        }
        if is_whole {
            let is_exclusive = possible.is_some_and(|possible| possible.is_exclusive);
            let possible = PossibleElements::of(&all).map(|one| PossibleElements {
                decided: conditions,
                is_exclusive,
                ..one
            });
            unknown.possible = possible.map(Arc::new);
        } else if let Some(members) = all.members() {
            unknown.text = core::mem::take(&mut unknown.text).with_known_members(members.clone());
        }
        value
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
