//! Lookup of the messages that an entry matches, fast enough for gigabytes of logs.
//!
//! Fixed texts are looked up in a map, beginnings by their first bytes; texts within errors are searched for all at once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use foldhash::HashMap;
use ids::{Id, IdVec, ids};

use super::pieces::Pieces;
use crate::entry::{Entry, EntryOrigin, LogLevel};
use crate::symptom::Symptom;
use crate::vocabulary::{self, Message, MessageId, MessagePattern, Text, Wording};

ids! {
    /// Symptom, in the order of the vocabulary.
    pub SymptomId;
    /// Pattern of a message or a clue, in the order of the vocabulary. The clues come last.
    pub PatternId;
}

/// Meaning of a message.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// Normal work.
    Normal,
    /// A correlation uses it for the symptom of this name.
    Correlated(&'static str),
    /// A symptom of the vocabulary.
    Symptom(SymptomId, &'static Symptom),
}

/// A message of the vocabulary, and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The message.
    pub message: &'static Message,
    /// Its meaning.
    pub meaning: Meaning,
}

/// The patterns that an entry matches.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    /// The messages, in the order of the vocabulary.
    pub(super) messages: Vec<PatternId>,
    /// Identities of the messages, each once.
    pub(super) ids: Vec<MessageId>,
    /// Whether only a text anywhere in the line matched.
    pub(super) by_text_alone: bool,
}

/// All messages and clues of the vocabulary, and the ways to look them up. Built once.
#[derive(Debug)]
pub(super) struct VocabularyIndex {
    /// The messages. Their patterns are the first ones below, at the same positions.
    known: Vec<Known>,
    patterns: IdVec<PatternId, &'static MessagePattern>,
    lines: HashMap<&'static str, Vec<PatternId>>,
    beginnings: BTreeMap<[u8; BEGINNING], Vec<PatternId>>,
    events: HashMap<&'static str, Vec<PatternId>>,
    conditions: HashMap<&'static str, Vec<PatternId>>,
    pieces: Pieces,
    /// The messages for panics that nothing else matches.
    panics: Vec<PatternId>,
}

/// Length of the beginnings that are looked up.
const BEGINNING: usize = 4;

/// Length in bytes from which a piece of a text is rare enough to be recognised anywhere.
const DISTINCTIVE: usize = 12;

/// The index of the vocabulary.
pub(super) fn index() -> &'static VocabularyIndex {
    static INDEX: OnceLock<VocabularyIndex> = OnceLock::new();
    INDEX.get_or_init(VocabularyIndex::new)
}

impl VocabularyIndex {
    fn new() -> Self {
        let normal = vocabulary::normal_messages().map(|message| Known { message, meaning: Meaning::Normal });
        let correlated = vocabulary::CORRELATED.iter().flat_map(|(name, messages)| {
            messages.iter().map(|message| Known { message, meaning: Meaning::Correlated(name) })
        });
        let symptoms = vocabulary::symptoms().enumerate().flat_map(|(position, symptom)| {
            let meaning = Meaning::Symptom(SymptomId::from_position(position), symptom);
            symptom.messages.iter().map(move |message| Known { message, meaning })
        });
        let known: Vec<Known> = normal.chain(correlated).chain(symptoms).collect();
        let patterns = known.iter().map(|known| &known.message.pattern).chain(vocabulary::CLUES).collect();
        let mut index = Self {
            known,
            patterns,
            lines: HashMap::default(),
            beginnings: BTreeMap::new(),
            events: HashMap::default(),
            conditions: HashMap::default(),
            pieces: Pieces::default(),
            panics: Vec::new(),
        };
        for (id, pattern) in index.patterns.enumerate() {
            let mut add_piece = |text: Text| {
                let piece = text.longest_piece();
                if let Some(piece) = piece {
                    index.pieces.add(piece, id);
                }
                piece.is_some()
            };
            match &pattern.wording {
                Wording::Log { message, error, .. } => {
                    if add_piece(*error) {
                        continue;
                    }
                    if let Text::Is(words) = message {
                        index.lines.entry(words).or_default().push(id);
                    } else if let Some(start) = message.beginning() {
                        index.beginnings.entry(start).or_default().push(id);
                    } else {
                        add_piece(*message);
                    }
                }
                Wording::Event { reason, message } => {
                    index.events.entry(reason).or_default().push(id);
                    add_piece(*message);
                }
                Wording::Condition { condition, .. } => {
                    index.conditions.entry(condition).or_default().push(id);
                }
                Wording::Anywhere(text) => {
                    add_piece(*text);
                }
                Wording::Panic => index.panics.push(id),
            }
        }
        index
    }

    /// The message with a pattern; `None` if the pattern is a clue.
    pub(super) fn known(&self, id: PatternId) -> Option<Known> {
        self.known.get(id.position()).copied()
    }

    /// Whether a pattern belongs to a message, and is not only a clue.
    fn is_message(&self, id: PatternId) -> bool {
        id.position() < self.known.len()
    }

    /// Every message.
    #[cfg(test)]
    pub(super) fn all(&self) -> &[Known] {
        &self.known
    }

