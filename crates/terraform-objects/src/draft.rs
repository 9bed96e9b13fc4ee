//! Drafts of documents: what a converter makes of a block.

use std::borrow::Cow;
use std::sync::Arc;

use terraform::{AlternativeText, EvaluatedText, EvaluatedValue, TextNumber, TextPlace, decode_yaml};

/// A document as far as a block describes it.
#[derive(Clone, Debug)]
pub(crate) enum DocumentDraft {
    /// YAML or JSON in a string, and the expression that uses the string.
    Text(EvaluatedText, TextPlace),
    /// YAML or JSON in one of several strings, the string with directives that leads to them, and the expression that uses it. Where they do
    /// not agree on the document, its place, the address of the resource, and the reason.
    Alternatives {
        texts: Vec<AlternativeText>,
        whole: EvaluatedText,
        used: TextPlace,
        at: TextPlace,
        address: String,
        reason: String,
    },
    /// One document, composed of values.
    Document(DraftPart),
    /// A string that a document is composed of, and the expression that uses the string.
    Used(EvaluatedText, TextPlace),
    /// A text that an unknown document is made of. Its documents are not known either.
    Source(TextNumber),
    /// A resource that makes no object: its whole block, its place, and the reason.
    Absent { whole: TextPlace, at: TextPlace, reason: String },
    /// A document that is not known before Terraform applies the configuration: its place, and the reason.
    Unknown(TextPlace, String),
}

/// Value of a document that a converter composes.
#[derive(Clone, Debug)]
pub(crate) enum DraftPart {
    /// A value of the configuration with everything in it. `null` is kept.
    Value(EvaluatedValue),
    /// A value of the configuration with everything in it, that the provider `kubernetes` adapts to the schema of the object: without
    /// members that are `null`, and with scalars of the types of their fields.
    Adapted(EvaluatedValue),
    /// A string that the configuration does not have, and what it is about.
    Word(Cow<'static, str>, TextPlace),
    /// A number that the configuration has as a string.
    Int(i64, TextPlace),
    /// An object.
    Object(Vec<DraftMember>, TextPlace),
    /// A list.
    List(Vec<DraftPart>, TextPlace),
}

/// Member of an object that a converter composes.
#[derive(Clone, Debug)]
pub(crate) struct DraftMember {
    pub(crate) key: Arc<str>,
    /// The place of the key.
    pub(crate) at: TextPlace,
    pub(crate) value: DraftPart,
}

impl DocumentDraft {
    /// Whether the document is known.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown(..))
    }

    /// The draft without its document: what is left of a document that another one replaces.
    pub(crate) fn replaced(self) -> Option<Self> {
        match self {
            Self::Text(text, used) | Self::Used(text, used) => Some(Self::Used(text, used)),
            Self::Source(text) => Some(Self::Source(text)),
            Self::Alternatives { .. } | Self::Document(_) | Self::Unknown(..) | Self::Absent { .. } => None,
        }
    }

    /// The draft at another place, with its values where they are.
    pub(crate) fn at(self, place: TextPlace) -> Self {
        match self {
            Self::Text(text, used) => {
                match decode_yaml(&text, used).filter(|value| value.members().is_some()) {
                    Some(value) => Self::Document(DraftPart::Value(EvaluatedValue { place, ..value })),
                    None => Self::Text(text, used),
                }
            }
            Self::Document(part) => Self::Document(part.at(place)),
            Self::Unknown(_, reason) => Self::Unknown(place, reason),
            other => other,
        }
    }
}

impl DraftPart {
    fn at(self, place: TextPlace) -> Self {
        match self {
            Self::Value(value) => Self::Value(EvaluatedValue { place, ..value }),
            Self::Adapted(value) => Self::Adapted(EvaluatedValue { place, ..value }),
            Self::Word(word, _) => Self::Word(word, place),
            Self::Int(number, _) => Self::Int(number, place),
            Self::Object(members, _) => Self::Object(members, place),
            Self::List(items, _) => Self::List(items, place),
        }
    }

    /// The place of the value.
    pub(crate) fn place(&self) -> TextPlace {
        match self {
            Self::Value(value) | Self::Adapted(value) => value.place,
            Self::Word(_, place) | Self::Int(_, place) | Self::Object(_, place) | Self::List(_, place) => {
                *place
            }
        }
    }

    /// A string that the configuration does not have.
    pub(crate) fn word(word: impl Into<Cow<'static, str>>, place: TextPlace) -> Self {
        Self::Word(word.into(), place)
    }

    /// An object.
    pub(crate) fn object(members: impl IntoIterator<Item = DraftMember>, place: TextPlace) -> Self {
        Self::Object(members.into_iter().collect(), place)
    }

    /// The part under this one where another part that comes later does not replace it: objects merge, as Helm merges values.
    pub(crate) fn merged(self, later: Self) -> Self {
        let place = later.place();
        let (Some(mut members), Some(others)) = (self.members(), later.members()) else { return later };
        for other in others {
            match members.iter_mut().find(|known| known.key == other.key) {
                Some(known) => {
                    let before = core::mem::replace(&mut known.value, Self::Object(Vec::new(), place));
                    known.value = before.merged(other.value);
                    known.at = other.at;
                }
                None => members.push(other),
            }
        }
        Self::Object(members, place)
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(items, _) => Some(items.clone()),
            Self::Value(value) | Self::Adapted(value) => {
                Some(value.items()?.iter().cloned().map(Self::Value).collect())
            }
            Self::Object(..) | Self::Word(..) | Self::Int(..) => None,
        }
    }

    /// The members of an object.
    pub(crate) fn members(&self) -> Option<Vec<DraftMember>> {
        match self {
            Self::Object(members, _) => Some(members.clone()),
            Self::Word(..) | Self::Int(..) | Self::List(..) => None,
            Self::Value(value) | Self::Adapted(value) => {
                let members = value.members()?.as_map().iter();
                let member = |(key, member): (&Arc<str>, &terraform::EvaluatedMember)| DraftMember {
                    key: Arc::clone(key),
                    at: member.key,
                    value: Self::Value(member.value.clone()),
                };
                Some(members.map(member).collect())
            }
        }
    }
}

impl DraftMember {
    pub(crate) fn new(key: &str, at: TextPlace, value: DraftPart) -> Self {
        Self { key: key.into(), at, value }
    }
}
