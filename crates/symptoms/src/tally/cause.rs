//! What was said with one detail: how often, when, and of which objects.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::signed;
use crate::entry::{At, Entry, Origin, Subject, Time};
use crate::time::Span;

/// How many objects are remembered of a cause.
const MAX_OBJECTS: usize = 1_000;

/// How many lines a diagnosis quotes, and how many of the same wording.
pub(super) const MAX_QUOTES: usize = 5;

const MAX_QUOTES_ALIKE: usize = 3;

/// How long a quote may be, in bytes.
pub(super) const MAX_QUOTE: usize = 2_000;

/// In how many minutes a cause may be seen before the first of them are forgotten.
const MAX_MINUTES: usize = 3_000;

/// In milliseconds.
pub(super) const MINUTE: i64 = 60_000;

/// So many minutes may lie between two lines of one episode: capacity that was refused is not asked for again for three.
const GAP_LOG: i64 = 5;

/// The same for events.
const GAP_EVENTS: i64 = 20;

/// One cause: what was said with one detail.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four things that are independent of one another")]
pub(super) struct Cause {
    pub(super) count: u64,
    pub(super) span: Span,
    /// How often in which minute since 1970, in their order.
    pub(super) minutes: Vec<(i64, u64)>,
    /// For how many minutes the longest of the events that repeat did.
    pub(super) repeated: i64,
    pub(super) objects: BTreeMap<Subject<'static>, OfOne>,
    /// Entries about objects beyond those that are remembered.
    pub(super) more_objects: usize,
    /// Each with the position of its message.
    pub(super) quotes: Vec<(usize, At, String)>,
    /// It was recognised by more than words alone.
    pub(super) recognised: bool,
    /// It was said without another cause beside it.
    pub(super) alone: bool,
    /// A log says it.
    pub(super) logged: bool,
    /// A status says it: it is so now.
    pub(super) present: bool,
}

/// What was said of one object.
#[derive(Debug, Default)]
pub(super) struct OfOne {
    pub(super) count: u64,
    pub(super) last: Option<Time>,
    /// The condition that tells it; empty where none does.
    pub(super) condition: String,
}

impl Cause {
    pub(super) fn add(&mut self, entry: &Entry<'_>, message: usize) {
        self.count = self.count.saturating_add(entry.count.max(1));
        self.logged |= entry.origin == Origin::Log;
        self.present |= entry.origin == Origin::Condition;
        if let Some(time) = entry.time {
            self.span.take(time);
            self.add_minute(minute(time), entry.count.max(1));
        }
        if let Some(first) = entry.first {
            self.span.take(first);
            self.repeated = self.repeated.max(repeated(first, entry));
        }
        if let Some(subject) = subject(entry) {
            if self.objects.len() >= MAX_OBJECTS && !self.objects.contains_key(&subject) {
                self.more_objects += 1;
            } else {
                let of_one = self.objects.entry(subject).or_default();
                of_one.count = of_one.count.saturating_add(entry.count.max(1));
                of_one.last = entry.time.max(of_one.last);
                if !entry.condition.kind.is_empty() {
                    entry.condition.kind.as_ref().clone_into(&mut of_one.condition);
                }
            }
        }
        self.quote(message, entry);
    }

    fn add_minute(&mut self, minute: i64, count: u64) {
        let found = match self.minutes.last_mut() {
            Some((last, counted)) if *last == minute => {
                *counted = counted.saturating_add(count);
                return;
            }
            Some((last, _)) if *last < minute => Err(self.minutes.len()),
            _ => self.minutes.binary_search_by_key(&minute, |(at, _)| *at),
        };
        match found {
            Ok(at) => {
                if let Some((_, counted)) = self.minutes.get_mut(at) {
                    *counted = counted.saturating_add(count);
                }
            }
            Err(at) => {
                self.minutes.insert(at, (minute, count));
                if self.minutes.len() > MAX_MINUTES {
                    self.minutes.drain(..MAX_MINUTES / 4);
                }
            }
        }
    }

