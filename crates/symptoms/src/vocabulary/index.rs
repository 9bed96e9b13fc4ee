//! Finds the messages that an entry says, fast enough for a log of gigabytes: what is said in fixed words is looked up;
//! texts within errors are searched for all at once, by four bytes of each that are seldom met elsewhere.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::{CORRELATED, Message, NORMAL, Seen, Text};
use crate::entry::{Entry, Level, Origin};
use crate::hashing::Hashing;
use crate::{Symptom, all};

/// Which symptom a message tells.
#[derive(Clone, Copy, Debug)]
pub enum Tells {
    /// None: it is part of normal work.
    Nothing,
    /// One that a correlation diagnoses.
    Correlated(&'static str),
    /// The symptom at this position among all.
    Symptom(usize, &'static Symptom),
}

/// A message of the vocabulary, and what it tells.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The message.
    pub message: &'static Message,
    /// What it tells.
    pub tells: Tells,
}

/// What was found in an entry.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The positions of the messages it says, in the order of the vocabulary.
    pub known: Vec<usize>,
    /// Only words were recognised, in a line that is not structured or not known.
    pub words_only: bool,
}

/// Every message, and the ways to find those that an entry says. Made once a run.
#[derive(Debug)]
pub struct Index {
    known: Vec<Known>,
    lines: HashMap<&'static str, Vec<usize>, Hashing>,
    beginnings: Windows,
    events: HashMap<&'static str, Vec<usize>>,
    conditions: HashMap<&'static str, Vec<usize>>,
    pieces: Pieces,
}

/// The vocabulary as it is looked up.
pub fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(Index::new)
}

impl Index {
    fn new() -> Self {
        let nothing = NORMAL.iter().map(|message| Known { message, tells: Tells::Nothing });
        let correlated = CORRELATED.iter().flat_map(|(name, messages)| {
            messages.iter().map(|message| Known { message, tells: Tells::Correlated(name) })
        });
        let told = all().enumerate().flat_map(|(position, symptom)| {
            let tells = Tells::Symptom(position, symptom);
            symptom.messages.iter().map(move |message| Known { message, tells })
        });
        let mut index = Self {
            known: nothing.chain(correlated).chain(told).collect(),
            lines: HashMap::default(),
            beginnings: Windows::default(),
            events: HashMap::new(),
            conditions: HashMap::new(),
            pieces: Pieces::default(),
        };
        for (position, known) in index.known.iter().enumerate() {
            match &known.message.seen {
                Seen::Log { message, error, .. } => {
                    if let Some(piece) = error.piece() {
                        index.pieces.add(piece, position);
                    } else if let Text::Is(words) = message {
                        index.lines.entry(words).or_default().push(position);
                    } else if let Some(start) = message.start() {
                        index.beginnings.add(start, position);
                    } else if let Some(piece) = message.piece() {
                        index.pieces.add(piece, position);
                    }
                }
                Seen::Event { reason, message } => {
                    index.events.entry(reason).or_default().push(position);
                    if let Some(piece) = message.piece() {
                        index.pieces.add(piece, position);
                    }
                }
                Seen::Condition { condition, .. } => {
                    index.conditions.entry(condition).or_default().push(position);
                }
                Seen::Words(words) => {
                    if let Some(piece) = words.piece() {
                        index.pieces.add(piece, position);
                    }
                }
            }
        }
        index
    }

    /// The message at a position.
    pub fn known(&self, position: usize) -> Option<Known> {
        self.known.get(position).copied()
    }

    /// Every message.
    pub fn messages(&self) -> &[Known] {
        &self.known
    }

    /// The messages that an entry says.
    pub fn find(&self, entry: &Entry<'_>) -> Found {
        let mut found = Found::default();
        self.find_into(entry, &mut found);
        found
    }

