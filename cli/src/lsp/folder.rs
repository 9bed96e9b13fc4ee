//! A folder of the editor with its settings and its parsed files, or a document that belongs to no folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use answers::report::Report;
use cluster::Cluster;
use cluster::evidence::mentions_karpenter;
use engine::check::check_within;
use ids::{IdVec, ids};
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::objects::embedded::READ_OPTIONS;
use language_server::{Checked, CheckedFile, ConfigProblem, OpenDocument, files_named_in, from_path};
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{File, FileKind, parallel};
use rule::settings::Settings;
use terraform_objects::is_variables;

use crate::config::{self, Config};
use crate::form::Color;
use crate::input::charts;
use crate::input::pinning;
use crate::input::{
    self, BaseFolder, InputError, InputFile, Patterns, Wanted, is_manifest, is_template, manifest_patterns,
    read_regular, resolved,
};
use crate::options::{ConfigSource, InputOptions, SettingsOptions};

/// Names of files that decide which files of a folder are checked, and how.
const DECISIVE: [&str; 5] =
    [config::FILE, "kustomization.yaml", "kustomization.yml", ".gitignore", ".ignore"];

/// Glob patterns of the files that a check of a folder reads, or that say which files it reads.
pub(super) fn watched() -> Vec<String> {
    let mut patterns = manifest_patterns();
    patterns.extend(pinning::patterns());
    patterns.push(charts::PATTERN.to_owned());
    patterns.extend(
        DECISIVE.iter().filter(|name| !is_manifest(Path::new(name))).map(|name| format!("**/{name}")),
    );
    patterns
}

/// Maximum number of files and folders that the server looks at in a folder.
const MAX_WALKED: usize = if cfg!(test) { 3 } else { 50_000 };

/// The open documents by path, with symbolic links resolved.
pub(super) type OpenByPath<'o> = BTreeMap<PathBuf, &'o OpenDocument>;

/// A folder, or a document alone.
pub(super) struct Folder {
    root: Root,
    /// The settings and the files; `None` before they are read for the first time, and after files on disk have changed.
    pub(super) contents: Option<Contents>,
    /// Manifests in the folder that are not its members, because they are excluded or an ignore file lists them.
    left_out: BTreeSet<PathBuf>,
    /// The result of the last check, until something changes.
    pub(super) checked: Option<Arc<Checked>>,
    /// Whether a note has said that the folder has more files than the server looks at.
    is_noted: bool,
}

/// The path of a folder.
struct Root {
    path: PathBuf,
    /// The path with symbolic links resolved.
    resolved: PathBuf,
}

/// The settings and the files of a folder.
pub(super) struct Contents {
    pub(super) settings: Settings,
    excluded: Patterns,
    config_file: Option<ConfigFile>,
    /// Whether the folder has more files than the server looks at.
    is_cut: bool,
    pub(super) members: IdVec<MemberId, FolderMember>,
    /// The members by path, with symbolic links resolved.
    pub(super) by_path: BTreeMap<PathBuf, MemberId>,
    /// The folder from which the names of the files start.
    base: BaseFolder,
    /// The paths of the inputs, and the names of the files that are no inputs, which configurations of Terraform may read.
    options: InputOptions,
    unread: Vec<String>,
    /// The revisions of the open files of variables, by name.
    variables: BTreeMap<String, u64>,
    /// The files, in the order of the members, and the texts that pin a version or belong to a chart.
    pub(super) cluster: Cluster,
}

/// The settings and the inputs of a folder or a document.
struct FolderInputs {
    config: Config,
    inputs: Vec<InputFile>,
    /// Files that may pin a version.
    pinning: Vec<PathBuf>,
    /// Names of the files that are no inputs.
    unread: Vec<String>,
}

/// The config file of a folder.
struct ConfigFile {
    path: PathBuf,
    /// The text on disk.
    file: File,
    /// An error that is not in the text.
    problem: Option<String>,
}

ids! {
    /// File of a folder.
    pub(super) MemberId;
}

/// A file of a folder.
pub(super) struct FolderMember {
    pub(super) input: InputFile,
    /// The path with symbolic links resolved.
    resolved: PathBuf,
    /// The revision of the editor's text; `None` for the text on disk.
    revision: Option<u64>,
    /// Whether the file must be read again.
    is_stale: bool,
    /// Whether the file was on disk. Only then do the ignore files decide about it.
    is_saved: bool,
    mentions_karpenter: bool,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        let resolved = resolved(&path).unwrap_or_else(|| path.clone());
        let root = Root { path, resolved };
        Self { root, contents: None, left_out: BTreeSet::new(), checked: None, is_noted: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.root.path
    }

