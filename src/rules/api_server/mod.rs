//! Rules for objects that the API server refuses.
//!
//! [`objects::validation`] finds every refusal of an object in every release; the context keeps the result for the rules
//! of this family, each of which reports its own refusals.

pub(crate) mod api_duplicate;
pub(crate) mod api_enum;
pub(crate) mod api_format;
pub(crate) mod api_immutable;
pub(crate) mod api_length;
pub(crate) mod api_metadata;
pub(crate) mod api_pattern;
pub(crate) mod api_range;
pub(crate) mod api_required;
pub(crate) mod api_rule;
pub(crate) mod api_type;
pub(crate) mod api_type_meta;
pub(crate) mod api_unknown_field;
pub(crate) mod removed_api_version;

use core::fmt::Write as _;

use karpenter::api::SchemaType;
use karpenter::api::pattern::VOLUME_SIZE;
use karpenter::known_values::is_replaced;
use manifest::tree::{Node, Value};
use objects::object::{Object, Operation};
use objects::placeholders::is_interpolated;
use objects::validation::{Refusal, What};
use rule::context::Context;
use rule::finding::{Finding, Place, Severity};
use rule::{On, Rule};
use values::placeholder::{Placeholder, are_alternatives, with_defaults};

/// Objects that the family reads: everything in Karpenter's groups, including versions and kinds that were removed.
const KARPENTER: &[On] = &[On::Group("karpenter.sh"), On::Group("karpenter.k8s.aws")];

/// Reports the refusals that `explain` returns a finding for.
fn report<'d>(
    object: Object<'d>,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
    mut explain: impl FnMut(&Refusal<'d>) -> Option<Finding<'d>>,
) {
    let target = context.settings.karpenter;
    let is_text = object.operation() == Operation::Apply;
    for refusal in context.refusals().iter().filter(|refusal| target.meets(&refusal.releases)) {
        // The search for placeholders reads the whole value, so it comes last.
        let Some(finding) = explain(refusal) else { continue };
        if !is_text || !(accepts_default(refusal) || is_rendered(refusal)) {
            findings.push(complete(finding, refusal, object));
        }
    }
}

/// Adds who refuses the object, and under which releases.
fn complete<'d>(mut finding: Finding<'d>, refusal: &Refusal<'d>, object: Object<'d>) -> Finding<'d> {
    let releases = &refusal.releases;
    if !matches!(refusal.what, What::NotServed) {
        let is_strict = matches!(refusal.what, What::Unknown(..));
        let by = if is_strict { "`kubectl apply`" } else { "the API server" };
        let _ = write!(finding.message, "; {by} refuses the {}", object.kind());
        if object.served_by().is_some_and(|served| *releases != served) {
            finding.message.push_str(&releases.note());
        }
    }
    let finding = finding.releases(releases.clone());
    match placeholder(refusal).filter(|_| object.operation() == Operation::Apply) {
        Some(text) => {
            let help = format!(
                "the API server refuses the text as it is; replace the placeholder `{text}` before you apply the object"
            );
            finding.severity(Severity::Info).help(help)
        }
        None => finding,
    }
}

/// Whether the value has placeholders with defaults, such as `${EXPIRE_AFTER:=720h}`, and the defaults are valid.
fn accepts_default(refusal: &Refusal<'_>) -> bool {
    let default = || refusal.place.node().as_str().and_then(with_defaults);
    match refusal.what {
        What::Form(pattern) => default().is_some_and(|text| (pattern.matches)(&text)),
        What::OneOf(words) => default().is_some_and(|text| words.iter().any(|word| word.text == text)),
        _ => false,
    }
}

/// Whether Terraform replaces the value before it applies the object, so that the value is not known.
fn is_rendered(refusal: &Refusal<'_>) -> bool {
    let node = refusal.place.node();
    (is_interpolated(node) || node.items().any(is_interpolated)) && placeholder(refusal).is_some()
}

/// The placeholder in a key, a string, or the strings of a list, which is replaced before the object is applied. A key, such
/// as an unknown field, is refused whatever its value is.
fn placeholder<'d>(refusal: &Refusal<'d>) -> Option<&'d str> {
    let node = refusal.place.node();
    let within = |text: &'d str| Placeholder::find(text).and_then(|found| text.get(found.range));
    let in_key = within(node.key());
    if refusal.place.is_key() {
        return in_key;
    }
    let own = in_key.or_else(|| node.as_str().and_then(within));
    own.or_else(|| node.items().find_map(|item| item.as_str().and_then(within)))
        .or_else(|| alternatives(refusal))
        .or_else(|| variable(node))
}