    /// Finds the patterns that an entry matches, and puts them in the place of earlier ones.
    pub(super) fn find(&self, entry: &Entry<'_>, matches: &mut Matches) {
        let Matches { messages: found, ids, by_text_alone } = matches;
        found.clear();
        *by_text_alone = false;
        match entry.origin {
            EntryOrigin::Log => self.find_line(entry, found),
            EntryOrigin::Text => {}
            EntryOrigin::Event => {
                let reasons = [entry.reason.as_ref(), ""];
                let candidates = reasons.iter().filter_map(|reason| self.events.get(reason)).flatten();
                self.keep(entry, candidates.copied(), found);
            }
            EntryOrigin::Condition => {
                let candidates = self.conditions.get(entry.condition.kind.as_ref()).into_iter().flatten();
                self.keep(entry, candidates.copied(), found);
            }
        }
        if !self.has_message(found) && (has_text_only(entry) || entry.level >= LogLevel::Warn) {
            *by_text_alone = true;
            self.find_anywhere(entry, found);
        }
        if entry.level == LogLevel::Panic && !self.has_message(found) {
            // A function of Karpenter or the build in the line shows that Karpenter wrote it.
            *by_text_alone = entry.error.is_empty() && entry.fields.raw("commit").is_none();
            found.extend(&self.panics);
        }
        found.sort_unstable();
        found.dedup();
        ids.clear();
        ids.extend(found.iter().filter_map(|id| self.patterns.get(*id)?.id));
        ids.sort_unstable();
        ids.dedup();
        found.truncate(found.partition_point(|id| self.is_message(*id)));
    }

    /// Whether there is a message among the patterns, and not only clues.
    fn has_message(&self, found: &[PatternId]) -> bool {
        found.iter().any(|id| self.is_message(*id))
    }

    fn find_line(&self, entry: &Entry<'_>, found: &mut Vec<PatternId>) {
        if let Some(candidates) = self.lines.get(entry.message.as_ref()) {
            self.keep(entry, candidates.iter().copied(), found);
        }
        let beginning = entry.message.as_bytes().first_chunk();
        if let Some(candidates) = beginning.and_then(|start| self.beginnings.get(start)) {
            self.keep(entry, candidates.iter().copied(), found);
        }
        if !entry.error.is_empty() {
            self.keep(entry, self.pieces.find(&entry.error).into_iter(), found);
        } else if !self.has_message(found) {
            self.keep(entry, self.pieces.find(&entry.message).into_iter(), found);
        }
    }

    fn keep(
        &self,
        entry: &Entry<'_>,
        candidates: impl Iterator<Item = PatternId>,
        found: &mut Vec<PatternId>,
    ) {
        found.extend(
            candidates.filter(|id| self.patterns.get(*id).is_some_and(|one| one.wording.matches(entry))),
        );
    }

    /// Finds the texts of errors and events anywhere in a line.
    fn find_anywhere(&self, entry: &Entry<'_>, found: &mut Vec<PatternId>) {
        let line = if entry.text.contains("\\\"") {
            Cow::Owned(entry.text.replace("\\\"", "\""))
        } else {
            Cow::Borrowed(entry.text.as_ref())
        };
        found.extend(self.pieces.find(&line).into_iter().filter(|id| {
            let Some(pattern) = self.patterns.get(*id) else { return false };
            // The texts of clues are too common, unless they are meant for this.
            let text = match pattern.wording {
                Wording::Anywhere(text) => Some(text),
                _ if self.is_message(*id) => pattern.wording.distinctive(),
                _ => None,
            };
            text.is_some_and(|text| text.matches(&line))
        }));
    }
}

/// Whether nothing but the text of an entry is known.
fn has_text_only(entry: &Entry<'_>) -> bool {
    matches!(entry.origin, EntryOrigin::Log | EntryOrigin::Text)
        && entry.controller.is_empty()
        && entry.error.is_empty()
        && entry.fields.0.is_empty()
}

impl Wording {
    /// Whether an entry matches. The level does not count: a line has another one in other releases.
    fn matches(&self, entry: &Entry<'_>) -> bool {
        match self {
            Self::Log { level: _, message, error } => {
                entry.origin == EntryOrigin::Log
                    && message.matches(&entry.message)
                    && error.matches(&entry.error)
            }
            Self::Event { reason, message } => {
                entry.origin == EntryOrigin::Event
                    && (reason.is_empty() || *reason == entry.reason)
                    && message.matches(&entry.message)
            }
            Self::Condition { kind, condition, status, reason, message } => {
                entry.origin == EntryOrigin::Condition
                    && (kind.is_empty() || *kind == entry.object.kind || entry.is_of_unknown_object())
                    && *condition == entry.condition.kind
                    && (status.is_empty() || *status == entry.condition.status)
                    && (reason.is_empty() || *reason == entry.reason)
                    && message.matches(&entry.message)
            }
            Self::Anywhere(_) | Self::Panic => false,
        }
    }

    /// The text that identifies the message anywhere in a line; `None` if it is too common.
    fn distinctive(&self) -> Option<Text> {
        let text = match self {
            Self::Log { error, message: Text::Is(_) | Text::Any, .. } => *error,
            Self::Log { message, .. } | Self::Event { message, .. } | Self::Anywhere(message) => *message,
            Self::Condition { .. } | Self::Panic => return None,
        };
        text.longest_piece().is_some_and(|piece| piece.len() >= DISTINCTIVE).then_some(text)
    }
}

impl Text {
    /// The longest piece of a text that is searched for.
    fn longest_piece(self) -> Option<&'static str> {
        match self {
            Self::Any | Self::Is(_) | Self::Starts(_) => None,
            Self::Has(pieces) | Self::HasBut(pieces, _) => {
                let longest = pieces.iter().copied().max_by_key(|piece| piece.len());
                longest.filter(|piece| piece.len() >= Pieces::SHORTEST)
            }
        }
    }

    /// The first bytes of a text that is known by its beginning.
    fn beginning(self) -> Option<[u8; BEGINNING]> {
        match self {
            Self::Starts(words) => words.as_bytes().first_chunk().copied(),
            _ => None,
        }
    }
}
