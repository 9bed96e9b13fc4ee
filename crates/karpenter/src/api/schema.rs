//! The types of the schemas, and constructors for the tables.

use super::pattern::FieldPattern;
use super::relations::Relation;
use super::stored::{DefaultValue, StoredValue};
use crate::kind::Kind;
use crate::release::{Release, Releases};

/// Schema of the objects of a kind.
#[derive(Debug)]
pub struct KindSchema {
    /// The kind, in the version of the schema.
    pub kind: Kind,
    /// The releases that serve the kind.
    pub releases: Releases,
    /// Schema of `spec`, the only validated part of an object.
    pub spec: FieldSchema,
    /// The known fields of `status`, which the server drops before it validates an object.
    pub status: &'static [FieldSchema],
    /// The releases in which `spec.replicas` is also the scale subresource.
    pub scale: Releases,
}

/// Schema of a field of an object.
#[derive(Clone, Copy, Debug)]
pub struct FieldSchema {
    /// The name.
    pub name: &'static str,
    /// The releases that have the field.
    pub releases: Releases,
    /// Whether the server refuses an object without the field.
    pub required: bool,
    /// The value that the server stores if the field is absent or null, and the releases that do so.
    pub default: Option<(DefaultValue, Releases)>,
    /// Schema of the value.
    pub schema: Schema,
}

/// Schema of a value.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The type.
    pub shape: SchemaType,
    /// Constraints on the value itself.
    pub constraints: &'static [Constraint],
    /// Constraints on several fields of the value.
    pub relations: &'static [Relation],
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub enum SchemaType {
    /// An object with these fields.
    Object(&'static [FieldSchema]),
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
    /// Any value, which the server stores without validation.
    Any,
}

impl SchemaType {
    /// The type with its article, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object(_) | Self::Map(_) => "an object",
            Self::List(_) => "a list",
            Self::Text => "a string",
            Self::Integer => "a whole number",
            Self::Boolean => "`true` or `false`",
            Self::IntOrText => "a whole number or a string",
            Self::Any => "a value",
        }
    }
}

/// A constraint on a value, and the releases that enforce it.
#[derive(Clone, Copy, Debug)]
pub struct Constraint {
    /// The limit.
    pub limit: Limit,
    /// The releases that enforce the limit.
    pub releases: Releases,
}