    /// Keeps the first lines of each wording.
    fn quote(&mut self, message: usize, entry: &Entry<'_>) {
        let alike = self.quotes.iter().filter(|(other, ..)| *other == message).count();
        if alike >= MAX_QUOTES_ALIKE {
            return;
        }
        if self.quotes.len() >= MAX_QUOTES {
            // A wording that is new takes the place of the last that is not.
            let is_again = |at: usize, of: usize| self.quotes.iter().take(at).any(|(other, ..)| *other == of);
            let again = self.quotes.iter().enumerate().rev().find(|(at, (of, ..))| is_again(*at, *of));
            match again.map(|(at, _)| at) {
                Some(at) if alike == 0 => self.quotes.remove(at),
                _ => return,
            };
        }
        self.quotes.push((message, entry.at, cut(&entry.text, MAX_QUOTE).into_owned()));
    }

    /// The most within so many minutes.
    pub(super) fn most_within(&self, minutes: u64) -> u64 {
        if self.minutes.is_empty() {
            return self.count;
        }
        let (mut from, mut sum, mut most) = (self.minutes.iter(), 0_u64, 0);
        let mut oldest = from.next();
        for (minute, count) in &self.minutes {
            sum = sum.saturating_add(*count);
            while let Some((start, of_it)) = oldest.filter(|(start, _)| minute - start >= signed(minutes)) {
                debug_assert!(start <= minute);
                sum = sum.saturating_sub(*of_it);
                oldest = from.next();
            }
            most = most.max(sum);
        }
        most
    }

    /// Whether only events tell it, of each object once: the controller repeats them every few minutes.
    pub(super) fn is_single_event(&self) -> bool {
        !self.logged && !self.present && self.most_of_one() <= 1
    }

    /// How often it was said of the object of which it was said most.
    pub(super) fn most_of_one(&self) -> u64 {
        self.objects.values().map(|of_one| of_one.count).max().unwrap_or_default()
    }

    /// The minutes of the longest episode.
    pub(super) fn longest(&self) -> i64 {
        let gap = if self.logged { GAP_LOG } else { GAP_EVENTS };
        let (mut start, mut last, mut longest) = (None, None, self.repeated);
        for (minute, _) in &self.minutes {
            if last.is_none_or(|last| minute - last > gap) {
                start = Some(*minute);
            }
            last = Some(*minute);
            longest = longest.max(start.map_or(0, |start| minute - start));
        }
        longest
    }
}

/// For how many minutes an event came again and again, without a pause that is too long.
fn repeated(first: Time, entry: &Entry<'_>) -> i64 {
    let lasted = entry.time.and_then(|last| last.since(first)).map_or(0, |lasted| lasted / MINUTE);
    let pauses = i64::try_from(entry.count).unwrap_or(i64::MAX).saturating_sub(1);
    if pauses > 0 && lasted / pauses <= GAP_EVENTS { lasted } else { 0 }
}

/// The object that an entry is about: its own, or one that its fields name.
fn subject(entry: &Entry<'_>) -> Option<Subject<'static>> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
        #[serde(default)]
        namespace: String,
    }
    let of_field = |kind: &'static str| {
        let named: Named =
            serde_json::from_str(entry.fields.raw(kind).filter(|raw| raw.starts_with('{'))?).ok()?;
        Some(Subject { kind: kind.into(), namespace: named.namespace.into(), name: named.name.into() })
    };
    if !entry.object.name.is_empty() {
        return Some(entry.object.clone().into_owned());
    }
    ["Pod", "NodeClaim", "NodePool", "EC2NodeClass", "Node"].into_iter().find_map(of_field)
}

pub(super) fn cut(text: &str, bytes: usize) -> Cow<'_, str> {
    match text.get(..text.floor_char_boundary(bytes)) {
        Some(start) if text.len() > bytes => Cow::Owned(format!("{start}…")),
        _ => Cow::Borrowed(text),
    }
}

pub(super) fn minute(time: Time) -> i64 {
    time.0.div_euclid(MINUTE)
}
