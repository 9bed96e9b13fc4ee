//! Rules for objects that the API server refuses.
//!
//! [`objects::validation`] finds every refusal of an object in every release; the context keeps the result for the rules
//! of this family, each of which reports its own refusals.

family! {
    api_duplicate,
    api_enum,
    api_format,
    api_immutable,
    api_length,
    api_pattern,
    api_range,
    api_required,
    api_rule,
    api_type,
    api_unknown_field,
    removed_api_version,
}

use core::fmt::Write as _;

use lint::context::Context;
use lint::finding::{Finding, Place, Severity};
use lint::rule::{On, Rule};
use manifest::tree::{Node, Value};
use objects::object::{Object, Operation};
use objects::validation::{Refusal, What};
use values::placeholder;

/// Objects that the family reads: everything in Karpenter's groups, including versions and kinds that were removed.
const KARPENTER: &[On] = &[On::Group("karpenter.sh"), On::Group("karpenter.k8s.aws")];

/// Reports the refusals that `explain` returns a finding for.
fn report<'d>(
    object: Object<'d>,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
    explain: impl Fn(&Refusal<'d>) -> Option<Finding<'d>>,
) {
    let target = context.settings.karpenter;
    for refusal in context.refusals().iter().filter(|refusal| target.meets(&refusal.releases)) {
        findings.extend(explain(refusal).map(|finding| complete(finding, refusal, object)));
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
    if object.operation() == Operation::Apply && is_filled_in_later(refusal.place.node()) {
        let help = "the API server refuses the text as it is; replace the placeholder `${…}` before you apply the object";
        return finding.severity(Severity::Info).help(help);
    }
    finding
}

/// Whether a string, or a string in a list, has a placeholder that is replaced before the object is applied.
fn is_filled_in_later(node: Node<'_>) -> bool {
    let has_placeholder = |node: Node<'_>| node.as_str().is_some_and(placeholder::is_filled_in_later);
    has_placeholder(node) || node.items().any(has_placeholder)
}

/// Finding about an invalid value; `problem` completes "which is …".
fn invalid_value<'d>(rule: &'static Rule, place: Place<'d>, problem: &str) -> Finding<'d> {
    let message = format!("`{}` is {}, which is {problem}", name_of(place.node()), shown(place.node()));
    Finding::new(rule, place, message)
}

/// Key of a node, or of the list that contains the node.
fn name_of(node: Node<'_>) -> &str {
    let named = core::iter::successors(Some(node), |node| node.parent()).find(|node| !node.key().is_empty());
    named.map(Node::key).unwrap_or_default()
}

/// Short description of a value for a message.
fn shown(node: Node<'_>) -> String {
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
