//! Releases of charts: the values that objects of Flux and Argo CD, helmfiles and kustomizations give to the charts that they install. What else these
//! objects say, such as the revision, is compared in [`appliers`](super::appliers).
//!
//! Sources: docs/spec/v2/helmreleases.md of fluxcd/helm-controller; `ApplicationSourceHelm` in pkg/apis/application/v1alpha1/types.go of
//! argoproj/argo-cd; `releases` in docs/configuration.md of helmfile/helmfile.

use std::collections::{BTreeMap, BTreeSet};

use cluster::appliers::sources;
use cluster::built_objects::{BuiltObjects, OverlayObject};
use cluster::folders::name;
use manifest::File;
use manifest::tree::{Node, items_of};
use objects::object::Object;

use super::PlanSide;
use super::changed_file::lines_by_key;
use super::charts::{Charts, GivingChart};
use super::named_templates::ExpandedTemplate;
use super::outside::is_kustomization;
use super::scope::without_start;

/// Kinds whose objects install a chart with values.
const KINDS: [&str; 3] = ["HelmRelease", "Application", "ApplicationSet"];

/// Kind of the generator with which kustomize renders a chart.
pub(super) const GENERATOR: &str = "HelmChartInflationGenerator";

/// Fields of a chart that kustomize renders, beside its name and its values.
const OF_KUSTOMIZE: [&str; 3] = ["valuesMerge", "apiVersions", "kubeVersion"];

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
    /// Indexes of these releases by the names of the folders of their charts.
    by_chart: BTreeMap<&'p str, Vec<usize>>,
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
#[derive(Debug, Default)]
struct GivenValues<'p> {
    /// The charts, as they are written.
    charts: BTreeSet<&'p str>,
    /// The files with values, as they are written.
    files: Vec<&'p str>,
    /// The values by their first key.
    values: BTreeMap<String, String>,
    /// The file that has the values of each key: a patch may have them.
    places: BTreeMap<String, &'p str>,
    /// The name and the namespace of the release.
    name: String,
    /// The other fields of a release of a helmfile.
    rest: String,
    /// Whether the release may name further files with values.
    is_open: bool,
    /// The files whose texts are values, with the keys of these values.
    texts: Vec<(&'p str, &'p str)>,
}

/// Names of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReleaseKey<'p> {
    file: &'p str,
    /// The kind of the object; empty for a part of a helmfile or a kustomization.
    kind: &'p str,
    namespace: &'p str,
    name: &'p str,
    /// The overlay that builds the object.
    overlay: &'p str,
}

impl<'p> ChartReleases<'p> {
    /// Compares the releases of both sides.
    pub(super) fn of(
        sides: [(PlanSide<'p>, &'p BuiltObjects); 2],
        [old_files, new_files]: [&BTreeMap<&'p str, &'p File>; 2],
    ) -> Self {
        let [old_side, new_side] = sides;
        let (olds, news) = (of_side(old_side, old_files), of_side(new_side, new_files));
        let mut come: BTreeMap<ReleaseKey<'p>, (&ReleaseKey<'p>, &GivenValues<'p>)> = BTreeMap::new();
        let mut in_overlays: BTreeMap<ReleaseKey<'p>, Vec<(&ReleaseKey<'p>, &GivenValues<'p>)>> =
            BTreeMap::new();
        for (key, new) in &news {
            if !olds.contains_key(key) {
                come.entry(ReleaseKey { file: "", ..*key }).or_insert((key, new));
            }
            // Two different ones are enough: one of them differs from any other.
            let known = in_overlays.entry(ReleaseKey { overlay: "", ..*key }).or_default();
            if known.first().is_none_or(|(_, first)| known.len() == 1 && *first != new) {
                known.push((key, new));
            }
        }
        // A release that moved to another file has no counterpart there.
        let moved = |key: &ReleaseKey<'p>| come.get(&ReleaseKey { file: "", ..*key }).copied();
        // An overlay that is now a part of others has no counterpart either.
        let of_others = |key: &ReleaseKey<'p>, old: &GivenValues<'p>| {
            let mut known = in_overlays.get(&ReleaseKey { overlay: "", ..*key })?.iter();
            known.find(|(_, new)| *new != old).copied()
        };
        let counterpart = |key: &ReleaseKey<'p>, old: &GivenValues<'p>| {
            news.get_key_value(key).or_else(|| moved(key)).or_else(|| of_others(key, old))
        };
        // A new release replaces no node. Removed objects are compared by themselves.
        let changed = olds.iter().filter_map(|(key, old)| match counterpart(key, old) {
            Some((key, new)) => {
                let folders = sides.map(|(side, _)| side.folder);
                (old != new).then(|| ChangedRelease::between(key.file, [old, new], folders))
            }
            None => key.kind.is_empty().then(|| ChangedRelease::removed(key.file, old)),
        });
        let changed: Vec<ChangedRelease<'p>> = changed.collect();
        let new: Vec<GivenValues<'p>> = news.into_values().collect();
        let mut by_chart = BTreeMap::<_, Vec<_>>::new();
        for (index, release) in new.iter().enumerate() {
            let charts: BTreeSet<&str> = release.charts.iter().map(|chart| name_of_chart(chart)).collect();
            for chart in charts {
                by_chart.entry(chart).or_default().push(index);
            }
        }
        Self { changed, new, by_chart }
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

    /// The releases that install the chart in a folder.
    fn installing(&self, folder: &str) -> impl Iterator<Item = &GivenValues<'p>> {
        let indexes = self.by_chart.get(name(folder)).into_iter().flatten();
        indexes.filter_map(|index| self.new.get(*index))
    }

