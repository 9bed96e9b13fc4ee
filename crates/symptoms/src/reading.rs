//! From the files of clusters to a report: what is told is tallied and remembered as it is read, and at the end diagnosed.

use super::entry::{At, Entry, Level, Origin, Time};
use super::history::History;
use super::reader::{Account, Read, Reader};
use super::tally::Tally;
use super::{answer, consequences, correlations};
use lint::check::{Cluster, MAX_FINDINGS};
use karpenter::release::{Release, Releases};
use manifest::limits::Limits;
use manifest::{Document, File, FileKind};
use objects::object::Object;
use lint::report::Report;
use lint::rule::Registry;
use lint::settings::{Override, Settings, Target};

/// Reads the files of clusters one after another, each in pieces as they come.
#[derive(Debug)]
pub struct Reading {
    registry: &'static Registry,
    settings: Settings,
    limits: Limits,
    max_findings: usize,
    clusters: Vec<Told>,
    reader: Option<Reader>,
    /// What the file is said to hold.
    kind: FileKind,
}

/// What was read, and what is wrong.
#[derive(Debug)]
pub struct Diagnosed {
    /// The report.
    pub report: Report,
    /// The manifests among what was read.
    pub clusters: Vec<Cluster>,
}

/// What was read of one cluster.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) name: String,
    /// The names of its files.
    pub(super) files: Vec<String>,
    manifests: Vec<File>,
    /// The names of those that are no text.
    pub(super) binary: Vec<String>,
    pub(super) tally: Tally,
    pub(super) history: History,
    pub(super) account: Account,
    /// The lowest level of its log.
    pub(super) level: Option<Level>,
    pub(super) first: Option<Time>,
    pub(super) last: Option<Time>,
}

impl Told {
    fn hear(&mut self, entry: &Entry<'_>) {
        if entry.origin == Origin::Log {
            self.level = Some(self.level.map_or(entry.level, |level| level.min(entry.level)));
            if let Some(time) = entry.time {
                self.first = Some(self.first.map_or(time, |first| first.min(time)));
                self.last = Some(self.last.map_or(time, |last| last.max(time)));
            }
        }
        self.tally.observe(entry);
        self.history.observe(entry);
    }
}

impl Reading {
    /// Nothing is read yet.
    pub fn new(registry: &'static Registry, settings: Settings, limits: Limits) -> Self {
        Self {
            registry,
            settings,
            limits,
            max_findings: MAX_FINDINGS,
            clusters: Vec::new(),
            reader: None,
            kind: FileKind::Unknown,
        }
    }

    /// A bound on the findings that are kept.
    pub fn at_most(mut self, findings: usize) -> Self {
        self.max_findings = findings;
        self
    }

    /// The files that come now are of a cluster of this name; empty where there is only one.
    pub fn cluster(&mut self, name: &str) {
        self.end_file();
        self.clusters.push(Told { name: name.to_owned(), ..Told::default() });
    }

    /// The bytes that come now are of a file of this name, which tells a manifest where it ends in `.yaml` or `.json`.
    pub fn file(&mut self, name: &str, kind: FileKind) {
        self.end_file();
        if self.clusters.is_empty() {
            self.cluster("");
        }
        let Some(told) = self.clusters.last_mut() else { return };
        self.reader = Some(Reader::new(name, told.files.len(), self.limits));
        self.kind = kind;
        told.files.push(name.to_owned());
    }

    /// The next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let (Some(reader), Some(told)) = (&mut self.reader, self.clusters.last_mut()) {
            reader.feed(bytes, &mut |entry| told.hear(entry));
        }
    }

    /// A file that cannot be read, and why.
    pub fn unreadable(&mut self, name: &str, reason: &str) {
        self.file(name, FileKind::Unknown);
        self.end_file();
        if let Some(told) = self.clusters.last_mut() {
            told.manifests.push(File::unreadable(name, reason));
        }
    }

    fn end_file(&mut self) {
        let (Some(reader), Some(told)) = (self.reader.take(), self.clusters.last_mut()) else { return };
        let index = told.files.len().saturating_sub(1);
        let Read { file, account, is_binary } = reader.finish(&mut |entry| told.hear(entry));
        if is_binary {
            told.binary.extend(told.files.last().cloned());
        }
        told.account = told.account.and(account);
        let Some(file) = file else { return };
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for object in Object::all(tree) {
                let line = file.source.position(object.root().span().start).line;
                told.history.object(object, At { file: index, line });
            }
        }
        told.manifests.push(File { kind: self.kind, ..file });
    }

    /// Everything is read: what is wrong?
    pub fn finish(mut self) -> Diagnosed {
        self.end_file();
        let mut settings = self.settings;
        let mut told = self.clusters;
        let clusters: Vec<Cluster> = told
            .iter_mut()
            .map(|told| Cluster { name: told.name.clone(), files: std::mem::take(&mut told.manifests) })
            .collect();
        aim(&mut settings, &told);
        let histories: Vec<History> = told.iter_mut().map(|told| std::mem::take(&mut told.history)).collect();
        let mut diagnoses = Vec::new();
        for correlation in correlations::ALL {
            (correlation.find)(&histories, &mut diagnoses);
        }
        let correlated = diagnoses.len();
        for (cluster, told) in told.iter().enumerate() {
            diagnoses.extend(told.tally.diagnoses(cluster));
        }
        let diagnoses: Vec<_> =
            diagnoses.into_iter().enumerate().map(|(index, one)| (one, index < correlated)).collect();
        let diagnoses = consequences::settle(diagnoses);
        for (told, history) in told.iter_mut().zip(histories) {
            told.history = history;
        }
        let report = answer::report(self.registry, diagnoses, &told, &clusters, &settings, self.max_findings);
        Diagnosed { report, clusters }
    }
}

/// Lets the logs tell which release the manifests are for, where the settings do not.
fn aim(settings: &mut Settings, told: &[Told]) {
    if settings.karpenter_is_said {
        return;
    }
    let mut targets = told.iter().map(|told| target(told.tally.releases()));
    if let [Some(target)] = targets.by_ref().collect::<Vec<_>>().as_slice() {
        settings.karpenter = *target;
        return;
    }
    for told in told {
        if let Some(target) = target(told.tally.releases()) {
            let mut files = told.files.clone();
            files.sort_unstable();
            settings.overrides.insert(0, Override { files, karpenter: Some(target), ..Override::default() });
        }
    }
}

/// The newest of some releases, where they are not all there are.
fn target(releases: Releases) -> Option<Target> {
    if releases == Releases::ALL || releases.contains(Release::NEWEST) {
        return None;
    }
    releases.iter().last().map(Target::only)
}
