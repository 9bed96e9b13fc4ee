//! Changed kustomizations whose base is outside of the input: how they change its objects is not known.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::folders::folders_of;
use drift::ObjectChangeKind;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use super::PlanPair;
use super::scope::{PLANNED, without_start};

/// Words in the address of a base that has NodePools or EC2NodeClasses.
pub(super) const WORDS: [&str; 3] = ["karpenter", "nodepool", "nodeclass"];

/// Fields with which a kustomization changes objects of any kind.
const FIELDS: [&str; 8] = [
    "namePrefix",
    "nameSuffix",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "components",
    "replacements",
    "transformers",
];

/// The patches of a kustomization.
const PATCHES: [&str; 3] = ["patches", "patchesJson6902", "patchesStrategicMerge"];

/// A kustomization with a base outside of the input.
struct OutsideBase<'p> {
    file: &'p File,
    /// The base, as it is written.
    base: &'p str,
    /// Whether the base has NodePools or EC2NodeClasses, as its address or a patch shows.
    is_planned: bool,
    /// The parts that can change such objects.
    parts: Vec<String>,
}

/// One change for each kustomization that changes or removes objects of Karpenter in an unknown way.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let [olds, news] = [pair.old, pair.new].map(|side| {
        let files = &side.cluster.files;
        let names = input_names(files);
        let by_name: BTreeMap<&str, &File> = files.iter().map(|file| (file.source.name(), file)).collect();
        let found = files.iter().filter_map(|file| {
            let name = without_start(file.source.name(), side.folder);
            Some((name, OutsideBase::of(file, &names, &by_name)?))
        });
        found.collect::<BTreeMap<&str, OutsideBase<'_>>>()
    });
    let kept: BTreeSet<&str> = pair
        .new
        .cluster
        .files
        .iter()
        .map(|file| without_start(file.source.name(), pair.new.folder))
        .collect();
    let changed = olds.iter().filter_map(|(name, old)| match news.get(name) {
        Some(new) if old.parts != new.parts && (old.is_planned || new.is_planned) => {
            Some(new.change(pair.name, ObjectChangeKind::Changed))
        }
        None if !kept.contains(name) && old.is_planned => {
            Some(old.change(pair.name, ObjectChangeKind::Removed))
        }
        // The base is dropped.
        None if old.is_planned => Some(old.change(pair.name, ObjectChangeKind::Changed)),
        _ => None,
    });
    changed.collect()
}

/// The names of some files, and of their folders with a kustomization.
pub(super) fn input_names(files: &[File]) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> = files.iter().map(|file| file.source.name()).collect();
    let kustomizations = files.iter().filter(|file| is_kustomization(file));
    names.extend(kustomizations.filter_map(|file| folders_of(file.source.name()).next()));
    names
}

pub(super) fn is_kustomization(file: &File) -> bool {
    let name = file.source.name();
    cluster::KUSTOMIZATION_FILES.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// The resources and components of a kustomization that are outside of the input, as they are written.
pub(super) fn outside_references<'p>(file: &'p File, names: &BTreeSet<&str>) -> Vec<&'p str> {
    let [Document::Read(tree)] = file.documents.as_slice() else { return Vec::new() };
    let lists = ["resources", "bases", "components"].into_iter();
    let written = lists.flat_map(|list| items_of(tree.root().get(list))).filter_map(Node::as_str);
    let references = cluster::references(file);
    let outside = written.zip(&references).filter(|(_, name)| !names.contains(name.as_str()));
    outside.map(|(text, _)| text).collect()
}

impl<'p> OutsideBase<'p> {
    fn of(file: &'p File, names: &BTreeSet<&str>, by_name: &BTreeMap<&str, &'p File>) -> Option<Self> {
        let [Document::Read(tree)] = file.documents.as_slice() else { return None };
        if !is_kustomization(file) {
            return None;
        }
        let root = tree.root();
        let references = cluster::references(file);
        let resources = ["resources", "bases"].into_iter().flat_map(|list| items_of(root.get(list)));
        let resources: Vec<&str> = resources.filter_map(Node::as_str).collect();
        let outside = resources.iter().copied().zip(&references);
        let outside: Vec<&str> =
            outside.filter(|(_, name)| !names.contains(name.as_str())).map(|(text, _)| text).collect();
        let is_about = |text: &&&str| WORDS.iter().any(|word| text.to_ascii_lowercase().contains(word));
        let about: Vec<&str> = outside.iter().filter(is_about).copied().collect();
        let base = *about.first().or(outside.first())?;
        let patches = PATCHES.into_iter().flat_map(|list| items_of(root.get(list)));
        let patches: Vec<String> =
            patches.filter(|item| may_patch(*item)).map(|item| item.to_json().to_string()).collect();
        // Files of patches: resources are compared by themselves.
        let files = references.iter().skip(resources.len()).filter_map(|name| by_name.get(name.as_str()));
        let files: Vec<&str> =
            files.map(|file| file.source.text()).filter(|text| may_be_planned(text)).collect();
        let is_planned = !about.is_empty()
            || patches.iter().any(|patch| names_planned(patch))
            || files.iter().any(|text| names_planned(text));
        let fields =
            FIELDS.into_iter().filter_map(|field| Some(format!("{field}: {}", root.get(field)?.to_json())));
        let mut parts: Vec<String> = fields.chain(patches).collect();
        parts.extend(files.into_iter().map(str::to_owned));
        parts.extend(if is_planned { outside } else { about }.into_iter().map(str::to_owned));
        Some(Self { file, base, is_planned, parts })
    }

    fn change(&self, cluster: &str, change: ObjectChangeKind) -> PlannedChange {
        let source = &self.file.source;
        let name = source.name();
        let verb = if change == ObjectChangeKind::Removed { "is removed" } else { "has changed" };
        PlannedChange::of_file(
            cluster,
            change,
            (name, 1),
            format!(
                "{name} {verb}, and its base `{}` is not in the input; compare the output of `kustomize build`",
                self.base
            ),
        )
    }
}

/// Whether a patch may be for an object that can change nodes: its target is of any or of such a kind.
pub(super) fn may_patch(item: Node<'_>) -> bool {
    let is_regex = |kind: &str| kind.contains(|char: char| !char.is_ascii_alphanumeric());
    match item.str_at(&["target", "kind"]) {
        Some(kind) => is_regex(kind) || names_planned(kind),
        None => may_be_planned(item.str_at(&["patch"]).or(item.as_str()).unwrap_or_default()),
    }
}

/// Whether the text of a patch may be for an object that can change nodes.
fn may_be_planned(text: &str) -> bool {
    names_planned(text) || !text.contains("kind:")
}

pub(super) fn names_planned(text: &str) -> bool {
    PLANNED.into_iter().any(|kind| text.contains(kind.name))
}
