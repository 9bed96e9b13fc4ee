//! Values that are one of two, because only Terraform knows the condition, and collections of which only Terraform knows which elements they
//! have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::convert::convert;
use crate::equality::equals;
use crate::eval::{Evaluation, contents_fingerprint, sources_of};
use crate::place::TextPlace;
use crate::text::{EvaluatedText, TextBuilder};
use crate::to_json;
use crate::types::Type;
use crate::value::{
    Data, EvaluatedMember, EvaluatedMembers, EvaluatedValue, Knowledge, Unknown, placeholder,
};

/// The elements that a collection may have.
#[derive(Clone, Debug)]
pub(crate) struct PossibleElements {
    /// An object with all of them, or a list of strings.
    pub(crate) all: EvaluatedValue,
    /// What decides whether the collection has an element, by its key. An element that is not here is there for certain.
    pub(crate) decided: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether some elements exclude others: each result of a condition has elements that the other one lacks.
    pub(crate) is_exclusive: bool,
}

impl PossibleElements {
    /// The elements of a collection, as far as they are known.
    pub(crate) fn of(value: &EvaluatedValue) -> Option<Self> {
        match value.as_unknown() {
            Some(Unknown { failure: None, possible, .. }) => possible.as_deref().cloned(),
            Some(_) => None,
            None => {
                keys(value)?;
                Some(Self { all: value.clone(), decided: BTreeMap::new(), is_exclusive: false })
            }
        }
    }

    /// The elements in a collection of a type.
    pub(crate) fn converted(&self, to: &Type) -> Option<Self> {
        Some(Self { all: convert(&self.all, to).ok()?, ..self.clone() })
    }

    /// The elements that `merge` makes of some objects. None if an element that may be there would replace another one.
    pub(crate) fn merged(objects: &[EvaluatedValue], place: TextPlace) -> Option<Self> {
        let (mut all, mut decided, mut is_exclusive) = (BTreeMap::new(), BTreeMap::new(), false);
        for object in objects.iter().filter(|object| !object.is_null()) {
            let own = Self::of(object)?;
            is_exclusive |= own.is_exclusive;
            for (key, member) in own.all.members()?.as_map() {
                match own.decided.get(key) {
                    None => decided.remove(key),
                    Some(_) if all.contains_key(key) => return None,
                    Some(condition) => decided.insert(Arc::clone(key), Arc::clone(condition)),
                };
                all.insert(Arc::clone(key), member.clone());
            }
        }
        Some(Self { all: EvaluatedValue::object(all, place), decided, is_exclusive })
    }

    /// What decides about each element, in their order.
    pub(super) fn by_position(&self) -> Vec<Option<Arc<str>>> {
        let all = keys(&self.all).unwrap_or_default();
        all.iter().map(|key| self.decided.get(key).cloned()).collect()
    }

