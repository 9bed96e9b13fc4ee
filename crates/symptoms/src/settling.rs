//! The DEBUG lines that would confirm or refute a diagnosis that a log without them leaves open.

use super::entry::LogLevel;
use super::symptom::Symptom;
use super::vocabulary::{self, MessageId, Text, Wording};

/// Symptoms, each with the messages that confirm it. Sources: the tables of the vocabulary;
/// pkg/controllers/provisioning/provisioner.go, nodeclaim/lifecycle/liveness.go, nodeclaim/disruption/controller.go and
/// nodeclaim/garbagecollection/controller.go of kubernetes-sigs/karpenter, pkg/controllers/nodeclaim/garbagecollection of
/// aws/karpenter-provider-aws at v1.0.0 to v1.14.0.
const MESSAGES: &[(&str, &[MessageId])] = &[
    ("pod-ignored", &[MessageId::PodIgnored]),
    ("foreign-collection", &[MessageId::InstanceCollected, MessageId::InstanceGone]),
    ("node-never-joined", &[MessageId::NodeClaimTimedOut]),
    ("registration-taint-absent", &[MessageId::NodeClaimTimedOut]),
    ("drift-loop", &[MessageId::NodeClaimDrifted]),
    ("double-nodeclaim", &[MessageId::KarpenterVersion]),
];

/// The messages of the DEBUG lines that would settle some symptoms, each once.
pub(super) fn lines(open: &[&'static Symptom]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let open = MESSAGES.iter().filter(|(name, _)| open.iter().any(|symptom| symptom.name == *name));
    for line in open.flat_map(|(_, ids)| ids.iter()).flat_map(|id| debug_lines(*id)) {
        if !lines.iter().any(|known| known == line) {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// The DEBUG lines with the identity of a message, in the wording of every release.
fn debug_lines(id: MessageId) -> impl Iterator<Item = &'static str> {
    let patterns = vocabulary::messages().map(|message| &message.pattern);
    patterns.filter(move |pattern| pattern.id == Some(id)).filter_map(|pattern| match pattern.wording {
        Wording::Log { level: LogLevel::Debug, message: Text::Is(words), .. } => Some(words),
        _ => None,
    })
}
