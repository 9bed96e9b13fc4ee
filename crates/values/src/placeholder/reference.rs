//! References of Terraform without marks.

use super::is_name_byte;

/// Whether a text refers to a value of a Terraform configuration without the marks that Terraform replaces, such as
/// `var.cluster_name` or `module.eks.cluster_name`. In another file it is plain text, and so a mistake.
///
/// Source: website/docs/language/expressions/references.mdx of hashicorp/terraform.
pub fn is_bare_reference(text: &str) -> bool {
    fn of_type(name: &str) -> bool {
        name.starts_with("aws_") || name.starts_with("kubernetes_")
    }
    let is_identifier = |part: &str| {
        let name = part.split('[').next().unwrap_or_default();
        name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
            && name.bytes().all(|byte| is_name_byte(byte) || byte == b'-')
    };
    let is_apart = |char: char| char.is_whitespace() || matches!(char, '/' | ':' | '$' | '{');
    if !text.bytes().any(|byte| byte == b'.') || text.contains(is_apart) {
        return false;
    }
    // `KarpenterNodeRole-var.cluster_name` has the reference at its end.
    let text = text.rfind("-var.").map_or(text, |at| text.get(at + 1..).unwrap_or(text));
    let parts: Vec<&str> = text.split('.').collect();
    let is_reference = match parts.as_slice() {
        ["var", ..] => parts.len() >= 2,
        ["each", "value" | "key", ..] => true,
        ["local", name] => name.contains('_'),
        ["module", ..] => parts.len() >= 3,
        ["data", name, _, ..] | [name, _, ..] if of_type(name) => parts.len() >= 3,
        _ => false,
    };
    is_reference && parts.iter().all(|part| is_identifier(part))
}
