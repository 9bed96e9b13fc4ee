//! Values and what they come from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::eval::{PossibleElements, contents_fingerprint};
use crate::number::Number;
use crate::place::{TextNumber, TextPlace};
use crate::text::{EvaluatedText, fingerprint, own_key};
use crate::types::Type;

/// Levels of lists and maps that a value may have.
const MAX_DEPTH: u16 = 100;
/// Values that a value may consist of; a value that occurs several times counts several times. A few bytes of a string count as one.
const MAX_SIZE: usize = 200_000;
/// Bytes of a string that count as a value.
const BYTES_PER_VALUE: usize = 64;

/// Value of an expression.
#[derive(Clone, Debug)]
pub struct EvaluatedValue {
    /// The value itself.
    pub data: Data,
    /// The expression that the value is used in: the literal, or the reference that leads to it.
    pub place: TextPlace,
    /// The literal or the call that the value comes from, through locals, variables and modules.
    pub origin: TextPlace,
}

/// A value without its place.
#[derive(Clone, Debug)]
pub enum Data {
    /// `null` of a type.
    Null(Type),
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, wholly known.
    String(EvaluatedText),
    /// A list whose items have the type.
    List(Type, Items),
    /// A set whose items have the type: distinct and sorted.
    Set(Type, Items),
    /// A map whose values have the type.
    Map(Type, EvaluatedMembers),
    /// A list whose items have a type each.
    Tuple(Items),
    /// A map whose values have a type each.
    Object(EvaluatedMembers),
    /// A value that is not known.
    Unknown(Unknown),
}

/// Placeholder of a value that is not known.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The type, as far as it is known.
    pub of: Type,
    /// The text of the placeholder. A string of which some parts are known has them between the placeholders of the others:
    /// `role-${module.eks.cluster_name}`.
    pub text: EvaluatedText,
    /// The failure, if Terraform refuses the expression or it is not evaluated here.
    pub failure: Option<Arc<EvaluationFailure>>,
    /// The texts that the arguments come from, if a function computes the value.
    pub(crate) sources: Option<Arc<Vec<TextNumber>>>,
    /// The elements of a collection of which only Terraform knows which ones it has.
    pub(crate) possible: Option<Arc<PossibleElements>>,
}

impl Unknown {
    /// The object with placeholders in it: of an object with keys that are not known, of the two objects of a condition, or that a function
    /// reads from a text with placeholders.
    pub fn object(&self) -> Option<&EvaluatedValue> {
        self.text.encoded().filter(|_| self.of != Type::String)
    }

    /// An object with all members that the object may have, if only Terraform knows which of them it has.
    pub fn possible_object(&self) -> Option<&EvaluatedValue> {
        Some(&self.possible.as_deref()?.all).filter(|all| all.members().is_some())
    }

    /// The texts that the arguments of a function come from, if it computes the value.
    pub fn sources(&self) -> &[TextNumber] {
        self.sources.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// Reason for which an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EvaluationFailure {
    /// The expression.
    pub place: TextPlace,
    /// The reason, a sentence.
    pub message: String,
}

/// Whether a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knowledge {
    /// Known with everything in it.
    Known,
    /// Not known before Terraform applies the configuration, or something in it is not.
    Unknown,
    /// An expression in it failed.
    Failed,
}

/// Items of a list, a set or a tuple.
#[derive(Clone, Debug)]
pub struct Items(Arc<Counted<Vec<EvaluatedValue>>>);

/// Members of a map or an object, sorted by key.
#[derive(Clone, Debug)]
pub struct EvaluatedMembers(Arc<Counted<BTreeMap<Arc<str>, EvaluatedMember>>>);

/// Member of a map or an object.
#[derive(Clone, Debug)]
pub struct EvaluatedMember {
    /// The expression of the key.
    pub key: TextPlace,
    /// The value.
    pub value: EvaluatedValue,
}

/// Elements with what follows from all of them.
#[derive(Debug)]
struct Counted<T> {
    elements: T,
    sums: Sums,
}

/// Properties of a value that follow from its elements.
#[derive(Clone, Copy, Debug)]
struct Sums {
    knowledge: Knowledge,
    depth: u16,
    size: usize,
}

impl Sums {
    fn of<'v>(values: impl Iterator<Item = &'v EvaluatedValue>) -> Self {
        let none = Self { knowledge: Knowledge::Known, depth: 1, size: 1 };
        values.fold(none, |sums, value| Self {
            knowledge: sums.knowledge.max(value.knowledge()),
            depth: sums.depth.max(value.depth() + 1),
            size: sums.size.saturating_add(value.size()),
        })
    }
}

impl Items {
    /// The items.
    pub fn as_slice(&self) -> &[EvaluatedValue] {
        &self.0.elements
    }
}

impl FromIterator<EvaluatedValue> for Items {
    fn from_iter<I: IntoIterator<Item = EvaluatedValue>>(values: I) -> Self {
        let elements: Vec<EvaluatedValue> = values.into_iter().collect();
        let sums = Sums::of(elements.iter());
        Self(Arc::new(Counted { elements, sums }))
    }
}

