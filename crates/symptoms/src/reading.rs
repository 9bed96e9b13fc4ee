//! Files of clusters → report.

use super::cluster::DiagnosedCluster;
use super::diagnosis::Diagnosis;
use super::entry::{At, EntryObject};
use super::history::History;
use super::reader::{FileReader, ReadFile};
use super::story::{StoryTarget, StoryTeller};
use super::{answer, consequences, correlations};
use answers::report::Report;
use answers::story::Story;
use cluster::Cluster;
use cluster::ids::ClusterId;
use engine::check::MAX_FINDINGS;
use karpenter::release::{Release, ReleaseSet};
use manifest::limits::Limits;
use manifest::{Document, File, FileKind};
use objects::object::Object;
use rule::registry::Registry;
use rule::settings::{Override, Settings, Target};
use values::abbreviation::UnresolvedName;

/// Reads the files of clusters one after another, each in pieces.
#[derive(Debug)]
pub struct Reading {
    registry: &'static Registry,
    settings: Settings,
    limits: Limits,
    max_findings: usize,
    story: Option<StoryTarget>,
    clusters: Vec<DiagnosedCluster>,
    reader: Option<FileReader>,
    /// The kind of the current file.
    kind: FileKind,
}

/// Report and manifests of a finished reading.
#[derive(Debug)]
pub struct Diagnosed {
    /// The report.
    pub report: Report,
    /// The manifests among the files.
    pub clusters: Vec<Cluster>,
    /// The reason why no input mentions the object of the story; `None` if one does, or if nobody asks for a story.
    pub unresolved: Option<UnresolvedName>,
}

impl Reading {
    /// Creates a reading without input.
    pub fn new(registry: &'static Registry, settings: Settings, limits: Limits) -> Self {
        Self {
            registry,
            settings,
            limits,
            max_findings: MAX_FINDINGS,
            story: None,
            clusters: Vec::new(),
            reader: None,
            kind: FileKind::Unknown,
        }
    }

    /// Limits the number of findings.
    pub fn at_most(mut self, findings: usize) -> Self {
        self.max_findings = findings;
        self
    }

    /// Also tells the story of an object. Call it before the first file.
    pub fn about(mut self, target: StoryTarget) -> Self {
        self.story = Some(target);
        self
    }

    /// Begins the files of a cluster; the name is empty if there is only one.
    pub fn cluster(&mut self, name: &str) {
        self.end_file();
        self.clusters.push(DiagnosedCluster::new(name).about(self.story.clone()));
    }

    /// Begins a file. A name that ends in `.yaml` or `.json` makes it a manifest.
    pub fn file(&mut self, name: &str, kind: FileKind) {
        self.end_file();
        if self.clusters.is_empty() {
            self.cluster("");
        }
        let Some(cluster) = self.clusters.last_mut() else { return };
        let file = cluster.files.push(name.to_owned());
        self.reader = Some(FileReader::new(name, file, self.limits));
        self.kind = kind;
    }

