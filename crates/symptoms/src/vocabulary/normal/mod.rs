//! Messages of normal work, which belong to no symptom: data, one file for each source of messages.

mod aws;
mod blockers;
mod conditions;
mod core;
mod events;
mod framework;

use super::message::{Detail, Message, MessagePattern};
use karpenter::release::Releases;

/// All messages of normal work.
pub(super) const ALL: &[&[Message]] = &[
    core::MESSAGES,
    blockers::MESSAGES,
    aws::MESSAGES,
    framework::MESSAGES,
    events::MESSAGES,
    conditions::MESSAGES,
];

/// A message of normal work with its example and its source. Every release writes it, unless [`Message::only_in`] follows.
const fn normal(pattern: MessagePattern, example: &'static str, source: &'static str) -> Message {
    Message { pattern, releases: Releases::ALL, detail: Detail::None, example, source }
}
