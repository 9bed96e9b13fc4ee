//! Rules for objects that the API server refuses.
//!
//! The rules of this family share one walk over an object ([`walk`]), which finds every refusal in every release at
//! once. Each rule's file has the wording of its findings. The first enabled rule runs the walk for all of them.

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

mod unknown;
mod walk;

use core::fmt::Write as _;

use lint::check::Context;
use lint::finding::{Draft, Place, Severity};
use karpenter::api::pattern::Pattern;
use karpenter::api::{Field, Limit, Root, Shape, Word};
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::{Node, Value};
use objects::object::{Object, Operation};
use lint::settings::Target;
use lint::rule::{On, Rule};
use values::placeholder;

/// Objects that the family reads: everything in Karpenter's groups, including versions and kinds that were removed.
const KARPENTER: &[On] = &[On::Group("karpenter.sh"), On::Group("karpenter.k8s.aws")];

/// Part of an object that the API server refuses.
#[derive(Debug)]
struct Refusal<'d> {
    place: Place<'d>,
    releases: ReleaseSet,
    what: What,
}

/// Reason for a refusal.
#[derive(Debug)]
enum What {
    /// A value of the wrong type; the expected type.
    Type(Shape),
    /// `spec.replicas` is not a whole number, which the scale subresource requires.
    ScaleType,
    /// `spec.replicas` is outside the range of the scale subresource.
    Scale,
    /// A missing required field.
    Required(&'static Field),
    /// A value outside this enum.
    OneOf(&'static [Word]),
    /// A string that does not match the pattern.
    Form(&'static Pattern),
    /// A string that is not a date with a time.
    DateTime,
    /// A number outside a limit.
    Range(Limit),
    /// A string, list or object whose size is outside a limit; its size.
    Length(Limit, usize),
    /// An item that its list already contains.
    Duplicate,
    /// A field that its object does not have; the known fields, and the kind.
    Unknown(&'static [Field], Option<&'static Root>),
    /// A combination of fields that is not allowed.
    Relation { message: String, help: String },
    /// A change of the stored object that is not allowed.
    Change { message: String, help: String },
    /// A kind in a version that is not served.
    NotServed,
}

impl What {
    fn rule(&self) -> &'static Rule {
        match self {
            Self::Type(_) | Self::ScaleType => &api_type::RULE,
            Self::Scale | Self::Range(_) => &api_range::RULE,
            Self::Required(_) => &api_required::RULE,
            Self::OneOf(_) => &api_enum::RULE,
            Self::Form(_) => &api_pattern::RULE,
            Self::DateTime => &api_format::RULE,
            Self::Length(..) => &api_length::RULE,
            Self::Duplicate => &api_duplicate::RULE,
            Self::Unknown(..) => &api_unknown_field::RULE,
            Self::Relation { .. } => &api_rule::RULE,
            Self::Change { .. } => &api_immutable::RULE,
            Self::NotServed => &removed_api_version::RULE,
        }
    }
}

/// Walks an object once for all enabled rules of the family, when the first of them runs.
fn check<'d>(
    rule: &'static Rule,
    object: Object<'d>,
    context: &Context<'_, 'd>,
    drafts: &mut Vec<Draft<'d>>,
) {
    let first = RULES.iter().find(|rule| context.asks(rule, object));
    if first.is_none_or(|first| first.name != rule.name) {
        return;
    }
    let target = context.settings.karpenter;
    for refusal in refusals(object, context.is_text) {
        if target.meets(&refusal.releases) && context.asks(refusal.what.rule(), object) {
            let is_placeholder =
                object.operation() == Operation::Apply && is_filled_in_later(refusal.place.node());
            let draft = explain(refusal, object, target);
            drafts.push(if is_placeholder {
                let help =
                    "the API server refuses the text as it is; replace the placeholder `${…}` before you apply the object";
                draft.severity(Severity::Info).help(help)
            } else {
                draft
            });
        }
    }
}

/// Whether a string, or a string in a list, has a placeholder that is replaced before the object is applied.
fn is_filled_in_later(node: Node<'_>) -> bool {
    let has_placeholder = |node: Node<'_>| node.as_str().is_some_and(placeholder::is_filled_in_later);
    has_placeholder(node) || node.items().any(has_placeholder)
}

fn refusals(object: Object<'_>, is_text: bool) -> Vec<Refusal<'_>> {
    let mut refusals = Vec::new();
    let Some(served) = object.served_by() else { return refusals };
    if served != Releases::ALL {
        let place = object.at(&["apiVersion"]).map_or(Place::value(object.root()), Place::value);
        refusals.push(Refusal { place, releases: Releases::ALL.without(served), what: What::NotServed });
    }
    if let Some(root) = object.table() {
        walk::walk(root, object, &mut refusals);
        // The API server has already removed unknown fields from an object that it sends.
        if is_text {
            unknown::find(root, object, &mut refusals);
        }
    }
    refusals
}

fn explain<'d>(refusal: Refusal<'d>, object: Object<'d>, target: Target) -> Draft<'d> {
    let Refusal { place, releases, what } = refusal;
    let rule = what.rule();
    let (strict, served) = (matches!(what, What::Unknown(..)), !matches!(what, What::NotServed));
    let mut draft = match what {
        What::Type(wanted) => api_type::explain(place, wanted),
        What::ScaleType => api_type::explain_scale(place),
        What::Scale => api_range::explain_scale(place),
        What::Range(limit) => api_range::explain(place, limit),
        What::Required(field) => api_required::explain(place, field, object),
        What::OneOf(words) => api_enum::explain(place, words, &releases),
        What::Form(pattern) => api_pattern::explain(place, pattern),
        What::DateTime => api_format::explain(place),
        What::Length(limit, size) => api_length::explain(place, limit, size),
        What::Duplicate => api_duplicate::explain(place),
        What::Unknown(fields, root) => api_unknown_field::explain(place, fields, root, target),
        What::Relation { message, help } | What::Change { message, help } => {
            Draft::new(rule, place, message).help(help)
        }
        What::NotServed => removed_api_version::explain(place, object, &releases),
    };
    if served {
        let by = if strict { "`kubectl apply`" } else { "the API server" };
        let _ = write!(draft.message, "; {by} refuses the {}", object.kind());
        if object.served_by().is_some_and(|served| releases != served) {
            let _ = write!(draft.message, "{}", releases.note());
        }
    }
    draft.releases(releases)
}

/// Finding about an invalid value; `problem` completes "which is …".
#[inline(never)]
fn invalid_value<'d>(rule: &'static Rule, place: Place<'d>, problem: &str) -> Draft<'d> {
    let message = format!("`{}` is {}, which is {problem}", name_of(place.node()), shown(place.node()));
    Draft::new(rule, place, message)
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
        Value::Float(value) => format!("the number {}", value.to_string()),
        Value::String(text) if text.chars().count() > MAX_SHOWN => {
            format!("`{}…`", text.chars().take(MAX_SHOWN).collect::<String>())
        }
        Value::String(text) => format!("`{text}`"),
        Value::Sequence => "a list".to_owned(),
        Value::Mapping => "an object".to_owned(),
    }
}