    /// The files with values that objects of Flux and Argo CD name for some charts, each with the folder of its chart; `None` if the input
    /// does not show all of them.
    pub(super) fn listed_files<'g>(
        &self,
        giving: &'g [GivingChart<'_>],
        charts: &Charts<'_>,
    ) -> Option<Vec<(&'g str, &'p str)>> {
        let own = || {
            let of_chart = |chart: &'g GivingChart<'_>| {
                // Another chart may have the same name.
                let is_own = |release: &&GivenValues<'p>| {
                    release.charts.iter().any(|written| may_mean(written, &chart.folder, charts))
                };
                self.installing(&chart.folder).filter(is_own).map(move |release| (chart, release))
            };
            giving.iter().flat_map(of_chart)
        };
        let is_known = own().next().is_some() && own().all(|(_, release)| !release.is_open);
        let files =
            own().flat_map(|(chart, one)| one.files.iter().map(|file| (chart.folder.as_str(), *file)));
        is_known.then(|| files.collect())
    }

    /// The files whose texts are values of a chart, each with the key of the value.
    pub(super) fn texts_for(&self, folder: &str) -> Vec<(&'p str, &'p str)> {
        self.installing(folder).flat_map(|release| release.texts.iter().copied()).collect()
    }

    /// All files with values that releases name.
    pub(super) fn files(&self) -> impl Iterator<Item = &'p str> {
        self.new.iter().flat_map(|release| release.files.iter().copied())
    }

    /// The files with values that the releases of a chart name.
    pub(super) fn files_for<'r>(&'r self, folder: &'r str) -> impl Iterator<Item = &'p str> + 'r {
        self.installing(folder).flat_map(|release| release.files.iter().copied())
    }
}

impl PartialEq for GivenValues<'_> {
    fn eq(&self, other: &Self) -> bool {
        (&self.charts, &self.files, &self.values) == (&other.charts, &other.files, &other.values)
            && (&self.name, &self.rest) == (&other.name, &other.rest)
    }
}

impl<'p> ChangedRelease<'p> {
    /// `folders` are the starts of the names of the files of both sides.
    fn between(file: &'p str, [old, new]: [&GivenValues<'p>; 2], folders: [&str; 2]) -> Self {
        let charts = old.charts.union(&new.charts).copied().collect();
        let keys = old.values.keys().chain(new.values.keys());
        let keys: BTreeSet<String> =
            keys.filter(|key| old.values.get(*key) != new.values.get(*key)).cloned().collect();
        let place = |given: &GivenValues<'p>, folder: &str| {
            let mut places = keys.iter().filter_map(|key| given.places.get(key));
            places.next().map(|place| without_start(place, folder))
        };
        let file = place(new, folders[1]).or_else(|| place(old, folders[0])).unwrap_or(file);
        let is_other = (&old.files, &old.rest) != (&new.files, &new.rest);
        Self { file, charts, keys, has_other_name: old.name != new.name, is_other }
    }

    fn removed(file: &'p str, old: &GivenValues<'p>) -> Self {
        let (charts, keys) = (old.charts.clone(), BTreeSet::new());
        Self { file, charts, keys, has_other_name: true, is_other: true }
    }
}

