//! Counts of the messages of the vocabulary, by cause.

mod cause;
#[cfg(test)]
mod tests;
mod unrecognised;

use std::collections::{BTreeMap, BTreeSet};

use always_assert::never;

use cause::{Cause, MAX_QUOTES, OfOne, minute, signed};
use cluster::ids::ClusterId;
use ids::Id;

use crate::recognise::{PatternId, SymptomId};
pub use unrecognised::{UnknownError, Unrecognised};

use super::diagnosis::{Diagnosis, Quote};
use super::entry::{At, Entry, EntryObject, EntryOrigin, Time};
use super::recognise::fields::details;
use super::recognise::{Known, Meaning, Recognised};
use super::symptom::Symptom;
use super::time::TimeSpan;
use super::vocabulary::{self, MessageId, When, commits};
use answers::report::Confidence;
use karpenter::release::{Release, ReleaseSet, Releases};
use rule::finding::Severity;

/// Number of causes that are counted; further causes count as forgotten.
const MAX_CAUSES: usize = 5_000;
/// Number of objects that a diagnosis lists.
const MAX_LISTED_OBJECTS: usize = 10;
/// Number of pods with a node that are remembered, and number of true conditions.
const MAX_SERVED: usize = 20_000;
/// Minutes without a message after which a cause in a log has passed: the controller's loops run every ten seconds.
const QUIET_LOG: i64 = 2;
/// The same for causes that only events show: the controller repeats an event every few minutes at most.
const QUIET_EVENTS: i64 = 12;

/// Counts of one cluster.
#[derive(Debug)]
pub struct Tally {
    /// Entries that the vocabulary knows, including normal work.
    pub understood: u64,
    /// Entries that it does not know.
    pub unknown: u64,
    /// Messages of causes beyond the bound.
    pub forgotten: u64,
    /// Errors that it does not know.
    pub unrecognised: Unrecognised,
    causes: BTreeMap<SymptomId, BTreeMap<String, Cause>>,
    number_of_causes: usize,
    /// Times of the messages of [`RECOVERIES`].
    recoveries: BTreeMap<MessageId, TimeSpan>,
    /// Pods that have a node according to events, with the time.
    served: BTreeMap<EntryObject<'static>, Option<Time>>,
    /// Conditions of objects that became true, with the times.
    fulfilled: BTreeMap<(EntryObject<'static>, String), TimeSpan>,
    span: TimeSpan,
    /// The commit of the last log line, as JSON.
    commit: String,
    /// The releases that commits and versions name, and the last one.
    named: ReleaseSet,
    named_last: Option<Release>,
    /// The releases that use the wording of every message.
    releases: ReleaseSet,
    mixed: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            understood: 0,
            unknown: 0,
            forgotten: 0,
            unrecognised: Unrecognised::default(),
            causes: BTreeMap::new(),
            number_of_causes: 0,
            recoveries: BTreeMap::new(),
            served: BTreeMap::new(),
            fulfilled: BTreeMap::new(),
            span: TimeSpan::default(),
            commit: String::new(),
            named: ReleaseSet::none(),
            named_last: None,
            releases: ReleaseSet::all(),
            mixed: false,
        }
    }
}

impl Tally {
    /// Counts the messages of an entry.
    pub fn observe(&mut self, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        if let Some(time) = entry.time {
            self.span.take(time);
        }
        self.read_release(recognised);
        if !recognised.is_understood() {
            self.unknown += u64::from(entry.origin != EntryOrigin::Text);
            self.unrecognised.observe(entry);
            return;
        }
        self.understood += 1;
        self.count_causes(recognised);
        if recognised.is(MessageId::PodNominated) || recognised.is(MessageId::PodBound) {
            self.serve(entry);
        }
        if entry.condition.status == "True"
            && let Some(time) = entry.time
            && self.fulfilled.len() < MAX_SERVED
        {
            let key = (entry.object.clone().into_owned(), entry.condition.kind.to_string());
            self.fulfilled.entry(key).or_default().take(time);
        }
        let is_line = entry.origin == EntryOrigin::Log || entry.object.kind == "NodeClaim";
        if let Some(time) = entry.time.filter(|_| is_line) {
            for id in recognised.ids().filter(|id| RECOVERIES.contains(id)) {
                self.recoveries.entry(id).or_default().take(time);
            }
        }
    }