    /// Reads a changed file again at the next update, or the whole folder if the change may add or remove files.
    pub(super) fn reload(&mut self, path: &Path, resolved: &Path) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A new file of variables changes what a configuration makes.
        let is_decisive = DECISIVE.contains(&name) || is_variables(name);
        let is_text = |contents: &Contents| contents.reads_as_text(path, resolved);
        let changes_text = self.root.holds(path, resolved) && self.contents.as_ref().is_some_and(is_text);
        if is_decisive || changes_text {
            self.left_out.clear();
            self.contents = None;
        }
        let Some(contents) = &mut self.contents else { return };
        let is_new = || self.root.may_hold(path, resolved) && !self.left_out.contains(resolved);
        if !contents.read_again(resolved) && (is_new() || contents.has_member_within(path, resolved)) {
            self.left_out.insert(resolved.to_owned());
            self.contents = None;
        }
    }

    /// Reads the files and documents that have changed.
    pub(super) fn update(&mut self, open: &OpenByPath<'_>) {
        if !self.has_open_document(open) {
            return;
        }
        let own = || open.iter().filter(|(path, document)| self.root.may_hold_document(path, document));
        let is_known =
            |path: &Path, contents: &Contents| self.left_out.contains(path) || contents.is_member(path);
        match &mut self.contents {
            Some(contents)
                if own().all(|(path, _)| is_known(path, contents)) && !contents.has_lost_one(open) =>
            {
                if contents.update(open) {
                    self.checked = None;
                }
            }
            _ => {
                let unsaved: Vec<&PathBuf> =
                    own().map(|(path, _)| path).filter(|path| !path.exists()).collect();
                let contents = Contents::read(&self.root.path, &unsaved, open);
                let own: BTreeSet<PathBuf> = own().map(|(path, _)| path.clone()).collect();
                self.left_out.extend(own);
                self.left_out.retain(|path| !contents.is_member(path));
                self.contents = Some(contents);
                self.checked = None;
            }
        }
    }

    /// A note for the user, once: the folder has more files than the server looks at.
    pub(super) fn note(&mut self) -> Option<String> {
        let is_cut = self.contents.as_ref().is_some_and(|contents| contents.is_cut);
        let name = self.root.path.display();
        (is_cut && !std::mem::replace(&mut self.is_noted, true)).then(|| {
            format!(
                "`{name}` has more than {MAX_WALKED} files: the others are not checked; open a smaller folder"
            )
        })
    }

    pub(super) fn has_open_document(&self, open: &OpenByPath<'_>) -> bool {
        open.iter().any(|(path, document)| {
            let is_member = || self.contents.as_ref().is_some_and(|contents| contents.is_member(path));
            self.root.holds(document.path.as_deref().unwrap_or(path), path) || is_member()
        })
    }

    /// Whether the folder decides if a document is checked: it is a member or excluded, or the settings have an error.
    pub(super) fn decides_about(&self, path: &Path, open: &OpenByPath<'_>) -> bool {
        let Some(contents) = &self.contents else { return false };
        let spelled = open.get(path).and_then(|document| document.path.as_deref());
        let is_inside = self.root.holds(spelled.unwrap_or(path), path);
        let is_undecided = contents.config_file.as_ref().is_some_and(ConfigFile::has_error);
        contents.is_member(path) || (is_inside && (is_undecided || contents.excluded.matches(path, false)))
    }

    /// Checks the files. `None` if no document of the folder is open.
    pub(super) fn check(&mut self, open: &OpenByPath<'_>) -> Option<Arc<Checked>> {
        let contents = self.contents.as_ref().filter(|_| self.has_open_document(open))?;
        let config = contents.config_file.as_ref();
        let config_problems = config.map_or_else(Vec::new, |config| config.problems(open));
        if !config_problems.is_empty() {
            self.checked = None;
            return Some(Arc::new(Checked { config_problems, ..nothing(&contents.settings) }));
        }
        Some(Arc::clone(self.checked.get_or_insert_with(|| Arc::new(contents.check(open)))))
    }
}

impl Root {
    /// Whether a path is in the folder, directly or through a symbolic link.
    fn holds(&self, path: &Path, resolved: &Path) -> bool {
        path.starts_with(&self.path) || resolved.starts_with(&self.resolved)
    }

