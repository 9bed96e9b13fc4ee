//! A folder of the editor with its settings and its parsed files, or a document that belongs to no folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser as _;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use language_server::{Checked, CheckedFile, ConfigProblem, OpenDocument, from_path};
use lint::check::{Cluster, check};
use lint::collect::mentions_karpenter;
use lint::report::Report;
use lint::settings::Settings;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{File, parallel};

use super::folders::OpenByPath;
use crate::cli::arguments::{Arguments, Check, Color, Command};
use crate::cli::config::{self, Config};
use crate::cli::input::{self, Input, Patterns, Wanted, is_manifest, read_error};

/// A folder, or a document alone.
pub(super) struct Folder {
    path: PathBuf,
    /// The settings and the files; `None` before they are read for the first time, and after files on disk have changed.
    loaded: Option<Loaded>,
}

/// The settings and the files of a folder.
struct Loaded {
    /// The open documents that were read although they are not on disk.
    unsaved: Vec<PathBuf>,
    excluded: Patterns,
    settings: Settings,
    entries: Vec<Entry>,
    /// The files, in the order of the entries.
    cluster: Cluster,
    config_file: Option<PathBuf>,
    /// The error that prevents a check.
    problem: Option<String>,
}

/// A file of a folder.
struct Entry {
    input: Input,
    /// The revision of the editor's text; `None` for the text on disk.
    revision: Option<u64>,
    mentions_karpenter: bool,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, loaded: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the settings and the files again at the next update.
    pub(super) fn reload(&mut self) {
        self.loaded = None;
    }

    /// Reads the files and documents that have changed.
    pub(super) fn update(&mut self, open: &OpenByPath<'_>) {
        let unsaved: Vec<PathBuf> = open.keys().filter(|path| self.is_unsaved(path)).cloned().collect();
        match &mut self.loaded {
            Some(loaded) if loaded.unsaved == unsaved => loaded.update(open),
            loaded => *loaded = Some(Loaded::read(&self.path, unsaved, open)),
        }
    }

    /// Whether a document is a manifest of this folder that is not on disk yet.
    fn is_unsaved(&self, path: &Path) -> bool {
        let is_own = path.starts_with(&self.path) && (*path == *self.path || is_manifest(path));
        is_own && !path.exists()
    }

    /// Whether the folder decides if a document is checked: it is one of its files, or excluded.
    pub(super) fn decides_about(&self, path: &Path) -> bool {
        let Some(loaded) = &self.loaded else { return false };
        let is_entry = loaded.entries.iter().any(|entry| entry.input.path() == Some(path));
        is_entry || (path.starts_with(&self.path) && loaded.excluded.matches(path, false))
    }

    /// Checks the files.
    pub(super) fn check(&self, open: &OpenByPath<'_>) -> Checked {
        let Some(loaded) = &self.loaded else { return nothing(&Settings::default()) };
        let config_problems = loaded.config_problems(open);
        let is_about_karpenter = loaded.entries.iter().any(|entry| entry.mentions_karpenter);
        if !config_problems.is_empty() || !is_about_karpenter {
            return Checked { config_problems, ..nothing(&loaded.settings) };
        }
        let report = check(&REGISTRY, std::slice::from_ref(&loaded.cluster), &loaded.settings);
        let files = loaded.entries.iter().zip(&loaded.cluster.files).filter_map(|(entry, file)| {
            let file = checked_file(entry.input.path()?, Arc::clone(&file.source), open)?;
            Some((entry.input.name.clone(), file))
        });
        Checked { report, files: files.collect(), config_problems }
    }
}

impl Loaded {
    fn read(path: &Path, unsaved: Vec<PathBuf>, open: &OpenByPath<'_>) -> Self {
        let config_file = nearest_config(path);
        let mut loaded = Self {
            unsaved,
            excluded: Patterns::none(),
            settings: Settings::default(),
            entries: Vec::new(),
            cluster: Cluster::default(),
            config_file,
            problem: None,
        };
        let Some((config, inputs)) = loaded.inputs(path) else {
            loaded.problem =
                Some("the settings cannot be read; the log of the language server says why".to_owned());
            return loaded;
        };
        loaded.settings = config.settings;
        let read: Vec<(Entry, File)> = parallel::map(&inputs, |input| entry(input.clone(), open));
        (loaded.entries, loaded.cluster.files) = read.into_iter().unzip();
        loaded
    }