/// A limit on a value, named like the keywords of JSON Schema.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The string is one of these.
    OneOf(&'static [EnumValue]),
    /// The string matches this pattern.
    Pattern(&'static FieldPattern),
    /// The number is at least this.
    Minimum(i32),
    /// The number is at most this.
    Maximum(i32),
    /// The string has at least this many characters.
    MinLength(u32),
    /// The string has at most this many characters.
    MaxLength(u32),
    /// The list has at least this many items.
    MinItems(u32),
    /// The list has at most this many items.
    MaxItems(u32),
    /// The object has at most this many members.
    MaxProperties(u32),
    /// The items of the list differ.
    UniqueItems,
    /// The string is a date with a time.
    DateTime,
}

/// The end of a noun after a number.
const fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl Limit {
    /// The limit in a few words. Values of an enum have the releases that support them, unless all do.
    pub fn described(self, release: Release) -> String {
        match self {
            Self::OneOf(words) => {
                let own = words.iter().filter(|word| word.releases.contains(release));
                let own: Vec<String> = own.map(EnumValue::described).collect();
                format!("one of {}", own.join(", "))
            }
            Self::Pattern(pattern) => pattern.description.to_owned(),
            Self::Minimum(bound) => format!("at least {bound}"),
            Self::Maximum(bound) => format!("at most {bound}"),
            Self::MinLength(bound) => format!("at least {bound} character{}", plural(bound)),
            Self::MaxLength(bound) => format!("at most {bound} character{}", plural(bound)),
            Self::MinItems(bound) => format!("at least {bound} item{}", plural(bound)),
            Self::MaxItems(bound) => format!("at most {bound} item{}", plural(bound)),
            Self::MaxProperties(bound) => format!("at most {bound} key{}", plural(bound)),
            Self::UniqueItems => "no duplicate items".to_owned(),
            Self::DateTime => "a date with a time".to_owned(),
        }
    }
}

impl EnumValue {
    fn described(&self) -> String {
        let Self { text, releases } = self;
        if releases.is_everywhere() { format!("`{text}`") } else { format!("`{text}` ({releases})") }
    }
}

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValue {
    /// The value.
    pub text: &'static str,
    /// The releases that support the value.
    pub releases: Releases,
}

impl FieldSchema {
    /// The field of a stored object, or the default.
    pub fn stored_in<'d>(&'static self, object: StoredValue<'d>) -> Option<StoredValue<'d>> {
        object.get(self.name).or_else(|| self.default.as_ref().map(|(value, _)| StoredValue::Filled(value)))
    }

    pub(super) const fn new(name: &'static str, required: bool, schema: Schema) -> Self {
        Self { name, releases: Releases::ALL, required, default: None, schema }
    }

    /// Restricts the field to 1.`minor` and later.
    pub(super) const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    /// Restricts the field to 1.`minor` and earlier.
    pub(super) const fn until(mut self, minor: u8) -> Self {
        self.releases = Releases::until(minor);
        self
    }

    /// Sets the default in every release.
    pub(super) const fn or(self, value: DefaultValue) -> Self {
        self.or_in(Releases::ALL, value)
    }

    /// Sets the default in some releases.
    pub(super) const fn or_in(mut self, releases: Releases, value: DefaultValue) -> Self {
        self.default = Some((value, releases));
        self
    }
}

impl Schema {
    pub(super) const fn new(shape: SchemaType, constraints: &'static [Constraint]) -> Self {
        Self { shape, constraints, relations: &[] }
    }

    /// Sets the constraints on several fields of the value.
    pub(super) const fn with(mut self, relations: &'static [Relation]) -> Self {
        self.relations = relations;
        self
    }
}

impl Constraint {
    pub(super) const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    pub(super) const fn until(mut self, minor: u8) -> Self {
        self.releases = Releases::until(minor);
        self
    }
}

// Constructors for the tables.

pub(super) const fn required(name: &'static str, schema: Schema) -> FieldSchema {
    FieldSchema::new(name, true, schema)
}

pub(super) const fn optional(name: &'static str, schema: Schema) -> FieldSchema {
    FieldSchema::new(name, false, schema)
}

pub(super) const fn object(fields: &'static [FieldSchema]) -> Schema {
    Schema::new(SchemaType::Object(fields), &[])
}

pub(super) const fn map(values: &'static Schema, constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Map(values), constraints)
}

pub(super) const fn list(items: &'static Schema, constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::List(items), constraints)
}

pub(super) const fn text(constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Text, constraints)
}

pub(super) const fn integer(constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Integer, constraints)
}

/// A whole number between two bounds, inclusive.
macro_rules! integer_within {
    ($least:literal, $most:literal) => {
        crate::api::schema::integer(&[
            crate::api::schema::constraint(crate::api::schema::Limit::Minimum($least)),
            crate::api::schema::constraint(crate::api::schema::Limit::Maximum($most)),
        ])
    };
}
pub(super) use integer_within;

pub(super) const fn boolean() -> Schema {
    Schema::new(SchemaType::Boolean, &[])
}

pub(super) const fn constraint(limit: Limit) -> Constraint {
    Constraint { limit, releases: Releases::ALL }
}

pub(super) const fn matching(pattern: &'static FieldPattern) -> Constraint {
    constraint(Limit::Pattern(pattern))
}

pub(super) const fn one_of(words: &'static [EnumValue]) -> Constraint {
    constraint(Limit::OneOf(words))
}

pub(super) const fn minimum(number: i32) -> Constraint {
    constraint(Limit::Minimum(number))
}

pub(super) const fn max_items(count: u32) -> Constraint {
    constraint(Limit::MaxItems(count))
}

pub(super) const fn max_properties(count: u32) -> Constraint {
    constraint(Limit::MaxProperties(count))
}

pub(super) const fn value(text: &'static str) -> EnumValue {
    EnumValue { text, releases: Releases::ALL }
}

pub(super) const fn value_since(minor: u8, text: &'static str) -> EnumValue {
    EnumValue { text, releases: Releases::since(minor) }
}

/// An object that the server stores without validation.
pub(super) const OPEN_MAP: Schema = map(&Schema::new(SchemaType::Any, &[]), &[]);

/// Any string.
pub(super) const ANY_TEXT: Schema = text(&[]);
