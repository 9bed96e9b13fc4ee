//! Pods that the provisioner skips, and the reasons.

use std::collections::BTreeMap;

use super::record::Record;
use crate::entry::{Entry, EntryOrigin, Time};

/// Number of pods that are remembered.
const MAX_PODS: usize = 10_000;

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
    fn recognise(words: &str) -> Option<Self> {
        let words = words.to_ascii_lowercase();
        let given = REASONS.iter().find(|(_, pieces)| pieces.iter().all(|piece| words.contains(piece)));
        given.map(|(reason, _)| *reason)
    }
}

/// Longest pause within one period in which the log says that a pod is skipped. The controller checks a pending pod again
/// every ten seconds, and a round of scheduling may take more than a minute: `RequeueAfter` in
/// pkg/controllers/provisioning/controller.go at v1.0.0, v1.6.4 and v1.14.0.
const MAX_PAUSE_OF_LOG: i64 = 2 * 60_000;

/// The same for events, which Karpenter repeats every five minutes: `DedupeTimeout` of `PodFailedToScheduleEvent` in
/// pkg/controllers/provisioning/scheduling/events.go at v1.0.0, v1.6.4 and v1.14.0.
const MAX_PAUSE_OF_EVENTS: i64 = 6 * 60_000;

/// Number of periods that are remembered of a pod.
const MAX_PERIODS: usize = 8;

/// A time during which a pod was skipped without a long pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedPeriod {
    /// The first message.
    pub from: Time,
    /// The last message.
    pub to: Time,
}

impl SkippedPeriod {
    /// The period that an entry shows: an event that was repeated shows when it began.
    fn of(entry: &Entry<'_>) -> Option<Self> {
        let to = entry.time?;
        let pauses = i64::try_from(entry.count).unwrap_or(i64::MAX).saturating_sub(1).max(1);
        let lasts = |first: &Time| {
            to.since(*first).is_some_and(|length| (0..=pauses * MAX_PAUSE_OF_EVENTS).contains(&length))
        };
        Some(Self { from: entry.first.filter(lasts).unwrap_or(to), to })
    }

    /// Length in milliseconds.
    pub fn length(self) -> i64 {
        self.to.since(self.from).unwrap_or_default()
    }

    /// One period, if the pause between the two is at most `pause`.
    fn joined(self, other: Self, pause: i64) -> Option<Self> {
        let (early, late) = if self.from <= other.from { (self, other) } else { (other, self) };
        let gap = late.from.since(early.to)?;
        (gap <= pause).then(|| Self { from: early.from, to: early.to.max(late.to) })
    }
}

/// A pod that was skipped.
#[derive(Clone, Debug)]
pub struct Ignored {
    /// The pod, as `namespace/name`; empty if its events do not name it.
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
    /// The periods in which it was skipped.
    periods: Vec<SkippedPeriod>,
}

impl Ignored {
    /// Adds the time of a message. Messages come in any order.
    fn add_time(&mut self, entry: &Entry<'_>) {
        let pause = if entry.origin == EntryOrigin::Log { MAX_PAUSE_OF_LOG } else { MAX_PAUSE_OF_EVENTS };
        let Some(mut period) = SkippedPeriod::of(entry) else { return };
        self.periods.retain(|other| match period.joined(*other, pause) {
            Some(joined) => {
                period = joined;
                false
            }
            None => true,
        });
        if self.periods.len() < MAX_PERIODS {
            self.periods.push(period);
        }
    }

    /// The longest period in which it was skipped.
    pub fn longest(&self) -> Option<SkippedPeriod> {
        self.periods.iter().copied().max_by_key(|period| period.length())
    }
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
        let logged = entry.origin == EntryOrigin::Log;
        let record = Record::of(entry);
        if let Some(known) = self.map.get_mut(pod) {
            known.count += entry.count;
            known.logged |= logged;
            known.add_time(entry);
            if record.key() >= known.last.key() {
                if *known.words != *words {
                    known.words = words.into();
                    known.reason = IgnoreReason::recognise(words);
                }
                known.last = record;
            } else if record.key() < known.first.key() {
                known.first = record;
            }
            return;
        }
        if self.map.len() >= MAX_PODS {
            self.more += 1;
            return;
        }
        let ignored = Ignored {
            pod: pod.into(),
            words: words.into(),
            reason: IgnoreReason::recognise(words),
            count: entry.count,
            logged,
            first: record.clone(),
            last: record,
            periods: SkippedPeriod::of(entry).into_iter().collect(),
        };
        self.map.insert(pod.into(), ignored);
    }

    /// Adds a pod that is skipped, unless its reason is unknown.
    pub(super) fn skip_if_known(&mut self, pod: &str, words: &str, entry: &Entry<'_>) {
        if IgnoreReason::recognise(words).is_some() {
            self.skip(pod, words, entry);
        }
    }

    /// Returns all of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Ignored> {
        self.map.values()
    }
}
