//! Strings that know where each of their bytes comes from.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};

use manifest::source::Span;
use sha2::{Digest, Sha256};

use crate::functions::{hex, placeholders};
use crate::place::TextPlace;
use crate::value::{EvaluatedMembers, EvaluatedValue, Items};

/// Bytes of a [`fingerprint`].
const FINGERPRINT: usize = 6;

/// String with the places of its parts.
#[derive(Clone, Debug, Default)]
pub struct EvaluatedText {
    content: Arc<str>,
    pieces: Arc<[Piece]>,
    directives: Option<Arc<Vec<UnresolvedDirective>>>,
    known: Option<Arc<KnownParts>>,
}

/// Known parts of a value that the string is a placeholder of, or that is written in it.
#[derive(Clone, Debug, Default)]
struct KnownParts {
    encoded: Option<EvaluatedValue>,
    members: Option<EvaluatedMembers>,
    items: Option<Items>,
    inserted: Vec<InsertedObject>,
}

/// Placeholder of an object within a string, where `jsonencode` or `yamlencode` would write the object.
#[derive(Clone, Debug)]
pub struct InsertedObject {
    /// The bytes of the placeholder in the string.
    pub span: Span,
    /// The members of the object that are known.
    pub known: EvaluatedMembers,
}

/// Directive of a template, such as `%{ if }`, whose condition or collection only Terraform knows. The string has a placeholder instead of what
/// the directive writes.
#[derive(Clone, Debug)]
pub struct UnresolvedDirective {
    /// The bytes of the placeholder in the string.
    pub placeholder: Span,
    /// The directive.
    pub place: TextPlace,
    /// The possible results of the directive: one of these texts, or any text if the list is empty. A `%{ for }` may write the last one several times.
    branches: Arc<[EvaluatedText]>,
    /// Whether the directive is a `%{ for }`.
    is_repeated: bool,
}

/// One of the strings that unresolved directives may lead to.
#[derive(Clone, Debug, Default)]
pub struct AlternativeText {
    /// The string.
    pub text: EvaluatedText,
    /// The number of the branch of each `%{ if }` outside of a `%{ for }`, in order. Strings with the same branches differ only in what a
    /// `%{ for }` writes.
    pub branches: Vec<usize>,
}

/// Part of a string that comes from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte of the part in the string. The part ends where the next one starts.
    pub start: usize,
    /// The bytes of the configuration that it comes from.
    pub place: TextPlace,
    /// Whether the bytes of the configuration are the bytes of the string, so that a part of one is a part of the other.
    pub is_verbatim: bool,
}

impl UnresolvedDirective {
    /// Whether the directive writes whole lines, or nothing.
    pub fn writes_whole_lines(&self) -> bool {
        let is_whole = |text: &EvaluatedText| text.as_str().is_empty() || text.as_str().ends_with('\n');
        !self.branches.is_empty() && self.branches.iter().all(is_whole)
    }

    /// The texts that the directive may write.
    fn alternatives(&self, most: usize) -> Option<Vec<AlternativeText>> {
        let mut all = Vec::new();
        for (number, branch) in self.branches.iter().enumerate() {
            for AlternativeText { text, branches } in branch.alternatives(most)? {
                let chosen = core::iter::once(number).chain(branches).filter(|_| !self.is_repeated);
                all.push(AlternativeText { text, branches: chosen.collect() });
            }
        }
        Some(all)
    }
}

impl Piece {
    /// The place of a range of the string within the part.
    fn within(&self, start: usize, end: usize) -> TextPlace {
        if self.is_verbatim { self.place.part(start - self.start, end - self.start) } else { self.place }
    }
}

impl EvaluatedText {
    /// A string that comes from one place, and does not have its bytes.
    pub(crate) fn computed(content: impl Into<Arc<str>>, place: TextPlace) -> Self {
        let mut builder = TextBuilder::default();
        builder.push(&content.into(), place, false);
        builder.finish()
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        &self.content
    }

