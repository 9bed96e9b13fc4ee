//! Types of values.
//!
//! Reference: zclconf/go-cty `cty/type.go`.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Type of a value of Terraform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any type: of an unknown value, or in a constraint.
    Dynamic,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list whose items have one type.
    List(Arc<Self>),
    /// A set whose items have one type.
    Set(Arc<Self>),
    /// A map whose values have one type.
    Map(Arc<Self>),
    /// A list whose items have a type each.
    Tuple(Arc<[Self]>),
    /// A map whose values have a type each.
    Object(Arc<BTreeMap<Arc<str>, AttributeType>>),
}

/// Type of an attribute of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeType {
    /// The type.
    pub of: Type,
    /// Whether an object may lack the attribute, in a constraint.
    pub is_optional: bool,
}

impl Type {
    pub(crate) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(crate) fn set(element: Self) -> Self {
        Self::Set(Arc::new(element))
    }

    pub(crate) fn map(element: Self) -> Self {
        Self::Map(Arc::new(element))
    }

    pub(crate) fn object(attributes: impl IntoIterator<Item = (Arc<str>, Self)>) -> Self {
        let attribute = |(name, of)| (name, AttributeType { of, is_optional: false });
        Self::Object(Arc::new(attributes.into_iter().map(attribute).collect()))
    }

    /// The type of the elements of a collection.
    pub(crate) fn element(&self) -> Option<&Self> {
        match self {
            Self::List(element) | Self::Set(element) | Self::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Whether any part of the type is not known.
    pub(crate) fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Tuple(elements) => elements.iter().any(Self::has_dynamic),
            Self::Object(attributes) => attributes.values().any(|attribute| attribute.of.has_dynamic()),
        }
    }
}

/// The type as the console of Terraform prints it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic => f.write_str("dynamic"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Set(element) => write!(f, "set({element})"),
            Self::Map(element) => write!(f, "map({element})"),
            Self::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("])")
            }
            Self::Object(attributes) => {
                f.write_str("object({")?;
                for (index, (name, attribute)) in attributes.iter().enumerate() {
                    write!(f, "{}{name}: {}", if index > 0 { "," } else { "" }, attribute.of)?;
                }
                f.write_str("})")
            }
        }
    }
}
