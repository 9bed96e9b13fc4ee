//! Values of converted objects.

use manifest::edit::Composed;
use manifest::tree::{Node, Value};
use values::placeholder;

/// A member of an object with a new string.
pub(super) fn text<'d>(key: &str, value: impl Into<String>) -> (String, Composed<'d>) {
    (key.to_owned(), Composed::Text(value.into()))
}

/// A member of an object with a composed value.
pub(super) fn member<'d>(key: &str, value: Composed<'d>) -> (String, Composed<'d>) {
    (key.to_owned(), value)
}

/// A member of an object with a copy of another member.
pub(super) fn copy<'d>(key: &str, node: Node<'d>) -> (String, Composed<'d>) {
    (key.to_owned(), Composed::Copy(node))
}

/// The member of an object, unless it is `null`, which means the same as a missing member.
pub(super) fn get<'d>(object: Node<'d>, key: &str) -> Option<Node<'d>> {
    object.get(key).filter(|node| !node.is_null())
}

/// The member of an object, unless it has no content.
pub(super) fn filled<'d>(object: Node<'d>, key: &str) -> Option<Node<'d>> {
    get(object, key).filter(|node| !node.is_empty() || !(node.is_mapping() || node.is_sequence()))
}

/// The string of a node, unless it has a placeholder.
pub(super) fn known(node: Node<'_>) -> Option<&str> {
    node.as_str().filter(|text| !placeholder::has_placeholder(text))
}

/// Whether two values are equal.
pub(super) fn same(one: Node<'_>, other: Node<'_>) -> bool {
    match (one.value(), other.value()) {
        (Value::Mapping, Value::Mapping) => {
            one.len() == other.len()
                && one.members().all(|(key, value)| other.get(key).is_some_and(|again| same(value, again)))
        }
        (Value::Sequence, Value::Sequence) => {
            one.len() == other.len() && one.items().zip(other.items()).all(|(one, other)| same(one, other))
        }
        // `80` and `"80"` are the same percentage or amount.
        _ => one.spelling().trim_matches(['"', '\'']) == other.spelling().trim_matches(['"', '\'']),
    }
}

/// A number of seconds in the largest unit that has no fraction: `720h`, `90s`.
pub(super) fn duration(seconds: i64) -> String {
    match seconds {
        0 => "0s".to_owned(),
        _ if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        _ if seconds % 60 == 0 => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn writes_durations_in_the_largest_unit() {
        let all = [0, 30, 60, 90, 3600, 5400, 2_592_000];
        assert_eq!(all.map(duration), ["0s", "30s", "1m", "90s", "1h", "90m", "720h"]);
    }
}
