//! Types of the vocabulary: messages, the patterns they match, and when they are worth a diagnosis.

use super::id::MessageId;
use crate::entry::LogLevel;
use karpenter::release::Releases;

/// A known message of Karpenter, Kubernetes or EC2.
#[derive(Debug)]
pub struct Message {
    /// The place of the message, and its wording.
    pub pattern: MessagePattern,
    /// The releases that use this wording.
    pub releases: Releases,
    /// The part of the message that distinguishes causes: a thousand lines with the same detail are one diagnosis.
    pub detail: Detail,
    /// A line as users see it. The tests read it.
    pub example: &'static str,
    /// The source of the wording: a source file at a tag, or an issue.
    pub source: &'static str,
}

/// A pattern that a log line, an event or a condition matches.
#[derive(Debug)]
pub struct MessagePattern {
    /// The identity of the message, if the history or the tally acts on it.
    pub id: Option<MessageId>,
    /// The place of the message, and its wording.
    pub wording: Wording,
}

/// Place and wording of a message.
#[derive(Debug)]
pub enum Wording {
    /// A line of the controller's log.
    Log {
        /// The level of the line.
        level: LogLevel,
        /// The text of the message.
        message: Text,
        /// The text of the field `error`.
        error: Text,
    },
    /// An event.
    Event {
        /// The reason; empty for any.
        reason: &'static str,
        /// The text of the message.
        message: Text,
    },
    /// A condition in a status.
    Condition {
        /// The kind of the object, such as `NodeClaim`; empty for any.
        kind: &'static str,
        /// The type of the condition.
        condition: &'static str,
        /// The status; empty for any.
        status: &'static str,
        /// The reason; empty for any.
        reason: &'static str,
        /// The text of the message.
        message: Text,
    },
    /// Anywhere in a line without structure, if nothing else matches.
    Anywhere(Text),
    /// A Go panic, a fatal error or a line of this level, if nothing else matches.
    Panic,
}

/// A pattern for a text.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// Any text, also an empty one.
    Any,
    /// Exactly this text.
    Is(&'static str),
    /// A text that starts like this.
    Starts(&'static str),
    /// A text that contains all of these pieces, in this order.
    Has(&'static [&'static str]),
    /// A text that contains all of the first pieces, in this order, and none of the second.
    HasBut(&'static [&'static str], &'static [&'static str]),
}

/// The part of a message that distinguishes causes behind the same wording.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// No part: all messages have the same cause.
    None,
    /// The field of this name, or the name of the object in it.
    Field(&'static str),
    /// Each text between two pieces of the error, or of the message if the error lacks them. Without the second piece the
    /// text reaches to the end.
    Between(&'static str, &'static str),
    /// The object of the message.
    Object,
    /// The message itself, without its variable parts.
    Message,
    /// The first of these details that the message has.
    First(&'static [Detail]),
}

/// Number of messages, or time, from which a cause is worth a diagnosis.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// One message is enough.
    Always,
    /// Fewer messages than `count` within `minutes` are part of normal work.
    Often {
        /// Number of messages.
        count: u64,
        /// Length of the period.
        minutes: u64,
    },
    /// Fewer messages than `count` about the same object are part of normal work.
    Repeated {
        /// Number of messages.
        count: u64,
    },
    /// Messages that keep coming for less than `minutes` are part of normal work.
    Lasting {
        /// Length of the period.
        minutes: u64,
    },
    /// One message is enough, unless the cause passed: the messages came for less than `minutes`, and then a message
    /// showed that the cause is gone, or no more of them came while the log went on.
    Unresolved {
        /// Length of the period.
        minutes: u64,
        /// The messages that show that the cause is gone.
        until: &'static [MessageId],
    },
    /// Never by itself: a correlation gives the diagnosis.
    Correlated,
}

impl Message {
    /// The same message, written only by these releases.
    pub(super) const fn only_in(self, releases: Releases) -> Self {
        Self { releases, ..self }
    }
}

impl MessagePattern {
    /// The same pattern with an identity.
    pub(super) const fn id(self, id: MessageId) -> Self {
        Self { id: Some(id), ..self }
    }
}

impl Wording {
    /// Whether a line of this level has the message; events and conditions have no level.
    pub fn is_at(&self, of_entry: LogLevel) -> bool {
        !matches!(self, Self::Log { level, .. } if *level != of_entry)
    }
}

impl Text {
    /// Whether the text matches.
    pub fn matches(self, text: &str) -> bool {
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

fn in_order(pieces: &[&str], text: &str) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| {
        rest.split_once(piece).is_some_and(|(_, after)| {
            rest = after;
            true
        })
    })
}

const fn plain(wording: Wording) -> MessagePattern {
    MessagePattern { id: None, wording }
}

/// A line of the controller's log.
pub(super) const fn line(level: LogLevel, message: Text, error: Text) -> MessagePattern {
    plain(Wording::Log { level, message, error })
}

/// An event.
pub(super) const fn event(reason: &'static str, message: Text) -> MessagePattern {
    plain(Wording::Event { reason, message })
}

/// A condition in a status.
pub(super) const fn condition(
    kind: &'static str,
    condition: &'static str,
    status: &'static str,
    reason: &'static str,
    message: Text,
) -> MessagePattern {
    plain(Wording::Condition { kind, condition, status, reason, message })
}

/// A text anywhere in a line without structure.
pub(super) const fn anywhere(text: Text) -> MessagePattern {
    plain(Wording::Anywhere(text))
}

/// A Go panic, a fatal error or a line of this level that nothing else matches.
pub(super) const fn panic() -> MessagePattern {
    plain(Wording::Panic)
}