    /// Counts each cause once per entry, however often the entry names it.
    fn count_causes(&mut self, recognised: Recognised<'_, '_>) {
        let mut causes: Vec<(PatternId, SymptomId, String)> = Vec::new();
        for (at, Known { message, meaning }) in recognised.messages() {
            let Meaning::Symptom(symptom, Symptom { when, .. }) = meaning else { continue };
            if matches!(when, When::Correlated) {
                continue;
            }
            for detail in details(message.detail, recognised.entry) {
                let (symptom, detail) = better(symptom, detail, recognised.entry);
                if !causes.iter().any(|(_, other, same)| *other == symptom && *same == detail) {
                    causes.push((at, symptom, detail));
                }
            }
        }
        let first = causes.first().map(|(_, symptom, _)| *symptom);
        let alone = causes.iter().all(|(_, symptom, _)| Some(*symptom) == first);
        for (message, symptom, detail) in causes {
            self.count(symptom, detail, message, recognised.entry, alone, !recognised.is_by_text_alone());
        }
    }

    /// Notes that a pod has a node.
    fn serve(&mut self, entry: &Entry<'_>) {
        if entry.origin == EntryOrigin::Event && self.served.len() < MAX_SERVED {
            let served = self.served.entry(entry.object.clone().into_owned()).or_default();
            *served = entry.time.max(*served);
        }
    }

    fn count(
        &mut self,
        symptom: SymptomId,
        detail: String,
        message: PatternId,
        entry: &Entry<'_>,
        alone: bool,
        recognised: bool,
    ) {
        let causes = self.causes.entry(symptom).or_default();
        if !causes.contains_key(&detail) {
            if self.number_of_causes >= MAX_CAUSES {
                self.forgotten += 1;
                return;
            }
            self.number_of_causes += 1;
        }
        let cause = causes.entry(detail).or_insert_with(|| Cause::within(window(symptom)));
        cause.alone |= alone;
        cause.recognised |= recognised;
        cause.add(entry, message);
    }

    /// Reads the release of the controller: from the commit or the version that a log names, otherwise from the wording of
    /// its messages.
    fn read_release(&mut self, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        if entry.origin != EntryOrigin::Log {
            return;
        }
        if let Some(raw) = entry.fields.raw("commit")
            && raw != self.commit
        {
            raw.clone_into(&mut self.commit);
            let digits = raw.trim_matches('"').split('-').next().unwrap_or_default();
            self.name_release(commits::release(digits));
        }
        if recognised.is(MessageId::KarpenterVersion) {
            let version = entry.fields.text("version");
            self.name_release(version.and_then(|version| Release::parse(&version).ok()));
        }
        if recognised.is_by_text_alone() || self.named_last.is_some() {
            return;
        }
        let messages = || recognised.messages().map(|(_, known)| known.message);
        let all = messages().fold(ReleaseSet::none(), |all, message| all.or(message.releases));
        let of_level = messages().filter(|message| message.pattern.wording.is_at(entry.level));
        let of_level = of_level.fold(ReleaseSet::none(), |all, message| all.or(message.releases));
        let said_by = if of_level.is_empty() { all } else { of_level };
        if !said_by.is_empty() {
            let both = self.releases.and(&said_by);
            self.mixed |= both.is_empty();
            self.releases = if both.is_empty() { said_by } else { both };
        }
    }

    fn name_release(&mut self, release: Option<Release>) {
        if let Some(release) = release {
            self.named = self.named.or(Releases::only(release));
            self.named_last = Some(release);
        }
    }

    /// Returns the releases of the log. If it names a commit or version, that is the last one named, as after an upgrade.
    /// Otherwise it is the releases that use the wording of every message, or, if no release uses all of them, the wording of
    /// the last messages.
    pub fn releases(&self) -> ReleaseSet {
        self.named_last.map_or_else(|| self.releases.clone(), |release| Releases::only(release).set())
    }

    /// Whether no single release uses every wording: a log across an upgrade, or of two controllers.
    pub fn mixed_releases(&self) -> bool {
        if self.named_last.is_some() { self.named.published().nth(1).is_some() } else { self.mixed }
    }

