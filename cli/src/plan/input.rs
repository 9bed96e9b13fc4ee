//! The files before and after a change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cluster::Cluster;
use karpwarden::plan::{PlanPair, PlanSide, TerraformObject};
use manifest::tree::Node;
use manifest::{Document, File, ReadOptions};
use objects::embedded::READ_OPTIONS;
use objects::object::{Object, Operation};
use rule::settings::Settings;
use terraform_objects::{
    ManagedObjects, NamedVariables, NoFilesBeside, PlannedSide, evaluate_plans, is_configuration,
    variables_differ,
};

use super::beside::BesideInCommit;
use super::charts::{self, ImportedTexts, TextReaders};
use super::committed;
use super::flags::{PlanOrigin, PlanRun};
use super::folder_links;
use super::git::Commit;
use super::paths::{CommitPaths, KindsByName, NamedFiles, drop_unused};
use super::terraform;
use crate::config::{self, Config};
use crate::error::CommandError;
use crate::input::{self, ClusterInputs, InputFile, Patterns, Wanted, pinning::texts_with_pins};
use crate::messages::Messages;
use crate::options::InputOptions;
use crate::output;

/// The files before and after the change of one cluster.
pub(super) struct LoadedPair {
    name: String,
    /// `None` if both sides are the same files, which are read once: standard input is empty afterwards.
    old: Option<Cluster>,
    new: Cluster,
    old_folder: String,
    new_folder: String,
    /// The objects of the old side that Terraform deletes, also to create them again, or forgets.
    pub(super) by_terraform: BTreeSet<TerraformObject>,
}

/// Settings and files of a run.
pub(super) struct LoadedPlan {
    pub(super) settings: Settings,
    pub(super) pairs: Vec<LoadedPair>,
    /// The commit to which the working tree is compared.
    pub(super) commit: Option<String>,
}

impl LoadedPair {
    pub(super) fn pair(&self) -> PlanPair<'_> {
        PlanPair {
            name: &self.name,
            old: PlanSide { cluster: self.old.as_ref().unwrap_or(&self.new), folder: &self.old_folder },
            new: PlanSide { cluster: &self.new, folder: &self.new_folder },
        }
    }

    /// The files of both sides, first the new ones.
    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.new_files().chain(self.old_files())
    }

    pub(super) fn new_files(&self) -> impl Iterator<Item = &File> {
        self.new.files.iter()
    }

    /// The old files, if they are others than the new ones.
    pub(super) fn old_files(&self) -> impl Iterator<Item = &File> {
        self.old.iter().flat_map(|side| &side.files)
    }
}

/// Settings and caches with which both sides of a run are read.
struct Reader<'r> {
    run: &'r PlanRun,
    config: Config,
    excluded: Patterns,
}

/// Reads the config file and both sides.
pub(super) fn read(run: &PlanRun, messages: &dyn Messages) -> Result<LoadedPlan, CommandError> {
    let config = config::read(&run.settings, &run.input, messages)?;
    let excluded = config.excluded(&run.input, messages)?;
    let beside = [&run.prices, &run.ca_bundle].into_iter().flatten();
    output::refuse_same(run.file.as_deref(), "--output", beside.map(PathBuf::as_path))?;
    let mut reader = Reader { run, config, excluded };
    let (pairs, commit) = match &run.origin {
        PlanOrigin::Old => (vec![reader.old_and_new(messages)?], None),
        PlanOrigin::Same | PlanOrigin::Reviews => (reader.same(messages)?, None),
        PlanOrigin::Snapshot(paths) => (vec![reader.snapshot(paths, messages)?], None),
        PlanOrigin::Terraform(plan) => (vec![reader.terraform(plan, messages)?], None),
        PlanOrigin::Commit(name) => {
            let (pairs, commit) = reader.commit(name, messages)?;
            (pairs, Some(commit))
        }
    };
    let missing = run.input.paths.iter().find(|path| path.as_os_str() != "-" && !path.exists());
    if let (PlanOrigin::Reviews, Some(path)) = (&run.origin, missing) {
        return Err(CommandError::Usage(format!("`{}`: no such file or folder", path.display())));
    }
    if matches!(run.origin, PlanOrigin::Reviews) && !pairs.iter().flat_map(LoadedPair::files).any(has_update)
    {
        let text = "one file or folder without an AdmissionReview of an UPDATE: name OLD and NEW, or compare with `--base` or `--snapshot DIR`";
        return Err(CommandError::Usage(text.to_owned()));
    }
    run.input.refuse_overdraft()?;
    let files = pairs.iter().flat_map(LoadedPair::files);
    output::refuse_referenced(run.file.as_deref(), "--output", files, &reader.config.base)?;
    Ok(LoadedPlan { settings: reader.config.settings, pairs, commit })
}

