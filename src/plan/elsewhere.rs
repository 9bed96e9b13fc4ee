//! Sources outside of the input that only the new side uses: an object that is removed may come from there.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::appliers::Applier;
use cluster::folders::{folders_of, name, parent};
use drift::ObjectChangeKind;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use super::applied_objects::{AppliedObjects, name_of};
use super::appliers::{is_own_chart, named_sources};
use super::chart_releases::rendered_charts;
use super::dropped::relative;
use super::outside::{WORDS, input_names, is_kustomization, outside_references};
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// A source that only the new side uses.
#[derive(Debug)]
struct GainedSource {
    /// The reason for which a removed object may stay.
    reason: String,
    /// The folders with the kustomization or the chart that uses the source, without the start of their side: first its own, then the folders
    /// of the kustomizations around it. `None` if the name of the source says that it is of Karpenter.
    folders: Option<Vec<String>>,
}

/// The sources that only the new side uses.
#[derive(Debug, Default)]
pub(super) struct GainedSources(Vec<GainedSource>);

impl GainedSources {
    /// Compares the sources of both sides. `others` are changes of what is not in the input either.
    pub(super) fn of<'c>(
        pair: PlanPair<'_>,
        (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
        others: impl Iterator<Item = &'c PlannedChange>,
    ) -> Self {
        let mut found = bases(pair);
        found.extend(charts(pair));
        let is_gained = |applier: &&Applier<'_>| {
            named_sources(applier) && !old.counterpart(applier, new).is_some_and(named_sources)
        };
        let appliers = new.appliers.all().iter().filter(is_gained).map(|applier| {
            let (kind, _, name) = name_of(applier);
            GainedSource { reason: format!("{kind}/{name} may have it too"), folders: None }
        });
        found.extend(appliers);
        let added = others.filter(|change| change.change == ObjectChangeKind::Added);
        found.extend(added.map(|change| GainedSource { reason: change.message.clone(), folders: None }));
        Self(found)
    }

    /// The reason why a removed object of a file, which some overlays built, may come from elsewhere.
    pub(super) fn reason_for(&self, file: &str, overlays: &BTreeSet<&str>) -> Option<&str> {
        let is_possible = |source: &&GainedSource| {
            let Some(folders) = &source.folders else { return true };
            if overlays.is_empty() {
                return folders.first().is_some_and(|own| folders_of(file).any(|folder| folder == own));
            }
            overlays.iter().any(|overlay| folders.iter().any(|folder| folder == overlay))
        };
        self.0.iter().find(is_possible).map(|source| source.reason.as_str())
    }

    /// The reason why a removed object of any file may come from elsewhere.
    pub(super) fn any(&self) -> Option<&str> {
        self.0.first().map(|source| source.reason.as_str())
    }
}

/// Whether a text says that it is of Karpenter's NodePools or EC2NodeClasses.
pub(super) fn is_about(text: &str) -> bool {
    let text = text.to_ascii_lowercase().replace(['-', '_'], "");
    WORDS.iter().any(|word| text.contains(word))
}

fn reason(file: &str, source: &str) -> String {
    format!("{file} now uses `{source}`, which is not in the input")
}

/// The files of a side by their names without the start of the side.
fn by_name(side: PlanSide<'_>, is_wanted: impl Fn(&File) -> bool) -> impl Iterator<Item = (&str, &File)> {
    let files = side.cluster.files.iter().filter(move |file| is_wanted(file));
    files.map(move |file| (without_start(file.source.name(), side.folder), file))
}

