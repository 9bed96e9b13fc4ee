//! Releases of charts: the values that objects of Flux and Argo CD, and helmfiles, give to the charts that they install. What else these
//! objects say, such as the revision, is compared in [`appliers`](super::appliers).
//!
//! Sources: docs/spec/v2/helmreleases.md of fluxcd/helm-controller; `ApplicationSourceHelm` in pkg/apis/application/v1alpha1/types.go of
//! argoproj/argo-cd; `releases` in docs/configuration.md of helmfile/helmfile.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::sources;
use cluster::folders::name;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use objects::object::Object;

use super::charts::GivingChart;
use super::named_templates::ExpandedTemplate;

/// Kinds whose objects install a chart with values.
const KINDS: [&str; 3] = ["HelmRelease", "Application", "ApplicationSet"];

/// Fields of a release of a helmfile that change what it installs, beside its values.
pub(super) const OF_HELMFILE: [&str; 11] = [
    "chart",
    "version",
    "installed",
    "secrets",
    "setTemplate",
    "valuesTemplate",
    "strategicMergePatches",
    "jsonPatches",
    "transformers",
    "postRenderer",
    "postRendererArgs",
];

/// The releases of the charts of both sides.
#[derive(Debug, Default)]
pub(super) struct ChartReleases<'p> {
    changed: Vec<ChangedRelease<'p>>,
    /// The releases of the new side, by the charts that they install.
    new: Vec<GivenValues<'p>>,
}

/// Difference between the two sides of a release.
#[derive(Debug)]
struct ChangedRelease<'p> {
    file: &'p str,
    charts: BTreeSet<&'p str>,
    /// The keys of the values that differ.
    keys: BTreeSet<String>,
    has_other_name: bool,
    /// Whether anything else differs, such as the version of the chart.
    is_other: bool,
}

/// Charts, values and other fields of a release.
#[derive(Debug, Default, PartialEq, Eq)]
struct GivenValues<'p> {
    /// The charts, as they are written.
    charts: BTreeSet<&'p str>,
    /// The files with values, as they are written.
    files: Vec<&'p str>,
    /// The values by their first key.
    values: BTreeMap<String, String>,
    /// The name and the namespace of the release.
    name: String,
    /// The other fields of a release of a helmfile.
    rest: String,
}

/// File, kind, namespace and name of a release.
type ReleaseKey<'p> = (&'p str, &'p str, &'p str, &'p str);

impl<'p> ChartReleases<'p> {
    /// Compares the releases of both sides.
    pub(super) fn of(sides: [&BTreeMap<&'p str, &'p File>; 2]) -> Self {
        let [olds, news] = sides.map(|files| {
            let all = files.iter().flat_map(|(name, file)| in_file(name, file));
            all.collect::<BTreeMap<ReleaseKey<'p>, GivenValues<'p>>>()
        });
        // A release that moved to another file has no counterpart there.
        let moved = |(_, kind, namespace, name): &ReleaseKey<'p>| {
            let is_same = |key: &ReleaseKey<'p>| (key.1, key.2, key.3) == (*kind, *namespace, *name);
            news.iter().find(|(key, _)| is_same(key) && !olds.contains_key(*key))
        };
        // A new release replaces no node.
        let changed =
            olds.iter().filter_map(|(key, old)| match news.get_key_value(key).or_else(|| moved(key)) {
                Some((key, new)) => (old != new).then(|| ChangedRelease::between(key.0, old, new)),
                None => is_helmfile(key.0).then(|| ChangedRelease::removed(key.0, old)),
            });
        let changed: Vec<ChangedRelease<'p>> = changed.collect();
        Self { changed, new: news.into_values().collect() }
    }

    /// The file with a changed release that gives something else to a chart, through one of the charts that give it values. Of a chart in the
    /// input, the template tells what is read.
    pub(super) fn feed(
        &self,
        giving: &[GivingChart<'_>],
        template: Option<&ExpandedTemplate<'_>>,
    ) -> Option<&'p str> {
        let gives = |release: &&ChangedRelease<'p>| {
            giving.iter().filter(|chart| installs(&release.charts, &chart.folder)).any(|chart| {
                let keys: BTreeSet<&str> = release.keys.iter().map(String::as_str).collect();
                let is_read = match &chart.keys {
                    Some(reaching) => keys.iter().any(|key| reaching.contains(key)),
                    None => template.is_some_and(|template| template.reads_values(&keys)),
                };
                let reads_name = || template.is_some_and(|template| template.reads_object(".Release"));
                release.is_other || is_read || (release.has_other_name && reads_name())
            })
        };
        self.changed.iter().find(gives).map(|release| release.file)
    }

    /// All files with values that releases name.
    pub(super) fn files(&self) -> impl Iterator<Item = &'p str> {
        self.new.iter().flat_map(|release| release.files.iter().copied())
    }

    /// The files with values that the releases of a chart name.
    pub(super) fn files_for<'r>(&'r self, folder: &'r str) -> impl Iterator<Item = &'p str> + 'r {
        let own = self.new.iter().filter(move |release| installs(&release.charts, folder));
        own.flat_map(|release| release.files.iter().copied())
    }
}

impl<'p> ChangedRelease<'p> {
    fn between(file: &'p str, old: &GivenValues<'p>, new: &GivenValues<'p>) -> Self {
        let charts = old.charts.union(&new.charts).copied().collect();
        let keys = old.values.keys().chain(new.values.keys());
        let keys = keys.filter(|key| old.values.get(*key) != new.values.get(*key)).cloned().collect();
        let is_other = (&old.files, &old.rest) != (&new.files, &new.rest);
        Self { file, charts, keys, has_other_name: old.name != new.name, is_other }
    }

