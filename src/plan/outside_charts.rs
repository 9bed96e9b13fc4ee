//! Charts outside of the input whose names say that they make NodePools or EC2NodeClasses: another version of such a chart, or other values
//! for it, may replace nodes.

use std::collections::BTreeSet;

use answers::plan::PlannedChange;
use cluster::appliers::sources;
use cluster::folders::{name, parent};
use drift::ObjectChangeKind;
use manifest::tree::{Node, Tree, items_of};
use manifest::{Document, File};

use super::applied_objects::AppliedObjects;
use super::appliers::{is_own_chart, named_sources};
use super::chart_releases::{GENERATOR, OF_HELMFILE, inherited, releases_in};
use super::charts::keys_of_dependency;
use super::elsewhere::{charts_in, is_about};
use super::feeds::Feeds;
use super::outside::{is_kustomization, names_planned};
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// The file with the definition of a chart.
const DEFINITION: &str = "Chart.yaml";

/// Fields of a release of a helmfile with values.
const VALUES_OF_HELMFILE: [&str; 3] = ["values", "set", "setString"];

/// A document that installs a chart outside of the input.
struct OutsideChart<'p> {
    file: &'p File,
    /// The part of the document that names the chart.
    at: Node<'p>,
    /// The object or file that installs the chart, in words.
    what: String,
    /// Whether the part is a release of a helmfile.
    is_release: bool,
    /// The texts that may name files with values.
    texts: Vec<&'p str>,
    /// The folder of the chart that has it as a dependency, and the keys of the values for it.
    dependency: Option<(&'p str, BTreeSet<&'p str>)>,
}

/// One change for each such chart with another version or other values.
pub(super) fn changes<'p>(
    pair: PlanPair<'p>,
    (old, new): (&AppliedObjects<'p>, &AppliedObjects<'p>),
    feeds: &Feeds<'p>,
) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old, old), of_side(pair.new, new));
    let mut found = Vec::new();
    for new in &news {
        let file = without_start(new.file.source.name(), pair.new.folder);
        let is_same = |old: &&OutsideChart<'_>| {
            old.what == new.what && without_start(old.file.source.name(), pair.old.folder) == file
        };
        // An object that only one side has is compared by itself.
        let Some(old) = olds.iter().find(is_same) else { continue };
        let is_applier = new.at.get("spec").is_some();
        let what = if !is_applier && !is_same_chart(old.at, new.at, new.is_release) {
            Some(format!("{file} installs {} in another way", new.what))
        } else {
            let folder = parent(file).unwrap_or_default();
            let named = new.texts.iter().find_map(|text| feeds.of_file(folder, text));
            let feed = named.or_else(|| feeds.of_maps(&maps_in(new.at)));
            let feed = feed.or_else(|| {
                let (folder, keys) = new.dependency.as_ref()?;
                feeds.of_dependency(folder, keys)
            });
            feed.map(|feed| format!("{feed} feeds {}, and has changed", new.what))
        };
        found.extend(what.map(|what| change(pair.name, new, &what, ObjectChangeKind::Changed)));
    }
    // Helmfile leaves a release that it no longer names. Removed objects are compared by themselves.
    let is_listed = |old: &&OutsideChart<'_>| !old.is_release && old.at.get("spec").is_none();
    for old in olds.iter().filter(is_listed) {
        let file = without_start(old.file.source.name(), pair.old.folder);
        let is_same = |new: &OutsideChart<'_>| {
            new.what == old.what && without_start(new.file.source.name(), pair.new.folder) == file
        };
        if !news.iter().any(is_same) {
            let what = format!("{file} no longer installs {}", old.what);
            found.push(change(pair.name, old, &what, ObjectChangeKind::Removed));
        }
    }
    found
}