    /// Whether a path can be a member: it is the folder itself, which is a document alone, or has the name of a manifest or a template.
    fn may_hold(&self, path: &Path, resolved: &Path) -> bool {
        let is_config = path.file_name().is_some_and(|name| name == config::FILE);
        let is_named_so = || is_manifest(path) || is_template(path);
        self.holds(path, resolved) && (*resolved == *self.resolved || is_named_so()) && !is_config
    }

    /// Whether a document can be a member. A document that is not a file is always alone.
    fn may_hold_document(&self, resolved: &Path, document: &OpenDocument) -> bool {
        match &document.path {
            Some(path) => self.may_hold(path, resolved),
            None => *resolved == *self.resolved,
        }
    }
}

impl Contents {
    fn read(path: &Path, unsaved: &[&PathBuf], open: &OpenByPath<'_>) -> Self {
        let mut contents = Self {
            settings: Settings::default(),
            excluded: Patterns::none(),
            config_file: nearest_config(path),
            is_cut: false,
            members: IdVec::default(),
            by_path: BTreeMap::new(),
            base: BaseFolder::here(),
            options: InputOptions { paths: vec![path.to_owned()], ..InputOptions::default() },
            unread: Vec::new(),
            variables: BTreeMap::new(),
            cluster: Cluster::default(),
        };
        if let Some(FolderInputs { config, inputs, pinning, unread }) = contents.inputs(path, unsaved) {
            contents.settings = config.settings;
            let read: Vec<(FolderMember, File)> = parallel::map(&inputs, |input| member(input.clone(), open));
            let (members, files): (Vec<FolderMember>, _) = read.into_iter().unzip();
            (contents.members, contents.cluster.files) = (members.into_iter().collect(), files);
            (contents.base, contents.unread) = (config.base, unread);
            // The texts follow the members, so that a member and its file have the same position.
            contents.evaluate_terraform(open);
            let texts = pinning::texts_with_pins(&pinning, &contents.base, None);
            input::add_unknown(&mut contents.cluster.files, texts);
            let templates = charts::texts(&contents.cluster.files, &contents.base, None);
            contents.cluster.files.extend(templates);
            let paths = contents.members.enumerate().map(|(id, member)| (member.resolved.clone(), id));
            contents.by_path = paths.collect();
        } else if let Some(config) = contents.config_file.as_mut().filter(|config| !config.has_error()) {
            config.problem =
                Some("the settings cannot be read; the log of the language server says why".to_owned());
        }
        contents
    }

