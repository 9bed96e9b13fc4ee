//! What the API server refuses.
//!
//! The rules of this family share one walk over an object ([`walk`]), which finds every refusal under every release at once;
//! each rule's file has the wording of its own. The first of them that is asked walks for all.

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
use karpenter::release::Releases;
use manifest::tree::{Node, Value};
use objects::object::{Object, Operation};
use lint::rule::{On, Rule};
use values::placeholder;

/// The objects that the family reads: all of Karpenter's groups, so that a version or kind that is gone is read too.
const KARPENTER: &[On] = &[On::Group("karpenter.sh"), On::Group("karpenter.k8s.aws")];

/// Something that the API server refuses.
#[derive(Debug)]
struct Refusal<'d> {
    place: Place<'d>,
    releases: Releases,
    what: What,
}

/// What is refused.
#[derive(Debug)]
enum What {
    /// A value of another type.
    Type(Shape),
    /// `spec.replicas` has no whole number for the scale of the object.
    ScaleType,
    /// `spec.replicas` is beyond what the scale of the object can be.
    Scale,
    /// A missing field.
    Required(&'static Field),
    /// A word that is none of these.
    OneOf(&'static [Word]),
    /// A string of another form.
    Form(&'static Pattern),
    /// A string that is no date.
    DateTime,
    /// A number beyond a bound.
    Range(Limit),
    /// A string, list or object of another size; how large it is.
    Length(Limit, usize),
    /// An item that the list has already.
    Duplicate,
    /// A field that nobody knows there; the fields that are known, and the kind.
    Unknown(&'static [Field], Option<&'static Root>),
    /// A relation between fields.
    Relation { message: String, help: String },
    /// A relation with what the cluster holds.
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

/// Walks an object for all rules of the family that are asked, when the first of them is.
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
    let target = context.settings.karpenter.releases();
    for refusal in refusals(object, context.is_text) {
        if refusal.releases.meets(target) && context.asks(refusal.what.rule(), object) {
            let later = object.operation() == Operation::Apply && is_filled_in_later(refusal.place.node());
            let draft = explain(refusal, object, target);
            drafts.push(if later {
                let help = "the text is refused as it stands; fill in what is between `${` and `}` before it is applied";
                draft.severity(Severity::Info).help(help)
            } else {
                draft
            });
        }
    }
}

/// Whether a text, or an item of a list of them, is replaced before anything is sent.
fn is_filled_in_later(node: Node<'_>) -> bool {
    let marked = |node: Node<'_>| node.as_str().is_some_and(placeholder::is_filled_in_later);
    marked(node) || node.items().any(marked)
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
        // What comes from an API server has been pruned already.
        if is_text {
            unknown::find(root, object, &mut refusals);
        }
    }
    refusals
}

fn explain<'d>(refusal: Refusal<'d>, object: Object<'d>, target: Releases) -> Draft<'d> {
    let Refusal { place, releases, what } = refusal;
    let rule = what.rule();
    let (strict, served) = (matches!(what, What::Unknown(..)), !matches!(what, What::NotServed));
    let mut draft = match what {
        What::Type(wanted) => api_type::explain(place, wanted),
        What::ScaleType => api_type::explain_scale(place),
        What::Scale => api_range::explain_scale(place),
        What::Range(limit) => api_range::explain(place, limit),
        What::Required(field) => api_required::explain(place, field, object),
        What::OneOf(words) => api_enum::explain(place, words, releases),
        What::Form(pattern) => api_pattern::explain(place, pattern),
        What::DateTime => api_format::explain(place),
        What::Length(limit, size) => api_length::explain(place, limit, size),
        What::Duplicate => api_duplicate::explain(place),
        What::Unknown(fields, root) => api_unknown_field::explain(place, fields, root, target),
        What::Relation { message, help } | What::Change { message, help } => {
            Draft::new(rule, place, message).help(help)
        }
        What::NotServed => removed_api_version::explain(place, object, releases),
    };
    if served {
        let by = if strict { "`kubectl apply`" } else { "the API server" };
        let _ = write!(draft.message, "; {by} refuses the {}", object.kind());
        if object.served_by().is_some_and(|served| served != releases) {
            let _ = write!(draft.message, " under Karpenter {releases}");
        }
    }
    draft.releases(releases)
}

/// A finding about a value: what it is instead of what the field takes.
#[inline(never)]
fn wrong<'d>(rule: &'static Rule, place: Place<'d>, what: &str) -> Draft<'d> {
    let message = format!("`{}` is {}, which is {what}", name_of(place.node()), shown(place.node()));
    Draft::new(rule, place, message)
}

/// The name of what a node stands under: its key, or that of its list.
fn name_of(node: Node<'_>) -> &str {
    let named = core::iter::successors(Some(node), |node| node.parent()).find(|node| !node.key().is_empty());
    named.map(Node::key).unwrap_or_default()
}

/// A value in a few words, for a message.
fn shown(node: Node<'_>) -> String {
    /// The letters of a string that are shown at most.
    const LONG: usize = 60;
    match node.value() {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(value) => format!("the number {value}"),
        Value::Float(value) => format!("the number {}", value.to_string()),
        Value::String(text) if text.chars().count() > LONG => {
            format!("`{}…`", text.chars().take(LONG).collect::<String>())
        }
        Value::String(text) => format!("`{text}`"),
        Value::Sequence => "a list".to_owned(),
        Value::Mapping => "an object".to_owned(),
    }
}
