//! The hash of a stored value. The tables of the API say which fields a release stores, and with which default; the tables of this
//! crate say how Go holds them.
//!
//! Source: mitchellh/hashstructure v2.0.2 with the options `SlicesAsSets`, `IgnoreZeroValue` and `ZeroNil`.

use karpenter::api::stored::{StoredValue, members};
use karpenter::api::{FieldSchema, Schema, SchemaType};
use karpenter::release::Release;
use manifest::tree::{Node, Value};
use values::duration::{Duration, NillableDuration};
use values::quantity::Quantity;
use values::timestamp::Timestamp;

use crate::error::{HashError, HashProblem};
use crate::fnv;
use crate::go::{GoField, GoStruct, GoType};

/// Release and form of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    pub(crate) release: Release,
    /// Whether the API server's defaults are still missing.
    pub(crate) fills_defaults: bool,
}

/// A value with its schema. Without a schema every member is kept, as in an open map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typed<'d> {
    pub(crate) value: StoredValue<'d>,
    pub(crate) schema: &'static Schema,
}

/// The hash of a value, and whether Go holds it as a zero value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashed {
    pub(crate) hash: u64,
    pub(crate) is_zero: bool,
}

impl Hasher {
    /// The hashed members of a struct: each field with its value, unless it is absent.
    pub(crate) fn fields<'d>(
        self,
        go: &'static GoStruct,
        object: Typed<'d>,
    ) -> impl Iterator<Item = (&'static GoField, Typed<'d>)> {
        let hashed = go.fields.iter().filter(move |field| field.releases.contains(self.release));
        hashed.filter_map(move |field| Some((field, self.member(object, field.key)?)))
    }

    /// A member as the API server stores it.
    pub(crate) fn member<'d>(self, object: Typed<'d>, key: &str) -> Option<Typed<'d>> {
        let SchemaType::Object(fields) = object.schema.shape else { return None };
        let is_served = |field: &&FieldSchema| field.name == key && field.releases.contains(self.release);
        let field = fields.iter().find(is_served)?;
        let filled = || {
            let (value, releases) = field.default.as_ref().filter(|_| self.fills_defaults)?;
            releases.contains(self.release).then_some(StoredValue::Filled(value))
        };
        Some(Typed { value: object.value.get(key).or_else(filled)?, schema: &field.schema })
    }

    /// The items of a list.
    pub(crate) fn items(list: Typed<'_>) -> Vec<Typed<'_>> {
        let SchemaType::List(schema) = list.schema.shape else { return Vec::new() };
        list.value.items().into_iter().map(|value| Typed { value, schema }).collect()
    }

    /// The entries of a map; null counts as absent.
    pub(crate) fn entries(map: Typed<'_>) -> Vec<(&str, Typed<'_>)> {
        let (SchemaType::Map(schema), StoredValue::Given(node)) = (map.schema.shape, map.value) else {
            return Vec::new();
        };
        let present = members(node);
        present.map(|(key, value)| (key, Typed { value: StoredValue::Given(value), schema })).collect()
    }

    /// The hash of a value of a Go type.
    pub(crate) fn hash<'d>(self, go: &'static GoType, typed: Typed<'d>) -> Result<Hashed, HashError<'d>> {
        if let StoredValue::Given(node) = typed.value
            && !fits(go, node)
        {
            return Err(HashError { node, problem: HashProblem::Type(typed.schema.shape) });
        }
        match go {
            GoType::Struct(go) => self.hash_struct(go, typed),
            GoType::Map(values) => {
                let mut hash = 0;
                for (key, value) in Self::entries(typed) {
                    hash ^= fnv::ordered(fnv::text(key), self.hash(values, value)?.hash);
                }
                Ok(Hashed { hash: fnv::finished(hash), is_zero: false })
            }
            GoType::List(items) => {
                let mut hash = 0;
                for item in Self::items(typed) {
                    hash ^= self.hash(items, item)?.hash;
                }
                Ok(Hashed { hash, is_zero: false })
            }
            GoType::Text => Ok(hash_text(typed.value.as_str().unwrap_or_default())),
            GoType::Bool => Ok(Hashed::of_bool(
                matches!(typed.value, StoredValue::Given(node) if node.as_bool() == Some(true)),
            )),
            GoType::Int32 | GoType::Int64 => hash_number(go, typed.value),
            GoType::Duration | GoType::NillableDuration | GoType::Quantity | GoType::Time => {
                let StoredValue::Given(node) = typed.value else {
                    return Ok(
                        hash_parsed(go, typed.value.as_str().unwrap_or_default()).unwrap_or(Hashed::NIL)
                    );
                };
                let text = node.as_str().unwrap_or_default();
                hash_parsed(go, text).map_err(|problem| HashError { node, problem })
            }
        }
    }

    /// Decodes a text that is no part of the hash; null counts as absent.
    pub(crate) fn decode<'d>(self, go: &'static GoType, node: Option<Node<'d>>) -> Result<(), HashError<'d>> {
        const TEXT: Schema = Schema { shape: SchemaType::Text, constraints: &[], relations: &[] };
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(()) };
        self.hash(go, Typed { value: StoredValue::Given(node), schema: &TEXT }).map(|_| ())
    }

    /// The hash of a struct.
    pub(crate) fn hash_struct<'d>(
        self,
        go: &'static GoStruct,
        object: Typed<'d>,
    ) -> Result<Hashed, HashError<'d>> {
        let mut hash = fnv::text(go.name);
        let mut is_zero = true;
        for (field, value) in self.fields(go, object) {
            let hashed = self.hash(&field.kind, value)?;
            if !(field.skips_zero && hashed.is_zero) {
                hash = with_field(hash, field.name, hashed.hash);
                is_zero = false;
            }
        }
        Ok(Hashed { hash, is_zero })
    }
}

