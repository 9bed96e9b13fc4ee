//! What was said how often: the messages of the vocabulary, counted by cause.

mod cause;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use cause::{Cause, MAX_QUOTES, OfOne, cut, minute};

use super::diagnosis::Quote;
use lint::report::Confidence;
use super::entry::{At, Entry, Origin, Subject, Time};
use super::time::Span;
use super::vocabulary::index::{Found, Known, Tells, index};
use super::vocabulary::{Detail, When, commits};
use super::{Diagnosis, Symptom};
use lint::finding::Severity;
use karpenter::release::{Release, ReleaseSet, Releases};

/// How many causes are counted; what comes after them is only counted as forgotten.
const MAX_CAUSES: usize = 5_000;
/// How many of them a diagnosis lists.
const LISTED_OBJECTS: usize = 10;
/// How many pods are remembered to have found their node.
const MAX_SERVED: usize = 20_000;
/// How long a detail may be, in bytes.
const MAX_DETAIL: usize = 200;
/// After so many minutes without it a cause that the controller logs has passed: its loops run every ten seconds.
const QUIET_LOG: i64 = 2;
/// The same where only events tell it: the controller repeats an event every few minutes at most.
const QUIET_EVENTS: i64 = 12;

/// What was counted in one cluster.
#[derive(Debug)]
pub struct Tally {
    /// Entries that the vocabulary knows, those of normal work among them.
    pub understood: u64,
    /// Entries that it does not know.
    pub unknown: u64,
    /// Entries of causes beyond those that are counted.
    pub forgotten: u64,
    causes: BTreeMap<usize, BTreeMap<String, Cause>>,
    number_of_causes: usize,
    works_again: BTreeMap<&'static str, Span>,
    /// Pods that events say have found their node, and when.
    served: BTreeMap<Subject<'static>, Option<Time>>,
    /// The conditions of objects that came to be true, and when.
    fulfilled: BTreeMap<(Subject<'static>, String), Span>,
    span: Span,
    /// The commit that the last line of a log named, as JSON.
    commit: String,
    /// The releases that commits and versions name, and the last of them.
    named: ReleaseSet,
    named_last: Option<Release>,
    /// The releases that say everything in these words.
    releases: ReleaseSet,
    mixed: bool,
    /// What was found in the last entry: its place serves for the next.
    found: Found,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            understood: 0,
            unknown: 0,
            forgotten: 0,
            causes: BTreeMap::new(),
            number_of_causes: 0,
            works_again: BTreeMap::new(),
            served: BTreeMap::new(),
            fulfilled: BTreeMap::new(),
            span: Span::default(),
            commit: String::new(),
            named: ReleaseSet::none(),
            named_last: None,
            releases: ReleaseSet::all(),
            mixed: false,
            found: Found::default(),
        }
    }
}

impl Tally {
    /// Counts what an entry says.
    pub fn observe(&mut self, entry: &Entry<'_>) {
        let mut found = std::mem::take(&mut self.found);
        index().find_into(entry, &mut found);
        self.count_found(entry, &found);
        self.found = found;
    }

    fn count_found(&mut self, entry: &Entry<'_>, found: &Found) {
        if let Some(time) = entry.time {
            self.span.take(time);
        }
        self.read_release(entry, found);
        if found.known.is_empty() {
            self.unknown += u64::from(entry.origin != Origin::Text);
            return;
        }
        self.understood += 1;
        if entry.origin == Origin::Event
            && matches!(entry.reason.as_ref(), "Nominated" | "Scheduled")
            && self.served.len() < MAX_SERVED
        {
            let served = self.served.entry(entry.object.clone().into_owned()).or_default();
            *served = entry.time.max(*served);
        }
        let known = found.known.iter().filter_map(|at| index().known(*at).map(|known| (*at, known)));
        let mut told: Vec<(usize, Known, usize, String)> = Vec::new();
        for (at, known) in known {
            let Tells::Symptom(position, symptom) = known.tells else { continue };
            if matches!(symptom.when, When::Correlated) {
                continue;
            }
            for detail in details(known.message.detail, entry) {
                // A cause counts once an entry, however often the entry says it.
                if !told.iter().any(|(_, _, other, same)| *other == position && *same == detail) {
                    told.push((at, known, position, detail));
                }
            }
        }
        let alone =
            told.iter().all(|(_, _, position, _)| told.first().is_some_and(|first| first.2 == *position));
        for (message, _, position, detail) in told {
            self.count(position, detail, message, entry, alone, !found.words_only);
        }
        if entry.condition.status == "True"
            && let Some(time) = entry.time
            && self.fulfilled.len() < MAX_SERVED
        {
            let key = (entry.object.clone().into_owned(), entry.condition.kind.to_string());
            self.fulfilled.entry(key).or_default().take(time);
        }
        if let (Some(time), Some(message)) = (entry.time, works_again(entry)) {
            self.works_again.entry(message).or_default().take(time);
        }
    }

