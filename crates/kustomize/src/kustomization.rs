//! The fields of a kustomization.
//!
//! Source: api/types/kustomization.go of kustomize v5.5.0.

use std::collections::BTreeMap;

use manifest::limits::Limits;
use manifest::tree::{Node, NodeId, items_of};
use manifest::{Document, File, FileNumber};

use crate::path;
use crate::value::scalar_text;

/// A kustomization of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kustomization<'d> {
    pub(crate) root: Node<'d>,
    pub(crate) file: FileNumber,
}

/// Fields that the build does not execute, and that may change objects.
const UNEXECUTED: [&str; 4] = ["configurations", "transformers", "vars", "openapi"];

/// Fields that do not change an object of the input. `crds` adds references by name, which are rare.
const IGNORED: [&str; 12] = [
    "apiVersion",
    "kind",
    "metadata",
    "buildMetadata",
    "crds",
    "generatorOptions",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "sortOptions",
    "validators",
];

/// Fields that the build applies, and generators, whose objects are not in the input.
const APPLIED: [&str; 18] = [
    "bases",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "images",
    "imageTags",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "resources",
    "secretGenerator",
];

/// A patch of a kustomization.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch<'d> {
    /// The text of the patch, or the path of its file.
    pub(crate) text: PatchText<'d>,
    pub(crate) target: Option<Node<'d>>,
    pub(crate) options: Option<Node<'d>>,
}

/// Location of the text of a patch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PatchText<'d> {
    Path(&'d str),
    /// A string of the kustomization.
    Inline(Node<'d>),
}

impl<'d> Kustomization<'d> {
    /// Finds the kustomization of a file, if it is one.
    pub(crate) fn find(file: &'d File, index: FileNumber) -> Option<Self> {
        if !path::is_kustomization_file(file.source.name()) {
            return None;
        }
        let [Document::Read(tree)] = file.documents.as_slice() else { return None };
        let root = tree.root();
        let version = root.str_at(&["apiVersion"]);
        let is_other = version.is_some_and(|version| !version.starts_with("kustomize.config.k8s.io/"));
        (root.is_mapping() && !is_other).then_some(Self { root, file: index })
    }

    /// Whether it is a Component.
    pub(crate) fn is_component(self) -> bool {
        self.root.str_at(&["kind"]) == Some("Component")
    }

    /// The paths in a list.
    pub(crate) fn paths(self, list: &str) -> impl Iterator<Item = &'d str> {
        items_of(self.root.get(list)).filter_map(scalar_text)
    }

    /// The fields that the build does not execute, with their values.
    pub(crate) fn unexecuted(self) -> impl Iterator<Item = (&'d str, Node<'d>)> {
        let known = |key: &str| IGNORED.contains(&key) || APPLIED.contains(&key);
        let is_set = |value: Node<'_>| !value.is_null() && !value.is_empty();
        self.root.members().filter(
            move |(key, value)| {
                if UNEXECUTED.contains(key) { is_set(*value) } else { !known(key) }
            },
        )
    }

    /// The patches of the fields `patchesStrategicMerge` and `patches`, in the order of the build.
    pub(crate) fn patches(self) -> Vec<Patch<'d>> {
        let strategic = items_of(self.root.get("patchesStrategicMerge")).filter_map(|item| {
            let text = item.as_str()?;
            // A string with a line break or a `:` is the text of a patch.
            let is_text = text.contains('\n') || text.contains(": ") || text.starts_with('{');
            let text = if is_text { PatchText::Inline(item) } else { PatchText::Path(text) };
            Some(Patch { text, target: None, options: None })
        });
        strategic.chain(items_of(self.root.get("patches")).filter_map(patch)).collect()
    }

    /// The patches of the field `patchesJson6902`.
    pub(crate) fn json_patches(self) -> Vec<Patch<'d>> {
        items_of(self.root.get("patchesJson6902")).filter_map(patch).collect()
    }
}

fn patch(item: Node<'_>) -> Option<Patch<'_>> {
    let inline = || item.get("patch").filter(|patch| patch.as_str().is_some()).map(PatchText::Inline);
    let text = item.str_at(&["path"]).map(PatchText::Path).or_else(inline)?;
    let map = |key| item.get(key).filter(|value| value.is_mapping());
    Some(Patch { text, target: map("target"), options: map("options") })
}

/// The documents of the patches that kustomizations hold as strings, by file and node.
#[derive(Debug, Default)]
pub(crate) struct InlinePatches(BTreeMap<(FileNumber, NodeId), Vec<Document>>);

impl InlinePatches {
    /// Parses the patches.
    pub(crate) fn parse(kustomizations: &BTreeMap<String, Kustomization<'_>>, limits: &Limits) -> Self {
        let mut documents = BTreeMap::new();
        for kustomization in kustomizations.values() {
            for patch in kustomization.patches().into_iter().chain(kustomization.json_patches()) {
                if let PatchText::Inline(node) = patch.text {
                    documents.insert((kustomization.file, node.id()), Document::within(node, limits));
                }
            }
        }
        Self(documents)
    }

    /// The documents of a string.
    pub(crate) fn get(&self, file: FileNumber, node: Node<'_>) -> &[Document] {
        self.0.get(&(file, node.id())).map_or(&[], Vec::as_slice)
    }
}