    /// The settings and the inputs of a folder or a document. `None` after an error, which the log has.
    fn inputs(&mut self, path: &Path) -> Option<(Config, Vec<Input>)> {
        let color = Color::Never;
        let check = flags(path, self.config_file.as_deref(), &self.unsaved)?;
        let config = config::read(&check, color)?;
        let config_path = config.path.as_deref();
        self.excluded = Patterns::new(config_path, &config.settings.exclude, &[], color)?;
        let clusters = input::by_cluster(&check, config_path, &self.excluded, Wanted::Manifests);
        let mut inputs: Vec<Input> = clusters.into_iter().flat_map(|cluster| cluster.inputs).collect();
        inputs.retain(|input| !input.path().is_some_and(|path| self.excluded.matches(path, false)));
        for input in &mut inputs {
            // A document that is open need not be about Karpenter.
            input.is_named = false;
        }
        Some((config.for_files(&inputs.iter(), color)?, inputs))
    }

    /// Parses the documents that have changed since the last check.
    fn update(&mut self, open: &OpenByPath<'_>) {
        for (known, file) in self.entries.iter_mut().zip(&mut self.cluster.files) {
            if known.revision != document_of(&known.input, open).map(|document| document.revision) {
                (*known, *file) = entry(known.input.clone(), open);
            }
        }
    }

    /// The errors in the config file, as the editor or the disk has it.
    fn config_problems(&self, open: &OpenByPath<'_>) -> Vec<ConfigProblem> {
        let Some(path) = &self.config_file else { return Vec::new() };
        let limits = Limits::DEFAULT;
        let name = path.to_string_lossy();
        let text = open.get(path).map(|document| document.text.clone().into_bytes());
        let file = match text.map_or_else(|| std::fs::read(path), Ok) {
            Ok(bytes) => File::from_bytes(name, bytes, &limits),
            Err(error) => File::unreadable(name, read_error(&error)),
        };
        let mut problems: Vec<(Span, String)> = match Settings::parse_file(&file, &REGISTRY) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|problem| (problem.span, problem.to_string())).collect(),
        };
        if problems.is_empty() {
            problems.extend(self.problem.iter().map(|message| (Span::new(0, 0), message.clone())));
        }
        let problems = problems.into_iter().filter_map(|(span, message)| {
            let file = checked_file(path, Arc::clone(&file.source), open)?;
            Some(ConfigProblem { file, span, message })
        });
        problems.collect()
    }
}

/// The flags of a check of a folder or a document, and of documents that are not on disk.
fn flags(path: &Path, config: Option<&Path>, unsaved: &[PathBuf]) -> Option<Box<Check>> {
    let mut words = vec!["karpwarden".into(), "check".into(), "--quiet".into()];
    if let Some(config) = config {
        words.extend(["--config".into(), config.as_os_str().to_owned()]);
    }
    words.push("--".into());
    words.push(path.as_os_str().to_owned());
    words.extend(unsaved.iter().filter(|one| *one != path).map(|path| path.as_os_str().to_owned()));
    match Arguments::try_parse_from(words).ok()?.command {
        Command::Check(check) => Some(check),
        _ => None,
    }
}

/// The config file in a folder or in the nearest folder above it.
fn nearest_config(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().map(|folder| folder.join(config::FILE)).find(|file| file.is_file())
}

/// Reads an input: the text of the editor if it is open there, else the file on disk.
fn entry(input: Input, open: &OpenByPath<'_>) -> (Entry, File) {
    let limits = Limits::DEFAULT;
    let document = document_of(&input, open);
    let loaded = match document {
        Some(document) => input.parsed(document.text.clone().into_bytes(), &limits),
        None => input.read(&limits),
    };
    let mentions_karpenter = mentions_karpenter(loaded.file.source.text().as_bytes());
    (Entry { revision: document.map(|document| document.revision), mentions_karpenter, input }, loaded.file)
}

fn document_of<'o>(input: &Input, open: &OpenByPath<'o>) -> Option<&'o OpenDocument> {
    open.get(input.path()?).copied()
}

/// A file with the address that the editor uses for it.
fn checked_file(path: &Path, source: Arc<Source>, open: &OpenByPath<'_>) -> Option<CheckedFile> {
    let document = open.get(path).copied();
    let uri = document.map(|document| document.uri.clone());
    let uri = uri.or_else(|| from_path(&std::path::absolute(path).ok()?))?;
    Some(CheckedFile::new(uri, source, document))
}

fn nothing(settings: &Settings) -> Checked {
    Checked { report: Report::new(settings), files: BTreeMap::new(), config_problems: Vec::new() }
}