    fn count(
        &mut self,
        symptom: usize,
        detail: String,
        message: usize,
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
        let cause = causes.entry(detail).or_default();
        cause.alone |= alone;
        cause.recognised |= recognised;
        cause.add(entry, message);
    }

    /// What an entry tells of the release that wrote it: a log names the commit that it was built from, or the version;
    /// without them the words do.
    fn read_release(&mut self, entry: &Entry<'_>, found: &Found) {
        if entry.origin != Origin::Log {
            return;
        }
        if let Some(raw) = entry.fields.raw("commit")
            && raw != self.commit
        {
            raw.clone_into(&mut self.commit);
            let digits = raw.trim_matches('"').split('-').next().unwrap_or_default();
            self.name_release(commits::release(digits));
        }
        if entry.message == "discovered karpenter version" {
            let version = entry.fields.text("version");
            self.name_release(version.and_then(|version| Release::parse(&version).ok()));
        }
        if found.words_only || self.named_last.is_some() {
            return;
        }
        let messages = || found.known.iter().filter_map(|at| index().known(*at)).map(|known| known.message);
        let all = messages().fold(ReleaseSet::none(), |all, message| all.or(message.releases));
        let of_level = messages().filter(|message| message.seen.is_at(entry.level));
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

    /// The release that wrote the log, where it names its commit or version; the last of them, as in a log across an
    /// upgrade. Otherwise the releases that say everything that was read in these very words, all where nothing tells
    /// them apart; where none says everything, those that say what was read last.
    pub fn releases(&self) -> ReleaseSet {
        self.named_last.map_or_else(|| self.releases.clone(), |release| Releases::only(release).set())
    }

    /// Whether no single release says everything that was read: a log across an upgrade, or of two controllers.
    pub fn mixed_releases(&self) -> bool {
        if self.named_last.is_some() { self.named.published().nth(1).is_some() } else { self.mixed }
    }

    /// What the counts say of the cluster at a position among the inputs: the gravest and surest first.
    pub fn diagnoses(&self, cluster: usize) -> Vec<Diagnosis> {
        let mut diagnoses = Vec::new();
        for (position, symptom) in super::all().enumerate() {
            let Some(causes) = self.causes.get(&position) else { continue };
            let explains = AFTER.iter().any(|(name, before)| *before == symptom.name && self.is_told(name));
            // What names no detail is about one of those that were named.
            let unnamed = causes.get("").filter(|_| causes.len() > 1);
            let named = causes.iter().filter(|(detail, cause)| {
                (unnamed.is_none() || !detail.is_empty()) && !self.is_mended(cause)
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

    /// Whether a symptom is diagnosed.
    fn is_told(&self, name: &str) -> bool {
        let found = super::all().enumerate().find(|(_, symptom)| symptom.name == name);
        found.is_some_and(|(position, symptom)| {
            let causes = self.causes.get(&position).into_iter().flat_map(BTreeMap::values);
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

    /// Whether the conditions that tell it have all come to be true later: events tell of both.
    fn is_mended(&self, cause: &Cause) -> bool {
        let is_true = |(object, of_one): (&Subject<'static>, &OfOne)| {
            let span = self.fulfilled.get(&(object.clone(), of_one.condition.clone()));
            let since = |span: &Span| of_one.last.and_then(|last| span.since(last));
            span.and_then(since).is_some_and(|since| since > 0)
        };
        !cause.logged
            && cause.more_objects == 0
            && !cause.objects.is_empty()
            && cause.objects.iter().all(is_true)
    }

    fn has_passed(&self, cause: &Cause, until: &[&str]) -> bool {
        // Events tell which pods have found their node.
        let is_served = |(object, of_one): (&Subject<'static>, &OfOne)| {
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
        let is_after = |span: &Span| span.since(last).is_some_and(|since| since > 0);
        let works = until.iter().filter_map(|message| self.works_again.get(message)).any(is_after);
        works
            || self.span.since(last).is_some_and(|since| minute(Time(last.0 + since)) - minute(last) >= quiet)
    }
}

fn diagnosis(
    symptom: &'static Symptom,
    cluster: usize,
    detail: &str,
    cause: &Cause,
    unnamed: Option<&Cause>,
) -> Diagnosis {
    let causes = || std::iter::once(cause).chain(unnamed);
    let objects: BTreeSet<&Subject<'static>> = causes().flat_map(|cause| cause.objects.keys()).collect();
    let dated = || causes().filter_map(|cause| cause.span.dated());
    let mut quotes: Vec<&(usize, At, String)> = causes().flat_map(|cause| &cause.quotes).collect();
    quotes.truncate(MAX_QUOTES);
    quotes.sort_by_key(|(_, at, _)| *at);
    let quote = |(_, at, text): &&(usize, At, String)| Quote { cluster, at: *at, text: text.clone() };
    let alone = causes().any(|cause| cause.alone);
    // An event that was not repeated tells of an attempt: the next may find what this one did not.
    let may_pass = matches!(symptom.when, When::Unresolved { .. }) && causes().all(Cause::is_single_event);
    let sure = alone && !may_pass && causes().any(|cause| cause.recognised);
    let own = symptom.severity.min(Severity::Warning);
    Diagnosis {
        symptom,
        cluster,
        // What is only said beside other causes, as of one NodePool among several, is perhaps as it should be.
        severity: if alone { own } else { Severity::Warning },
        confidence: if sure { symptom.confidence } else { lower(symptom.confidence) },
        message: says(symptom.says, detail),
        help: symptom.remedy.to_owned(),
        count: causes().map(|cause| cause.count).fold(0, u64::saturating_add),
        first: dated().map(|(first, _)| first).min(),
        last: dated().map(|(_, last)| last).max(),
        objects_in_all: objects.len() + causes().map(|cause| cause.more_objects).sum::<usize>(),
        objects: objects.into_iter().take(LISTED_OBJECTS).cloned().collect(),
        evidence: quotes.iter().map(quote).collect(),
        details: if detail.is_empty() { Vec::new() } else { vec![detail.to_owned()] },
    }
}

fn lower(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Certain => Confidence::Likely,
        Confidence::Likely | Confidence::Possible => Confidence::Possible,
    }
}

/// A sentence with its detail in the place between braces.
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

/// The details that an entry names; one that is empty where it names none.
pub(super) fn details(detail: Detail, entry: &Entry<'_>) -> Vec<String> {
    let mut found = named(detail, entry);
    found.retain(|text| !text.is_empty());
    for text in &mut found {
        *text = cut(text, MAX_DETAIL).into_owned();
    }
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { vec![String::new()] } else { found }
}

fn named(detail: Detail, entry: &Entry<'_>) -> Vec<String> {
    match detail {
        Detail::None => Vec::new(),
        Detail::Field(key) => entry
            .fields
            .name(key)
            .or_else(|| entry.fields.text(key))
            .map(Cow::into_owned)
            .into_iter()
            .collect(),
        Detail::Between(from, to) => {
            let text = [&entry.error, &entry.message].into_iter().find(|text| text.contains(from));
            let text = text.or((entry.origin == Origin::Log).then_some(&entry.text));
            text.map_or_else(Vec::new, |text| between(text, from, to))
        }
        Detail::Object => vec![entry.object.name.clone().into_owned()],
        Detail::First(ways) => {
            ways.iter().map(|way| named(*way, entry)).find(|found| !found.is_empty()).unwrap_or_default()
        }
    }
}

/// What stands between two pieces, each time it does, a bounded number of times.
fn between(text: &str, from: &str, to: &str) -> Vec<String> {
    let after = text.split(from).skip(1).take(50);
    let piece =
        after.map(|rest| if to.is_empty() { rest } else { rest.split(to).next().unwrap_or_default() });
    let bare = |piece: &str| {
        let piece = piece.trim().trim_end_matches('\\');
        piece.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(piece).to_owned()
    };
    piece.map(bare).collect()
}

/// The message of a line, where some symptom has passed once it is said. Conditions tell it too.
fn works_again(entry: &Entry<'_>) -> Option<&'static str> {
    let condition = (&*entry.object.kind, &*entry.condition.kind, &*entry.condition.status);
    match (entry.origin, condition) {
        (Origin::Log, _) => WORKS_AGAIN.iter().copied().find(|other| *other == entry.message),
        (Origin::Condition, ("NodeClaim", "Launched", "True")) => Some("launched nodeclaim"),
        (Origin::Condition, ("NodeClaim", "Registered", "True")) => Some("registered nodeclaim"),
        _ => None,
    }
}

/// Symptoms that are said right after another one, which explains them however seldom it was said: the provisioner finds no
/// NodePool after it has passed over those that are not ready.
/// Source: pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.0, `NewScheduler`.
const AFTER: [(&str, &str); 1] = [("no-nodepool", "nodepool-not-ready")];

/// Lines that say that nodes are made again: what waits for them looks at these.
const WORKS_AGAIN: [&str; 4] = [
    "launched nodeclaim",
    "created nodeclaim",
    "computed new nodeclaim(s) to fit pod(s)",
    "registered nodeclaim",
];

fn signed(minutes: u64) -> i64 {
    i64::try_from(minutes).unwrap_or(i64::MAX)
}
