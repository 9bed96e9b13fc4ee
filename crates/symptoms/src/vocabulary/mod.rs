//! What the controller, the scheduler and the API say, and what each of it means: data, a file for each part of a node's life.

mod api;
mod capacity;
pub mod commits;
mod disruption;
pub mod index;
mod interruption;
mod launch;
mod nodeclass;
mod normal;
mod permissions;
mod pods;
mod pools;
mod registration;
mod startup;
mod storage;
mod termination;
#[cfg(test)]
mod tests;

use super::Symptom;
use super::entry::Level;
use karpenter::release::Releases;

/// A message that is known: where it is said, by which releases, and what it looks like.
#[derive(Debug)]
pub struct Message {
    /// Where it is said, and in which words.
    pub seen: Seen,
    /// The releases that say it in these words.
    pub releases: Releases,
    /// What tells one cause from another among equal messages: a thousand lines of one cause are one diagnosis.
    pub detail: Detail,
    /// A line as users meet it. The tests read it.
    pub example: &'static str,
    /// Where these words come from: a source file at a tag, or an issue.
    pub source: &'static str,
}

/// Where a message is said.
#[derive(Debug)]
pub enum Seen {
    /// In a line of the controller's log.
    Log {
        /// The level it is logged at.
        level: Level,
        /// The controllers that log it; none named: any.
        controllers: &'static [&'static str],
        /// The words of its message.
        message: Text,
        /// The words of its field `error`.
        error: Text,
    },
    /// In an event.
    Event {
        /// Its reason.
        reason: &'static str,
        /// The words of its message.
        message: Text,
    },
    /// In a condition of a status.
    Condition {
        /// The kind of the object, such as `NodeClaim`.
        kind: &'static str,
        /// The type of the condition.
        condition: &'static str,
        /// Its status; empty for any.
        status: &'static str,
        /// Its reason; empty for any.
        reason: &'static str,
        /// The words of its message.
        message: Text,
    },
    /// Anywhere in a line that is not structured, as the last resort.
    Words(Text),
}

/// What a text has to say.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// Anything, or nothing.
    Any,
    /// Exactly this.
    Is(&'static str),
    /// This first.
    Starts(&'static str),
    /// All of these, in this order.
    Has(&'static [&'static str]),
    /// All of the first, in this order, and none of the second.
    HasBut(&'static [&'static str], &'static [&'static str]),
}

/// What tells one cause from another among equal messages.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// Nothing: they are one.
    None,
    /// The field of this name, or the name of the object it holds.
    Field(&'static str),
    /// What stands between two pieces of the error, or of the message where there is no error; up to the end where the
    /// second does not follow. Each time it is said.
    Between(&'static str, &'static str),
    /// The object that it is about.
    Object,
    /// The first of these that is there.
    First(&'static [Detail]),
}

/// From when on messages are worth a diagnosis.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// From the first.
    Always,
    /// From so many on within so many minutes: fewer are part of normal work.
    Often {
        /// How many.
        count: u64,
        /// Within how many minutes.
        minutes: u64,
    },
    /// From so many on about one and the same object: fewer are part of normal work, however many objects there are.
    Repeated {
        /// How many.
        count: u64,
    },
    /// From when on they keep coming for so many minutes: less is part of normal work.
    Lasting {
        /// For how many minutes.
        minutes: u64,
    },
    /// From the first, unless it passed: they came for less than so many minutes, and then one of the lines that say that
    /// it works again, or nothing more of it while the log goes on.
    Unresolved {
        /// For how many minutes.
        minutes: u64,
        /// The messages of lines that say that it works again.
        until: &'static [&'static str],
    },
    /// Never by themselves: correlations look at them.
    Correlated,
}

impl Text {
    /// Whether the text says it.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(words) => text == words,
            Self::Starts(words) => text.starts_with(words),
            Self::Has(pieces) => in_order(pieces, text),
            Self::HasBut(pieces, others) => {
                in_order(pieces, text) && !others.iter().any(|other| text.contains(other))
            }
        }
    }
}

/// A line of a log, of whatever controller.
const fn line(level: Level, message: Text, error: Text) -> Seen {
    Seen::Log { level, controllers: &[], message, error }
}

/// An event.
const fn event(reason: &'static str, message: Text) -> Seen {
    Seen::Event { reason, message }
}

/// A condition of a status.
const fn condition(
    kind: &'static str,
    condition: &'static str,
    status: &'static str,
    reason: &'static str,
    message: Text,
) -> Seen {
    Seen::Condition { kind, condition, status, reason, message }
}

fn in_order(pieces: &[&str], text: &str) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| {
        rest.split_once(piece).is_some_and(|(_, after)| {
            rest = after;
            true
        })
    })
}

/// The symptoms that messages tell.
pub fn symptoms() -> impl Iterator<Item = &'static Symptom> {
    ALL.iter().flat_map(|part| part.iter())
}

/// Every part of the vocabulary.
const ALL: &[&[Symptom]] = &[
    startup::SYMPTOMS,
    nodeclass::SYMPTOMS,
    pods::SYMPTOMS,
    pools::SYMPTOMS,
    permissions::SYMPTOMS,
    launch::SYMPTOMS,
    capacity::SYMPTOMS,
    registration::SYMPTOMS,
    disruption::SYMPTOMS,
    termination::SYMPTOMS,
    interruption::SYMPTOMS,
    storage::SYMPTOMS,
    api::SYMPTOMS,
];

/// What correlations look at, under the name of the correlation that gives the diagnosis.
pub const CORRELATED: &[(&str, &[Message])] = &[
    ("pod-ignored", pods::IGNORED_PODS),
    ("registration-taint-absent", registration::TAINT_ABSENT),
    ("node-never-joined", registration::NEVER_JOINED),
    ("nodeclaim-refused-label", api::REFUSED_LABEL),
    ("foreign-collection", interruption::COLLECTED),
    ("drift-loop", disruption::DRIFT),
    ("status-contradiction", nodeclass::UNDECIDED),
];

/// What is part of normal work: understood, and no symptom.
pub const NORMAL: &[Message] = normal::MESSAGES;
