//! Findings that an author accepts: an annotation of the object, or a comment on or above the line.
//!
//! Suppressions are checked too: a suppression that names an unknown rule, gives no reason or suppresses nothing is a finding.

use std::collections::{BTreeMap, BTreeSet};

use manifest::source::{Span, certain};
use manifest::tree::{Comment, Node, SourceId};
use objects::location::Place;
use objects::object::{Object, Operation};
use values::placeholder::has_placeholder;

use crate::Rule;
use crate::context::Context;
use crate::finding::Finding;
use crate::registry::{Registry, SuppressionRules};
use crate::settings::RuleSelector;

/// The annotation that accepts findings of an object: `rule[, rule] -- reason`.
pub const ANNOTATION: &str = "karpwarden/ignore";

/// The suppressions of one object.
#[derive(Debug)]
pub struct Suppressions<'d> {
    all: Vec<Suppression<'d>>,
    /// The scopes, each with whether it suppressed a finding.
    used: BTreeMap<SuppressionScope, bool>,
}

/// A text, and a line in it.
type Line = (SourceId, usize);

/// The scope of a name in a suppression: the line, or `None` for the whole object, and the rule or family.
type SuppressionScope = (Option<Line>, &'static str);

/// One annotation or comment.
#[derive(Debug)]
struct Suppression<'d> {
    names: Vec<SuppressedName<'d>>,
    /// The line whose findings it covers; an annotation covers the whole object.
    line: Option<Line>,
    place: Place<'d>,
    has_reason: bool,
}

/// The name of a rule or family in a suppression.
#[derive(Debug)]
struct SuppressedName<'d> {
    place: Place<'d>,
    /// The reason why the name selects nothing is a message for the author.
    selector: Result<RuleSelector, String>,
    /// Whether the suppression is for another request: the rule does not run for this operation.
    is_for_others: bool,
}

impl<'d> Suppressions<'d> {
    /// Returns the suppressions that count for the object. In admission, the author's annotation counts only if the settings
    /// allow it, and only with a reason.
    pub fn of(object: Object<'d>, registry: &Registry, context: &Context<'_, 'd>) -> Self {
        let is_text = object.operation() == Operation::Apply;
        let counts = is_text || context.settings.allow_ignore_annotation;
        let annotated = object.annotation(ANNOTATION).filter(|_| counts || context.is_text);
        let annotated = annotated.and_then(|node| annotation(node, registry));
        let mut all: Vec<_> = comments(object, registry);
        all.extend(annotated);
        // The findings about suppressions are in document order.
        all.reverse();
        for name in all.iter_mut().flat_map(|one| &mut one.names) {
            let rule = name.selector.as_ref().ok().and_then(|selector| registry.find(selector.name()));
            // An object that is deleted keeps the suppressions of its updates.
            name.is_for_others = object.operation() == Operation::Delete
                || rule.is_some_and(|rule| !rule.reviews.include(object.operation()));
        }
        let counting = all.iter().filter(|one| is_text || one.has_reason);
        let scopes = counting.flat_map(|one| one.names.iter().filter_map(|name| one.scope(name)));
        let used = scopes.map(|scope| (scope, false)).collect();
        Self { all, used }
    }

    /// Whether a suppression names a rule, or a family of it.
    pub fn mention(&self, rule: &Rule) -> bool {
        self.used.keys().any(|(_, name)| rule.names().all().any(|one| one == *name))
    }

    /// Whether a suppression covers a finding; if so, the suppression is used.
    pub fn apply_to(&mut self, finding: &Finding<'d>) -> bool {
        if self.used.is_empty() {
            return false;
        }
        let mut accepted = false;
        for line in self.lines(finding) {
            for name in finding.rule.names().all() {
                if let Some(used) = self.used.get_mut(&(line, name)) {
                    *used = true;
                    accepted = true;
                }
            }
        }
        accepted
    }