    /// Returns the diagnoses for a cluster, the most severe and most certain first.
    pub fn diagnoses(&self, cluster: ClusterId) -> Vec<Diagnosis> {
        let mut diagnoses = Vec::new();
        for (position, symptom) in vocabulary::symptoms().enumerate() {
            let Some(causes) = self.causes.get(&SymptomId::from_position(position)) else { continue };
            let explains =
                AFTER.iter().any(|(name, before)| *before == symptom.name && self.is_diagnosed(name));
            // Messages without a detail belong to one of the causes with a detail.
            let unnamed = causes.get("").filter(|_| causes.len() > 1);
            let named = causes.iter().filter(|(detail, cause)| {
                (unnamed.is_none() || !detail.is_empty()) && !self.is_resolved(cause)
            });
            for (at, (detail, cause)) in named.enumerate() {
                let unnamed = unnamed.filter(|_| at == 0);
                if explains
                    || self.is_worth(symptom.when, cause)
                    || unnamed.is_some_and(|other| self.is_worth(symptom.when, other))
                {
                    diagnoses.push(diagnosis(symptom, cluster, detail, cause, unnamed));
                }
            }
        }
        diagnoses.sort_by(|one, other| {
            (one.severity, one.confidence, other.count).cmp(&(other.severity, other.confidence, one.count))
        });
        diagnoses
    }