/// The bases of kustomizations outside of the input.
fn bases(pair: PlanPair<'_>) -> Vec<GainedSource> {
    let [olds, news] = [pair.old, pair.new].map(|side| {
        let names = input_names(&side.cluster.files);
        let own = by_name(side, is_kustomization)
            .map(|(name, file)| (name, (file.source.name(), outside_references(file, &names))));
        own.collect::<BTreeMap<_, _>>()
    });
    let mut around = None;
    let mut found = Vec::new();
    for (name, (file, sources)) in news {
        let known: &[&str] = olds.get(name).map_or(&[], |(_, sources)| sources);
        let address = |source: &str| source.split('?').next().unwrap_or_default().to_owned();
        for source in sources {
            // Another version of a base may have other objects if the base is of Karpenter.
            let is_known =
                |one: &&str| *one == source || (address(one) == address(source) && !is_about(source));
            if known.iter().any(is_known) {
                continue;
            }
            let around = around.get_or_insert_with(|| KustomizationsAround::of(pair.new));
            let folders = (!is_about(source)).then(|| around.of_folder(parent(name).unwrap_or_default()));
            found.push(GainedSource { reason: reason(file, source), folders });
        }
    }
    found
}

/// The folders of the kustomizations that use the one of each folder.
struct KustomizationsAround(BTreeMap<String, BTreeSet<String>>);

impl KustomizationsAround {
    fn of(side: PlanSide<'_>) -> Self {
        let mut around = BTreeMap::<String, BTreeSet<String>>::new();
        for (name, file) in by_name(side, is_kustomization) {
            for reference in cluster::references(file) {
                let folder = relative(&reference, side.folder).to_owned();
                around.entry(folder).or_default().insert(parent(name).unwrap_or_default().to_owned());
            }
        }
        Self(around)
    }

    /// A folder, and the folders of the kustomizations that use it, directly or through others.
    fn of_folder(&self, folder: &str) -> Vec<String> {
        let mut found = vec![folder.to_owned()];
        let mut next = 0;
        while let Some(users) = found.get(next).map(|folder| self.0.get(folder)) {
            let new = users.into_iter().flatten().filter(|user| !found.contains(user));
            let new: Vec<String> = new.cloned().collect();
            found.extend(new);
            next += 1;
        }
        found
    }
}

/// The dependencies of charts, and the charts that kustomizations render.
fn charts(pair: PlanPair<'_>) -> Vec<GainedSource> {
    let [olds, news] = [pair.old, pair.new].map(|side| {
        let files = by_name(side, |file| name(file.source.name()) == "Chart.yaml" || is_kustomization(file));
        files.map(|(name, file)| (name, (file.source.name(), charts_of(file)))).collect::<BTreeMap<_, _>>()
    });
    let mut found = Vec::new();
    for (name, (file, charts)) in news {
        let known: &[&str] = olds.get(name).map_or(&[], |(_, charts)| charts);
        for chart in charts.into_iter().filter(|chart| !known.contains(chart)) {
            let folders = (!is_about(chart)).then(|| vec![parent(name).unwrap_or_default().to_owned()]);
            found.push(GainedSource { reason: reason(file, chart), folders });
        }
    }
    found
}

/// The names of the charts outside of the input that a file uses.
///
/// Sources: "Managing Dependencies with the `dependencies` field" in docs/topics/charts.mdx of helm/helm-www; `HelmChart` in
/// api/types/helmchartargs.go of kubernetes-sigs/kustomize.
fn charts_of(file: &File) -> Vec<&str> {
    let [Document::Read(tree)] = file.documents.as_slice() else { return Vec::new() };
    let names = charts_in(tree.root()).filter_map(|item| item.str_at(&["name"]));
    names.filter(|name| !is_own_chart(name)).collect()
}

/// The charts outside of the input in a document.
pub(super) fn charts_in(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let dependencies = items_of(root.get("dependencies")).map(|item| (item, "repository"));
    let all = dependencies.chain(rendered_charts(root).map(|item| (item, "repo")));
    let is_outside = |(item, address): &(Node<'_>, &str)| {
        let address = item.str_at(&[address]).unwrap_or_default();
        !address.is_empty() && !address.starts_with("file:")
    };
    all.filter(is_outside).map(|(item, _)| item)
}