    /// The elements that one of two collections has, of which a condition decides.
    fn either(
        self,
        other: Self,
        condition: &str,
        agree: impl Fn(&EvaluatedValue, &EvaluatedValue) -> EvaluatedValue,
    ) -> Option<Self> {
        let place = self.all.place;
        let own = keys(&self.all)?;
        let others = keys(&other.all)?;
        let [own_set, others_set] =
            [&own, &others].map(|keys| keys.iter().map(Arc::clone).collect::<BTreeSet<Arc<str>>>());
        let is_exclusive = self.is_exclusive
            || other.is_exclusive
            || !(own_set.is_subset(&others_set) || others_set.is_subset(&own_set));
        let mut decided = BTreeMap::new();
        // Most elements share their reason, which may be long.
        let mut reasons: BTreeMap<(&str, Option<Arc<str>>), Arc<str>> = BTreeMap::new();
        for (keys, beside, of, is) in [
            (&own_set, &others_set, &self.decided, " is true"),
            (&others_set, &own_set, &other.decided, " is false"),
        ] {
            for key in keys {
                let further = of.get(key).cloned();
                let is = if beside.contains(key) { "" } else { is };
                if is.is_empty() && further.is_none() {
                    continue;
                }
                let reason = reasons.entry((is, further)).or_insert_with_key(|(is, further)| {
                    let further = further.as_deref().map(|further| format!("; {further}"));
                    format!("{condition}{is}{}", further.unwrap_or_default()).into()
                });
                decided.insert(Arc::clone(key), Arc::clone(reason));
            }
        }
        let all = match (self.all.members(), other.all.members()) {
            (Some(own), Some(others)) => {
                let mut all: BTreeMap<Arc<str>, EvaluatedMember> = own.as_map().clone();
                for (key, member) in others.as_map() {
                    let value = match own.get(key) {
                        Some(value) => agree(value, &member.value),
                        None => member.value.clone(),
                    };
                    all.insert(Arc::clone(key), EvaluatedMember { key: member.key, value });
                }
                EvaluatedValue::object(all, place)
            }
            // An empty list and an empty object are different types, but both are no elements.
            _ if others.is_empty() => self.all,
            _ if own.is_empty() => other.all,
            (None, None) => {
                let (own, others) = (self.all.items()?, other.all.items()?);
                let is_new = |item: &&EvaluatedValue| !item.as_str().is_some_and(|key| own_set.contains(key));
                EvaluatedValue::tuple(own.iter().chain(others.iter().filter(is_new)).cloned(), place)
            }
            _ => return None,
        };
        Some(Self { all, decided, is_exclusive })
    }
}

/// The keys of an object, or the strings of a list.
fn keys(value: &EvaluatedValue) -> Option<Vec<Arc<str>>> {
    match value.members() {
        Some(members) => Some(members.as_map().keys().cloned().collect()),
        None => value.items()?.iter().map(|item| Some(item.as_text()?.shared())).collect(),
    }
}

impl Evaluation<'_> {
    /// The value of a condition that is not known: one of two values. What both have is known.
    pub(super) fn either(
        &self,
        place: TextPlace,
        of: Type,
        condition: &EvaluatedValue,
        results: [&EvaluatedValue; 2],
    ) -> EvaluatedValue {
        let [yes, no] = results;
        if !self.spend_contents(results.into_iter().flat_map(known_parts)) {
            return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
        }
        let mut value = self.composed(place, of, &[condition, yes, no]);
        let Data::Unknown(unknown) = &mut value.data else { return value };
        unknown.sources = sources_of(results);
        if unknown.of == Type::String {
            if let Some(text) = one_of(&unknown.text, place, results) {
                unknown.text = text;
            }
            return value;
        }
        let decides = condition.as_unknown().map_or("", |unknown| unknown.text.as_str());
        let agree = |one: &EvaluatedValue, other: &EvaluatedValue| self.agreed(condition, one, other);
        let possible = PossibleElements::of(yes).zip(PossibleElements::of(no));
        unknown.possible = possible.and_then(|(yes, no)| yes.either(no, decides, agree)).map(Arc::new);
        let mut text = core::mem::take(&mut unknown.text);
        if let Some(items) = either_items(results) {
            text = text.with_known_items(items.into_iter().collect());
        }
        let both = self.agreed(condition, object_of(yes), object_of(no));
        unknown.text = match both.data {
            Data::Object(_) => text.with_encoded(both),
            Data::Unknown(Unknown { text: both, .. }) => match both.known_members() {
                Some(known) => text.with_known_members(known.clone()),
                None => text,
            },
            _ => text,
        };
        value
    }

    /// A value that is one of two: what both are, with a placeholder for each part in which they differ.
    fn agreed(
        &self,
        condition: &EvaluatedValue,
        one: &EvaluatedValue,
        other: &EvaluatedValue,
    ) -> EvaluatedValue {
        if is_same(one, other) {
            return one.clone();
        }
        let place = one.place;
        let inner = |one: &EvaluatedValue, other: &EvaluatedValue| {
            let agreed = self.session.deeper(|| self.agreed(condition, one, other));
            agreed.unwrap_or_else(|| EvaluatedValue::unknown(Type::Dynamic, UNKNOWN, place))
        };
        if let (Some(own), Some(others)) = (one.members(), other.members()) {
            let member = |(name, member): (&Arc<str>, &EvaluatedMember)| {
                let value = inner(&member.value, others.get(name)?);
                Some((Arc::clone(name), EvaluatedMember { key: member.key, value }))
            };
            let both: EvaluatedMembers = own.as_map().iter().filter_map(member).collect();
            let is_whole = both.as_map().len() == own.as_map().len().max(others.as_map().len());
            if is_whole {
                return EvaluatedValue::new(Data::Object(both), place);
            }
            let mut unknown = self.different(condition, one, other);
            if let Data::Unknown(unknown) = &mut unknown.data {
                let is_known =
                    |(_, member): &(&Arc<str>, &EvaluatedMember)| member.value.as_unknown().is_none();
                let known = both.as_map().iter().filter(is_known);
                let known = known.map(|(name, member)| (Arc::clone(name), member.clone())).collect();
                unknown.text = core::mem::take(&mut unknown.text).with_known_members(known);
            }
            return unknown;
        }
        match (one.items(), other.items()) {
            (Some(own), Some(others)) if own.len() == others.len() => {
                EvaluatedValue::tuple(own.iter().zip(others).map(|(one, other)| inner(one, other)), place)
            }
            _ => self.different(condition, one, other),
        }
    }

    /// The placeholder of a part in which two values differ. The name of the condition would be taken for the name of the value. A comparison needs
    /// another name for each pair.
    fn different(
        &self,
        condition: &EvaluatedValue,
        one: &EvaluatedValue,
        other: &EvaluatedValue,
    ) -> EvaluatedValue {
        let name = if self.session.input.names_show_contents() {
            format!("{UNKNOWN} {}", contents_fingerprint([condition, one, other]))
        } else {
            UNKNOWN.to_owned()
        };
        EvaluatedValue::unknown(Type::Dynamic, &name, one.place)
    }
}

