//! The schemas of Karpenter's objects, as the API server enforces them, by release.
//!
//! One table describes all releases. A constraint holds in all releases that have its field, unless it has `since` or
//! `until`. Source: the custom resource definitions at each tag of aws/karpenter-provider-aws, v1.0.0 to v1.14.1, in
//! pkg/apis/crds: `karpenter.sh_nodepools.yaml`,
//! `karpenter.sh_nodeclaims.yaml`, `karpenter.sh_nodeoverlays.yaml` (since 1.7) and
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

/// The schemas of all kinds.
pub const KIND_SCHEMAS: [&KindSchema; 4] =
    [&nodepool::NODE_POOL, &nodeclaim::NODE_CLAIM, &ec2nodeclass::EC2_NODE_CLASS, &nodeoverlay::NODE_OVERLAY];

/// The schema of a kind in a version.
pub fn kind_schema(group: &str, version: &str, kind: &str) -> Option<&'static KindSchema> {
    KIND_SCHEMAS.into_iter().find(|schema| schema.kind.is(group, version, kind))
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

/// A value that the API server stores if a field is absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// A string.
    Text(&'static str),
    /// A whole number.
    Int(i64),
    /// An object.
    Object(&'static [(&'static str, Self)]),
    /// A list.
    List(&'static [Self]),
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

/// A limit on a value, named like the keywords of OpenAPI.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The string is one of these.
    OneOf(&'static [EnumValue]),
    /// The string matches this pattern.
    Pattern(&'static Pattern),
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

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumValue {
    /// The value.
    pub text: &'static str,
    /// The releases that support the value.
    pub releases: Releases,
}

impl FieldSchema {
    const fn new(name: &'static str, required: bool, schema: Schema) -> Self {
        Self { name, releases: Releases::ALL, required, default: None, schema }
    }

    /// Restricts the field to 1.`minor` and later.
    const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    /// Sets the default in every release.
    const fn or(self, value: DefaultValue) -> Self {
        self.or_in(Releases::ALL, value)
    }

    /// Sets the default in some releases.
    const fn or_in(mut self, releases: Releases, value: DefaultValue) -> Self {
        self.default = Some((value, releases));
        self
    }
}

impl Schema {
    const fn new(shape: SchemaType, constraints: &'static [Constraint]) -> Self {
        Self { shape, constraints, relations: &[] }
    }

    /// Sets the constraints on several fields of the value.
    const fn with(mut self, relations: &'static [Relation]) -> Self {
        self.relations = relations;
        self
    }
}

impl Constraint {
    const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    const fn until(mut self, minor: u8) -> Self {
        self.releases = Releases::until(minor);
        self
    }
}

// Constructors for the tables.

const fn required(name: &'static str, schema: Schema) -> FieldSchema {
    FieldSchema::new(name, true, schema)
}

const fn optional(name: &'static str, schema: Schema) -> FieldSchema {
    FieldSchema::new(name, false, schema)
}

const fn object(fields: &'static [FieldSchema]) -> Schema {
    Schema::new(SchemaType::Object(fields), &[])
}

const fn map(values: &'static Schema, constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Map(values), constraints)
}

const fn list(items: &'static Schema, constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::List(items), constraints)
}

const fn text(constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Text, constraints)
}

const fn integer(constraints: &'static [Constraint]) -> Schema {
    Schema::new(SchemaType::Integer, constraints)
}

/// A whole number between two bounds, inclusive.
macro_rules! integer_within {
    ($least:literal, $most:literal) => {
        crate::api::integer(&[
            crate::api::constraint(crate::api::Limit::Minimum($least)),
            crate::api::constraint(crate::api::Limit::Maximum($most)),
        ])
    };
}
use integer_within;

const fn boolean() -> Schema {
    Schema::new(SchemaType::Boolean, &[])
}

const fn constraint(limit: Limit) -> Constraint {
    Constraint { limit, releases: Releases::ALL }
}

const fn matching(pattern: &'static Pattern) -> Constraint {
    constraint(Limit::Pattern(pattern))
}

const fn one_of(words: &'static [EnumValue]) -> Constraint {
    constraint(Limit::OneOf(words))
}

const fn minimum(number: i32) -> Constraint {
    constraint(Limit::Minimum(number))
}

const fn max_items(count: u32) -> Constraint {
    constraint(Limit::MaxItems(count))
}

const fn max_properties(count: u32) -> Constraint {
    constraint(Limit::MaxProperties(count))
}

const fn value(text: &'static str) -> EnumValue {
    EnumValue { text, releases: Releases::ALL }
}

const fn value_since(minor: u8, text: &'static str) -> EnumValue {
    EnumValue { text, releases: Releases::since(minor) }
}

/// Any string.
const ANY_TEXT: Schema = text(&[]);

#[cfg(test)]
mod tests {
    use super::*;

    fn for_each_object(schema: &'static Schema, see: &mut impl FnMut(&'static [FieldSchema])) {
        match schema.shape {
            SchemaType::Object(fields) => {
                see(fields);
                for field in fields {
                    for_each_object(&field.schema, see);
                }
            }
            SchemaType::Map(inner) | SchemaType::List(inner) => for_each_object(inner, see),
            _ => {}
        }
    }

    #[test]
    fn release_has_one_schema_per_field() {
        for root in KIND_SCHEMAS {
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