    fn removed(file: &'p str, old: &GivenValues<'p>) -> Self {
        let (charts, keys) = (old.charts.clone(), BTreeSet::new());
        Self { file, charts, keys, has_other_name: true, is_other: true }
    }
}

/// Whether one of some charts, as they are written, is the chart of a folder.
fn installs(charts: &BTreeSet<&str>, folder: &str) -> bool {
    !folder.is_empty() && charts.iter().any(|chart| name(chart.trim_end_matches('/')) == name(folder))
}

/// The releases of a file.
fn in_file<'p>(file: &'p str, content: &'p File) -> Vec<(ReleaseKey<'p>, GivenValues<'p>)> {
    let trees = content.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some(tree),
        _ => None,
    });
    let mut found = Vec::new();
    for tree in trees {
        for item in releases_in(file, tree.root()) {
            let name = item.str_at(&["name"]).unwrap_or_default();
            found.push(((file, "", "", name), GivenValues::of_helmfile(item)));
        }
        for object in Object::all(tree).into_iter().filter(|object| KINDS.contains(&object.kind())) {
            let key = (file, object.kind(), object.namespace(), object.name());
            found.push((key, GivenValues::of_object(object)));
        }
    }
    found
}

/// The releases of a helmfile.
///
/// Source: docs/index.md of helmfile/helmfile: `helmfile.yaml`, `helmfile.yaml.gotmpl` and the folder `helmfile.d`.
pub(super) fn releases_in<'p>(file: &str, root: Node<'p>) -> impl Iterator<Item = Node<'p>> {
    items_of(root.get("releases").filter(|_| is_helmfile(file)))
}

/// Whether a file is a helmfile.
pub(super) fn is_helmfile(file: &str) -> bool {
    name(file).starts_with("helmfile") || file.contains("helmfile.d/")
}

impl<'p> GivenValues<'p> {
    fn of_object(object: Object<'p>) -> Self {
        let mut given = Self::default();
        let Some(spec) = object.at(&["spec"]) else { return given };
        if object.kind() == "HelmRelease" {
            given.add_flux(spec);
            return given;
        }
        let template = spec.at_path(&["template", "spec"]);
        for source in sources(template.or(Some(spec))) {
            given.add_source(source);
        }
        let target = template.unwrap_or(spec).get("destination");
        push(&mut given.name, "namespace", target.and_then(|target| target.get("namespace")));
        given
    }

    fn add_flux(&mut self, spec: Node<'p>) {
        self.charts.extend(spec.str_at(&["chart", "spec", "chart"]).or(spec.str_at(&["chartRef", "name"])));
        for field in ["releaseName", "targetNamespace", "storageNamespace"] {
            push(&mut self.name, field, spec.get(field));
        }
        self.files.extend(items_of(spec.at_path(&["chart", "spec", "valuesFiles"])).filter_map(Node::as_str));
        self.add_values(spec.get("values"));
    }

    fn add_source(&mut self, source: Node<'p>) {
        self.charts.extend(["path", "chart"].iter().filter_map(|field| source.str_at(&[field])));
        let Some(helm) = source.get("helm") else { return };
        for (field, value) in helm.members() {
            match field {
                "values" | "valuesObject" => self.add_values(Some(value)),
                "parameters" | "fileParameters" => self.add_parameters(Some(value)),
                "valueFiles" => self.files.extend(items_of(Some(value)).filter_map(Node::as_str)),
                "releaseName" | "namespace" => push(&mut self.name, field, Some(value)),
                _ => {}
            }
        }
    }

    fn of_helmfile(item: Node<'p>) -> Self {
        let mut given = Self { charts: item.str_at(&["chart"]).into_iter().collect(), ..Self::default() };
        for field in OF_HELMFILE {
            push(&mut given.rest, field, item.get(field));
        }
        for values in items_of(item.get("values")) {
            match values.as_str() {
                Some(file) => given.files.push(file),
                None => given.add_values(Some(values)),
            }
        }
        for list in ["set", "setString"] {
            given.add_parameters(item.get(list));
        }
        push(&mut given.name, "namespace", item.get("namespace"));
        given
    }

    /// Adds values: an object, or a text that is read after it was rendered.
    fn add_values(&mut self, values: Option<Node<'p>>) {
        let Some(values) = values else { return };
        if let Some(text) = values.as_str() {
            let mut key = "";
            for line in text.lines() {
                let is_key = line.starts_with(|char: char| char.is_alphanumeric() || char == '_');
                if let Some((own, _)) = line.split_once(':').filter(|_| is_key) {
                    key = own.trim_end();
                }
                self.values.entry(key.to_owned()).or_default().push_str(line);
            }
        }
        for (key, value) in values.members() {
            push(self.values.entry(key.to_owned()).or_default(), key, Some(value));
        }
    }

    /// Adds values by their paths, such as `pools.team`.
    fn add_parameters(&mut self, list: Option<Node<'p>>) {
        for item in items_of(list) {
            let path = item.str_at(&["name"]).unwrap_or_default();
            let key = path.split(['.', '[']).next().unwrap_or_default();
            push(self.values.entry(key.to_owned()).or_default(), path, Some(item));
        }
    }
}

fn push(text: &mut String, field: &str, node: Option<Node<'_>>) {
    if let Some(node) = node {
        text.push_str(field);
        text.push_str(&node.to_json().to_string());
    }
}