    /// Adds the next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let (Some(reader), Some(cluster)) = (&mut self.reader, self.clusters.last_mut()) {
            reader.feed(bytes, &mut |entry| cluster.observe(entry));
        }
    }

    /// Adds a file that cannot be read, with the reason. If it is the current file, the part before the error counts.
    pub fn unreadable(&mut self, name: &str, reason: &str) {
        self.add(name, File::unreadable(name, reason));
    }

    /// Adds a file without content to read, with the reason.
    pub fn skipped(&mut self, name: &str, reason: &str) {
        self.add(name, File::skipped(name, reason));
    }

    fn add(&mut self, name: &str, file: File) {
        let last = self.clusters.last().and_then(|cluster| cluster.files.iter().last());
        if self.reader.is_none() || last.is_none_or(|last| last != name) {
            self.file(name, FileKind::Unknown);
        }
        self.end_file();
        if let Some(cluster) = self.clusters.last_mut() {
            cluster.manifests.push(file);
        }
    }

    fn end_file(&mut self) {
        let (Some(reader), Some(cluster)) = (self.reader.take(), self.clusters.last_mut()) else { return };
        let id = reader.file();
        let ReadFile { file, counts, is_binary } = reader.finish(&mut |entry| cluster.observe(entry));
        if is_binary {
            cluster.binary.extend(cluster.files.get(id).cloned());
        }
        cluster.counts = cluster.counts.and(counts);
        let Some(file) = file else { return };
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for object in Object::all(tree) {
                let line = file.source.position(object.root().span().start).line;
                cluster.object(object, At { file: id, line });
            }
        }
        cluster.manifests.push(File { kind: self.kind, ..file });
    }

    /// Ends the input and gives the report.
    pub fn finish(mut self) -> Diagnosed {
        self.end_file();
        let mut settings = self.settings;
        let mut inputs = self.clusters;
        let clusters: Vec<Cluster> = inputs
            .iter_mut()
            .map(|input| Cluster { name: input.name.clone(), files: std::mem::take(&mut input.manifests) })
            .collect();
        set_release(&mut settings, &inputs);
        let histories: Vec<History> =
            inputs.iter_mut().map(|input| std::mem::take(&mut input.history)).collect();
        let mut diagnoses = Vec::new();
        for correlation in correlations::ALL {
            (correlation.find)(&histories, &mut diagnoses);
        }
        let correlated = diagnoses.len();
        for (cluster, input) in ClusterId::enumerate(&inputs) {
            diagnoses.extend(input.tally.diagnoses(cluster));
        }
        let diagnoses: Vec<_> =
            diagnoses.into_iter().enumerate().map(|(index, one)| (one, index < correlated)).collect();
        let diagnoses = consequences::settle(diagnoses);
        for (input, history) in inputs.iter_mut().zip(histories) {
            input.history = history;
        }
        let stories = self.story.is_some().then(|| stories(&inputs, &diagnoses));
        let mut report =
            answer::report(self.registry, diagnoses, &inputs, &clusters, &settings, self.max_findings);
        report.stories = stories;
        // The story of an object of one cluster is enough.
        let unresolved: Vec<_> =
            inputs.iter().filter_map(|input| input.story.as_ref()).map(StoryTeller::unresolved).collect();
        let unresolved = if unresolved.iter().any(Option::is_none) {
            None
        } else {
            unresolved.into_iter().flatten().min_by_key(is_vague)
        };
        Diagnosed { report, clusters, unresolved }
    }
}

/// Whether a name is not known and not near a known one.
fn is_vague(unresolved: &UnresolvedName) -> bool {
    matches!(unresolved, UnresolvedName::Unknown(None))
}

/// The stories of the clusters, with the diagnoses that explain them.
fn stories(inputs: &[DiagnosedCluster], diagnoses: &[(Diagnosis, bool)]) -> Vec<Story> {
    let told = ClusterId::enumerate(inputs).filter_map(|(cluster, input)| {
        let mut about = |is_about: &dyn Fn(&EntryObject<'_>) -> bool| {
            let of_tally = input.tally.diagnoses_about(cluster, is_about);
            let is_of_tally = |one: &Diagnosis| {
                of_tally
                    .iter()
                    .any(|other| other.symptom.name == one.symptom.name && other.details == one.details)
            };
            let own = diagnoses.iter().map(|(one, _)| one).filter(|one| one.cluster == cluster);
            let own = own.filter(|one| one.objects.iter().any(is_about) || is_of_tally(one));
            own.cloned().collect()
        };
        input.story.as_ref()?.tell(&input.name, &input.files, &mut about)
    });
    told.collect()
}

/// Checks the manifests for the release of the logs, unless the settings name a release.
fn set_release(settings: &mut Settings, inputs: &[DiagnosedCluster]) {
    if settings.is_karpenter_version_set {
        return;
    }
    let targets: Vec<_> = inputs.iter().map(|input| target(&input.tally.releases())).collect();
    if let [Some(target)] = targets.as_slice() {
        settings.karpenter = *target;
        // The log shows what runs, so that it takes precedence over a version that a manifest pins.
        settings.is_karpenter_version_set = true;
        return;
    }
    for (input, target) in inputs.iter().zip(targets) {
        if let Some(target) = target {
            let mut files: Vec<String> = input.files.iter().cloned().collect();
            files.sort_unstable();
            settings.overrides.insert(0, Override { files, karpenter: Some(target), ..Override::default() });
        }
    }
}

/// The newest release of a set; `None` if that is the newest known release, which is the default.
fn target(releases: &ReleaseSet) -> Option<Target> {
    releases.published().last().filter(|release| *release != Release::NEWEST).map(Target::only)
}
