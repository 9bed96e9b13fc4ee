//! Names as they are kept by the ten thousand: where they stand, without memory of their own for each.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The bytes of a name that are kept in place: those of an instance's id and of an address in EC2's long form fit.
const SHORT: usize = 46;

/// A name of an object, an instance or a zone. Most are short, and what is kept in place needs not be found, nor given back.
#[derive(Clone)]
pub struct Name(Kept);

#[derive(Clone)]
enum Kept {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(len)) => {
                place.copy_from_slice(text.as_bytes());
                Self(Kept::Short { len, bytes })
            }
            _ => Self(Kept::Long(text.into())),
        }
    }
}

impl Name {
    fn bytes(&self) -> &[u8] {
        match &self.0 {
            Kept::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Kept::Long(text) => text.as_bytes(),
        }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Kept::Short { .. } => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Kept::Long(text) => text,
        }
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::from("")
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes().cmp(other.bytes())
    }
}

/// As that of its bytes, by which it is looked up.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher as _;

    use super::*;
    use crate::hashing::Hashing;

    #[test]
    fn a_name_is_its_text_however_it_is_kept() {
        for text in ["", "a", "é", &"x".repeat(SHORT), &"x".repeat(SHORT + 1), &"é".repeat(300)] {
            let name = Name::from(text);
            assert_eq!((&*name, name.to_string()), (text, text.to_owned()));
            assert_eq!(matches!(name.0, Kept::Short { .. }), text.len() <= SHORT);
        }
        assert!(Name::from("a") < Name::from("b"));
        assert!(Name::from("b") < Name::from(&*"c".repeat(SHORT + 1)));
        assert!(size_of::<Name>() <= 48);
        let hashing = Hashing::default();
        assert_eq!(hashing.hash_one(b"default-a".as_slice()), hashing.hash_one(Name::from("default-a")));
    }
}
