//! A folder of the editor, or a document that belongs to no folder: the texts that the extension sends, with the texts of the editor over
//! them, and their check.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;
use std::sync::Arc;

use karpwarden::answers::page::SourceFile;
use karpwarden::cluster::evidence::mentions_karpenter;
use karpwarden::engine::check::check_within;
use karpwarden::karpenter::release::Release;
use karpwarden::manifest::FileKind;
use karpwarden::manifest::source::{Source, Span};
use karpwarden::rule::settings::CONFIG_FILE;
use karpwarden::scheduling::simulation::SimulationSettings;
use karpwarden::simulate::DeducedSettings;
use karpwarden::{Choices, Cluster, File, Limits, Object, READ_OPTIONS, REGISTRY, Report, Settings};
use kustomize::Patches;
use language_server::protocol::Uri;
use language_server::{
    Checked, CheckedFile, ConfigProblem, FolderView, OpenDocument, OpenDocuments, files_named_in,
    release_of_file,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use terraform_objects::{evaluate_given, is_template, is_variables, keep_manifests};

use crate::host::EditorHost;

/// Files with patterns of files that are not checked. They count at the top of a folder.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Characters of a name to encode in an address: all but the unreserved ones of RFC 3986, and the separator.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A folder, or a document alone.
pub(crate) struct SentFolder {
    /// The address, without a slash at its end.
    uri: String,
    /// The address of the document, if it is alone.
    only: Option<String>,
    /// The texts on disk by name, relative to the folder.
    saved: BTreeMap<String, SavedText>,
    /// The number of texts that were sent.
    revisions: u64,
    contents: Option<Contents>,
    /// The result of the last check, until something changes.
    checked: Option<Arc<Checked>>,
}

struct SavedText {
    text: String,
    revision: u64,
}

/// A text that counts.
#[derive(Clone, Copy)]
struct CurrentText<'t> {
    text: &'t str,
    version: TextVersion,
}

/// The origin of a text, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextVersion {
    Saved(u64),
    Open(u64),
}

/// The settings and the files of a folder.
struct Contents {
    settings: Settings,
    /// The config file with its mistakes. With any, nothing is checked.
    problems: Vec<(Span, String)>,
    config: Option<Arc<Source>>,
    /// The names that the settings exclude.
    excluded: BTreeSet<String>,
    versions: BTreeMap<String, TextVersion>,
    /// The files, sorted by name.
    cluster: Cluster,
}

impl SentFolder {
    pub(crate) fn new(uri: &str) -> Self {
        Self {
            uri: uri.to_owned(),
            only: None,
            saved: BTreeMap::new(),
            revisions: 0,
            contents: None,
            checked: None,
        }
    }

    /// A document that belongs to no folder.
    pub(crate) fn alone(document: &str) -> Self {
        // The address of a new document, such as `untitled:Untitled-1`, has no folder.
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self { only: Some(document.to_owned()), ..Self::new(folder) }
    }

    pub(crate) fn is_at(&self, uri: &str) -> bool {
        self.uri == uri
    }

    /// Whether this is the folder of a document that is alone.
    pub(crate) fn is_about(&self, document: &str) -> bool {
        self.only.as_deref() == Some(document)
    }

    /// Takes texts on disk.
    pub(crate) fn save(&mut self, files: Vec<SourceFile>, removed: &[String]) {
        for SourceFile { name, text } in files {
            self.revisions += 1;
            self.saved.insert(name, SavedText { text, revision: self.revisions });
        }
        self.saved.retain(|name, _| !removed.contains(name));
    }

    /// Reads the texts that have changed.
    pub(crate) fn update(&mut self, open: &OpenDocuments, host: &dyn EditorHost) {
        let mut texts: BTreeMap<String, CurrentText<'_>> = BTreeMap::new();
        for (name, SavedText { text, revision }) in &self.saved {
            texts.insert(name.clone(), CurrentText { text, version: TextVersion::Saved(*revision) });
        }
        for document in open.iter() {
            let Some(name) = self.name_of(document.uri.as_str()) else { continue };
            let version = TextVersion::Open(document.revision);
            texts.insert(name, CurrentText { text: &document.text, version });
        }
        let is_changed = match &mut self.contents {
            Some(contents) if contents.has_same_files(&texts) => contents.update(&texts),
            contents => {
                *contents = Some(Contents::read(&texts, host));
                true
            }
        };
        if is_changed {
            self.checked = None;
        }
    }

