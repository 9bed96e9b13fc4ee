//! Placeholders in a part of an object.

use karpenter::known_values::{is_replaced, is_variable};
use manifest::is_from_terraform;
use manifest::source::Span;
use manifest::tree::{Node, items_of};
use values::placeholder::{has_flux_input, has_placeholder};

use crate::wrapper::{Wrapper, WrapperKind};

/// Whether a key or a string at or below a node has a placeholder, or is the value of a label that is replaced.
pub fn has_placeholder_below(node: Node<'_>) -> bool {
    has_placeholder(node.key())
        || node.as_str().is_some_and(|value| is_replaced(node.key(), value))
        || requires_variable(node)
        || node.children().any(has_placeholder_below)
}

/// Whether a node is a requirement on a label, and one of its values is the name of a variable.
fn requires_variable(node: Node<'_>) -> bool {
    let Some(label) = node.get("key").and_then(Node::as_str) else { return false };
    items_of(node.get("values")).filter_map(Node::as_str).any(|value| is_variable(label, value))
}

/// Whether a key or a string has a `${…}` that Terraform replaces, because its file is a Terraform file, or because Terraform makes the
/// document, or a `<< inputs.x >>` of a `ResourceSet`. Nobody has to fill it in.
///
/// Source: website/docs/language/expressions/strings.mdx of hashicorp/terraform, where `$${` is an escape.
pub fn is_interpolated(node: Node<'_>) -> bool {
    is_terraform_interpolation(node) || is_input_of_resource_set(node)
}

/// Whether a key or a string within a `ResourceSet` of Flux has a placeholder for an input.
///
/// Source: "Resources configuration" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator.
fn is_input_of_resource_set(node: Node<'_>) -> bool {
    (has_flux_input(node.key()) || node.as_str().is_some_and(has_flux_input))
        && Wrapper::around_node(node).is_some_and(|one| one.kind == WrapperKind::ResourceSet)
}

fn is_terraform_interpolation(node: Node<'_>) -> bool {
    let has_interpolation = |text: &str| text.replace("$${", "").contains("${");
    let has_any = || has_interpolation(node.key()) || node.as_str().is_some_and(has_interpolation);
    is_from_terraform(node) && has_any()
}

/// The first `${NAME}` in the key or the value of a document that Terraform makes which Terraform does not replace: its escape `$${NAME}` or
/// the text of a file stays as it is, and no reference of Terraform is a single name or has colons.
///
/// Source: website/docs/language/expressions/references.mdx of hashicorp/terraform.
pub fn unreplaced_by_terraform<'t>(node: Node<'_>, text: &'t str, span: Span) -> Option<&'t str> {
    let written = node.source().slice(span);
    marks(text).find(|mark| is_unreplaced(mark, written)).filter(|_| node.tree().is_evaluated())
}

/// Whether Terraform replaces a `${…}` or a `%{…}` in the text of a node: an interpolation or a directive.
pub fn is_replaced_by_terraform(node: Node<'_>, text: &str) -> bool {
    if !node.tree().is_evaluated() {
        let is_marked = |mark: &str, escaped: &str| text.replace(escaped, "").contains(mark);
        return is_from_terraform(node) && (is_marked("${", "$${") || is_marked("%{", "%%{"));
    }
    let written = node.source().slice(node.span());
    marks(text).any(|mark| !is_unreplaced(mark, written))
}

/// The texts between `${` and `}` in a text, with these marks.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("${").map(|(start, _)| text.get(start..).unwrap_or_default());
    starts.filter_map(|rest| rest.get(..=rest.find('}')?))
}

/// Whether a `${NAME}` of an evaluated document stays as it is in the text that the document comes from.
fn is_unreplaced(mark: &str, written: &str) -> bool {
    let name = mark.get("${".len()..mark.len() - "}".len()).unwrap_or_default();
    let is_name = name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    (is_name || name.starts_with("AWS::")) && written.contains(mark)
}

#[cfg(test)]
mod tests {
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    use super::{has_placeholder_below, is_interpolated};

    #[test]
    fn terraform_replaces_interpolations_only_in_its_own_files() {
        let interpolated = |name: &str, value: &str| {
            let text = format!("resource \"a\" \"b\" {{\n  c = <<-EOT\n  kind: {value}\n  EOT\n}}\n");
            let text = if name.contains("yaml") { format!("kind: {value}\n") } else { text };
            let file = File::read(name, text, READ_OPTIONS);
            let read = file.trees().next();
            read.and_then(|tree| tree.root().get("kind")).map(is_interpolated)
        };
        assert_eq!(interpolated("main.tf", "'${var.x}'"), Some(true));
        assert_eq!(interpolated("main.tf", "'$${x}'"), Some(false));
        assert_eq!(interpolated("main.tf", "'<x>'"), Some(false));
        assert_eq!(interpolated("a.yaml", "'${var.x}'"), Some(false));
        assert_eq!(interpolated("a.yaml.tftpl", "'${x}'"), Some(true));
        assert_eq!(interpolated("a.yaml.tpl", "'${x}'"), Some(true));
    }

    #[test]
    fn flux_replaces_inputs_only_in_a_resource_set() {
        let interpolated = |kind: &str, value: &str| {
            let text = format!(
                "apiVersion: fluxcd.controlplane.io/v1\nkind: {kind}\nspec: {{resources: [{{spec: {{a: {value}}}}}]}}\n"
            );
            let file = File::read("-", text, READ_OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{file:?}") };
            let resources = tree.root().at_path(&["spec", "resources"]);
            let item = resources.and_then(|resources| resources.items().next());
            item.and_then(|item| item.at_path(&["spec", "a"])).map(is_interpolated)
        };
        assert_eq!(interpolated("ResourceSet", "'<< inputs.a >>'"), Some(true));
        assert_eq!(interpolated("ResourceSet", "'<< if eq inputs.a 1 >>x<< end >>'"), Some(true));
        assert_eq!(interpolated("ResourceSet", "plain"), Some(false));
        assert_eq!(interpolated("Other", "'<< inputs.a >>'"), Some(false));
    }

    #[test]
    fn looks_at_keys_and_values() {
        for (text, expected) in [
            ("a: {b: [1, c]}", false),
            ("a: {b: [1, '${c}']}", true),
            ("a: {'<b>': 1}", true),
            ("a: TODO", true),
            ("a: {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}", false),
            ("a: {key: kubernetes.io/arch, operator: In, values: [amd64, ARCH]}", true),
            ("a: {key: arch, operator: In, values: [ARCH]}", false),
            ("nodeSelector: {kubernetes.io/os: NODE_OS}", true),
            ("nodeSelector: {kubernetes.io/os: LINUX}", false),
        ] {
            let file = File::read("-", text, READ_OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{text}") };
            assert_eq!(has_placeholder_below(tree.root()), expected, "{text}");
        }
    }
}
