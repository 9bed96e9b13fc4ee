//! Repositories of Flux with another revision: what a Kustomization or `HelmRelease` makes of them is not in the input, or is another revision of
//! the input itself.
//!
//! Sources: "Source reference" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller; "Chart reference" in docs/spec/v2/helmreleases.md of
//! fluxcd/helm-controller; "Reference" in docs/spec/v1/gitrepositories.md and docs/spec/v1/ocirepositories.md of fluxcd/source-controller.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use cluster::appliers::Applier;
use cluster::folders::folders_of;
use drift::ObjectChangeKind;
use manifest::File;
use manifest::tree::{Node, Tree};

use super::applied_objects::{AppliedObjects, name_of};
use super::appliers::{is_own_chart, named_sources};
use super::elsewhere::is_about;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// Fields of a repository or of a chart that decide which content it has.
const FIELDS: [&str; 12] = [
    "ref",
    "url",
    "ignore",
    "include",
    "valuesFiles",
    "bucketName",
    "endpoint",
    "prefix",
    "layerSelector",
    "version",
    "chart",
    "sourceRef",
];

/// The repositories and charts of Flux on one side, by kind and name.
#[derive(Debug)]
pub(super) struct FluxSources<'p> {
    by_name: BTreeMap<(&'p str, &'p str), Vec<Node<'p>>>,
    folder: &'p str,
}

impl<'p> FluxSources<'p> {
    pub(super) fn of(side: PlanSide<'p>) -> Self {
        let mut by_name = BTreeMap::<_, Vec<_>>::new();
        let files = side.cluster.files.iter().filter(|file| file.is_input());
        for root in files.flat_map(roots) {
            let is_flux = root
                .str_at(&["apiVersion"])
                .is_some_and(|version| version.starts_with("source.toolkit.fluxcd.io/"));
            let names = root.str_at(&["kind"]).zip(root.str_at(&["metadata", "name"]));
            if let Some(names) = names.filter(|_| is_flux) {
                by_name.entry(names).or_default().push(root);
            }
        }
        Self { by_name, folder: side.folder }
    }

    /// The repository or chart that an object of Flux names: of several, the one in the nearest folder.
    pub(super) fn of_object(&self, object: Node<'_>) -> Option<Node<'p>> {
        let paths =
            [&["spec", "sourceRef"][..], &["spec", "chartRef"], &["spec", "chart", "spec", "sourceRef"]];
        let reference = paths.iter().find_map(|path| object.at_path(path))?;
        let named = self.by_name.get(&(reference.str_at(&["kind"])?, reference.str_at(&["name"])?))?;
        let namespace = reference.str_at(&["namespace"]).or(object.str_at(&["metadata", "namespace"]));
        let own = object.source().name();
        let is_near = |root: &&Node<'p>| {
            let other = root.str_at(&["metadata", "namespace"]);
            other.zip(namespace).is_none_or(|(one, other)| one == other)
        };
        let shared = |root: &&Node<'p>| {
            let around: Vec<&str> = folders_of(root.source().name()).collect();
            folders_of(own).filter(|folder| around.contains(folder)).count()
        };
        named.iter().filter(is_near).max_by_key(shared).copied()
    }

    fn file_of(&self, root: Node<'p>) -> &'p str {
        without_start(root.source().name(), self.folder)
    }
}

/// One change for each repository with another revision from which Flux takes NodePools, in the input or not.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
) -> Vec<PlannedChange> {
    let (olds, news) = (&old.sources, &new.sources);
    let mut found = BTreeMap::new();
    for before in old.appliers.all() {
        let sources = || {
            let after = new.counterpart(before, old)?;
            Some((olds.of_object(before.root)?, news.of_object(after.root)?))
        };
        let Some((source, now)) = sources() else { continue };
        let is_meant =
            if before.is_outside { makes_pools(before, source) } else { !old.files_of(before).is_empty() };
        if !is_meant {
            continue;
        }
        if let Some(field) = different_field(source, now) {
            let place = (news.file_of(now), now.span().start);
            found.entry(place).or_insert_with(|| change(pair, before, now, field));
        }
    }
    found.into_values().collect()
}

/// Whether the names say that an object takes NodePools from a repository.
fn makes_pools(applier: &Applier<'_>, source: Node<'_>) -> bool {
    let url = source.str_at(&["spec", "url"]).unwrap_or_default();
    let is_chart = applier.root.str_at(&["kind"]) == Some("HelmRelease");
    !(is_chart && is_own_chart(url)) && (named_sources(applier) || (!is_chart && is_about(url)))
}

/// A field of a repository that differs.
fn different_field(old: Node<'_>, new: Node<'_>) -> Option<&'static str> {
    let text =
        |root: Node<'_>, field: &str| root.at_path(&["spec", field]).map(|node| node.to_json().to_string());
    FIELDS.into_iter().find(|field| text(old, field) != text(new, field))
}

fn change(pair: PlanPair<'_>, applier: &Applier<'_>, source: Node<'_>, field: &str) -> PlannedChange {
    let (kind, _, name) = name_of(applier);
    let text = |keys: &[&str]| source.str_at(keys).unwrap_or_default();
    let place = source.at_path(&["spec", field]).unwrap_or(source);
    let file = place.source();
    PlannedChange::of_file(
        pair.name,
        ObjectChangeKind::Changed,
        (file.name(), file.position(place.span().start).line),
        format!(
            "{}/{} has another `{field}`, which changes what {kind}/{name} applies of Karpenter",
            text(&["kind"]),
            text(&["metadata", "name"])
        ),
    )
}

fn roots(file: &File) -> impl Iterator<Item = Node<'_>> {
    file.trees().map(Tree::root)
}