    /// The string, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.content)
    }

    /// The parts in order. A string without bytes has none.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether the string is the placeholder of one value and nothing else, such as `${data.http.manifest.body}`, and not the one of a directive.
    pub fn is_placeholder(&self) -> bool {
        let text = self.as_str().trim();
        let is_whole = |found: &[Span]| matches!(found, [only] if *only == Span::whole(text));
        self.directives().is_empty() && !text.contains('\n') && is_whole(&placeholders(text))
    }

    /// The value that the string is the YAML or JSON of, if `yamlencode` or `jsonencode` wrote it, also one that is not known. Of the placeholder of
    /// an object that is known but for some of its keys and values, the object with placeholders.
    pub fn encoded(&self) -> Option<&EvaluatedValue> {
        self.known.as_deref()?.encoded.as_ref()
    }

    /// The known members of an object, if the string is the placeholder of the object. Members that are not known may replace them.
    pub fn known_members(&self) -> Option<&EvaluatedMembers> {
        self.known.as_deref()?.members.as_ref()
    }

    /// The items that a list has or may have, if the string is the placeholder of the list. It may have others too.
    pub fn known_items(&self) -> Option<&[EvaluatedValue]> {
        self.known.as_deref()?.items.as_ref().map(Items::as_slice)
    }

    /// The directives that are not resolved, in order.
    pub fn directives(&self) -> &[UnresolvedDirective] {
        self.directives.as_deref().map(Vec::as_slice).unwrap_or_default()
    }

    /// The placeholders of objects with known members within the string, in order.
    pub fn inserted(&self) -> &[InsertedObject] {
        self.known.as_deref().map(|known| known.inserted.as_slice()).unwrap_or_default()
    }

    /// The strings that the directives may lead to, whatever each of them writes. `None` if there are more than a number, or if a directive may
    /// write any text.
    pub fn alternatives(&self, most: usize) -> Option<Vec<AlternativeText>> {
        let mut all = vec![(TextBuilder::default(), Vec::new())];
        let mut at = 0;
        for directive in self.directives() {
            let branches = directive.alternatives(most)?;
            if branches.is_empty() || all.len() * branches.len() > most {
                return None;
            }
            let before = core::mem::take(&mut all);
            for (start, branch) in
                before.iter().flat_map(|start| branches.iter().map(move |one| (start, one)))
            {
                let (mut text, mut chosen) = start.clone();
                text.push_range(self, at, directive.placeholder.start);
                text.push_text(&branch.text);
                chosen.extend(&branch.branches);
                all.push((text, chosen));
            }
            at = directive.placeholder.end;
        }
        let finished = |(mut text, branches): (TextBuilder, Vec<usize>)| {
            text.push_range(self, at, self.content.len());
            AlternativeText { text: text.finish(), branches }
        };
        Some(all.into_iter().map(finished).collect())
    }

    /// The conditions and collections of the directives, as their placeholders name them.
    pub fn conditions(&self) -> Vec<&str> {
        let of = |directive: &'_ UnresolvedDirective| directive.placeholder.text(self.as_str());
        let own = self.directives().iter().map(of);
        let branches = self.directives().iter().flat_map(|directive| directive.branches.iter());
        own.chain(branches.flat_map(Self::conditions)).collect()
    }

    /// Name of everything that the string may be, so that two strings with unresolved directives can be compared.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.texts())
    }

    /// The string, and what its directives may write.
    pub fn texts(&self) -> Vec<&str> {
        let branches = self.directives().iter().flat_map(|directive| directive.branches.iter());
        core::iter::once(self.as_str()).chain(branches.flat_map(Self::texts)).collect()
    }

    /// A string without places, used at a place.
    fn used_at(&self, place: TextPlace) -> Self {
        let mut builder = TextBuilder::default();
        builder.push_placed(self, place);
        builder.finish()
    }

    /// The string with an indentation behind each line break, also in what its directives may write.
    pub(crate) fn indented(&self, indentation: &str, place: TextPlace) -> Self {
        let (mut builder, mut at) = (TextBuilder::default(), 0);
        for line in self.as_str().split_inclusive('\n') {
            builder.push_range(self, at, at + line.len());
            at += line.len();
            if line.ends_with('\n') {
                builder.push(indentation, place, false);
            }
        }
        for directive in &mut builder.directives {
            let branches = directive.branches.iter().map(|branch| branch.indented(indentation, place));
            directive.branches = branches.collect();
        }
        builder.finish()
    }

    /// Number of the lines, and of the bytes, of the string and of what its directives may write.
    pub(crate) fn size(&self) -> (usize, usize) {
        let sizes = self.texts().into_iter().map(|text| (text.split_inclusive('\n').count(), text.len()));
        sizes.fold((0, 0), |(lines, bytes), (more, further)| (lines + more, bytes + further))
    }

    /// The string with other known parts.
    fn with_known(self, change: impl FnOnce(&mut KnownParts)) -> Self {
        let mut known = self.known.as_deref().cloned().unwrap_or_default();
        change(&mut known);
        Self { known: Some(Arc::new(known)), ..self }
    }

    pub(crate) fn with_encoded(self, value: EvaluatedValue) -> Self {
        self.with_encoded_or_none(Some(value))
    }

    pub(crate) fn with_encoded_or_none(self, value: Option<EvaluatedValue>) -> Self {
        self.with_known(|known| known.encoded = value)
    }

    /// The string with the known parts of the value of another placeholder.
    pub(crate) fn with_parts_of(self, other: &Self) -> Self {
        Self { known: other.known.clone(), ..self }
    }

    pub(crate) fn with_known_items(self, items: Items) -> Self {
        self.with_known(|known| known.items = Some(items))
    }

    pub(crate) fn with_known_members(self, members: EvaluatedMembers) -> Self {
        self.with_known(|known| known.members = Some(members))
    }

    /// The place that a range of the string comes from: exact within a verbatim part, otherwise from the part with the first byte to the part
    /// with the last one, as long as both are in one text.
    pub fn place_of(&self, start: usize, end: usize) -> Option<TextPlace> {
        let first = self.piece_at(start)?;
        let from = self.place_in(first, start, start)?;
        let last = self.piece_at(end.saturating_sub(1).max(start))?;
        let to = self.place_in(last, end.saturating_sub(1).max(start), end)?;
        if from.text != to.text || from.span().start > to.span().end {
            return Some(from);
        }
        Some(TextPlace::new(from.text, from.span().to(to.span())))
    }

    /// Number of the part with a byte of the string; the end of the string belongs to the last part.
    fn piece_at(&self, byte: usize) -> Option<usize> {
        self.pieces.partition_point(|piece| piece.start <= byte).checked_sub(1)
    }

    fn place_in(&self, index: usize, start: usize, end: usize) -> Option<TextPlace> {
        Some(self.pieces.get(index)?.within(start, end))
    }

    /// The string without a byte order mark at its start, which readers of YAML ignore.
    pub fn without_mark(&self) -> Cow<'_, Self> {
        match self.content.strip_prefix('\u{feff}') {
            Some(rest) => Cow::Owned(self.slice(self.content.len() - rest.len(), self.content.len())),
            None => Cow::Borrowed(self),
        }
    }

    /// A range of the string. Its bounds are on boundaries of characters.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let mut builder = TextBuilder::default();
        builder.push_range(self, start, end);
        builder.finish()
    }
}