/// The name of a variable among the values of a requirement, such as `MIN_CPU`.
fn variable(value: Node<'_>) -> Option<&str> {
    let text = value.as_str()?;
    let values = value.parent().filter(|list| list.key() == "values")?;
    let label = values.parent()?.str_at(&["key"])?;
    is_replaced(label, text).then_some(text)
}

/// The alternatives of a reference manual, such as `720h|Never`, of which the author has to choose one. Each is a valid value.
fn alternatives<'d>(refusal: &Refusal<'d>) -> Option<&'d str> {
    let text = refusal.place.node().as_str()?;
    let is_valid = |one: &str| match refusal.what {
        What::Form(pattern) => (pattern.matches)(one),
        What::OneOf(words) => words.iter().any(|word| word.text == one),
        What::Type(SchemaType::Boolean) => ["true", "false"].contains(&one),
        What::Type(SchemaType::Integer) => one.parse::<i64>().is_ok(),
        _ => false,
    };
    are_alternatives(text, is_valid).then_some(text)
}

/// Finding about an invalid value; `problem` completes "which is …".
fn invalid_value<'d>(rule: &'static Rule, place: Place<'d>, problem: &str) -> Finding<'d> {
    let message = format!("`{}` is {}, which is {problem}", name_of(place.node()), shown(place.node()));
    Finding::new(rule, place, message)
}

/// Key of a node, or of the list that contains the node.
pub(super) fn name_of(node: Node<'_>) -> &str {
    let named = core::iter::successors(Some(node), |node| node.parent()).find(|node| !node.key().is_empty());
    named.map(Node::key).unwrap_or_default()
}

/// Short description of a value for a message.
pub(super) fn shown(node: Node<'_>) -> String {
    /// Maximum number of characters of a string that are shown.
    const MAX_SHOWN: usize = 60;
    match node.value() {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(value) => format!("the number {value}"),
        Value::Float(value) => format!("the number {value}"),
        Value::String(text) if text.chars().count() > MAX_SHOWN => {
            format!("`{}…`", text.chars().take(MAX_SHOWN).collect::<String>())
        }
        Value::String(text) => format!("`{text}`"),
        Value::Sequence => "a list".to_owned(),
        Value::Mapping => "an object".to_owned(),
    }
}

/// Help for a boolean or a number in place of a string.
fn in_quotes(node: Node<'_>) -> String {
    let spelling = node.spelling();
    // The spelling of an alias is `*` and its name. In quotes, this is an ordinary string.
    if spelling.starts_with('*') {
        format!("write the value in quotes instead of the alias `{spelling}`")
    } else {
        format!("put the value in quotes: `\"{spelling}\"`")
    }
}

/// Help for a bare number in a field with a time. `expireAfter: 0` would end each node at once; its author probably means that
/// nodes do not expire.
fn time_with_unit(field: &str, number: &str) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    let (unit, name) = if field == "consolidateAfter" { ("s", "seconds") } else { ("h", "hours") };
    Some(match (field, number) {
        ("expireAfter", 0) => "write `Never` for nodes that do not expire".to_owned(),
        _ => format!("write the unit, such as `{number}{unit}` for {name} or `{number}m` for minutes"),
    })
}

/// The size of a volume that a text probably means, in the form of the API: `100Gi` for `100`, `100GB` and `100gi`. A fraction
/// of TiB becomes GiB.
fn volume_size(text: &str) -> Option<String> {
    const GIB_PER_TIB: f64 = 1024.0;
    let digits = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let whole: Option<u32> = number.parse().ok();
    let size = match (unit.trim().to_ascii_lowercase().as_str(), whole) {
        ("" | "g" | "gb" | "gi" | "gib", Some(size)) => format!("{size}Gi"),
        ("t" | "tb" | "ti" | "tib", Some(size)) => format!("{size}Ti"),
        ("t" | "tb" | "ti" | "tib", None) => {
            let gib = number.parse::<f64>().ok()? * GIB_PER_TIB;
            format!("{gib}Gi")
        }
        _ => return None,
    };
    (VOLUME_SIZE.matches)(&size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::volume_size;

    #[test]
    fn writes_sizes_as_the_api_does() {
        for (text, expected) in [
            ("100", Some("100Gi")),
            ("100GB", Some("100Gi")),
            ("100gi", Some("100Gi")),
            ("100 GiB", Some("100Gi")),
            ("2TB", Some("2Ti")),
            ("0.5Ti", Some("512Gi")),
            ("0.3Ti", None),
            ("70000Gi", None),
            ("100Mi", None),
            ("large", None),
            ("", None),
        ] {
            assert_eq!(volume_size(text).as_deref(), expected, "{text}");
        }
    }
}
