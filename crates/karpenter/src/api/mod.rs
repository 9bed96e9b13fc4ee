//! What the API server knows of Karpenter's objects: their fields, and what it asks of each, release by release.
//!
//! One table serves all releases; a release is a filter on it. Every fact holds in all releases in which its field exists,
//! unless it says `since` or `until`. Kept by hand from the custom resource definitions at each tag of
//! aws/karpenter-provider-aws, v1.0.0 to v1.14.1, in pkg/apis/crds: `karpenter.sh_nodepools.yaml`,
//! `karpenter.sh_nodeclaims.yaml`, `karpenter.sh_nodeoverlays.yaml` (from 1.7) and
//! `karpenter.k8s.aws_ec2nodeclasses.yaml`.

mod ec2nodeclass;
mod metadata;
mod node;
mod nodeclaim;
mod nodeoverlay;
mod nodepool;
pub mod pattern;
pub mod relations;
pub mod served;
pub mod stored;

use super::release::Releases;
use crate::kind::Kind;
use pattern::Pattern;
use relations::Relation;

pub use metadata::METADATA;

/// A kind, and what the API server asks of its objects.
#[derive(Debug)]
pub struct Root {
    /// The kind, in the version that the table describes.
    pub kind: Kind,
    /// The releases that serve it.
    pub releases: Releases,
    /// `spec`, which is all that is judged.
    pub spec: Field,
    /// The fields of `status`, which is dropped before an object is judged: only whether they are known matters.
    pub status: &'static [Field],
    /// The releases in which `spec.replicas` is also read as the scale of the object.
    pub scale: Releases,
}

/// All kinds of the table.
pub const ROOTS: [&Root; 4] =
    [&nodepool::NODE_POOL, &nodeclaim::NODE_CLAIM, &ec2nodeclass::EC2_NODE_CLASS, &nodeoverlay::NODE_OVERLAY];

/// The table of a kind in a version.
pub fn root_of(group: &str, version: &str, kind: &str) -> Option<&'static Root> {
    ROOTS.into_iter().find(|root| root.kind.is(group, version, kind))
}

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The releases that know it.
    pub releases: Releases,
    /// Whether the object is refused without it.
    pub required: bool,
    /// What is stored where it is absent or null, and the releases that do so.
    pub default: Option<(Literal, Releases)>,
    /// What its value must be.
    pub schema: Schema,
}

/// A value that the API server writes where none is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A string.
    Text(&'static str),
    /// A whole number.
    Int(i64),
    /// An object.
    Object(&'static [(&'static str, Self)]),
    /// A list.
    List(&'static [Self]),
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Its type.
    pub shape: Shape,
    /// What is asked of the value itself.
    pub facts: &'static [Fact],
    /// What is asked of the fields within it together.
    pub relations: &'static [Relation],
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// An object with these fields.
    Object(&'static [Field]),
    /// An object whose keys are free.
    Map(&'static Schema),
    /// A list.
    List(&'static Schema),
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A whole number or a string.
    IntOrText,
}

impl Shape {
    /// What it is, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object(_) | Self::Map(_) => "an object",
            Self::List(_) => "a list",
            Self::Text => "a string",
            Self::Integer => "a whole number",
            Self::Boolean => "`true` or `false`",
            Self::IntOrText => "a whole number or a string",
        }
    }
}

/// Something asked of a value, and the releases that ask it.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// What is asked.
    pub limit: Limit,
    /// Who asks.
    pub releases: Releases,
}

/// Something asked of a value.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The string is one of these.
    OneOf(&'static [Word]),
    /// The string is of this form.
    Form(&'static Pattern),
    /// The number is at least this.
    Least(i32),
    /// The number is at most this.
    Most(i32),
    /// The string has at least so many letters.
    LeastLetters(u32),
    /// The string has at most so many letters.
    MostLetters(u32),
    /// The list has at least so many items.
    LeastItems(u32),
    /// The list has at most so many items.
    MostItems(u32),
    /// The object has at most so many members.
    MostMembers(u32),
    /// The items of the list differ.
    Distinct,
    /// The string is a date with a time.
    DateTime,
}

/// A word that a string may be.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word.
    pub text: &'static str,
    /// The releases that know it.
    pub releases: Releases,
}

