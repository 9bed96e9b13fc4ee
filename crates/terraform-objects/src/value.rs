//! Documents of values: each node has the place of its expression.

use std::collections::{BTreeMap, BTreeSet};

use manifest::source::Span;
use manifest::tree::{Assembly, NodeId, NodePlace, Style, Tree, Value};
use objects::embedded::READ_OPTIONS;
use terraform::{
    Data, EvaluatedMembers, EvaluatedText, EvaluatedValue, TextNumber, TextPlace, Texts, fingerprint,
};

use crate::adaptation::{Adaptation, AdaptedScalar};
use crate::draft::{DraftMember, DraftPart};
use crate::parts::{is_verbatim, parts};
use crate::text::unknown;

/// The document that a part makes. `None` if the document would be too large. `is_compared` says whether it is compared with the one of another
/// side.
pub(crate) fn document(part: &DraftPart, texts: &Texts, limit: usize, is_compared: bool) -> Option<Tree> {
    let main = texts.get(part.place().text)?;
    let assembly = Assembly::of_text(main, &READ_OPTIONS, limit);
    let mut writer =
        Writer { texts, assembly, is_compared, comments: BTreeSet::new(), accepting: BTreeMap::new() };
    writer.part(Above::default(), part)?;
    let Writer { mut assembly, comments, .. } = writer;
    for (span, text) in comments {
        if let Some(source) = texts.get(text) {
            assembly.add_comment(source, span);
        }
    }
    Some(assembly.finish())
}

/// The comment on the line that starts with a byte, and the comments on the lines above it. A comment starts at the first `#` behind a blank.
fn comments_at(text: &str, start: usize) -> Vec<Span> {
    let line = text.get(start..).unwrap_or_default();
    let end = start + line.find('\n').unwrap_or(line.len());
    let within = |from: usize, to: usize| {
        let line = text.get(from..to)?;
        let is_start = |sign: &usize| {
            line.get(..*sign).is_some_and(|lead| lead.is_empty() || lead.ends_with([' ', '\t']))
        };
        let sign = line.match_indices('#').map(|(sign, _)| sign).find(is_start)?;
        Some(Span::new(from + sign, from + line.trim_end().len()))
    };
    let mut found: Vec<Span> = within(start, end).into_iter().collect();
    let mut below = start;
    while below > 0 {
        let above = text.get(..below - 1).and_then(|rest| rest.rfind('\n')).map_or(0, |end| end + 1);
        let Some(line) = text.get(above..below - 1).map(str::trim_start) else { break };
        if !line.starts_with('#') {
            break;
        }
        found.extend(within(above, below - 1));
        below = above;
    }
    found
}

struct Writer<'t> {
    texts: &'t Texts,
    assembly: Assembly,
    is_compared: bool,
    /// The comments that accept findings on the lines of the values.
    comments: BTreeSet<(Span, TextNumber)>,
    /// The lines of each text that has such comments.
    accepting: BTreeMap<TextNumber, Option<TextLines>>,
}

/// The lines of a text. A line may have many values, but its comments are read once.
struct TextLines {
    /// The first byte of each line.
    starts: Vec<usize>,
    /// The first bytes of the lines whose comments were read.
    read: BTreeSet<usize>,
}

impl TextLines {
    fn new(text: &str) -> Self {
        let below = text.match_indices('\n').map(|(end, _)| end + 1);
        Self { starts: core::iter::once(0).chain(below).collect(), read: BTreeSet::new() }
    }

    /// The first byte of the line with a byte, unless the comments of the line were read.
    fn unread(&mut self, at: usize) -> Option<usize> {
        let line = self.starts.partition_point(|start| *start <= at).checked_sub(1)?;
        let start = self.starts.get(line).copied()?;
        self.read.insert(start).then_some(start)
    }
}

/// Word in a comment that accepts findings.
const ACCEPTING: &str = "karpwarden:";

/// The collection that a new node belongs to, and its key in an object.
#[derive(Clone, Copy, Default)]
struct Above<'k> {
    parent: Option<NodeId>,
    key: Option<(&'k str, TextPlace)>,
    part: ObjectPart,
}

/// Part of a document.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ObjectPart {
    /// The whole document.
    #[default]
    Whole,
    Metadata,
    /// The annotations of the metadata.
    Annotations,
    /// The objects of a `List`.
    Items,
    Other,
}

