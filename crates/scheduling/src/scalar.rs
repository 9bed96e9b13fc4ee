//! Scalars as strings.

use manifest::tree::Node;

/// Returns a scalar as a string; null is empty. The API server refuses a scalar that is no string.
pub(crate) fn text(node: Node<'_>) -> &str {
    node.as_str().unwrap_or_else(|| if node.is_null() { "" } else { node.spelling() })
}

/// Returns a field that may be absent as a string.
pub(crate) fn text_or_empty(node: Option<Node<'_>>) -> &str {
    node.map(text).unwrap_or_default()
}