    /// The lines that a finding marks in the document of the object, and `None` for the whole object. Without a suppression of a
    /// line there are no lines: to find the line of a finding within a string takes time in proportion to the string.
    fn lines(&self, finding: &Finding<'d>) -> BTreeSet<Option<Line>> {
        let mut lines = BTreeSet::from([None]);
        let Some(of_line) = self.all.iter().find(|one| one.line.is_some()) else { return lines };
        let tree = of_line.place.node().tree();
        let places = core::iter::once(&finding.place).chain(finding.related.iter().map(|(place, _)| place));
        let places = places.filter(|place| core::ptr::eq(place.node().tree(), tree));
        lines.extend(places.map(|place| Some(line_of(place))));
        lines
    }

    /// Returns the findings about the suppressions. The caller passes all other findings to [`Self::apply_to`] first.
    pub fn findings(&self, rules: SuppressionRules) -> Vec<Finding<'d>> {
        let mut findings = Vec::new();
        for suppression in &self.all {
            // Another overlay may need a suppression that this version of the object does not.
            let is_assembled = suppression.place.node().tree().is_assembled();
            for name in &suppression.names {
                let is_unused = !(is_assembled || name.is_for_others)
                    && suppression.scope(name).is_some_and(|scope| self.used.get(&scope) == Some(&false));
                match &name.selector {
                    Err(message) => findings.push(
                        Finding::new(rules.unknown_rule, name.place.clone(), message.clone())
                            .help("name a rule or family; `karpwarden rules` lists them"),
                    ),
                    Ok(selector) if is_unused => {
                        let message = format!("`{}` has no finding here to suppress", selector.name());
                        let help = "remove it, so that it does not hide a later finding";
                        findings.push(Finding::new(rules.unused, name.place.clone(), message).help(help));
                    }
                    Ok(_) => {}
                }
            }
            findings.extend(suppression.missing_reason(rules));
        }
        findings
    }
}

impl<'d> Suppression<'d> {
    fn scope(&self, name: &SuppressedName<'d>) -> Option<SuppressionScope> {
        Some((self.line, name.selector.as_ref().ok()?.name()))
    }

    fn missing_reason(&self, rules: SuppressionRules) -> Option<Finding<'d>> {
        if self.has_reason {
            return None;
        }
        let place = if self.line.is_some() { "after `]`" } else { "after ` -- `" };
        let finding =
            Finding::new(rules.without_reason, self.place.clone(), "this suppression gives no reason");
        Some(finding.help(format!("write the reason {place}")))
    }
}

fn line_of(place: &Place<'_>) -> Line {
    (place.source_id(), place.source().position(place.span().start).line)
}

/// `rule[, rule] -- reason`
fn annotation<'d>(node: Node<'d>, registry: &Registry) -> Option<Suppression<'d>> {
    let text = node.as_str()?;
    let (list, reason) = text.split_once("--").unwrap_or((text, ""));
    if has_placeholder(list) {
        return None;
    }
    let names = names(list, registry, |range| Place::within(node, range));
    Some(Suppression { names, line: None, place: Place::value(node), has_reason: gives_reason(reason) })
}

/// Comment that suppresses findings, and the line that it covers.
#[derive(Clone, Copy, Debug)]
struct CoveringComment {
    source: SourceId,
    line: usize,
    covered: usize,
}

/// The comments of an object, last one first.
fn comments<'d>(object: Object<'d>, registry: &Registry) -> Vec<Suppression<'d>> {
    let tree = object.root().tree();
    let mut following: Option<CoveringComment> = None;
    let read = |one: &Comment| {
        let below = following.filter(|below| below.source == one.source);
        let read = comment(object.root(), *one, registry, below);
        let line = tree.source_at(one.source).position(one.span.start).line;
        following = read.line.map(|(source, covered)| CoveringComment { source, line, covered });
        read
    };
    let is_ours = |one: &&Comment| is_suppression(tree.source_at(one.source).slice(one.span));
    object.comments().iter().filter(is_ours).rev().map(read).collect()
}

/// The start of a comment that accepts findings, after `#` and blanks.
pub const COMMENT_START: &str = "karpwarden: ignore[";

