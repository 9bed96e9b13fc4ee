//! Values as the API server stores them: without nulls and unknown fields, and with defaults. An update may keep a stored
//! value that the server would refuse today.

use std::fmt;

use manifest::is_from_terraform;
use manifest::tree::Node;
use values::placeholder::Placeholder;

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

impl DefaultValue {
    /// Whether the value is a string or a number.
    pub const fn is_scalar(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Int(_))
    }
}

/// The value as YAML in one line.
impl fmt::Display for DefaultValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Int(number) => write!(formatter, "{number}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(formatter, "[{}]", items.join(", "))
            }
            Self::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                write!(formatter, "{{{}}}", members.join(", "))
            }
        }
    }
}

/// A stored value: from the object or from a default.
#[derive(Clone, Copy, Debug)]
pub enum StoredValue<'d> {
    /// A value of the object.
    Given(Node<'d>),
    /// A default.
    Filled(&'static DefaultValue),
}

impl<'d> StoredValue<'d> {
    /// The member of an object under a key; null counts as absent.
    pub fn get(self, key: &str) -> Option<Self> {
        match self {
            Self::Given(node) => present(node, key).map(Self::Given),
            Self::Filled(DefaultValue::Object(members)) => {
                members.iter().find(|(name, _)| *name == key).map(|(_, value)| Self::Filled(value))
            }
            Self::Filled(_) => None,
        }
    }

    /// The string, if the value is a string.
    pub fn as_str(self) -> Option<&'d str> {
        match self {
            Self::Given(node) => node.as_str(),
            Self::Filled(DefaultValue::Text(text)) => Some(text),
            Self::Filled(_) => None,
        }
    }

    /// The number, if the value is a whole number.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Given(node) => node.as_int(),
            Self::Filled(DefaultValue::Int(number)) => Some(*number),
            Self::Filled(_) => None,
        }
    }

    /// The items, if the value is a list.
    pub fn items(self) -> Vec<Self> {
        match self {
            Self::Given(node) => node.items().map(Self::Given).collect(),
            Self::Filled(DefaultValue::List(items)) => items.iter().map(Self::Filled).collect(),
            Self::Filled(_) => Vec::new(),
        }
    }
}

/// The member of an object under a key; null counts as absent.
pub fn present<'d>(node: Node<'d>, key: &str) -> Option<Node<'d>> {
    node.get(key).filter(|value| !value.is_null())
}

/// The member of an object under a key, unless it is or may be absent.
pub fn certain<'d>(node: Node<'d>, key: &str) -> Option<Node<'d>> {
    present(node, key).filter(|value| !may_be_absent(*value))
}

/// Whether a value may be null, which counts as absent: a placeholder in place of the whole value, in a document that Terraform makes. In a text,
/// the placeholder of an empty string or of `null` leaves nothing.
pub fn may_be_absent(value: Node<'_>) -> bool {
    value.as_str().is_some_and(Placeholder::is_whole) && is_from_terraform(value)
}

/// The members of an object that are not null, which are the stored ones.
pub fn members(node: Node<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    node.members().filter(|(_, value)| !value.is_null())
}