    /// The same, in the place of what was found before.
    pub fn find_into(&self, entry: &Entry<'_>, found: &mut Found) {
        found.known.clear();
        found.words_only = false;
        match entry.origin {
            Origin::Log => self.find_line(entry, found),
            // Only its words can tell something.
            Origin::Text => {}
            Origin::Event => {
                let reasons = [entry.reason.as_ref(), ""];
                let candidates = reasons.iter().filter_map(|reason| self.events.get(reason)).flatten();
                self.keep(entry, candidates.copied(), &mut found.known);
            }
            Origin::Condition => {
                let candidates = self.conditions.get(entry.condition.kind.as_ref()).into_iter().flatten();
                self.keep(entry, candidates.copied(), &mut found.known);
            }
        }
        if found.known.is_empty() && (is_bare(entry) || entry.level >= Level::Warn) {
            found.words_only = true;
            self.find_words(entry, &mut found.known);
        }
        found.known.sort_unstable();
        found.known.dedup();
    }

    fn find_line(&self, entry: &Entry<'_>, found: &mut Found) {
        if let Some(candidates) = self.lines.get(entry.message.as_ref()) {
            self.keep(entry, candidates.iter().copied(), &mut found.known);
        }
        if let Some(candidates) =
            entry.message.as_bytes().first_chunk().and_then(|start| self.beginnings.of(*start))
        {
            self.keep(entry, candidates.iter().copied(), &mut found.known);
        }
        if entry.error.is_empty() {
            if found.known.is_empty() {
                self.keep_pieces(entry, &entry.message, &mut found.known);
            }
        } else {
            self.keep_pieces(entry, &entry.error, &mut found.known);
        }
    }

    fn keep_pieces(&self, entry: &Entry<'_>, text: &str, found: &mut Vec<usize>) {
        let mut candidates = Vec::new();
        self.pieces.scan(text, &mut candidates);
        self.keep(entry, candidates.into_iter(), found);
    }

    fn keep(&self, entry: &Entry<'_>, candidates: impl Iterator<Item = usize>, found: &mut Vec<usize>) {
        let says = |at: &usize| self.known.get(*at).is_some_and(|known| known.message.seen.is_said_by(entry));
        found.extend(candidates.filter(says));
    }

    /// The last resort: the words of any error or event, wherever they stand.
    fn find_words(&self, entry: &Entry<'_>, found: &mut Vec<usize>) {
        let text = if entry.text.contains("\\\"") {
            Cow::Owned(entry.text.replace("\\\"", "\""))
        } else {
            Cow::Borrowed(entry.text.as_ref())
        };
        let mut candidates = Vec::new();
        self.pieces.scan(&text, &mut candidates);
        found.extend(candidates.into_iter().filter(|at| {
            let words = self.known.get(*at).and_then(|known| known.message.seen.words());
            words.is_some_and(|words| words.fits(&text))
        }));
    }
}

/// Whether an entry is a line of which nothing but its text is known.
fn is_bare(entry: &Entry<'_>) -> bool {
    matches!(entry.origin, Origin::Log | Origin::Text)
        && entry.controller.is_empty()
        && entry.error.is_empty()
        && entry.fields.0.is_empty()
}

impl Seen {
    /// Whether an entry says it.
    pub fn is_said_by(&self, entry: &Entry<'_>) -> bool {
        match self {
            Self::Log { level: _, controllers, message, error } => {
                entry.origin == Origin::Log
                    && (controllers.is_empty()
                        || entry.controller.is_empty()
                        || controllers.contains(&entry.controller.as_ref()))
                    && message.fits(&entry.message)
                    && error.fits(&entry.error)
            }
            Self::Event { reason, message } => {
                entry.origin == Origin::Event
                    && (reason.is_empty() || *reason == entry.reason)
                    && message.fits(&entry.message)
            }
            Self::Condition { kind, condition, status, reason, message } => {
                entry.origin == Origin::Condition
                    && (kind.is_empty() || *kind == entry.object.kind)
                    && *condition == entry.condition.kind
                    && (status.is_empty() || *status == entry.condition.status)
                    && (reason.is_empty() || *reason == entry.reason)
                    && message.fits(&entry.message)
            }
            Self::Words(_) => false,
        }
    }

