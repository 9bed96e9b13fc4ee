//! Placeholders in a part of an object.

use manifest::tree::Node;
use values::placeholder::has_placeholder;

/// Whether a key or a string at or below a node has a placeholder.
pub fn has_placeholder_below(node: Node<'_>) -> bool {
    has_placeholder(node.key())
        || node.as_str().is_some_and(has_placeholder)
        || node.children().any(has_placeholder_below)
}

#[cfg(test)]
mod tests {
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    use super::has_placeholder_below;

    #[test]
    fn looks_at_keys_and_values() {
        for (text, expected) in [
            ("a: {b: [1, c]}", false),
            ("a: {b: [1, '${c}']}", true),
            ("a: {'<b>': 1}", true),
            ("a: TODO", true),
        ] {
            let file = File::read("-", text, READ_OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{text}") };
            assert_eq!(has_placeholder_below(tree.root()), expected, "{text}");
        }
    }
}
