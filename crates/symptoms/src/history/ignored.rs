//! Pods that the provisioner skips, and the reasons.

use std::collections::BTreeMap;

use super::record::Record;
use crate::entry::{Entry, Origin};

/// Number of pods that are remembered.
const MOST: usize = 10_000;

/// Reason for which the provisioner skips a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoreReason {
    /// The pod asks to stay off Karpenter's nodes.
    OptedOut,
    /// Its claim is not bound, and the StorageClass binds volumes at once.
    ImmediateBinding,
    /// It asks for the host name of a node.
    HostName,
    /// It asks for a restricted label.
    RestrictedLabel,
    /// It asks for a label that Karpenter uses itself.
    InternalLabel,
    /// Its node affinity has `matchFields`.
    MatchFields,
    /// Its claim names no StorageClass.
    NoStorageClass,
    /// The StorageClass of its claim does not exist.
    StorageClassMissing,
    /// Its claim is being deleted.
    ClaimDeleted,
    /// The volume of its claim does not exist.
    VolumeMissing,
    /// Its claim or volume is missing or not ready.
    VolumeNotReady,
    /// Its claim is missing or not ready.
    ClaimNotReady,
}

/// The pieces of text that identify each reason, the more specific reasons first.
/// Source: provisioner.go, volumetopology.go and `nodeclaim_validation.go` at v1.0.0 to v1.14.0.
const REASONS: &[(IgnoreReason, &[&str])] = &[
    (IgnoreReason::OptedOut, &["configured to not run on a karpenter provisioned node"]),
    (IgnoreReason::ImmediateBinding, &["immediate volume binding mode"]),
    (IgnoreReason::HostName, &["kubernetes.io/hostname", "restricted"]),
    (IgnoreReason::RestrictedLabel, &["restricted"]),
    (IgnoreReason::InternalLabel, &["is not allowed as it might interfere"]),
    (IgnoreReason::MatchFields, &["matchfields is not supported"]),
    (IgnoreReason::NoStorageClass, &["must define a storage class"]),
    (IgnoreReason::StorageClassMissing, &["storage class"]),
    (IgnoreReason::ClaimDeleted, &["persistentvolumeclaim", "being deleted"]),
    (IgnoreReason::VolumeMissing, &["non-existent persistentvolume"]),
    (IgnoreReason::VolumeNotReady, &["persistent", "olume"]),
    (IgnoreReason::ClaimNotReady, &["pvc"]),
];

impl IgnoreReason {
    /// The reason that the controller's words give, in whatever case; `None` for other words.
    fn of(words: &str) -> Option<Self> {
        let words = words.to_ascii_lowercase();
        let given = REASONS.iter().find(|(_, pieces)| pieces.iter().all(|piece| words.contains(piece)));
        given.map(|(reason, _)| *reason)
    }
}

/// A pod that was skipped.
#[derive(Clone, Debug)]
pub struct Ignored {
    /// The pod, as `namespace/name`.
    pub pod: Box<str>,
    /// The reason in the controller's words.
    pub words: Box<str>,
    /// The reason, if it is known.
    pub reason: Option<IgnoreReason>,
    /// Number of messages.
    pub count: u64,
    /// Whether a log line says it; otherwise only events do.
    pub logged: bool,
    /// The first message.
    pub first: Record,
    /// The last message.
    pub last: Record,
}

/// All skipped pods, in bounded memory.
#[derive(Debug, Default)]
pub struct IgnoredPods {
    map: BTreeMap<Box<str>, Ignored>,
    /// Number of messages about further pods.
    pub more: u64,
}

impl IgnoredPods {
    /// Adds a pod that is skipped.
    pub(super) fn skip(&mut self, pod: &str, words: &str, entry: &Entry<'_>) {
        let logged = entry.origin == Origin::Log;
        let record = Record::of(entry);
        if let Some(known) = self.map.get_mut(pod) {
            known.count += entry.count;
            known.logged |= logged;
            if record.key() >= known.last.key() {
                if *known.words != *words {
                    known.words = words.into();
                    known.reason = IgnoreReason::of(words);
                }
                known.last = record;
            } else if record.key() < known.first.key() {
                known.first = record;
            }
            return;
        }
        if self.map.len() >= MOST {
            self.more += 1;
            return;
        }
        let ignored = Ignored {
            pod: pod.into(),
            words: words.into(),
            reason: IgnoreReason::of(words),
            count: entry.count,
            logged,
            first: record.clone(),
            last: record,
        };
        self.map.insert(pod.into(), ignored);
    }

    /// Adds a pod that is skipped, unless its reason is unknown.
    pub(super) fn skip_if_known(&mut self, pod: &str, words: &str, entry: &Entry<'_>) {
        if IgnoreReason::of(words).is_some() {
            self.skip(pod, words, entry);
        }
    }

    /// Returns all of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Ignored> {
        self.map.values()
    }
}