    /// Whether it is said at a level; what is no line of a log has none.
    pub fn is_at(&self, of_entry: Level) -> bool {
        !matches!(self, Self::Log { level, .. } if *level != of_entry)
    }

    /// The words by which it is known wherever they stand; none where they are too common for that.
    fn words(&self) -> Option<Text> {
        let words = match self {
            Self::Words(words) => return Some(*words),
            Self::Log { error, message: Text::Is(_) | Text::Any, .. } => *error,
            Self::Log { message, .. } | Self::Event { message, .. } => *message,
            Self::Condition { .. } => return None,
        };
        words.piece().is_some_and(|piece| piece.len() >= 12).then_some(words)
    }
}

impl Text {
    /// The longest piece of a text that is searched for.
    fn piece(self) -> Option<&'static str> {
        match self {
            Self::Any | Self::Is(_) | Self::Starts(_) => None,
            Self::Has(pieces) | Self::HasBut(pieces, _) => {
                pieces.iter().copied().max_by_key(|piece| piece.len()).filter(|piece| piece.len() >= 4)
            }
        }
    }

    /// The first bytes of a text that is known by its beginning.
    fn start(self) -> Option<[u8; 4]> {
        match self {
            Self::Starts(words) => words.as_bytes().first_chunk().copied(),
            _ => None,
        }
    }
}

/// Who looks for four bytes.
#[derive(Debug)]
struct Windows {
    /// A bit for every hash that four bytes have for which somebody looks.
    hashes: Vec<u64>,
    by_window: HashMap<[u8; 4], Vec<usize>>,
}

impl Default for Windows {
    fn default() -> Self {
        Self { hashes: vec![0; 1 << 10], by_window: HashMap::new() }
    }
}

impl Windows {
    fn add(&mut self, window: [u8; 4], who: usize) {
        let (word, bit) = place(window);
        if let Some(bits) = self.hashes.get_mut(word) {
            *bits |= bit;
        }
        self.by_window.entry(window).or_default().push(who);
    }

    fn of(&self, window: [u8; 4]) -> Option<&Vec<usize>> {
        let (word, bit) = place(window);
        self.hashes.get(word).filter(|bits| **bits & bit != 0).and_then(|_| self.by_window.get(&window))
    }
}

/// Pieces of text that are searched for all at once.
#[derive(Debug, Default)]
struct Pieces(Windows);

impl Pieces {
    /// Looks for a piece by the four bytes of it that are the least common.
    fn add(&mut self, piece: &str, who: usize) {
        let windows = piece.as_bytes().windows(4).filter_map(<[u8]>::first_chunk);
        let Some(window) = windows.max_by_key(|window| rarity(**window)) else { return };
        self.0.add(*window, who);
    }

    /// Adds everybody who may find a piece in a text, and perhaps others.
    fn scan(&self, text: &str, found: &mut Vec<usize>) {
        for window in text.as_bytes().windows(4).filter_map(<[u8]>::first_chunk) {
            found.extend(self.0.of(*window).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
    }
}

/// Where the hash of four bytes has its bit: Fibonacci hashing to 16 bits.
fn place(window: [u8; 4]) -> (usize, u64) {
    let hash = u32::from_le_bytes(window).wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

/// How seldom four bytes are met in English and in what the controller logs.
fn rarity(window: [u8; 4]) -> u32 {
    window
        .iter()
        .map(|byte| match byte {
            b' ' | b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'"' | b',' | b':' => 0,
            b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'.' | b'-' | b'/' | b'0'..=b'9' => 1,
            b'g' | b'h' | b'f' | b'y' | b'v' | b'b' | b'w' => 2,
            _ => 3,
        })
        .sum()
}
