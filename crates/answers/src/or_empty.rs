//! Values that may be missing, written as an empty string.

use serde::{Serialize, Serializer};

/// Value, or an empty string without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrEmpty<T>(pub Option<T>);

impl<T: Serialize> Serialize for OrEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}