/// The paths of the files whose texts objects of Argo CD in a file give to charts as values, without the folders above at their start.
///
/// Source: `HelmFileParameter` in pkg/apis/application/v1alpha1/types.go of argoproj/argo-cd.
pub fn files_with_values(file: &File) -> Vec<&str> {
    let trees = file.trees();
    let objects = trees.flat_map(Object::all).filter(|object| object.group() == "argoproj.io");
    let given = objects.filter_map(|object| object.at(&["spec"]).map(GivenValues::of_sources));
    let texts = given.flat_map(|given| given.texts);
    texts.map(|(_, path)| path.trim_start_matches("./").trim_start_matches("../")).collect()
}

/// Whether one of some charts, as they are written, is the chart of a folder.
fn installs(charts: &BTreeSet<&str>, folder: &str) -> bool {
    charts.iter().any(|chart| name_of_chart(chart) == name(folder))
}

/// The name of the folder of a chart, as it is written; empty for the chart at the root of a repository.
fn name_of_chart(chart: &str) -> &str {
    match chart.trim_start_matches("./") {
        "." => "",
        path => name(path.trim_end_matches('/')),
    }
}

/// Whether a chart, as it is written, may be the one of a folder: the input may be a part of the repository, or be around it.
fn may_mean(chart: &str, folder: &str, charts: &Charts<'_>) -> bool {
    let path = chart.trim_start_matches(['.', '/']).trim_end_matches('/');
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|start| start.is_empty() || start.ends_with('/'))
    };
    ends_with(folder, path) || (ends_with(path, folder) && !charts.has(path))
}

/// The releases of a side.
fn of_side<'p>(
    (side, built): (PlanSide<'p>, &'p BuiltObjects),
    files: &BTreeMap<&'p str, &'p File>,
) -> BTreeMap<ReleaseKey<'p>, GivenValues<'p>> {
    let mut found: BTreeMap<_, _> = files.iter().flat_map(|(name, file)| in_file(name, file)).collect();
    let objects = built.objects_by_overlay(&side.cluster.files, |object| KINDS.contains(&object.kind()));
    found.extend(objects.into_iter().map(|OverlayObject { object, overlay, .. }| {
        let key = ReleaseKey {
            file: without_start(object.root().source().name(), side.folder),
            kind: object.kind(),
            namespace: object.namespace(),
            name: object.name(),
            overlay: without_start(overlay, side.folder),
        };
        (key, GivenValues::of_object(object))
    }));
    found
}

/// The releases of a helmfile, and the charts that kustomize renders.
fn in_file<'p>(file: &'p str, content: &'p File) -> Vec<(ReleaseKey<'p>, GivenValues<'p>)> {
    let trees = content.trees();
    let key = |name| ReleaseKey { file, kind: "", namespace: "", name, overlay: "" };
    let mut found = Vec::new();
    for tree in trees {
        for item in releases_in(file, tree.root()) {
            let name = item.str_at(&["name"]).unwrap_or_default();
            found.push((key(name), GivenValues::of_helmfile(item)));
        }
        let rendered = rendered_charts(tree.root()).filter(|_| is_rendered_by(content, tree.root()));
        for chart in rendered {
            let name = chart.str_at(&["releaseName"]).or(chart.str_at(&["name"])).unwrap_or_default();
            found.push((key(name), GivenValues::of_kustomize(chart)));
        }
    }
    found
}

/// Whether kustomize reads a document: a kustomization, or a generator of one.
fn is_rendered_by(file: &File, root: Node<'_>) -> bool {
    is_kustomization(file) || root.str_at(&["kind"]) == Some(GENERATOR)
}

/// The charts that kustomize renders because of a document: the ones that a kustomization lists, and the one of a generator.
///
/// Source: `HelmChart` in api/types/helmchartargs.go of kubernetes-sigs/kustomize.
pub(super) fn rendered_charts(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let is_generator = root.str_at(&["kind"]) == Some(GENERATOR);
    items_of(root.get("helmCharts")).chain(is_generator.then_some(root))
}

/// The releases of a helmfile.
///
/// Source: docs/index.md of helmfile/helmfile: `helmfile.yaml`, `helmfile.yaml.gotmpl` and the folder `helmfile.d`.
pub(super) fn releases_in<'p>(file: &str, root: Node<'p>) -> impl Iterator<Item = Node<'p>> {
    items_of(root.get("releases").filter(|_| is_helmfile(file)))
}

