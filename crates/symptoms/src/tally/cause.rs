//! One cause: messages with the same detail, their times and objects.

use std::collections::BTreeMap;

use values::cropping::cropped;

use crate::entry::{At, Entry, EntryObject, EntryOrigin, Time};
use crate::recognise::PatternId;
use crate::recognise::fields::subject;
use crate::time::TimeSpan;

/// Number of objects that are remembered of a cause.
const MAX_OBJECTS: usize = 1_000;

/// Number of lines that a diagnosis quotes, and of those with the same wording.
pub(super) const MAX_QUOTES: usize = 5;

const MAX_QUOTES_ALIKE: usize = 3;

/// Length of a quote in bytes.
pub(super) const MAX_QUOTE: usize = 2_000;

/// Number of different minutes that are remembered of a cause.
const MAX_MINUTES: usize = 3_000;

/// Milliseconds of a minute.
pub(super) const MINUTE: i64 = 60_000;

/// Longest gap in minutes within one episode: after a capacity error Karpenter does not retry an offering for three minutes.
const GAP_LOG: i64 = 5;

/// The same for events.
const GAP_EVENTS: i64 = 20;

/// Messages with the same detail.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "five things that are independent of one another")]
pub(super) struct Cause {
    pub(super) count: u64,
    pub(super) span: TimeSpan,
    /// Number of messages in each minute since 1970, in order.
    pub(super) minutes: Vec<(i64, u64)>,
    /// Length in minutes of the period in which the symptom counts messages.
    window: u64,
    /// Highest number of messages within such a period, and longest episode, in minutes that were forgotten.
    peak: u64,
    episode: i64,
    /// Longest time in minutes over which one event was repeated.
    pub(super) repeated: i64,
    pub(super) objects: BTreeMap<EntryObject<'static>, OfOne>,
    /// Messages about objects beyond the bound.
    pub(super) more_objects: usize,
    /// Quotes, each with the pattern of its message.
    pub(super) quotes: Vec<(PatternId, At, String)>,
    /// Whether a message was recognised by more than a text anywhere.
    pub(super) recognised: bool,
    /// Whether a message named no other cause.
    pub(super) alone: bool,
    /// Whether a log line shows it.
    pub(super) logged: bool,
    /// Whether a status shows it, so that it is present now.
    pub(super) present: bool,
    /// Whether Karpenter reported an event.
    pub(super) is_of_karpenter: bool,
}

/// Messages about one object.
#[derive(Debug, Default)]
pub(super) struct OfOne {
    pub(super) count: u64,
    pub(super) last: Option<Time>,
    /// The condition that shows it; may be empty.
    pub(super) condition: String,
}

impl Cause {
    /// Creates a cause of a symptom that counts messages within a period of minutes.
    pub(super) fn within(window: u64) -> Self {
        Self { window, ..Self::default() }
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>, message: PatternId) {
        self.count = self.count.saturating_add(entry.count.max(1));
        self.logged |= entry.origin == EntryOrigin::Log;
        self.present |= entry.origin == EntryOrigin::Condition;
        if let Some(time) = entry.time {
            self.span.take(time);
            self.add_minute(minute(time), entry.count.max(1));
        }
        if let Some(first) = entry.first {
            self.span.take(first);
            self.repeated = self.repeated.max(repeated(first, entry));
        }
        self.is_of_karpenter |= entry.controller == "karpenter";
        if let Some(subject) = subject(entry).or_else(|| unnamed(entry)) {
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
                    (self.peak, self.episode) = (self.most_within(self.window), self.longest());
                    self.minutes.drain(..MAX_MINUTES / 4);
                }
            }
        }
    }

    /// Keeps the first lines of each wording.
    fn quote(&mut self, message: PatternId, entry: &Entry<'_>) {
        let alike = self.quotes.iter().filter(|(other, ..)| *other == message).count();
        if alike >= MAX_QUOTES_ALIKE {
            return;
        }
        if self.quotes.len() >= MAX_QUOTES {
            // A new wording replaces the last repeated one.
            let is_again =
                |at: usize, of: PatternId| self.quotes.iter().take(at).any(|(other, ..)| *other == of);
            let again = self.quotes.iter().enumerate().rev().find(|(at, (of, ..))| is_again(*at, *of));
            match again.map(|(at, _)| at) {
                Some(at) if alike == 0 => self.quotes.remove(at),
                _ => return,
            };
        }
        self.quotes.push((message, entry.at, cropped(&entry.text, MAX_QUOTE).into_owned()));
    }

    /// Returns the highest number of messages within a period of minutes.
    pub(super) fn most_within(&self, minutes: u64) -> u64 {
        if self.minutes.is_empty() {
            return self.count;
        }
        let (mut from, mut sum, mut most) = (self.minutes.iter(), 0_u64, self.peak);
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

    /// Whether only events of Karpenter's show it that do not name their object, as the events of a description.
    pub(super) fn is_of_unnamed_object(&self) -> bool {
        self.is_of_karpenter
            && !self.logged
            && !self.objects.is_empty()
            && self.objects.keys().all(|object| object.name.is_empty())
    }

    /// Whether only events show it, once for each object. The controller repeats events every few minutes.
    pub(super) fn is_single_event(&self) -> bool {
        !self.logged && !self.present && self.most_of_one() <= 1
    }

    /// Returns the number of messages about the object with the most messages.
    pub(super) fn most_of_one(&self) -> u64 {
        self.objects.values().map(|of_one| of_one.count).max().unwrap_or_default()
    }

    /// Returns the length of the longest episode in minutes.
    pub(super) fn longest(&self) -> i64 {
        let gap = if self.logged { GAP_LOG } else { GAP_EVENTS };
        let (mut start, mut last, mut longest) = (None, None, self.repeated.max(self.episode));
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

/// The object of an event, or of the condition in an event, that does not name its object. The events of a description belong
/// to one object.
fn unnamed(entry: &Entry<'_>) -> Option<EntryObject<'static>> {
    let is_event = entry.origin == EntryOrigin::Event || entry.is_of_unknown_object();
    is_event.then(|| entry.object.clone().into_owned())
}

/// Returns the minutes over which an event was repeated, if no gap between its repetitions is too long.
fn repeated(first: Time, entry: &Entry<'_>) -> i64 {
    let lasted = entry.time.and_then(|last| last.since(first)).map_or(0, |lasted| lasted / MINUTE);
    let pauses = i64::try_from(entry.count).unwrap_or(i64::MAX).saturating_sub(1);
    if pauses > 0 && lasted / pauses <= GAP_EVENTS { lasted } else { 0 }
}

pub(super) fn minute(time: Time) -> i64 {
    time.0.div_euclid(MINUTE)
}

pub(super) fn signed(minutes: u64) -> i64 {
    i64::try_from(minutes).unwrap_or(i64::MAX)
}