    /// Whether the folder decides if a document is checked: it is a file or excluded, or the settings have a mistake.
    pub(crate) fn decides_about(&self, document: &str) -> bool {
        let (Some(contents), Some(name)) = (&self.contents, self.name_of(document)) else { return false };
        let is_undecided = !contents.problems.is_empty();
        is_undecided || contents.file(&name).is_some() || contents.excluded.contains(&name)
    }

    /// Checks the files. `None` if no document of the folder is open.
    pub(crate) fn check(&mut self, open: &OpenDocuments) -> Option<Arc<Checked>> {
        if !open.iter().any(|document| self.name_of(document.uri.as_str()).is_some()) {
            return None;
        }
        if self.checked.is_none() {
            self.checked =
                self.contents.as_ref().map(|contents| Arc::new(self.check_contents(contents, open)));
        }
        self.checked.clone()
    }

    /// The report about the files. `None` if the settings have mistakes, and if no file mentions Karpenter.
    pub(crate) fn report(&self) -> Option<Report> {
        self.contents.as_ref()?.report()
    }

    fn check_contents(&self, contents: &Contents, open: &OpenDocuments) -> Checked {
        let checked_file = |name: &str, source: &Arc<Source>| {
            let document = self.open_document(name, open);
            let uri = document.map(|document| document.uri.clone()).or_else(|| self.uri_of_name(name));
            Some(CheckedFile::new(uri?, Arc::clone(source), document))
        };
        let problems = contents.problems.iter().filter_map(|(span, message)| {
            let file = checked_file(CONFIG_FILE, contents.config.as_ref()?)?;
            Some(ConfigProblem { file, span: *span, message: message.clone() })
        });
        let config_problems = problems.collect();
        let report = contents.report().unwrap_or_else(|| Report::new(&contents.settings));
        let named = files_named_in(&report);
        let files = contents.cluster.files.iter().filter(|file| named.contains(file.source.name()));
        let files = files.filter_map(|file| {
            let name = file.source.name();
            Some((name.to_owned(), checked_file(name, &file.source)?))
        });
        let files = files.collect();
        Checked { report, files, config_problems }
    }

    fn open_document<'o>(&self, name: &str, open: &'o OpenDocuments) -> Option<&'o OpenDocument> {
        open.iter().find(|document| self.name_of(document.uri.as_str()).as_deref() == Some(name))
    }

    /// The name of a document of this folder.
    fn name_of(&self, document: &str) -> Option<String> {
        if self.only.as_ref().is_some_and(|only| only != document) {
            return None;
        }
        let name = if self.uri.is_empty() {
            document
        } else {
            document.strip_prefix(&self.uri)?.strip_prefix('/')?
        };
        Some(percent_decode_str(name).decode_utf8().ok()?.into_owned())
    }

    fn uri_of_name(&self, name: &str) -> Option<Uri> {
        Uri::from_str(&format!("{}/{}", self.uri, utf8_percent_encode(name, ESCAPED))).ok()
    }
}

impl Contents {
    fn read(texts: &BTreeMap<String, CurrentText<'_>>, host: &dyn EditorHost) -> Self {
        let mut contents = Self {
            settings: Settings::default(),
            problems: Vec::new(),
            config: None,
            excluded: BTreeSet::new(),
            versions: texts.iter().map(|(name, text)| (name.clone(), text.version)).collect(),
            cluster: Cluster::default(),
        };
        if let Some(config) = texts.get(CONFIG_FILE) {
            let file = File::from_bytes(CONFIG_FILE, config.text.as_bytes().to_vec(), READ_OPTIONS);
            match Settings::parse_file(&file, &REGISTRY) {
                Ok(settings) => contents.settings = settings,
                Err(problems) => {
                    let problems = problems.iter().map(|problem| (problem.span, problem.to_string()));
                    contents.problems = problems.collect();
                }
            }
            contents.config = Some(file.source);
        }
        contents.settings.today = Some(host.now().minute().day().date());
        let names: Vec<String> = texts.keys().filter(|name| is_checked(name)).cloned().collect();
        let matched = |patterns: &[String]| -> BTreeSet<String> {
            let positions = if patterns.is_empty() { Vec::new() } else { host.matching(patterns, &names) };
            positions.into_iter().filter_map(|position| names.get(position).cloned()).collect()
        };
        contents.excluded = matched(&contents.settings.exclude);
        let ignore_files = IGNORE_FILES.iter().filter_map(|name| texts.get(*name));
        let ignored: Vec<String> =
            ignore_files.flat_map(|file| file.text.lines()).map(str::to_owned).collect();
        let ignored = matched(&ignored);
        for one in &mut contents.settings.overrides {
            one.files = matched(&one.paths).into_iter().collect();
        }
        let is_left_out = |name: &&String| contents.excluded.contains(*name) || ignored.contains(*name);
        let members = names.iter().filter(|name| !is_left_out(name));
        let files = members.filter_map(|name| Some(parsed(name, texts.get(name)?.text)));
        contents.cluster.files = files.collect();
        contents.assign_roles();
        contents
    }