/// The templates of a helmfile from which a release has further fields.
///
/// Source: "Release Template" in docs/writing-helmfile.md of helmfile/helmfile.
pub(super) fn inherited(release: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let templates = release.tree().root().get("templates");
    let names = items_of(release.get("inherit")).filter_map(|item| item.str_at(&["template"]));
    names.filter_map(move |name| templates?.get(name))
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
        given = Self::of_sources(spec);
        given.is_open |=
            spec.get("templatePatch").is_some() || given.files.iter().any(|file| file.contains('*'));
        let target = template.unwrap_or(spec).get("destination");
        push(&mut given.name, "namespace", target.and_then(|target| target.get("namespace")));
        given
    }

    /// The values that the sources of an Application or an `ApplicationSet` of Argo CD give.
    fn of_sources(spec: Node<'p>) -> Self {
        let mut given = Self::default();
        for source in sources(spec.at_path(&["template", "spec"]).or(Some(spec))) {
            given.add_source(source);
        }
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
        self.is_open |= source.get("plugin").is_some();
        self.charts.extend(["path", "chart"].iter().filter_map(|field| source.str_at(&[field])));
        let Some(helm) = source.get("helm") else { return };
        for (field, value) in helm.members() {
            match field {
                "values" | "valuesObject" => self.add_values(Some(value)),
                "parameters" => self.add_parameters(Some(value)),
                "fileParameters" => {
                    self.add_parameters(Some(value));
                    let key = |item: Node<'p>| item.str_at(&["name"])?.split(['.', '[']).next();
                    let texts = value.items().filter_map(|item| Some((key(item)?, item.str_at(&["path"])?)));
                    self.texts.extend(texts);
                }
                "valueFiles" => self.files.extend(items_of(Some(value)).filter_map(Node::as_str)),
                "releaseName" | "namespace" => push(&mut self.name, field, Some(value)),
                _ => {}
            }
        }
    }

    fn of_helmfile(item: Node<'p>) -> Self {
        // A release without more may have files from elsewhere, such as a flag of the command.
        let charts = item.str_at(&["chart"]).into_iter().collect();
        let mut given = Self { charts, is_open: true, ..Self::default() };
        for template in inherited(item) {
            push(&mut given.rest, "inherit", Some(template));
        }
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

    fn of_kustomize(chart: Node<'p>) -> Self {
        let charts = chart.str_at(&["name"]).into_iter().collect();
        let mut given = Self { charts, is_open: true, ..Self::default() };
        let further = items_of(chart.get("additionalValuesFiles")).filter_map(Node::as_str);
        given.files.extend(chart.str_at(&["valuesFile"]).into_iter().chain(further));
        given.add_values(chart.get("valuesInline"));
        for field in ["releaseName", "nameTemplate", "namespace"] {
            push(&mut given.name, field, chart.get(field));
        }
        for field in OF_KUSTOMIZE {
            push(&mut given.rest, field, chart.get(field));
        }
        given
    }

    /// Adds values: an object, or a text that is read after it was rendered.
    fn add_values(&mut self, values: Option<Node<'p>>) {
        let Some(values) = values else { return };
        let file = values.source().name();
        for (key, lines) in values.as_str().map(lines_by_key).into_iter().flatten() {
            self.values.entry(key.to_owned()).or_default().push_str(&lines);
            self.places.insert(key.to_owned(), file);
        }
        for (key, value) in values.members() {
            push(self.values.entry(key.to_owned()).or_default(), key, Some(value));
            self.places.insert(key.to_owned(), file_of(value));
        }
    }

    /// Adds values by their paths, such as `pools.team`.
    fn add_parameters(&mut self, list: Option<Node<'p>>) {
        for item in items_of(list) {
            let path = item.str_at(&["name"]).unwrap_or_default();
            let key = path.split(['.', '[']).next().unwrap_or_default();
            push(self.values.entry(key.to_owned()).or_default(), path, Some(item));
            self.places.insert(key.to_owned(), file_of(item));
        }
    }
}

/// The file that has a value, or the last part of it that another file has: a patch may change a part.
fn file_of(value: Node<'_>) -> &str {
    let own = value.source().name();
    let (mut open, mut found) = (vec![value], own);
    while let Some(node) = open.pop() {
        if node.source().name() != own {
            found = node.source().name();
        }
        open.extend(node.children());
    }
    found
}

fn push(text: &mut String, field: &str, node: Option<Node<'_>>) {
    if let Some(node) = node {
        text.push_str(field);
        text.push_str(&node.to_json().to_string());
    }
}
