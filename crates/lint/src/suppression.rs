//! Findings that an author accepts: an annotation of the object, or a comment on or above the line.
//!
//! A suppression is checked like everything else: one of an unknown rule, one without a reason and one that suppresses
//! nothing is a finding itself.

use crate::check::Context;
use crate::finding::{Draft, Place};
use manifest::source::Span;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use crate::rule::{Registry, Rule, SuppressionRules};
use crate::settings::Selector;

/// The annotation that accepts findings of an object: `rule[, rule] -- reason`.
pub const ANNOTATION: &str = "karpwarden/ignore";

/// What one annotation or comment accepts.
#[derive(Debug)]
pub struct Suppression<'d> {
    rules: Vec<Named<'d>>,
    /// The line it is about; an annotation is about the whole object.
    line: Option<usize>,
    place: Place<'d>,
    has_reason: bool,
}

/// A rule as it is named in a suppression.
#[derive(Debug)]
struct Named<'d> {
    place: Place<'d>,
    rule: Result<Selector, String>,
    used: bool,
}

impl<'d> Suppression<'d> {
    /// The suppressions of an object that count at this door.
    pub fn all(object: Object<'d>, context: &Context<'_, 'd>) -> Vec<Self> {
        let mut all = Vec::new();
        let counts = object.operation() == Operation::Apply || context.settings.allow_ignore_annotation;
        if let Some(node) = object.annotation(ANNOTATION).filter(|_| counts || context.is_text) {
            all.extend(annotation(node, context.registry));
        }
        let source = object.root().tree().source();
        let comments = object.comments().iter().filter(|span| is_suppression(source.slice(**span)));
        all.extend(comments.map(|span| comment(object.root(), *span, context.registry)));
        all
    }

    /// Whether the suppression names a rule, or its family.
    pub fn names(&self, rule: &Rule) -> bool {
        self.rules.iter().any(|named| named.rule.as_ref().is_ok_and(|selector| selector.takes(rule)))
    }

    /// Whether the suppression accepts a finding; if so, it is of use.
    pub fn accepts(&mut self, draft: &Draft<'d>) -> bool {
        let there = self.line.is_none_or(|line| {
            let places = core::iter::once(draft.place()).chain(draft.related.iter().map(|(place, _)| place));
            let tree = self.place.node().tree();
            places
                .filter(|place| core::ptr::eq(place.node().tree(), tree))
                .any(|place| line_of(place) == line)
        });
        let mut accepted = false;
        for named in self.rules.iter_mut().filter(|_| there) {
            if named.rule.as_ref().is_ok_and(|selector| selector.takes(draft.rule)) {
                named.used = true;
                accepted = true;
            }
        }
        accepted
    }

    /// What is wrong with the suppression itself, after all findings have passed by.
    pub fn findings(&self, rules: SuppressionRules) -> Vec<Draft<'d>> {
        let mut drafts = Vec::new();
        for named in &self.rules {
            match &named.rule {
                Err(message) => drafts.push(
                    Draft::new(rules.unknown_rule, named.place.clone(), message.clone())
                        .help("name a rule or family; `karpwarden rules` lists them"),
                ),
                Ok(selector) if !named.used => drafts.push(
                    Draft::new(
                        rules.unused,
                        named.place.clone(),
                        format!("`{}` finds nothing here that this would suppress", selector.name()),
                    )
                    .help("remove it, so that it hides nothing later"),
                ),
                Ok(_) => {}
            }
        }
        if !self.has_reason {
            let example = if self.line.is_some() { "after `]`" } else { "after ` -- `" };
            drafts.push(
                Draft::new(
                    rules.without_reason,
                    self.place.clone(),
                    "this suppression gives no reason",
                )
                .help(format!("say why {example}, for whoever reads it next")),
            );
        }
        drafts
    }
}

fn line_of(place: &Place<'_>) -> usize {
    place.node().tree().source().position(place.span().start).line
}

/// `rule[, rule] -- reason`
fn annotation<'d>(node: Node<'d>, registry: &Registry) -> Option<Suppression<'d>> {
    let text = node.as_str()?;
    let (names, reason) = text.split_once("--").unwrap_or((text, ""));
    let rules = named(names, registry, |range| Place::within(node, range));
    Some(Suppression { rules, line: None, place: Place::value(node), has_reason: !reason.trim().is_empty() })
}

/// Whether a comment addresses this tool.
fn is_suppression(comment: &str) -> bool {
    comment.strip_prefix('#').unwrap_or_default().trim_start().starts_with("karpwarden:")
}

/// `# karpwarden: ignore[rule, rule] reason`
fn comment<'d>(root: Node<'d>, span: Span, registry: &Registry) -> Suppression<'d> {
    let source = root.tree().source();
    let text = source.slice(span);
    let at = |range: Span| Place::comment(root, Span::new(span.start + range.start, span.start + range.end));
    let list = text.find("ignore[").map(|at| at + "ignore[".len());
    let end = list.and_then(|start| text.get(start..)?.find(']').map(|len| start + len));
    let (Some(start), Some(end)) = (list, end) else {
        let message = "this comment is no suppression; write `# karpwarden: ignore[rule] reason`".to_owned();
        let rules = vec![Named { place: at(Span::new(0, text.len())), rule: Err(message), used: false }];
        return Suppression { rules, line: Some(0), place: Place::comment(root, span), has_reason: true };
    };
    let names = text.get(start..end).unwrap_or_default();
    let rules = named(names, registry, |range| at(Span::new(start + range.start, start + range.end)));
    let has_reason = text.get(end + 1..).is_some_and(|reason| !reason.trim().is_empty());
    let line = source.position(span.start).line;
    let before = source.text().get(..span.start).unwrap_or_default();
    let alone = before.rsplit('\n').next().is_some_and(|lead| lead.trim().is_empty());
    let line =
        if alone { line + lines_to_code(source.text().get(span.end..).unwrap_or_default()) } else { line };
    Suppression { rules, line: Some(line), place: Place::comment(root, span), has_reason }
}

/// How many lines further the next line stands that is neither blank nor a comment.
fn lines_to_code(rest: &str) -> usize {
    let blank = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    1 + rest.split('\n').skip(1).take_while(blank).count()
}

/// The names in a list separated by commas, each with its place in the list's text.
fn named<'d>(list: &str, registry: &Registry, place: impl Fn(Span) -> Place<'d>) -> Vec<Named<'d>> {
    let mut named = Vec::new();
    let mut start = 0;
    for part in list.split(',') {
        let name = part.trim();
        let at = start + part.len() - part.trim_start().len();
        let place = place(Span::new(at, at + name.len()));
        named.push(Named { place, rule: Selector::parse(name, registry), used: false });
        start += part.len() + 1;
    }
    named
}