    /// Returns the diagnoses with an object that a function recognises, including objects beyond those that a diagnosis lists.
    pub fn diagnoses_about(
        &self,
        cluster: ClusterId,
        is_about: &dyn Fn(&EntryObject<'_>) -> bool,
    ) -> Vec<Diagnosis> {
        let names = |cause: &Cause| cause.objects.keys().any(is_about);
        let mut diagnoses = self.diagnoses(cluster);
        diagnoses.retain(|one| {
            let position = vocabulary::symptoms().position(|symptom| symptom.name == one.symptom.name);
            let causes = position.and_then(|position| self.causes.get(&SymptomId::from_position(position)));
            let detail = one.details.first().map(String::as_str).unwrap_or_default();
            causes.and_then(|causes| causes.get(detail)).is_some_and(names)
        });
        diagnoses
    }

    /// Whether a symptom is diagnosed.
    fn is_diagnosed(&self, name: &str) -> bool {
        let found = vocabulary::symptoms().enumerate().find(|(_, symptom)| symptom.name == name);
        found.is_some_and(|(position, symptom)| {
            let causes =
                self.causes.get(&SymptomId::from_position(position)).into_iter().flat_map(BTreeMap::values);
            causes.into_iter().any(|cause| self.is_worth(symptom.when, cause))
        })
    }

    fn is_worth(&self, when: When, cause: &Cause) -> bool {
        match when {
            When::Always => true,
            When::Correlated => false,
            When::Often { count, minutes } => cause.most_within(minutes) >= count,
            When::Repeated { count } => cause.most_of_one() >= count,
            When::Lasting { minutes } => cause.longest() >= signed(minutes),
            When::Unresolved { minutes, until } => {
                cause.present || cause.longest() >= signed(minutes) || !self.has_passed(cause, until)
            }
        }
    }

    /// Whether all conditions that show the cause became true later. Events report both.
    fn is_resolved(&self, cause: &Cause) -> bool {
        let is_true = |(object, of_one): (&EntryObject<'static>, &OfOne)| {
            let span = self.fulfilled.get(&(object.clone(), of_one.condition.clone()));
            let since = |span: &TimeSpan| of_one.last.and_then(|last| span.since(last));
            span.and_then(since).is_some_and(|since| since > 0)
        };
        !cause.logged
            && cause.more_objects == 0
            && !cause.objects.is_empty()
            && cause.objects.iter().all(is_true)
    }

    fn has_passed(&self, cause: &Cause, until: &[MessageId]) -> bool {
        // Events show which pods have a node.
        let is_served = |(object, of_one): (&EntryObject<'static>, &OfOne)| {
            let since =
                |served: &Option<Time>| served.zip(of_one.last).and_then(|(served, last)| served.since(last));
            self.served.get(object).is_some_and(|served| since(served).is_none_or(|since| since >= 0))
        };
        if !cause.logged
            && cause.more_objects == 0
            && !cause.objects.is_empty()
            && cause.objects.iter().all(is_served)
        {
            return true;
        }
        let Some(last) = cause.span.last() else { return false };
        let quiet = if cause.logged { QUIET_LOG } else { QUIET_EVENTS };
        let is_after = |span: &TimeSpan| span.since(last).is_some_and(|since| since > 0);
        let is_over = until.iter().filter_map(|id| self.recoveries.get(id)).any(is_after);
        is_over
            || self.span.since(last).is_some_and(|since| minute(Time(last.0 + since)) - minute(last) >= quiet)
    }
}

fn diagnosis(
    symptom: &'static Symptom,
    cluster: ClusterId,
    detail: &str,
    cause: &Cause,
    unnamed: Option<&Cause>,
) -> Diagnosis {
    let causes = || std::iter::once(cause).chain(unnamed);
    let objects = causes().flat_map(|cause| cause.objects.keys());
    let objects: BTreeSet<&EntryObject<'static>> = objects.filter(|object| !object.name.is_empty()).collect();
    let dated = || causes().filter_map(|cause| cause.span.dated());
    let mut quotes: Vec<&(PatternId, At, String)> = causes().flat_map(|cause| &cause.quotes).collect();
    quotes.truncate(MAX_QUOTES);
    quotes.sort_by_key(|(_, at, _)| *at);
    let quote = |(_, at, text): &&(PatternId, At, String)| Quote { cluster, at: *at, text: text.clone() };
    let alone = causes().any(|cause| cause.alone);
    // A single event reports one attempt: the next one may succeed.
    let may_pass = matches!(symptom.when, When::Unresolved { .. }) && causes().all(Cause::is_single_event);
    let sure = alone && !may_pass && causes().any(|cause| cause.recognised);
    let own = symptom.severity.min(Severity::Warning);
    let confidence = match symptom.confidence {
        // Karpenter reports it, about an object that only the author of the input knows.
        _ if causes().all(Cause::is_of_unnamed_object) => Confidence::Likely,
        confidence if sure => confidence,
        confidence => lower(confidence),
    };
    Diagnosis {
        symptom,
        cluster,
        // A message that always names other causes too, such as several NodePools, may describe intended behaviour.
        severity: if alone { own } else { Severity::Warning },
        confidence,
        message: says(symptom.says, detail),
        help: symptom.remedy.to_owned(),
        count: causes().map(|cause| cause.count).fold(0, u64::saturating_add),
        is_lower_bound: false,
        first: dated().map(|(first, _)| first).min(),
        last: dated().map(|(_, last)| last).max(),
        objects_in_all: objects.len() + causes().map(|cause| cause.more_objects).sum::<usize>(),
        objects: objects.into_iter().take(MAX_LISTED_OBJECTS).cloned().collect(),
        evidence: quotes.iter().map(quote).collect(),
        details: if detail.is_empty() { Vec::new() } else { vec![detail.to_owned()] },
    }
}

/// The position and detail of the symptom that explains a message best.
fn better(symptom: SymptomId, detail: String, entry: &Entry<'_>) -> (SymptomId, String) {
    let own = vocabulary::symptoms().nth(symptom.position()).map(|symptom| symptom.name).unwrap_or_default();
    let Some((name, other)) = vocabulary::refined(own, entry, &detail) else { return (symptom, detail) };
    let Some(position) = vocabulary::symptoms().position(|symptom| symptom.name == name) else {
        never!("no symptom {}", name);
        return (symptom, detail);
    };
    (SymptomId::from_position(position), other)
}

/// Minutes of the period in which a symptom counts messages.
fn window(symptom: SymptomId) -> u64 {
    match vocabulary::symptoms().nth(symptom.position()).map(|symptom| symptom.when) {
        Some(When::Often { minutes, .. }) => minutes,
        _ => 0,
    }
}

fn lower(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Certain => Confidence::Likely,
        Confidence::Likely | Confidence::Possible => Confidence::Possible,
    }
}

/// Replaces the placeholder of a sentence by the detail.
fn says(sentence: &str, detail: &str) -> String {
    let parts = sentence
        .split_once('{')
        .and_then(|(before, rest)| rest.split_once('}').map(|(otherwise, after)| (before, otherwise, after)));
    match parts {
        Some((before, otherwise, after)) if detail.is_empty() => format!("{before}{otherwise}{after}"),
        Some((before, _, after)) => format!("{before}`{detail}`{after}"),
        None => sentence.to_owned(),
    }
}

/// Symptoms, each with another one whose messages come directly before and explain it. The other one is diagnosed even if it
/// is rare: the provisioner ignores NodePools that are not ready, and then finds no NodePool.
/// Source: pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0, `NewScheduler`.
const AFTER: [(&str, &str); 1] = [("no-nodepool", "nodepool-not-ready")];

/// Messages that show that Karpenter makes nodes again, from log lines or from conditions of NodeClaims.
const RECOVERIES: [MessageId; 4] = [
    MessageId::NodeClaimsComputed,
    MessageId::NodeClaimCreated,
    MessageId::NodeClaimLaunched,
    MessageId::NodeClaimRegistered,
];