impl Hashed {
    const NIL: Self = Self { hash: 0, is_zero: true };

    fn of_bool(value: bool) -> Self {
        Self { hash: fnv::bytes(&[u8::from(value)]), is_zero: !value }
    }
}

/// The hash of a struct with one more field.
fn with_field(hash: u64, name: &str, value: u64) -> u64 {
    fnv::finished(hash ^ fnv::ordered(fnv::text(name), value))
}

pub(crate) fn hash_text(text: &str) -> Hashed {
    Hashed { hash: fnv::text(text), is_zero: text.is_empty() }
}

/// Whether a value of a text has the type that Go expects. The API server has removed null, except in lists, where Go reads it
/// as the zero value.
fn fits(go: &GoType, node: Node<'_>) -> bool {
    match node.value() {
        Value::Null => true,
        Value::Mapping => matches!(go, GoType::Struct(_) | GoType::Map(_)),
        Value::Sequence => matches!(go, GoType::List(_)),
        Value::Bool(_) => matches!(go, GoType::Bool),
        Value::Int(_) => matches!(go, GoType::Int32 | GoType::Int64),
        Value::String(_) => matches!(
            go,
            GoType::Text | GoType::Duration | GoType::NillableDuration | GoType::Quantity | GoType::Time
        ),
        Value::Float(_) => false,
    }
}

fn hash_number<'d>(go: &GoType, value: StoredValue<'d>) -> Result<Hashed, HashError<'d>> {
    let number = value.as_int().unwrap_or_default();
    let hash = if matches!(go, GoType::Int32) {
        i32::try_from(number).ok().map(|number| fnv::bytes(&number.to_le_bytes()))
    } else {
        Some(fnv::bytes(&number.to_le_bytes()))
    };
    match (hash, value) {
        (Some(hash), _) => Ok(Hashed { hash, is_zero: number == 0 }),
        (None, StoredValue::Given(node)) => Err(HashError { node, problem: HashProblem::Number }),
        (None, StoredValue::Filled(_)) => Ok(Hashed::NIL),
    }
}

/// The hash of a value that Go parses from a string.
fn hash_parsed(go: &GoType, text: &str) -> Result<Hashed, HashProblem> {
    match go {
        GoType::Duration => {
            let nanoseconds = Duration::parse(text)?.nanoseconds();
            let hash = fnv::text("Duration");
            let is_zero = nanoseconds == 0;
            let bytes = fnv::bytes(&nanoseconds.to_le_bytes());
            Ok(Hashed { hash: if is_zero { hash } else { with_field(hash, "Duration", bytes) }, is_zero })
        }
        GoType::NillableDuration => {
            let hash = fnv::text("NillableDuration");
            Ok(match NillableDuration::parse(text)? {
                NillableDuration::Never => Hashed { hash, is_zero: true },
                NillableDuration::After(duration) => {
                    let bytes = fnv::bytes(&duration.nanoseconds().to_le_bytes());
                    Hashed { hash: with_field(hash, "Duration", bytes), is_zero: false }
                }
            })
        }
        GoType::Quantity => Ok(hash_text(&Quantity::parse(text.trim())?.to_string())),
        _ => hash_time(text).ok_or(HashProblem::Time),
    }
}

/// A time in the local time of Karpenter's container, UTC, as Go's `Time.MarshalBinary` writes it.
fn hash_time(text: &str) -> Option<Hashed> {
    /// Seconds between the year 1 and 1970.
    const TO_EPOCH: i64 = 62_135_596_800;
    const VERSION: u8 = 1;
    let time = Timestamp::parse(text)?;
    let nanoseconds = i32::try_from(time.nanoseconds_of_second()).ok()?;
    let mut bytes = vec![VERSION];
    bytes.extend((time.seconds() + TO_EPOCH).to_be_bytes());
    bytes.extend(nanoseconds.to_be_bytes());
    // Minutes east of UTC of the local time.
    bytes.extend(0_i16.to_be_bytes());
    let hash = with_field(fnv::text("Time"), "Time", fnv::bytes(&bytes));
    Some(Hashed { hash, is_zero: false })
}
