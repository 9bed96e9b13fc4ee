//! Messages of Karpenter, the scheduler and the API, and their meaning: data, one file for each part of a node's life.

mod api;
pub mod blocker;
mod capacity;
mod clues;
pub mod commits;
mod crash;
mod denial;
mod disruption;
mod fleet;
pub mod id;
mod image;
mod interruption;
mod launch;
pub mod message;
mod nodeclass;
mod normal;
mod permissions;
mod pods;
mod pools;
mod refinements;
mod registration;
mod startup;
mod status;
mod storage;
mod termination;

pub use blocker::Blocker;
pub use id::MessageId;
pub use message::{Detail, Message, MessagePattern, Text, When, Wording};
pub use refinements::refined;

use super::symptom::Symptom;

/// The symptoms of the vocabulary.
pub fn symptoms() -> impl Iterator<Item = &'static Symptom> {
    ALL.iter().flat_map(|part| part.iter())
}

/// All files of the vocabulary.
const ALL: &[&[Symptom]] = &[
    startup::SYMPTOMS,
    crash::SYMPTOMS,
    nodeclass::SYMPTOMS,
    pods::SYMPTOMS,
    pools::SYMPTOMS,
    permissions::SYMPTOMS,
    launch::SYMPTOMS,
    image::SYMPTOMS,
    fleet::SYMPTOMS,
    capacity::SYMPTOMS,
    registration::SYMPTOMS,
    disruption::SYMPTOMS,
    termination::SYMPTOMS,
    interruption::SYMPTOMS,
    storage::SYMPTOMS,
    api::SYMPTOMS,
];

/// Messages that correlations need, by the name of the correlation's symptom.
pub const CORRELATED: &[(&str, &[Message])] = &[
    ("pod-ignored", pods::IGNORED_PODS),
    ("registration-taint-absent", registration::TAINT_ABSENT),
    ("node-never-joined", registration::NEVER_JOINED),
    ("nodeclaim-refused-label", api::REFUSED_LABEL),
    ("foreign-collection", interruption::COLLECTED),
    ("drift-loop", disruption::DRIFT),
    ("status-contradiction", nodeclass::UNDECIDED),
    ("unready-node-not-repaired", status::UNHEALTHY),
    ("node-stays-terminating", status::TERMINATING),
];

/// Messages of normal work.
pub fn normal_messages() -> impl Iterator<Item = &'static Message> {
    normal::ALL.iter().flat_map(|part| part.iter())
}

/// Patterns that only the history needs.
pub const CLUES: &[MessagePattern] = clues::CLUES;

/// Every message: normal work first, then the messages of correlations, then the messages of symptoms.
pub fn messages() -> impl Iterator<Item = &'static Message> {
    let correlated = CORRELATED.iter().flat_map(|(_, messages)| messages.iter());
    let symptoms = symptoms().flat_map(|symptom| symptom.messages.iter());
    normal_messages().chain(correlated).chain(symptoms)
}