/// Name of a placeholder for a value that depends on a condition.
const UNKNOWN: &str = "unknown";

/// The object that a value is, or that its placeholder has.
fn object_of(value: &EvaluatedValue) -> &EvaluatedValue {
    value.as_unknown().and_then(Unknown::object).unwrap_or(value)
}

/// The items that one of two lists has. None if neither is a list with known items.
fn either_items(results: [&EvaluatedValue; 2]) -> Option<Vec<EvaluatedValue>> {
    let items = |value: &'_ EvaluatedValue| -> Option<Vec<EvaluatedValue>> {
        let known = value.as_unknown().and_then(|unknown| unknown.text.known_items());
        Some(value.items().or(known)?.to_vec())
    };
    let [yes, no] = results.map(items);
    if yes.is_none() && no.is_none() {
        return None;
    }
    let mut all = yes.unwrap_or_default();
    let mut contents: BTreeSet<String> = all.iter().filter_map(certain_contents).collect();
    for item in no.unwrap_or_default() {
        if certain_contents(&item).is_none_or(|content| contents.insert(content)) {
            all.push(item);
        }
    }
    Some(all)
}

/// A text that two values have in common if they are the same for certain. None if no other value is.
fn certain_contents(value: &EvaluatedValue) -> Option<String> {
    match value.as_unknown() {
        Some(unknown) => is_plain(unknown).then(|| format!("{:?} {}", unknown.of, unknown.text.as_str())),
        None => (value.knowledge() == Knowledge::Known).then(|| to_json(value)),
    }
}

/// A value, and what is known of it if it is not known.
fn known_parts(value: &EvaluatedValue) -> impl Iterator<Item = &EvaluatedValue> {
    let unknown = value.as_unknown();
    let object = unknown.and_then(Unknown::object);
    let possible = unknown.and_then(|unknown| unknown.possible.as_deref()).map(|possible| &possible.all);
    let items = unknown.and_then(|unknown| unknown.text.known_items()).unwrap_or_default();
    core::iter::once(value).chain(object).chain(possible).chain(items)
}