/// A text that is another one in each run, so that nobody can find a hidden value by its fingerprint. WebAssembly in a browser has no random
/// numbers; there, nothing leaves the page.
pub(crate) fn own_key() -> &'static str {
    static KEY: LazyLock<String> = LazyLock::new(|| format!("{:x}", RandomState::new().hash_one(0)));
    &KEY
}

/// Short name of some texts: other texts have another one.
pub fn fingerprint(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hex(hasher.finalize().get(..FINGERPRINT).unwrap_or_default())
}

impl PartialEq for EvaluatedText {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for EvaluatedText {}

/// Builder of a [`EvaluatedText`].
#[derive(Clone, Debug, Default)]
pub(crate) struct TextBuilder {
    content: String,
    pieces: Vec<Piece>,
    directives: Vec<UnresolvedDirective>,
    inserted: Vec<InsertedObject>,
}

impl TextBuilder {
    pub(crate) fn len(&self) -> usize {
        self.content.len()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.content
    }

    /// Adds bytes that come from a place.
    pub(crate) fn push(&mut self, content: &str, place: TextPlace, is_verbatim: bool) {
        if content.is_empty() {
            return;
        }
        let start = self.content.len();
        let continued = self.pieces.last().is_some_and(|last| {
            if is_verbatim {
                last.is_verbatim
                    && last.place.text == place.text
                    && last.place.span().end == place.span().start
                    && last.place.span().len() == start - last.start
            } else {
                !last.is_verbatim && last.place == place
            }
        });
        match self.pieces.last_mut().filter(|_| continued) {
            Some(last) if is_verbatim => {
                last.place = TextPlace::new(place.text, last.place.span().to(place.span()));
            }
            Some(_) => {}
            None => self.pieces.push(Piece { start, place, is_verbatim }),
        }
        self.content.push_str(content);
    }

    /// Adds a string with the places of its parts.
    pub(crate) fn push_text(&mut self, text: &EvaluatedText) {
        self.push_range(text, 0, text.content.len());
    }

    /// Adds a range of a string.
    pub(crate) fn push_range(&mut self, text: &EvaluatedText, start: usize, end: usize) {
        self.push_directives(text.directives(), start, end);
        self.push_inserted(text.inserted(), start, end);
        self.push_pieces(&text.content, &text.pieces, start, end);
    }