fn of_side<'p>(side: PlanSide<'p>, objects: &AppliedObjects<'p>) -> Vec<OutsideChart<'p>> {
    let files = &side.cluster.files;
    let mut found = Vec::new();
    for (file, tree) in files.iter().flat_map(trees_of_charts) {
        let folder = parent(without_start(file.source.name(), side.folder))
            .filter(|_| name(file.source.name()) == DEFINITION);
        let releases = releases_in(file.source.name(), tree.root());
        let charts = charts_in(tree.root()).filter_map(|at| Some((at, at.str_at(&["name"])?, false)));
        let charts = charts.chain(releases.filter_map(|at| Some((at, at.str_at(&["chart"])?, true))));
        let is_named = |(at, chart, is_release): &(Node<'_>, &str, bool)| {
            let own = at.str_at(&["name"]).filter(|_| *is_release);
            let is_in_input = chart.starts_with('.');
            let has_objects = || *is_release && names_planned(&at.to_json().to_string());
            let is_named = is_about(chart) || own.is_some_and(is_about) || has_objects();
            !is_own_chart(chart) && !is_in_input && is_named
        };
        found.extend(charts.filter(is_named).map(|(at, chart, is_release)| {
            let what = match at.str_at(&["name"]).filter(|_| is_release) {
                Some(release) => format!("the release `{release}`"),
                None => format!("the chart `{chart}`"),
            };
            let dependency = folder.map(|folder| (folder, keys_of_dependency(at)));
            OutsideChart { file, at, what, is_release, texts: texts_in(at), dependency }
        }));
    }
    for applier in objects.appliers.all().iter().filter(|applier| named_sources(applier)) {
        let text = |keys: &[&str]| applier.root.str_at(keys).unwrap_or_default();
        let what = format!("{}/{}", text(&["kind"]), text(&["metadata", "name"]));
        let file = files.iter().find(|file| file.source.name() == applier.root.source().name());
        let template = applier.root.at_path(&["spec", "template", "spec"]);
        let own = sources(template.or(applier.root.get("spec"))).filter(|source| is_outside(*source));
        let texts = own.flat_map(texts_in).collect();
        found.extend(file.map(|file| OutsideChart {
            file,
            at: applier.root,
            what,
            is_release: false,
            texts,
            dependency: None,
        }));
    }
    found
}

/// The documents of a file that may install charts without an object: definitions of charts, kustomizations and helmfiles.
fn trees_of_charts(file: &File) -> Vec<(&File, &Tree)> {
    let trees = file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some((file, tree)),
        _ => None,
    });
    let trees: Vec<_> = trees.collect();
    let is_helmfile =
        |(_, tree): &(&File, &Tree)| releases_in(file.source.name(), tree.root()).next().is_some();
    let is_generator = |(_, tree): &(&File, &Tree)| tree.root().str_at(&["kind"]) == Some(GENERATOR);
    let is_one = name(file.source.name()) == DEFINITION || is_kustomization(file);
    if is_one && file.documents.len() == 1 {
        return trees;
    }
    trees.into_iter().filter(|tree| is_helmfile(tree) || is_generator(tree)).collect()
}

/// Whether two sides install a chart in the same way. Of a release of a helmfile, other fields tell how helmfile goes about it.
fn is_same_chart(old: Node<'_>, new: Node<'_>, is_release: bool) -> bool {
    let mut fields = OF_HELMFILE.iter().chain(&VALUES_OF_HELMFILE);
    let of_templates = |release| inherited(release).map(Node::to_json).collect::<Vec<_>>();
    if is_release {
        fields.all(|field| old.get(field).map(Node::to_json) == new.get(field).map(Node::to_json))
            && of_templates(old) == of_templates(new)
    } else {
        old.to_json() == new.to_json()
    }
}

/// Whether a source of an Application is a chart, and not one of Karpenter's own.
fn is_outside(source: Node<'_>) -> bool {
    source.str_at(&["chart"]).is_some_and(|chart| !is_own_chart(chart))
}

/// The texts below a node.
fn texts_in(node: Node<'_>) -> Vec<&str> {
    let (mut open, mut found) = (vec![node], Vec::new());
    while let Some(node) = open.pop() {
        found.extend(node.as_str());
        open.extend(node.children());
    }
    found
}

/// The names of the objects from which a HelmRelease takes values.
fn maps_in(root: Node<'_>) -> BTreeSet<&str> {
    let sources = items_of(root.at_path(&["spec", "valuesFrom"]));
    sources.filter_map(|source| source.str_at(&["name"])).collect()
}

fn change(cluster: &str, chart: &OutsideChart<'_>, what: &str, change: ObjectChangeKind) -> PlannedChange {
    let source = chart.at.source();
    PlannedChange::of_file(
        cluster,
        change,
        (chart.file.source.name(), source.position(chart.at.span().start).line),
        format!("{what}; the objects of the chart are not in the input"),
    )
}
