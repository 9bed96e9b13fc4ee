//! Charts outside of the input whose names say that they make NodePools or EC2NodeClasses: another version of such a chart, or other values
//! for it, may replace nodes.

use std::collections::BTreeSet;

use answers::OrEmpty;
use answers::plan::PlannedChange;
use cluster::appliers::{Appliers, sources};
use cluster::folders::{name, parent};
use drift::{Effect, ObjectChangeKind};
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use super::appliers::{is_own_chart, named_sources};
use super::elsewhere::{charts_in, is_about};
use super::feeds::Feeds;
use super::outside::is_kustomization;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// A document that installs a chart outside of the input.
struct OutsideChart<'p> {
    file: &'p File,
    /// The part of the document that names the chart.
    at: Node<'p>,
    /// The object or file that installs the chart, in words.
    what: String,
    /// The texts that may name files with values.
    texts: Vec<&'p str>,
    /// The folder of the chart that has it as a dependency: its values are for the dependency too.
    folder: Option<&'p str>,
}

/// One change for each such chart with another version or other values.
pub(super) fn changes(pair: PlanPair<'_>, feeds: &Feeds<'_>) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    let mut found = Vec::new();
    for new in &news {
        let file = without_start(new.file.source.name(), pair.new.folder);
        let is_same = |old: &&OutsideChart<'_>| {
            old.what == new.what && without_start(old.file.source.name(), pair.old.folder) == file
        };
        // An object that only one side has is compared by itself.
        let Some(old) = olds.iter().find(is_same) else { continue };
        let is_applier = new.at.get("spec").is_some();
        let what = if !is_applier && old.at.to_json() != new.at.to_json() {
            Some(format!("{file} installs {} in another way", new.what))
        } else {
            let folder = parent(file).unwrap_or_default();
            let named = new.texts.iter().find_map(|text| feeds.of_file(folder, text));
            let feed = named.or_else(|| feeds.of_maps(&maps_in(new.at)));
            let feed = feed.or_else(|| feeds.of_chart_values(new.folder?));
            feed.map(|feed| format!("{feed} feeds {}, and has changed", new.what))
        };
        found.extend(what.map(|what| change(pair.name, new, &what)));
    }
    found
}

fn of_side(side: PlanSide<'_>) -> Vec<OutsideChart<'_>> {
    let files = &side.cluster.files;
    let mut found = Vec::new();
    for file in files.iter().filter(|file| name(file.source.name()) == "Chart.yaml" || is_kustomization(file))
    {
        let [Document::Read(tree)] = file.documents.as_slice() else { continue };
        let folder =
            parent(without_start(file.source.name(), side.folder)).filter(|_| !is_kustomization(file));
        let is_named = |chart: &Node<'_>| {
            chart.str_at(&["name"]).is_some_and(|name| is_about(name) && !is_own_chart(name))
        };
        found.extend(charts_in(tree.root()).filter(is_named).map(|at| {
            let what = format!("the chart `{}`", at.str_at(&["name"]).unwrap_or_default());
            OutsideChart { file, at, what, texts: texts_in(at), folder }
        }));
    }
    let appliers = Appliers::of(files);
    for applier in appliers.all().iter().filter(|applier| named_sources(applier)) {
        let text = |keys: &[&str]| applier.root.str_at(keys).unwrap_or_default();
        let what = format!("{}/{}", text(&["kind"]), text(&["metadata", "name"]));
        let file = files.iter().find(|file| file.source.name() == applier.root.source().name());
        let template = applier.root.at_path(&["spec", "template", "spec"]);
        let own = sources(template.or(applier.root.get("spec"))).filter(|source| is_outside(*source));
        let texts = own.flat_map(texts_in).collect();
        found.extend(file.map(|file| OutsideChart { file, at: applier.root, what, texts, folder: None }));
    }
    found
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

fn change(cluster: &str, chart: &OutsideChart<'_>, what: &str) -> PlannedChange {
    let source = chart.at.source();
    PlannedChange {
        cluster: cluster.to_owned(),
        kind: String::new(),
        name: String::new(),
        change: ObjectChangeKind::Changed,
        effect: Effect::Unknown,
        reason: OrEmpty(None),
        node_pools: Vec::new(),
        message: format!("{what}; the objects of the chart are not in the input"),
        file: chart.file.source.name().to_owned(),
        line: source.position(chart.at.span().start).line,
        fields: Vec::new(),
    }
}