fn has_update(file: &File) -> bool {
    let mut trees = file.trees();
    trees.any(|tree| {
        Object::all(tree)
            .iter()
            .any(|object| matches!(object.operation(), Operation::Update | Operation::Delete))
    })
}

impl Reader<'_> {
    fn old_and_new(&mut self, messages: &dyn Messages) -> Result<LoadedPair, CommandError> {
        let [old, new] = self.run.input.paths.as_slice() else {
            return Err(CommandError::Usage("name OLD and NEW".to_owned()));
        };
        let (olds, news) = self.inputs_of(old, new);
        let is_empty = input::count(&olds) + input::count(&news) == 0;
        if is_empty && !has_programs(&olds) && !has_programs(&news) {
            return Err(nothing());
        }
        self.start(&[&olds, &news], messages)?;
        // Of two files, the names are what tells the sides apart.
        let [old_folder, new_folder] = [old, new].map(|path| self.config.base.name(path));
        let further = [
            folder_links::further_inputs((&olds, old), (&news, new), &self.config.base),
            folder_links::further_inputs((&news, new), (&olds, old), &self.config.base),
        ];
        let has_links = further.iter().any(|inputs| !inputs.is_empty());
        let evaluated = |named| (self.side(&olds, &further[0], named), self.side(&news, &further[1], named));
        let mut sides = evaluated(NamedVariables::Apart);
        if variables_differ((&sides.0.1, &old_folder), (&sides.1.1, &new_folder)) {
            sides = evaluated(NamedVariables::Open);
        }
        let ((mut old, old_objects), (mut new, new_objects)) = sides;
        if has_links {
            let real = |name: &str| self.config.base.path(Path::new(name)).canonicalize().ok();
            let side = |files, folder| NamedFiles { files, folder, real: &real };
            drop_unused([side(&mut old.files, &old_folder), side(&mut new.files, &new_folder)]);
        }
        let by_terraform =
            terraform::removed_or_replaced((&old_objects, &old_folder), (&new_objects, &new_folder));
        Ok(LoadedPair { name: String::new(), old: Some(old), new, old_folder, new_folder, by_terraform })
    }

    /// The inputs of OLD and NEW. The folders of `kubectl diff` have files without an extension; folders with Jsonnet may have no manifests.
    fn inputs_of(&self, old: &Path, new: &Path) -> (Vec<ClusterInputs>, Vec<ClusterInputs>) {
        let of = |path: &Path, wanted| {
            let paths = vec![path.to_owned()];
            self.inputs(&InputOptions { paths, clusters: Vec::new(), ..self.run.input.clone() }, wanted)
        };
        let (olds, news) = (of(old, Wanted::Manifests), of(new, Wanted::Manifests));
        if has_programs(&olds) || has_programs(&news) {
            return (olds, news);
        }
        let or_texts = |found: Vec<ClusterInputs>, path: &Path| {
            if input::count(&found) == 0 { of(path, Wanted::Texts) } else { found }
        };
        (or_texts(olds, old), or_texts(news, new))
    }

    fn same(&mut self, messages: &dyn Messages) -> Result<Vec<LoadedPair>, CommandError> {
        let found = self.inputs(&self.run.input, Wanted::Manifests);
        if input::count(&found) == 0 {
            return Err(nothing());
        }
        self.start(&[&found], messages)?;
        let pair = |one: &ClusterInputs| LoadedPair {
            name: one.cluster.clone(),
            old: None,
            new: self.cluster(std::slice::from_ref(one)),
            old_folder: String::new(),
            new_folder: String::new(),
            by_terraform: BTreeSet::new(),
        };
        Ok(found.iter().map(pair).collect())
    }

    fn snapshot(&mut self, paths: &[PathBuf], messages: &dyn Messages) -> Result<LoadedPair, CommandError> {
        let options = InputOptions { paths: paths.to_vec(), ..self.run.input.clone() };
        let snapshot = self.inputs(&options, Wanted::Manifests);
        if input::count(&snapshot) == 0 {
            let text = match paths {
                [] => "the cluster has no object that a plan needs".to_owned(),
                [folder, ..] => format!(
                    "`--snapshot`: `{}` has no manifests; `karpwarden collect` writes a snapshot",
                    folder.display()
                ),
            };
            return Err(CommandError::NoInput(text));
        }
        let files = if self.run.input.paths.is_empty() {
            Vec::new()
        } else {
            self.inputs(&self.run.input, Wanted::Manifests)
        };
        self.start(&[&snapshot, &files], messages)?;
        Ok(LoadedPair {
            name: String::new(),
            old: Some(self.cluster(&snapshot)),
            new: self.cluster(&files),
            old_folder: String::new(),
            new_folder: String::new(),
            by_terraform: BTreeSet::new(),
        })
    }

    /// The two sides of a plan of Terraform, with the files of both.
    fn terraform(&mut self, path: &Path, messages: &dyn Messages) -> Result<LoadedPair, CommandError> {
        let options = InputOptions { paths: vec![path.to_owned()], ..self.run.input.clone() };
        let plans = self.inputs(&options, Wanted::Manifests);
        let files = if self.run.input.paths.is_empty() {
            Vec::new()
        } else {
            self.inputs(&self.run.input, Wanted::Manifests)
        };
        let [input] = plans.iter().flat_map(|one| &one.inputs).collect::<Vec<_>>()[..] else {
            return Err(CommandError::Usage("`--terraform`: name one file".to_owned()));
        };
        self.start(&[&plans, &files], messages)?;
        let limits = &self.run.input.limits;
        let read = input.read(limits).file;
        let changes = match read.documents.as_slice() {
            [Document::Read(tree)] => tree.root().get("resource_changes"),
            [Document::Unreadable { error, .. }] => {
                return Err(CommandError::Usage(format!("`{}`: {error}", path.display())));
            }
            _ => None,
        };
        let Some(changes) = changes else { return Err(no_plan(path)) };
        let options = ReadOptions { limits: *limits, ..READ_OPTIONS };
        let side = |side: PlannedSide| {
            let again = File::read(read.source.name(), read.source.text(), options);
            let mut planned = [File { is_relevant: read.is_relevant, ..again }];
            evaluate_plans(&mut planned, side, limits);
            let mut cluster = self.cluster(&files);
            cluster.files.extend(planned);
            cluster
        };
        let (mut old, mut new) = (side(PlannedSide::Before), side(PlannedSide::After));
        let changes: Vec<Node<'_>> = changes.children().collect();
        let deleted = terraform::deleted(&changes, &old.files);
        terraform::leave_out_alike(&changes, &mut old.files, &mut new.files);
        Ok(LoadedPair {
            name: String::new(),
            old: Some(old),
            new,
            old_folder: String::new(),
            new_folder: String::new(),
            by_terraform: deleted,
        })
    }

    fn commit(
        &mut self,
        name: &str,
        messages: &dyn Messages,
    ) -> Result<(Vec<LoadedPair>, String), CommandError> {
        let options = &self.run.input;
        let named: Vec<&PathBuf> = options.paths.iter().chain(&options.clusters).collect();
        if named.iter().any(|path| path.as_os_str() == "-") {
            return Err(CommandError::Usage("`--base` compares files, not standard input".to_owned()));
        }
        let first = named.first().map_or(Path::new("."), |path| path.as_path());
        let commit = Commit::find(first, name)?;
        // A path that only the commit has is no mistake.
        let existing = |paths: &[PathBuf]| paths.iter().filter(|path| path.exists()).cloned().collect();
        let options = InputOptions {
            paths: existing(&options.paths),
            clusters: existing(&options.clusters),
            ..options.clone()
        };
        let news = self.inputs(&options, Wanted::Manifests);
        self.start(&[&news], messages)?;
        let mut pairs = Vec::new();
        if !self.run.input.paths.is_empty() {
            pairs.push(self.since(&commit, "", &self.run.input.paths, &news, NamedVariables::Apart)?);
        }
        for folder in &self.run.input.clusters {
            let name = self.config.base.name(folder);
            pairs.push(self.since(
                &commit,
                &name,
                std::slice::from_ref(folder),
                &news,
                NamedVariables::Apart,
            )?);
        }
        if pairs.iter().all(|pair| pair.files().next().is_none()) {
            return Err(nothing());
        }
        Ok((pairs, commit.short().to_owned()))
    }

    /// The files of a cluster in a commit and now.
    fn since(
        &self,
        commit: &Commit,
        name: &str,
        paths: &[PathBuf],
        news: &[ClusterInputs],
        named: NamedVariables,
    ) -> Result<LoadedPair, CommandError> {
        let inputs =
            news.iter().find(|one| one.cluster == name).map(std::slice::from_ref).unwrap_or_default();
        let base = &self.config.base;
        let in_commit = CommitPaths::new(commit, base, &self.excluded, paths)?;
        let CommitPaths { root, below, .. } = &in_commit;
        let further = in_commit.further_inputs(inputs);
        let (mut new, new_objects) = self.side(inputs, &further, named);
        let all = inputs.iter().flat_map(|one| &one.inputs).chain(&further);
        let kinds: KindsByName<'_> = all.map(|one| (one.name.as_str(), one.kind)).collect();
        let confinement = self.run.input.confinement.as_ref();
        let limits = &self.run.input.limits;
        new.files.extend(input::referenced(&new.files, base, None, confinement, limits).files);
        let mut old = in_commit.manifests(&kinds, limits)?;
        committed::add_referenced(&mut old, commit, (root, base), &self.run.input)?;
        let known: BTreeSet<&Path> =
            old.iter().flat_map(|file| Path::new(file.source.name()).ancestors()).collect();
        for path in paths.iter().filter(|path| !path.exists()) {
            if !known.contains(Path::new(&base.name(path))) {
                let (path, commit) = (path.display(), commit.short());
                let text = format!(
                    "`--base`: neither the working tree nor commit {commit} has manifests in `{path}`"
                );
                return Err(CommandError::Usage(text));
            }
        }
        let old_objects = if old.iter().any(|file| is_configuration(file.source.name())) {
            let beside = BesideInCommit::new(commit, root, base, below, &old, limits)?;
            terraform_objects::evaluate_managed(&mut old, &beside, limits, named)
        } else {
            // A plan of Terraform reads no other files.
            terraform_objects::evaluate_managed(&mut old, &NoFilesBeside, limits, named)
        };
        if named == NamedVariables::Apart && variables_differ((&old_objects, ""), (&new_objects, "")) {
            return self.since(commit, name, paths, news, NamedVariables::Open);
        }
        old.sort_by(|one, other| one.source.name().cmp(other.source.name()));
        old.extend(in_commit.texts_beside(&old)?);
        in_commit.drop_unused(&mut old, &mut new.files);
        Ok(LoadedPair {
            name: name.to_owned(),
            old: Some(Cluster { name: name.to_owned(), files: old }),
            new,
            old_folder: String::new(),
            new_folder: String::new(),
            by_terraform: terraform::removed_or_replaced((&old_objects, ""), (&new_objects, "")),
        })
    }

    fn inputs(&self, options: &InputOptions, wanted: Wanted) -> Vec<ClusterInputs> {
        input::by_cluster(options, &self.config, None, &self.excluded, wanted)
    }

    /// Checks that the output is no input, and resolves the settings of some paths.
    fn start(&mut self, sides: &[&[ClusterInputs]], messages: &dyn Messages) -> Result<(), CommandError> {
        for side in sides {
            input::refuse_excess(&self.run.input, side)?;
            output::refuse_input(self.run.file.as_deref(), "--output", side, self.config.path.as_deref())?;
        }
        let inputs = sides.iter().flat_map(|side| side.iter()).flat_map(|one| &one.inputs);
        self.config = self.config.clone().for_files(&inputs, messages)?;
        Ok(())
    }

    /// Reads the files of a side of one cluster.
    fn cluster(&self, inputs: &[ClusterInputs]) -> Cluster {
        self.side(inputs, &[], NamedVariables::Open).0
    }

    /// Reads the files of a side with further ones, and the objects whose resources may be created again.
    fn side(
        &self,
        inputs: &[ClusterInputs],
        further: &[InputFile],
        named: NamedVariables,
    ) -> (Cluster, ManagedObjects) {
        let all = inputs.iter().flat_map(|one| &one.inputs).chain(further);
        let mut files: Vec<File> = all.map(|one| one.read(&self.run.input.limits).file).collect();
        let unread: Vec<String> = inputs.iter().flat_map(|one| one.unread.iter().cloned()).collect();
        let managed = input::evaluate_managed(&mut files, &unread, &self.config.base, &self.run.input, named);
        files.extend(self.texts_beside(&files, &unread));
        if !self.config.settings.is_karpenter_version_set {
            let pinning: Vec<PathBuf> = inputs.iter().flat_map(|one| one.pinning.iter().cloned()).collect();
            input::add_unknown(
                &mut files,
                texts_with_pins(&pinning, &self.config.base, self.run.input.confinement.as_ref()),
            );
        }
        let name = inputs.first().map(|one| one.cluster.clone()).unwrap_or_default();
        (Cluster { name, files }, managed)
    }

    /// The files of a side that are no manifests and that a plan reads.
    fn texts_beside(&self, files: &[File], unread: &[String]) -> Vec<File> {
        let readers = TextReaders::of(files);
        let confinement = self.run.input.confinement.as_ref();
        let bytes = |name: &String| {
            let path = self.config.base.path(Path::new(name));
            let is_allowed = confinement.is_none_or(|one| one.holds(&path) && one.affords(&path));
            input::read_regular(&path).ok().filter(|_| is_allowed)
        };
        let (read, others): (Vec<&String>, Vec<&String>) =
            unread.iter().partition(|name| readers.is_read(name));
        let mut found: Vec<File> =
            read.into_iter().filter_map(|name| charts::text(name.clone(), bytes(name)?)).collect();
        let imports = ImportedTexts::of(&found);
        let imported = others.into_iter().filter(|name| imports.is_read(name));
        found.extend(imported.filter_map(|name| ImportedTexts::text(name.clone(), bytes(name)?)));
        found
    }
}

/// Whether there are templates in languages such as Jsonnet among the files that are no manifests.
fn has_programs(inputs: &[ClusterInputs]) -> bool {
    inputs.iter().flat_map(|one| &one.unread).any(|name| charts::is_program(name))
}

fn no_plan(path: &Path) -> CommandError {
    CommandError::Usage(format!(
        "`--terraform`: `{}` is no plan; write one with `terraform show -json FILE`, where FILE is the file of `terraform plan -out FILE`",
        path.display()
    ))
}

fn nothing() -> CommandError {
    CommandError::NoInput(format!("nothing to plan: {}", input::NO_FILES))
}