impl Field {
    const fn new(name: &'static str, required: bool, schema: Schema) -> Self {
        Self { name, releases: Releases::ALL, required, default: None, schema }
    }

    /// From 1.`minor` on.
    const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    /// What is stored where the field is absent.
    const fn or(self, value: Literal) -> Self {
        self.or_in(Releases::ALL, value)
    }

    /// What some releases store where the field is absent.
    const fn or_in(mut self, releases: Releases, value: Literal) -> Self {
        self.default = Some((value, releases));
        self
    }
}

impl Schema {
    const fn new(shape: Shape, facts: &'static [Fact]) -> Self {
        Self { shape, facts, relations: &[] }
    }

    /// What is asked of the fields within together.
    const fn with(mut self, relations: &'static [Relation]) -> Self {
        self.relations = relations;
        self
    }
}

impl Fact {
    const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    const fn until(mut self, minor: u8) -> Self {
        self.releases = Releases::until(minor);
        self
    }
}

// The words that the tables are written in.

const fn required(name: &'static str, schema: Schema) -> Field {
    Field::new(name, true, schema)
}

const fn optional(name: &'static str, schema: Schema) -> Field {
    Field::new(name, false, schema)
}

const fn object(fields: &'static [Field]) -> Schema {
    Schema::new(Shape::Object(fields), &[])
}

const fn map(values: &'static Schema, facts: &'static [Fact]) -> Schema {
    Schema::new(Shape::Map(values), facts)
}

const fn list(items: &'static Schema, facts: &'static [Fact]) -> Schema {
    Schema::new(Shape::List(items), facts)
}

const fn text(facts: &'static [Fact]) -> Schema {
    Schema::new(Shape::Text, facts)
}

const fn integer(facts: &'static [Fact]) -> Schema {
    Schema::new(Shape::Integer, facts)
}

/// A whole number between two bounds, both included.
macro_rules! integer_within {
    ($least:literal, $most:literal) => {
        crate::api::integer(&[
            crate::api::fact(crate::api::Limit::Least($least)),
            crate::api::fact(crate::api::Limit::Most($most)),
        ])
    };
}
use integer_within;

const fn boolean() -> Schema {
    Schema::new(Shape::Boolean, &[])
}

const fn fact(limit: Limit) -> Fact {
    Fact { limit, releases: Releases::ALL }
}

const fn form(pattern: &'static Pattern) -> Fact {
    fact(Limit::Form(pattern))
}

const fn one_of(words: &'static [Word]) -> Fact {
    fact(Limit::OneOf(words))
}

const fn at_least(number: i32) -> Fact {
    fact(Limit::Least(number))
}

const fn most_items(count: u32) -> Fact {
    fact(Limit::MostItems(count))
}

const fn most_members(count: u32) -> Fact {
    fact(Limit::MostMembers(count))
}

const fn word(text: &'static str) -> Word {
    Word { text, releases: Releases::ALL }
}

const fn word_since(minor: u8, text: &'static str) -> Word {
    Word { text, releases: Releases::since(minor) }
}

/// Any string.
const ANY_TEXT: Schema = text(&[]);

#[cfg(test)]
mod tests {
    use super::*;

    fn for_each_object(schema: &'static Schema, see: &mut impl FnMut(&'static [Field])) {
        match schema.shape {
            Shape::Object(fields) => {
                see(fields);
                for field in fields {
                    for_each_object(&field.schema, see);
                }
            }
            Shape::Map(inner) | Shape::List(inner) => for_each_object(inner, see),
            _ => {}
        }
    }

    #[test]
    fn a_release_knows_a_field_once() {
        for root in ROOTS {
            for_each_object(&root.spec.schema, &mut |fields| {
                for (index, field) in fields.iter().enumerate() {
                    assert!(!field.releases.is_empty());
                    let later = fields.iter().skip(index + 1).filter(|other| other.name == field.name);
                    later.for_each(|other| assert!(!other.releases.meets(field.releases), "{}", field.name));
                }
            });
        }
    }
}
