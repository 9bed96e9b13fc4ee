//! The text that the editor shows at a place: the field with its meaning and the effect of a change, what Karpenter makes of the value, and the
//! pages of the rules that are named or have findings there.

mod field;
mod requirement;
mod schedule;
mod value;

use std::collections::BTreeSet;

use drift::HoveredField;
use karpenter::release::Release;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position, Range};
use manifest::File;
use manifest::source::Span;
use objects::embedded::READ_OPTIONS;
use objects::object::Object;
use rule::registry::Registry;
use values::timestamp::Timestamp;

use crate::diagnostics::Results;
use crate::documents::OpenDocument;
use crate::lines::{LinedText, overlap};
use crate::outline::{EntryStep, Outline, Spot};
use crate::page_links::rule_at;
use crate::schema::{self, table_of};
use crate::workspace::FolderView;

/// A place, with what is known around it.
pub(crate) struct HoverQuestion<'q> {
    /// The results of the check that names the document; a document without findings may have none.
    pub(crate) results: Option<Results<'q>>,
    pub(crate) document: &'q OpenDocument,
    pub(crate) text: LinedText,
    pub(crate) position: Position,
    pub(crate) folder: Option<&'q dyn FolderView>,
    pub(crate) release: Release,
    pub(crate) now: Timestamp,
    pub(crate) registry: &'q Registry,
    /// The page of a rule.
    pub(crate) page: &'q dyn Fn(&str) -> Option<String>,
}

/// The parts of a hover, with the bytes that they are about.
#[derive(Debug, Default)]
struct Explained {
    parts: Vec<String>,
    span: Option<Span>,
}

/// The explanation of a place; `None` if there is nothing to say.
pub(crate) fn at(question: &HoverQuestion<'_>) -> Option<Hover> {
    let mut explained = explain(question);
    let point = Range { start: question.position, end: question.position };
    let uri = &question.document.uri;
    let own = question.results.and_then(|results| Some((results, results.file(uri)?)));
    let found = own.into_iter().flat_map(|(results, (name, file))| results.findings(name, file));
    let there: Vec<_> = found.filter(|found| overlap(found.range, point)).collect();
    let byte = question.text.byte(question.position);
    let named = rule_at(question.document, question.text.text(), byte, question.registry);
    explained.span = named.map(|(span, _)| span).or(explained.span);
    let mut seen = BTreeSet::new();
    let rules = named.map(|(_, rule)| rule.name).into_iter();
    let rules = rules.chain(there.iter().map(|found| found.finding.rule)).filter(|rule| seen.insert(*rule));
    explained.parts.extend(rules.filter_map(question.page));
    let of_finding = there.first().map(|found| found.range);
    let range = of_finding.or_else(|| explained.span.map(|span| question.text.range(span)));
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: explained.parts.join("\n---\n\n") };
    (!explained.parts.is_empty()).then_some(Hover { contents: HoverContents::Markup(contents), range })
}

/// Explains the field and the value at a place.
fn explain(question: &HoverQuestion<'_>) -> Explained {
    let text = question.text.text();
    let byte = question.text.byte(question.position);
    let file = File::read(question.document.uri.as_str(), text, READ_OPTIONS);
    let effect = HoveredField::at(&file, byte);
    let mut explained = Explained { parts: Vec::new(), span: effect.as_ref().map(|effect| effect.span) };
    let outline = Outline::of_file(&question.document.name(), text, byte);
    let place = outline.as_ref().and_then(|outline| outline.place(text, byte));
    if let Some(place) = place.filter(|place| matches!(place.spot, Spot::Key | Spot::Value)) {
        let outline = place.outline;
        let object = place.object();
        let path = outline.path(text, place.nearest(), object.root);
        let entry = place.entry.and_then(|id| outline.entry(id));
        let table = table_of(object);
        let found = table.and_then(|table| schema::at(table, &path, question.release));
        if let Some(found) = found {
            explained.parts.extend(field::described(&path, found, question.release));
            explained.span = explained.span.or(entry.map(|entry| entry.key.unwrap_or(entry.value)));
        }
        let scalar = entry.map_or("", |entry| entry.value.text(text));
        explained.parts.extend(value::explained(&path, found, scalar));
        if explained.span.is_none() && !explained.parts.is_empty() {
            explained.span = entry.map(|entry| entry.value);
        }
        if let Some(object) = object_at(&file, byte) {
            explained.parts.extend(requirement::counted(question, object, &path));
            explained.parts.extend(schedule::week(question, object, &path));
        }
    }
    explained.parts.extend(effect.map(|effect| effect.markdown()));
    explained
}

/// The object at a byte of a file.
fn object_at(file: &File, byte: usize) -> Option<Object<'_>> {
    let trees = file.trees();
    let is_there = |object: &Object<'_>| {
        let span = object.root().span();
        span.start <= byte && byte <= span.end
    };
    trees.flat_map(Object::all).find(is_there)
}

/// The position of the item of a list at the start of a path, and whether the path goes on.
fn item_at(path: &[EntryStep<'_>], list: &[&str]) -> Option<usize> {
    let (start, rest) = path.split_at_checked(list.len())?;
    let is_list = start.iter().zip(list).all(|(step, key)| *step == EntryStep::Key(key));
    match rest.first().filter(|_| is_list)? {
        EntryStep::Item(index) => Some(*index),
        EntryStep::Key(_) => None,
    }
}