impl EvaluatedMembers {
    /// The members by key.
    pub fn as_map(&self) -> &BTreeMap<Arc<str>, EvaluatedMember> {
        &self.0.elements
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&EvaluatedValue> {
        Some(&self.0.elements.get(key)?.value)
    }
}

impl FromIterator<(Arc<str>, EvaluatedMember)> for EvaluatedMembers {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, EvaluatedMember)>>(members: I) -> Self {
        let elements: BTreeMap<Arc<str>, EvaluatedMember> = members.into_iter().collect();
        let sums = Sums::of(elements.values().map(|member| &member.value));
        Self(Arc::new(Counted { elements, sums }))
    }
}

impl EvaluatedValue {
    /// A value that its expression spells. A value with too many levels fails.
    pub(crate) fn new(data: Data, place: TextPlace) -> Self {
        let value = Self { data, place, origin: place };
        if value.depth() > MAX_DEPTH || value.size() > MAX_SIZE {
            return Self::unknown(Type::Dynamic, "a value that is too large", place);
        }
        value
    }

    pub(crate) fn bool(value: bool, place: TextPlace) -> Self {
        Self::new(Data::Bool(value), place)
    }

    pub(crate) fn number(value: Number, place: TextPlace) -> Self {
        Self::new(Data::Number(value), place)
    }

    pub(crate) fn count(value: usize, place: TextPlace) -> Self {
        Self::number(Number::from(i64::try_from(value).unwrap_or(i64::MAX)), place)
    }

    /// A string that the expression computes.
    pub(crate) fn string(value: impl Into<Arc<str>>, place: TextPlace) -> Self {
        Self::new(Data::String(EvaluatedText::computed(value, place)), place)
    }

    pub(crate) fn text(text: EvaluatedText, place: TextPlace) -> Self {
        Self::new(Data::String(text), place)
    }

    pub(crate) fn null(of: Type, place: TextPlace) -> Self {
        Self::new(Data::Null(of), place)
    }

    pub(crate) fn tuple(items: impl IntoIterator<Item = Self>, place: TextPlace) -> Self {
        Self::new(Data::Tuple(items.into_iter().collect()), place)
    }

    pub(crate) fn object(
        members: impl IntoIterator<Item = (Arc<str>, EvaluatedMember)>,
        place: TextPlace,
    ) -> Self {
        Self::new(Data::Object(members.into_iter().collect()), place)
    }

    /// An object without members.
    pub fn empty_object(place: TextPlace) -> Self {
        Self::object([], place)
    }

    /// A value that Terraform does not know either, with the name of its expression.
    pub(crate) fn unknown(of: Type, name: &str, place: TextPlace) -> Self {
        let text = EvaluatedText::computed(placeholder(name), place);
        Self::new(Data::Unknown(Unknown { of, text, failure: None, sources: None, possible: None }), place)
    }

    /// A value that has a failure instead.
    pub(crate) fn failed(place: TextPlace, message: impl Into<String>) -> Self {
        let failure = Some(Arc::new(EvaluationFailure { place, message: message.into() }));
        let text = EvaluatedText::computed(placeholder("unknown"), place);
        let of = Type::Dynamic;
        Self::new(Data::Unknown(Unknown { of, text, failure, sources: None, possible: None }), place)
    }

    /// A placeholder instead of a value that Terraform does not show. A comparison needs another name for each value; what it prints has no
    /// such name.
    #[must_use]
    pub fn hidden(&self, is_compared: bool) -> Self {
        Self::unknown(self.type_of(), &self.hidden_name("sensitive", is_compared), self.place)
    }