    /// Whether no file is new or gone, and no file has changed that decides about others.
    fn has_same_files(&self, texts: &BTreeMap<String, CurrentText<'_>>) -> bool {
        let is_same =
            |((known, version), (name, text)): ((&String, &TextVersion), (&String, &CurrentText<'_>))| {
                known == name && (*version == text.version || !decides_about_others(name))
            };
        self.versions.len() == texts.len() && self.versions.iter().zip(texts).all(is_same)
    }

    /// Parses the texts that have changed. Returns whether there are any.
    fn update(&mut self, texts: &BTreeMap<String, CurrentText<'_>>) -> bool {
        let mut is_changed = false;
        for (version, (name, text)) in self.versions.values_mut().zip(texts) {
            if *version == text.version {
                continue;
            }
            *version = text.version;
            let found = self.cluster.files.iter_mut().find(|file| file.source.name() == name);
            if let Some(file) = found {
                *file = parsed(name, text.text);
                is_changed = true;
            }
        }
        if is_changed {
            self.assign_roles();
        }
        is_changed
    }

    /// Marks patches, and replaces the documents of configurations of Terraform by the objects that they make.
    fn assign_roles(&mut self) {
        let files = &mut self.cluster.files;
        let patches = Patches::of(files);
        for file in files.iter_mut().filter(|file| patches.contains(file.source.name())) {
            file.kind = FileKind::Patch;
        }
        evaluate_given(files, &Limits::DEFAULT);
    }

    fn file(&self, name: &str) -> Option<&File> {
        let files = &self.cluster.files;
        files.binary_search_by(|file| file.source.name().cmp(name)).ok().and_then(|at| files.get(at))
    }

    fn is_about_karpenter(&self) -> bool {
        self.cluster.files.iter().any(|file| mentions_karpenter(file.source.text().as_bytes()))
    }

    fn report(&self) -> Option<Report> {
        if !self.problems.is_empty() || !self.is_about_karpenter() {
            return None;
        }
        Some(check_within(&REGISTRY, std::slice::from_ref(&self.cluster), &self.settings, usize::MAX))
    }
}

impl FolderView for SentFolder {
    fn files(&self) -> &[File] {
        self.contents.as_ref().map_or(&[], |contents| &contents.cluster.files)
    }

    fn is_about_karpenter(&self) -> bool {
        self.contents.as_ref().is_none_or(Contents::is_about_karpenter)
    }

    fn file_of(&self, document: &OpenDocument) -> Option<&File> {
        self.contents.as_ref()?.file(&self.name_of(document.uri.as_str())?)
    }

    fn uri_of(&self, file: &File) -> Option<Uri> {
        self.uri_of_name(file.source.name())
    }

    fn environments(&self) -> Vec<&str> {
        self.checked.as_ref().map_or_else(Vec::new, |checked| checked.environments())
    }

    fn release_for(&self, file: Option<&File>) -> Release {
        let name = file.map_or("", |file| file.source.name());
        let report = self.checked.as_ref().map(|checked| &checked.report);
        let contents = self.contents.as_ref();
        contents.map_or(Release::NEWEST, |contents| release_of_file(&contents.settings, report, name))
    }

    fn simulation_settings(&self, objects: &[Object<'_>]) -> SimulationSettings {
        let deduced = self.contents.as_ref().and_then(|contents| {
            DeducedSettings::new(&Choices::default(), &contents.settings, self.files(), objects).ok()
        });
        deduced.map_or_else(|| SimulationSettings::new(Release::NEWEST), |deduced| deduced.settings)
    }
}

fn parsed(name: &str, text: &str) -> File {
    let mut file = File::from_bytes(name, text.as_bytes().to_vec(), READ_OPTIONS);
    if is_template(name) {
        keep_manifests(&mut file);
    }
    file
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a file may be checked: it is neither a config file nor an ignore file.
fn is_checked(name: &str) -> bool {
    let name = file_name(name);
    name != CONFIG_FILE && !IGNORE_FILES.contains(&name)
}

/// Whether a file decides which files are checked, and how.
fn decides_about_others(name: &str) -> bool {
    let own = file_name(name);
    !is_checked(name) || matches!(own, "kustomization.yaml" | "kustomization.yml") || is_variables(own)
}