impl<'k> Above<'k> {
    fn member(self, parent: NodeId, key: &'k str, at: TextPlace) -> Self {
        let part = match (self.part, key) {
            (ObjectPart::Whole, "metadata") => ObjectPart::Metadata,
            (ObjectPart::Whole, "items") => ObjectPart::Items,
            (ObjectPart::Metadata, "annotations") => ObjectPart::Annotations,
            _ => ObjectPart::Other,
        };
        Self { parent: Some(parent), key: Some((key, at)), part }
    }

    fn item(self, parent: NodeId) -> Self {
        let part = if self.part == ObjectPart::Items { ObjectPart::Whole } else { ObjectPart::Other };
        Self { parent: Some(parent), key: None, part }
    }
}

impl Writer<'_> {
    fn part(&mut self, above: Above<'_>, part: &DraftPart) -> Option<()> {
        match part {
            DraftPart::Value(value) => self.value(above, value, None),
            DraftPart::Adapted(value) => self.value(above, value, Some(Adaptation::of(value))),
            DraftPart::Word(word, place) => {
                self.add(above, Value::String(word), *place, Style::Plain, Some(word))?;
                Some(())
            }
            DraftPart::Int(number, place) => {
                self.scalar(above, Value::Int(*number), &number.to_string(), *place)
            }
            DraftPart::Object(members, place) => {
                let id = self.add(above, Value::Mapping, *place, Style::Flow, None)?;
                for DraftMember { key, at, value } in members {
                    self.part(above.member(id, key, *at), value)?;
                }
                self.assembly.complete(id);
                Some(())
            }
            DraftPart::List(items, place) => {
                let id = self.add(above, Value::Sequence, *place, Style::Flow, None)?;
                items.iter().try_for_each(|item| self.part(above.item(id), item))
            }
        }
    }

    fn value(
        &mut self,
        above: Above<'_>,
        value: &EvaluatedValue,
        adaptation: Option<Adaptation>,
    ) -> Option<()> {
        let place = value.place;
        match adaptation.and_then(|adaptation| adaptation.scalar(value)) {
            Some(AdaptedScalar::Text(text)) => return self.scalar(above, Value::String(&text), &text, place),
            Some(AdaptedScalar::Number(number, text)) => return self.scalar(above, number, &text, place),
            Some(AdaptedScalar::Bool(known)) => {
                return self.scalar(above, Value::Bool(known), if known { "true" } else { "false" }, place);
            }
            Some(AdaptedScalar::InSome(written)) => {
                return self.hidden(above, || fingerprint(&[&written]), place);
            }
            None => {}
        }
        match &value.data {
            Data::Null(_) => self.scalar(above, Value::Null, "null", place),
            Data::Bool(known) => {
                self.scalar(above, Value::Bool(*known), if *known { "true" } else { "false" }, place)
            }
            Data::Number(number) => {
                let text = number.text();
                let known = match number.as_int() {
                    Some(whole) => Value::Int(whole),
                    None => Value::Float(text.parse().ok()?),
                };
                self.scalar(above, known, &text, place)
            }
            Data::String(text) => self.string(above, text, place),
            Data::Unknown(unknown) => match unknown.object() {
                Some(object) => self.value(above, object, adaptation),
                None => self.string(above, &unknown.text, place),
            },
            Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
                let id = self.add(above, Value::Sequence, place, Style::Flow, None)?;
                let mut items = value.items().unwrap_or_default().iter();
                let adaptation = adaptation.map(Adaptation::item);
                items.try_for_each(|item| self.value(above.item(id), item, adaptation))
            }
            Data::Map(_, members) | Data::Object(members) => {
                let id = self.add(above, Value::Mapping, place, Style::Flow, None)?;
                for (key, member) in members.as_map() {
                    if !(adaptation.is_some() && member.value.is_null()) {
                        let adaptation = adaptation.map(|adaptation| adaptation.member(key));
                        self.value(above.member(id, key, member.key), &member.value, adaptation)?;
                    }
                }
                self.assembly.complete(id);
                Some(())
            }
        }
    }

    /// A scalar other than a string.
    fn scalar(&mut self, above: Above<'_>, value: Value<'_>, spelling: &str, place: TextPlace) -> Option<()> {
        let derived = Some(spelling).filter(|spelling| self.texts.slice(place) != *spelling);
        self.add(above, value, place, Style::Plain, derived)?;
        Some(())
    }

    fn string(&mut self, above: Above<'_>, text: &EvaluatedText, place: TextPlace) -> Option<()> {
        let has_members = matches!(above.part, ObjectPart::Metadata | ObjectPart::Annotations);
        if let Some(known) = text.known_members().filter(|_| has_members) {
            return self.known_members(above, known, text, place);
        }
        // A script or a configuration in the string may be another one with the lines of a directive.
        if !text.directives().is_empty() {
            return self.hidden(above, || text.fingerprint(), place);
        }
        let written = self.texts.slice(place);
        let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        // A value that `yamldecode` read can have no quotes.
        let inner = inner.or(Some(written).filter(|written| *written == text.as_str()));
        let style = match inner {
            Some(_) if written.starts_with('"') => Style::DoubleQuoted,
            None if written.starts_with("<<") => Style::Literal,
            _ => Style::Plain,
        };
        let whole = Span::whole(text.as_str());
        let is_written = inner == Some(text.as_str()) && is_verbatim(text, whole, self.texts);
        let derived = Some(text.as_str()).filter(|_| !is_written);
        let id = self.add(above, Value::String(text.as_str()), place, style, derived)?;
        if !is_written {
            self.assembly.set_parts(id, parts(text, whole, place, self.texts));
        }
        Some(())
    }

    /// A placeholder of a value that is not known.
    fn hidden(
        &mut self,
        above: Above<'_>,
        fingerprint: impl FnOnce() -> String,
        place: TextPlace,
    ) -> Option<()> {
        let unknown = unknown(self.is_compared, fingerprint);
        self.add(above, Value::String(&unknown), place, Style::Plain, Some(&unknown))?;
        Some(())
    }

    /// Metadata or annotations of which only some members are known. A suppression among them counts whatever the others are.
    fn known_members(
        &mut self,
        above: Above<'_>,
        known: &EvaluatedMembers,
        others: &EvaluatedText,
        place: TextPlace,
    ) -> Option<()> {
        let id = self.add(above, Value::Mapping, place, Style::Flow, None)?;
        // Others may replace them: of the metadata, only the name and the annotations count.
        let is_kept =
            |key: &str| above.part == ObjectPart::Annotations || matches!(key, "name" | "annotations");
        for (key, member) in known.as_map().iter().filter(|(key, _)| is_kept(key)) {
            self.value(above.member(id, key, member.key), &member.value, None)?;
        }
        let rest = others.as_str();
        self.add(above.member(id, rest, place), Value::String(rest), place, Style::Plain, Some(rest))?;
        self.assembly.complete(id);
        Some(())
    }

    /// Adds the comments that accept findings on the lines of a value and of its key.
    fn add_comments(&mut self, key: Option<Span>, place: TextPlace) {
        let text = self.texts.get(place.text).map_or("", |source| source.text());
        let lines = self.accepting.entry(place.text);
        let lines = lines.or_insert_with(|| text.contains(ACCEPTING).then(|| TextLines::new(text)));
        let Some(lines) = lines else { return };
        for start in [key.map(|key| key.start), Some(place.span().start)].into_iter().flatten() {
            let line = lines.unread(start);
            let comments = line.into_iter().flat_map(|start| comments_at(text, start));
            let accepting = comments.filter(|span| span.text(text).contains(ACCEPTING));
            self.comments.extend(accepting.map(|span| (span, place.text)));
        }
    }

    fn add(
        &mut self,
        above: Above<'_>,
        value: Value<'_>,
        place: TextPlace,
        style: Style,
        derived: Option<&str>,
    ) -> Option<NodeId> {
        let key = above.key.filter(|(_, at)| at.text == place.text).map(|(_, at)| at.span());
        self.add_comments(key, place);
        let place = NodePlace {
            source: self.texts.get(place.text)?,
            key: key.unwrap_or_default(),
            value: place.span(),
            style,
            derived,
        };
        self.assembly.place(above.parent, above.key.map(|(name, _)| name), value, &place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comments_of_a_line_are_read_once() {
        let mut lines = TextLines::new("a\nb c\n");
        let read = [0, 1, 2, 4, 5, 6].map(|at| lines.unread(at));
        assert_eq!(read, [Some(0), None, Some(2), None, None, Some(6)]);
        assert_eq!(comments_at("# x\n# y\na # z\n", 8).len(), 3);
    }
}