/// Whether a placeholder with the same text is the same value.
fn is_plain(unknown: &Unknown) -> bool {
    unknown.failure.is_none() && unknown.text.directives().is_empty()
}

/// Whether two values are the same for certain.
fn is_same(one: &EvaluatedValue, other: &EvaluatedValue) -> bool {
    match (one.as_unknown(), other.as_unknown()) {
        (Some(one), Some(other)) => {
            is_plain(one) && is_plain(other) && one.text == other.text && one.of == other.of
        }
        (None, None) => {
            one.knowledge().max(other.knowledge()) == Knowledge::Known && equals(one, other) == Some(true)
        }
        _ => false,
    }
}

/// The text that a condition writes, as `%{ if }` does. Only a text of several lines may be a document, of which the parts that are known
/// matter.
fn one_of(name: &EvaluatedText, place: TextPlace, results: [&EvaluatedValue; 2]) -> Option<EvaluatedText> {
    let text = |value: &EvaluatedValue| {
        let unknown = value.as_unknown().filter(|unknown| !unknown.text.is_placeholder());
        value.as_text().or(unknown.map(|unknown| &unknown.text)).cloned()
    };
    let [yes, no] = results.map(text);
    let branches = vec![yes?, no?];
    if branches.iter().all(|branch| !branch.as_str().contains('\n')) {
        return None;
    }
    let mut builder = TextBuilder::default();
    builder.push_directive(&placeholder(name.as_str()), place, branches, false);
    Some(builder.finish())
}

#[cfg(test)]
mod tests {
    use core::ops::Range;

    use manifest::source::Source;

    use super::*;
    use crate::{ConfigurationInput, EvaluatedConfiguration, FolderFiles};

    struct Main(Arc<Source>);

    impl FolderFiles for Main {
        fn read(&self, path: &str) -> Option<Arc<Source>> {
            (path == "main.tf").then(|| Arc::clone(&self.0))
        }

        fn paths(&self) -> Vec<String> {
            vec!["main.tf".to_owned()]
        }
    }

    /// The value of an expression, and the steps that it takes.
    fn evaluated(expression: &str) -> (EvaluatedValue, usize) {
        let text = format!("variable \"on\" {{}}\nresource \"a\" \"b\" {{\n  v = {expression}\n}}\n");
        let files = Main(Arc::new(Source::new("main.tf", text)));
        let input = ConfigurationInput::new(&files, 0);
        let before = input.steps();
        let configuration = EvaluatedConfiguration::evaluate_within("", &input, &[]);
        let value = configuration.blocks.first().and_then(|block| block.body.get("v")).unwrap();
        (value.clone(), before - input.steps())
    }

    #[test]
    fn a_condition_over_long_lists_takes_steps_and_has_each_item_once() {
        let list = |names: Range<usize>| {
            let names: Vec<String> = names.map(|name| name.to_string()).collect();
            format!("split(\",\", \"{}\")", names.join(","))
        };
        let [one, other] = [list(0..20_000), list(10_000..30_000)];
        let (_, of_lists) = evaluated(&format!("[{one}, {other}]"));
        let (value, of_condition) = evaluated(&format!("var.on ? {one} : {other}"));
        assert!(of_condition > of_lists + 10_000, "{of_condition} and {of_lists}");
        let unknown = value.as_unknown().unwrap();
        assert_eq!(unknown.text.known_items().unwrap().len(), 30_000);
        let possible = unknown.possible.as_deref().unwrap();
        assert_eq!(possible.all.items().unwrap().len(), 30_000);
        assert_eq!(possible.decided.len(), 20_000);
        assert_eq!(possible.decided.get("9999").map(|reason| &**reason), Some("${var.on} is true"));
        assert_eq!(possible.decided.get("29999").map(|reason| &**reason), Some("${var.on} is false"));
    }
}
