//! Lists that kubectl prints, read one object at a time.

use std::fmt;
use std::io::{self, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Bytes to read at once.
const CHUNK: usize = 1 << 16;

/// Reason for which a list was not read to its end.
#[derive(Debug)]
pub(super) enum ListError {
    /// The output is not a list in JSON.
    Malformed(serde_json::Error),
    /// The object could not be written.
    Write(io::Error),
}

/// Reads the list that `kubectl get --output=json` prints, and hands each of its items to `take`. Only one item is in memory.
/// Source: `printGeneric` in pkg/cmd/get/get.go of kubernetes/kubectl at v0.33.0.
pub(super) fn each_item(
    from: impl Read,
    take: &mut dyn FnMut(Value) -> io::Result<()>,
) -> Result<(), ListError> {
    let mut failed = None;
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(CHUNK, from));
    let result = ListSeed { take, failed: &mut failed }.deserialize(&mut reader);
    match (result, failed) {
        (_, Some(error)) => Err(ListError::Write(error)),
        (Err(error), None) => Err(ListError::Malformed(error)),
        (Ok(()), None) => Ok(()),
    }
}

/// The list, and with it the field `items`.
struct ListSeed<'t> {
    take: &'t mut dyn FnMut(Value) -> io::Result<()>,
    failed: &'t mut Option<io::Error>,
}

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { take, failed } = self;
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" {
                map.next_value_seed(ItemsSeed { take, failed })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The items.
struct ItemsSeed<'t> {
    take: &'t mut dyn FnMut(Value) -> io::Result<()>,
    failed: &'t mut Option<io::Error>,
}

impl<'de> DeserializeSeed<'de> for ItemsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ItemsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if let Err(error) = (self.take)(item) {
                *self.failed = Some(error);
                return Err(A::Error::custom("an object could not be written"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> (Vec<String>, Result<(), ListError>) {
        let mut all = Vec::new();
        let result = each_item(text.as_bytes(), &mut |item| {
            all.push(item["metadata"]["name"].as_str().unwrap_or_default().to_owned());
            Ok(())
        });
        (all, result)
    }

    #[test]
    fn hands_over_each_item() {
        let list = r#"{"apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"List","metadata":{"resourceVersion":""}}"#;
        let (names, result) = items(list);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(names, ["a", "b"]);
        assert!(items(r#"{"items":[]}"#).0.is_empty());
    }

    #[test]
    fn keeps_the_items_before_an_error() {
        let (names, result) = items(r#"{"items":[{"metadata":{"name":"a"}},{"metadata""#);
        assert_eq!(names, ["a"]);
        assert!(matches!(result, Err(ListError::Malformed(_))), "{result:?}");
        assert!(matches!(items("No resources found").1, Err(ListError::Malformed(_))));
    }

    #[test]
    fn stops_if_an_item_cannot_be_written() {
        let result =
            each_item(r#"{"items":[{},{}]}"#.as_bytes(), &mut |_| Err(io::Error::other("disk full")));
        assert!(matches!(result, Err(ListError::Write(error)) if error.to_string() == "disk full"));
    }
}