    /// The name of a placeholder instead of this value.
    pub(crate) fn hidden_name<'n>(&self, name: &'n str, is_compared: bool) -> Cow<'n, str> {
        if is_compared {
            let own = fingerprint(&[own_key(), &contents_fingerprint([self])]);
            Cow::Owned(format!("{name} {own}"))
        } else {
            Cow::Borrowed(name)
        }
    }

    /// The same value, used in another expression.
    #[must_use]
    pub(crate) fn at(mut self, place: TextPlace) -> Self {
        self.place = place;
        self
    }

    /// Whether the value is known.
    pub fn knowledge(&self) -> Knowledge {
        match &self.data {
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => items.0.sums.knowledge,
            Data::Map(_, members) | Data::Object(members) => members.0.sums.knowledge,
            Data::Unknown(Unknown { failure: None, .. }) => Knowledge::Unknown,
            Data::Unknown(_) => Knowledge::Failed,
            Data::Null(_) | Data::Bool(_) | Data::Number(_) | Data::String(_) => Knowledge::Known,
        }
    }

    fn depth(&self) -> u16 {
        match &self.data {
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => items.0.sums.depth,
            Data::Map(_, members) | Data::Object(members) => members.0.sums.depth,
            _ => 0,
        }
    }

    /// Number of values that the value consists of.
    pub(crate) fn size(&self) -> usize {
        match &self.data {
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => items.0.sums.size,
            Data::Map(_, members) | Data::Object(members) => members.0.sums.size,
            Data::String(text) => 1 + text.as_str().len() / BYTES_PER_VALUE,
            Data::Unknown(unknown) => 1 + unknown.text.as_str().len() / BYTES_PER_VALUE,
            Data::Null(_) | Data::Bool(_) | Data::Number(_) => 1,
        }
    }

    /// The placeholder, if the value itself is not known.
    pub fn as_unknown(&self) -> Option<&Unknown> {
        if let Data::Unknown(unknown) = &self.data { Some(unknown) } else { None }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null(_))
    }

    /// The value if it is a known string.
    pub fn as_str(&self) -> Option<&str> {
        Some(self.as_text()?.as_str())
    }

    /// The value if it is a known string, with its places.
    pub fn as_text(&self) -> Option<&EvaluatedText> {
        if let Data::String(text) = &self.data { Some(text) } else { None }
    }

    /// The value if it is a known number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Data::Number(number) = &self.data { Some(number) } else { None }
    }

    /// The value if it is a known boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Data::Bool(value) = self.data { Some(value) } else { None }
    }

    /// The items of a list, a set or a tuple.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => Some(items.as_slice()),
            _ => None,
        }
    }

    /// The members of a map or an object.
    pub fn members(&self) -> Option<&EvaluatedMembers> {
        match &self.data {
            Data::Map(_, members) | Data::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value under a key of a map or an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.get(key)
    }

    /// The first failure in the value.
    pub fn failure(&self) -> Option<&Arc<EvaluationFailure>> {
        if self.knowledge() < Knowledge::Failed {
            return None;
        }
        match &self.data {
            Data::Unknown(unknown) => unknown.failure.as_ref(),
            _ => self.elements().find_map(Self::failure),
        }
    }

    /// The elements of a collection.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        let members = self.members().into_iter().flat_map(|members| members.as_map().values());
        self.items().unwrap_or_default().iter().chain(members.map(|member| &member.value))
    }

    /// The type.
    pub fn type_of(&self) -> Type {
        match &self.data {
            Data::Null(of) => of.clone(),
            Data::Bool(_) => Type::Bool,
            Data::Number(_) => Type::Number,
            Data::String(_) => Type::String,
            Data::List(element, _) => Type::list(element.clone()),
            Data::Set(element, _) => Type::set(element.clone()),
            Data::Map(element, _) => Type::map(element.clone()),
            Data::Tuple(items) => Type::Tuple(items.as_slice().iter().map(Self::type_of).collect()),
            Data::Object(members) => Type::object(
                members.as_map().iter().map(|(name, member)| (Arc::clone(name), member.value.type_of())),
            ),
            Data::Unknown(unknown) => unknown.of.clone(),
        }
    }

    /// The value for a function that writes it in another form: a string in which directives may write more is a placeholder, because what they
    /// write would have that form too.
    pub(crate) fn without_directives(&self) -> Self {
        let all = |items: &Items| items.as_slice().iter().map(Self::without_directives).collect();
        let each = |members: &EvaluatedMembers| {
            let member = |(name, member): (&Arc<str>, &EvaluatedMember)| {
                let value = member.value.without_directives();
                (Arc::clone(name), EvaluatedMember { key: member.key, value })
            };
            members.as_map().iter().map(member).collect()
        };
        let data = match &self.data {
            Data::List(of, items) => Data::List(of.clone(), all(items)),
            Data::Set(of, items) => Data::Set(of.clone(), all(items)),
            Data::Tuple(items) => Data::Tuple(all(items)),
            Data::Map(of, members) => Data::Map(of.clone(), each(members)),
            Data::Object(members) => Data::Object(each(members)),
            Data::String(text) if !text.directives().is_empty() => {
                let name = format!("unknown {}", text.fingerprint());
                Data::String(EvaluatedText::computed(placeholder(&name), self.place))
            }
            known => known.clone(),
        };
        Self { data, ..*self }
    }

    /// The value with the texts of its placeholders instead of what is not known.
    pub fn spelled(&self) -> Self {
        if self.knowledge() == Knowledge::Known {
            return self.clone();
        }
        let all = |items: &Items| items.as_slice().iter().map(Self::spelled).collect();
        let each = |members: &EvaluatedMembers| {
            let member = |(name, member): (&Arc<str>, &EvaluatedMember)| {
                (Arc::clone(name), EvaluatedMember { key: member.key, value: member.value.spelled() })
            };
            members.as_map().iter().map(member).collect()
        };
        let data = match &self.data {
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => Data::Tuple(all(items)),
            Data::Map(_, members) | Data::Object(members) => Data::Object(each(members)),
            Data::Unknown(unknown) => match unknown.object() {
                Some(object) => object.spelled().data,
                None => Data::String(unknown.text.clone()),
            },
            known => known.clone(),
        };
        Self { data, ..*self }
    }
}

/// The text of a placeholder with a name.
pub(crate) fn placeholder(name: &str) -> String {
    // A string of JSON has its quotes escaped.
    let name = name.replace("\\\"", "\"").split_whitespace().collect::<Vec<_>>().join(" ");
    if name.starts_with("${") { name } else { format!("${{{name}}}") }
}