/// Whether a comment addresses this tool.
fn is_suppression(comment: &str) -> bool {
    comment.strip_prefix('#').unwrap_or_default().trim_start().starts_with("karpwarden:")
}

/// The list of rules in a comment that accepts findings, by its bytes in the comment: `rule, rule` in `# karpwarden: ignore[rule, rule]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedList {
    /// The first byte of the list.
    pub start: usize,
    /// The byte of the closing bracket, if there is one.
    pub end: Option<usize>,
}

impl AcceptedList {
    /// The list of a comment, which begins with `#`.
    pub fn of(comment: &str) -> Option<Self> {
        let start = comment.find("ignore[").filter(|_| is_suppression(comment))? + "ignore[".len();
        let end = comment.get(start..)?.find(']').map(|length| start + length);
        Some(Self { start, end })
    }

    /// The bytes of the names in a closed list.
    pub fn names(self, comment: &str) -> Vec<Span> {
        let list = self.end.and_then(|end| comment.get(self.start..end));
        list.map_or_else(Vec::new, |list| name_spans(list).map(|span| span.shifted(self.start)).collect())
    }
}

/// The bytes of the names in a list separated by commas.
fn name_spans(list: &str) -> impl Iterator<Item = Span> {
    let mut start = 0;
    list.split(',').map(move |part| {
        let name = part.trim();
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        Span::new(at, at + name.len())
    })
}

/// Whether a text is a reason. A text in `<…>`, as editors insert it, asks for one.
fn gives_reason(text: &str) -> bool {
    let text = text.trim();
    !(text.is_empty() || text.starts_with('<') && text.ends_with('>'))
}

/// `# karpwarden: ignore[rule, rule] reason`. `following` is the next such comment.
fn comment<'d>(
    root: Node<'d>,
    comment: Comment,
    registry: &Registry,
    following: Option<CoveringComment>,
) -> Suppression<'d> {
    let span = comment.span;
    let source = root.tree().source_at(comment.source);
    let text = source.slice(span);
    let whole = Place::comment(root, comment);
    let at = |range: Span| Place::comment(root, Comment { span: range.shifted(span.start), ..comment });
    let line = source.position(span.start).line;
    let before = source.before(span.start);
    let is_alone = before.rsplit('\n').next().is_some_and(|lead| lead.trim().is_empty());
    let rest = source.after(span.end);
    let covered = if is_alone { next_code(rest, line, following) } else { line };
    let line = Some((comment.source, covered));
    let Some(AcceptedList { start, end: Some(end) }) = AcceptedList::of(text) else {
        let message =
            "this comment is not a suppression; write `# karpwarden: ignore[rule] reason`".to_owned();
        let names = vec![SuppressedName {
            place: at(Span::new(0, text.len())),
            selector: Err(message),
            is_for_others: false,
        }];
        return Suppression { names, line, place: whole, has_reason: true };
    };
    let list = certain(text.get(start..end));
    let names = names(list, registry, |range| at(Span::new(start + range.start, start + range.end)));
    let has_reason = text.get(end + 1..).is_some_and(gives_reason);
    Suppression { names, line, place: whole, has_reason }
}

/// The line of the code below a comment: the next line that is neither empty nor a comment. A stack of comments is read once,
/// because a comment above another one covers the same line.
fn next_code(rest: &str, line: usize, following: Option<CoveringComment>) -> usize {
    let is_skipped = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let mut next = line + 1;
    for text in rest.split('\n').skip(1) {
        match following {
            Some(comment) if comment.line == next => return comment.covered,
            _ if !is_skipped(text) => break,
            _ => next += 1,
        }
    }
    next
}

/// The names in a list separated by commas, each with its place in the list.
fn names<'d>(list: &str, registry: &Registry, place: impl Fn(Span) -> Place<'d>) -> Vec<SuppressedName<'d>> {
    let named = name_spans(list).map(|span| SuppressedName {
        place: place(span),
        selector: RuleSelector::parse(span.text(list), registry).map_err(|error| error.to_string()),
        is_for_others: false,
    });
    named.collect()
}