    /// The settings and the inputs of a folder or a document. `None` after an error, which the log has.
    fn inputs(&mut self, path: &Path, unsaved: &[&PathBuf]) -> Option<FolderInputs> {
        let color = &Color::Never;
        let unsaved = unsaved.iter().map(|unsaved| unsaved.as_path()).filter(|unsaved| *unsaved != path);
        let paths = [path].into_iter().chain(unsaved).map(Path::to_owned).collect();
        let input = InputOptions { paths, max_walked: MAX_WALKED, ..InputOptions::default() };
        let config = self
            .config_file
            .as_ref()
            .map_or(ConfigSource::None, |config| ConfigSource::At(config.path.clone()));
        let settings = SettingsOptions { config, quiet: true, ..SettingsOptions::default() };
        let config = config::read(&settings, &input, color).ok()?;
        self.excluded = config.excluded(&input, color).ok()?;
        let clusters = input::by_cluster(&input, &config, None, &self.excluded, Wanted::Manifests);
        self.is_cut = clusters.iter().any(|cluster| cluster.is_cut);
        let (mut inputs, mut pinning, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for cluster in clusters {
            inputs.extend(cluster.inputs);
            pinning.extend(cluster.pinning);
            unread.extend(cluster.unread);
        }
        inputs.retain(|input| !input.path().is_some_and(|path| self.excluded.matches(path, false)));
        for input in &mut inputs {
            // A document that is open need not be about Karpenter.
            input.is_named = false;
        }
        let config = config.for_files(&inputs.iter(), color).ok()?;
        Some(FolderInputs { config, inputs, pinning, unread })
    }

    /// Whether a file that is no member is read as a text, or was before it changed: it pins a version, or is a template of a chart. Other
    /// texts change nothing.
    fn reads_as_text(&self, path: &Path, resolved: &Path) -> bool {
        if self.is_member(resolved) {
            return false;
        }
        let name = self.base.name(path);
        let mut texts = self.cluster.files.iter().skip(self.members.len()).map(|file| file.source.name());
        // The list of the templates of a chart has the name of their folder.
        let is_template = |text: &str| text.ends_with('/') && name.starts_with(text);
        let is_within = |text: &str| {
            text.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_known = |text: &str| is_template(text) || is_within(text);
        let pins = || !pinning::texts_with_pins(&[path.to_owned()], &self.base, None).is_empty();
        texts.any(is_known) || (pinning::is_read(path) && pins())
    }

    pub(super) fn is_member(&self, path: &Path) -> bool {
        self.by_path.contains_key(path)
    }

    /// Whether a member that was never saved is closed.
    fn has_lost_one(&self, open: &OpenByPath<'_>) -> bool {
        let is_lost = |member: &FolderMember| {
            member.revision.is_some() && !open.contains_key(&member.resolved) && !member.resolved.exists()
        };
        self.members.iter().any(is_lost)
    }

    /// Marks a member to be read again. Returns whether the path is a member that is still on disk, as it was before.
    fn read_again(&mut self, path: &Path) -> bool {
        let id = self.by_path.get(path).filter(|_| path.exists());
        let member = id.and_then(|id| self.members.get_mut(*id)).filter(|member| member.is_saved);
        let Some(member) = member else { return false };
        member.is_stale = true;
        true
    }

    /// Whether a path is a member, or a folder or link with members in it.
    fn has_member_within(&self, path: &Path, resolved: &Path) -> bool {
        self.members.iter().any(|member| {
            member.resolved.starts_with(resolved)
                || member.input.path().is_some_and(|own| own.starts_with(path))
        })
    }

    /// Parses the files and documents that have changed since the last check. Returns whether there are any.
    fn update(&mut self, open: &OpenByPath<'_>) -> bool {
        let mut is_changed = false;
        for (known, file) in self.members.iter_mut().zip(&mut self.cluster.files) {
            let revision = open.get(&known.resolved).map(|document| document.revision);
            if known.revision != revision || (known.is_stale && revision.is_none()) {
                (*known, *file) = member(known.input.clone(), open);
                is_changed = true;
            }
        }
        let variables = open_variables(&self.base, open);
        let revisions = variables.iter().map(|(name, document)| (name, document.revision));
        is_changed |= !revisions.eq(self.variables.iter().map(|(name, revision)| (name, *revision)));
        if is_changed {
            self.evaluate_terraform(open);
        }
        is_changed
    }

    /// Replaces the documents of configurations by the objects that they make. Files beside the members that a configuration reads become
    /// the last files.
    fn evaluate_terraform(&mut self, open: &OpenByPath<'_>) {
        let variables = open_variables(&self.base, open);
        self.variables = variables.iter().map(|(name, document)| (name.clone(), document.revision)).collect();
        let texts = variables.iter().map(|(name, document)| (name.clone(), document.text.as_str())).collect();
        // The files of variables are read again, because the editor may have another text than before.
        let beside = self.cluster.files.split_off(self.members.len());
        self.cluster.files.extend(beside.into_iter().filter(|file| !is_variables(file.source.name())));
        let Self { cluster, unread, base, options, .. } = self;
        input::evaluate_unsaved(&mut cluster.files, unread, base, options, &texts);
    }

    /// Whether a member or a template of a chart mentions Karpenter.
    pub(super) fn is_about_karpenter(&self) -> bool {
        let mut texts = self.cluster.files.iter().filter(|file| file.kind == FileKind::ChartText);
        let is_template = |file: &File| mentions_karpenter(file.source.text().as_bytes());
        self.members.iter().any(|member| member.mentions_karpenter) || texts.any(is_template)
    }

    fn check(&self, open: &OpenByPath<'_>) -> Checked {
        if !self.is_about_karpenter() {
            return nothing(&self.settings);
        }
        // An open document must not lose its findings to the other files of the folder.
        let report = check_within(&REGISTRY, std::slice::from_ref(&self.cluster), &self.settings, usize::MAX);
        let named = files_named_in(&report);
        let files = self.members.iter().zip(&self.cluster.files);
        let files = files.filter(|(member, _)| named.contains(member.input.name.as_str()));
        let files = files.filter_map(|(member, file)| {
            let document = open.get(&member.resolved).copied();
            let checked = checked_file(member.input.path()?, Arc::clone(&file.source), document)?;
            Some((member.input.name.clone(), checked))
        });
        Checked { files: files.collect(), report, config_problems: Vec::new() }
    }
}

impl ConfigFile {
    /// Whether the settings on disk have an error.
    fn has_error(&self) -> bool {
        self.problem.is_some() || Settings::parse_file(&self.file, &REGISTRY).is_err()
    }

    /// The errors, as the editor or the disk has the file.
    fn problems(&self, open: &OpenByPath<'_>) -> Vec<ConfigProblem> {
        let document = resolved(&self.path).and_then(|path| open.get(&path).copied());
        let of_editor = document.map(|document| {
            let bytes = document.text.clone().into_bytes();
            File::from_bytes(self.path.to_string_lossy(), bytes, READ_OPTIONS)
        });
        let file = of_editor.as_ref().unwrap_or(&self.file);
        let mut problems: Vec<(Span, String)> = match Settings::parse_file(file, &REGISTRY) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|problem| (problem.span, problem.to_string())).collect(),
        };
        if problems.is_empty() {
            let unsaved = self.has_error().then(|| "save the file, so that its settings apply".to_owned());
            let message = self.problem.clone().or(unsaved);
            problems.extend(message.map(|message| (Span::new(0, 0), message)));
        }
        let problems = problems.into_iter().filter_map(|(span, message)| {
            let file = checked_file(&self.path, Arc::clone(&file.source), document)?;
            Some(ConfigProblem { file, span, message })
        });
        problems.collect()
    }
}

