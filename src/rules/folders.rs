//! Folders of the input.

use manifest::tree::Node;

/// Whether two nodes are in files of which neither is in the folder of the other one, or below it. Such files may be for
/// different clusters.
pub(crate) fn is_elsewhere(one: Node<'_>, other: Node<'_>) -> bool {
    let (one, other) = (folder(one), folder(other));
    let is_within = |inner: &str, outer: &str| {
        outer.is_empty()
            || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !is_within(one, other) && !is_within(other, one)
}

/// Whether two nodes are in files of the same folder, such as of one module of Terraform.
pub(crate) fn is_beside(one: Node<'_>, other: Node<'_>) -> bool {
    folder(one) == folder(other)
}

/// The folder of the file with a node.
pub(crate) fn folder(node: Node<'_>) -> &str {
    node.source().name().rsplit_once('/').map_or("", |(folder, _)| folder)
}