    /// Adds the end of another string from a byte on.
    pub(crate) fn push_built(&mut self, other: &Self, start: usize) {
        self.push_directives(&other.directives, start, other.content.len());
        self.push_inserted(&other.inserted, start, other.content.len());
        self.push_pieces(&other.content, &other.pieces, start, other.content.len());
    }

    /// Adds a string that an expression inserts, at the place of the expression.
    pub(crate) fn push_placed(&mut self, text: &EvaluatedText, place: TextPlace) {
        let start = self.content.len();
        self.directives.extend(text.directives().iter().map(|directive| UnresolvedDirective {
            placeholder: directive.placeholder.shifted(start),
            place: directive.place,
            branches: directive.branches.iter().map(|branch| branch.used_at(place)).collect(),
            is_repeated: directive.is_repeated,
        }));
        self.push_inserted(text.inserted(), 0, text.content.len());
        let encoded = text.encoded().and_then(EvaluatedValue::as_unknown);
        if let Some(known) = encoded.and_then(|encoded| encoded.text.known_members()) {
            let span = Span::new(start, start + text.content.len());
            self.inserted.push(InsertedObject { span, known: known.clone() });
        }
        self.push(&text.content, place, false);
    }

    /// Adds the objects that are inserted in a range of a string that follows.
    fn push_inserted(&mut self, inserted: &[InsertedObject], start: usize, end: usize) {
        let at = self.content.len();
        let within = inserted.iter().filter(|one| start <= one.span.start && one.span.end <= end);
        let moved = within.map(|one| InsertedObject {
            span: Span::new(one.span.start - start + at, one.span.end - start + at),
            known: one.known.clone(),
        });
        self.inserted.extend(moved);
    }

    /// Adds the placeholder of a directive that may write one of some texts, or any text if the list is empty.
    pub(crate) fn push_directive(
        &mut self,
        placeholder: &str,
        place: TextPlace,
        branches: Vec<EvaluatedText>,
        is_repeated: bool,
    ) {
        let start = self.content.len();
        self.directives.push(UnresolvedDirective {
            placeholder: Span::new(start, start + placeholder.len()),
            place,
            branches: branches.into(),
            is_repeated,
        });
        self.push(placeholder, place, false);
    }

    /// Adds the directives in a range of a string that follows.
    fn push_directives(&mut self, directives: &[UnresolvedDirective], start: usize, end: usize) {
        if start >= end {
            return;
        }
        let shift = |byte: usize| byte.clamp(start, end) - start + self.content.len();
        let within =
            directives.iter().filter(|one| one.placeholder.start < end && start < one.placeholder.end);
        let moved: Vec<UnresolvedDirective> = within
            .map(|directive| {
                let Span { start: from, end: to } = directive.placeholder;
                let is_whole = start <= from && to <= end;
                UnresolvedDirective {
                    placeholder: Span::new(shift(from), shift(to)),
                    place: directive.place,
                    branches: if is_whole { Arc::clone(&directive.branches) } else { Arc::default() },
                    is_repeated: directive.is_repeated,
                }
            })
            .collect();
        self.directives.extend(moved);
    }

    fn push_pieces(&mut self, content: &str, pieces: &[Piece], start: usize, end: usize) {
        let end = end.min(content.len());
        let first = pieces.partition_point(|piece| piece.start <= start).saturating_sub(1);
        for (index, piece) in pieces.iter().enumerate().skip(first) {
            let next = pieces.get(index + 1).map_or(content.len(), |next| next.start);
            let (from, to) = (piece.start.max(start), next.min(end));
            if from >= to {
                break;
            }
            self.push(content.get(from..to).unwrap_or_default(), piece.within(from, to), piece.is_verbatim);
        }
    }

    /// Removes whitespace at the end, but nothing before a byte.
    pub(crate) fn trim_end(&mut self, from: usize) {
        let kept = self.content.get(from..).map_or(from, |tail| from + tail.trim_end().len());
        self.content.truncate(kept);
        self.pieces.retain(|piece| piece.start < kept);
        self.directives.retain(|directive| directive.placeholder.start < kept);
        self.inserted.retain(|one| one.span.end <= kept);
        if let Some(last) = self.pieces.last_mut().filter(|last| last.is_verbatim) {
            last.place = last.place.part(0, kept - last.start);
        }
    }

    pub(crate) fn finish(self) -> EvaluatedText {
        let directives = (!self.directives.is_empty()).then(|| Arc::new(self.directives));
        let known = KnownParts { inserted: self.inserted, ..KnownParts::default() };
        let known = (!known.inserted.is_empty()).then(|| Arc::new(known));
        EvaluatedText { content: self.content.into(), pieces: self.pieces.into(), directives, known }
    }
}