/// The open files of variables, which are no members, by name.
fn open_variables<'o>(base: &BaseFolder, open: &OpenByPath<'o>) -> BTreeMap<String, &'o OpenDocument> {
    let is_one = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_variables);
    let variables = open.iter().filter(|(path, _)| is_one(path));
    variables
        .map(|(path, document)| (base.name(document.path.as_deref().unwrap_or(path)), *document))
        .collect()
}

/// The config file in a folder or in the nearest folder above it.
fn nearest_config(path: &Path) -> Option<ConfigFile> {
    let path = std::path::absolute(path).ok()?;
    let path = path.ancestors().map(|folder| folder.join(config::FILE)).find(|file| file.is_file())?;
    let file = match read_regular(&path) {
        Ok(bytes) => File::from_bytes(path.to_string_lossy(), bytes, READ_OPTIONS),
        Err(error) => File::unreadable(path.to_string_lossy(), InputError::from(error).to_string()),
    };
    Some(ConfigFile { path, file, problem: None })
}

/// Reads an input: the text of the editor if it is open there, else the file on disk.
fn member(input: InputFile, open: &OpenByPath<'_>) -> (FolderMember, File) {
    let limits = Limits::DEFAULT;
    let resolved = input.path().and_then(resolved).unwrap_or_default();
    let document = open.get(&resolved);
    let read = match document {
        Some(document) => input.parsed(document.text.clone().into_bytes(), &limits),
        None => input.clone().if_regular().read(&limits),
    };
    let mentions_karpenter = mentions_karpenter(read.file.source.text().as_bytes());
    let revision = document.map(|document| document.revision);
    let is_saved = resolved.exists();
    (FolderMember { input, resolved, revision, is_stale: false, is_saved, mentions_karpenter }, read.file)
}

/// A file with the URI that the editor uses for it.
fn checked_file(path: &Path, source: Arc<Source>, document: Option<&OpenDocument>) -> Option<CheckedFile> {
    let uri = document.map(|document| document.uri.clone());
    let uri = uri.or_else(|| from_path(&std::path::absolute(path).ok()?))?;
    Some(CheckedFile::new(uri, source, document))
}

fn nothing(settings: &Settings) -> Checked {
    Checked { report: Report::new(settings), files: BTreeMap::new(), config_problems: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_once_that_a_folder_has_too_many_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for number in 0..=MAX_WALKED {
            std::fs::write(root.join(format!("{number}.yaml")), "").unwrap();
        }
        let path = root.join("0.yaml");
        let uri = from_path(&path).unwrap();
        let document =
            OpenDocument { uri, path: Some(path.clone()), version: 1, text: String::new(), revision: 1 };
        let open = OpenByPath::from([(path, &document)]);
        let mut folder = Folder::new(root.clone());
        let mut notes = Vec::new();
        for _ in 0..2 {
            folder.update(&open);
            notes.extend(folder.note());
            let config = root.join(config::FILE);
            folder.reload(&config, &config);
            assert!(folder.contents.is_none());
        }
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
}
