//! Changed and removed objects of Flux and Argo CD that apply objects of Karpenter in another way than before.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::appliers::{Applier, generators, sources};
use drift::ObjectChangeKind;
use karpenter::chart;
use manifest::tree::{Node, items_of};

use super::applied_objects::{AppliedObjects, name_of};
use super::elsewhere::is_about;
use super::feeds::Feeds;
use super::outside::may_patch;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// Charts of the controller and of its custom resource definitions, whose versions and values a plan compares by themselves.
const OWN_CHARTS: [&str; 2] = ["karpenter", "karpenter-crd"];

/// Fields of a Kustomization of Flux that change what it applies. Variables are compared where they are used.
const OF_FLUX: [&str; 6] =
    ["namePrefix", "nameSuffix", "components", "sourceRef", "kubeConfig", "decryption"];

/// The patches of a Kustomization of Flux.
const PATCHES: [&str; 3] = ["patches", "patchesJson6902", "patchesStrategicMerge"];

/// Fields of a HelmRelease that change what it installs. Flux uninstalls a release before it installs it under another name.
///
/// Source: "Release name", "Target namespace" and "Storage namespace" in docs/spec/v2/helmreleases.md of fluxcd/helm-controller.
const OF_HELM: [&[&str]; 11] = [
    &["releaseName"],
    &["targetNamespace"],
    &["storageNamespace"],
    &["chart", "spec", "chart"],
    &["chart", "spec", "version"],
    &["chart", "spec", "sourceRef"],
    &["chartRef"],
    &["values"],
    &["valuesFrom"],
    &["postRenderers"],
    &["kubeConfig"],
];

/// Fields of a source of Argo CD that change what it applies, beside its address.
const OF_SOURCE: [&str; 5] = ["targetRevision", "helm", "kustomize", "directory", "plugin"];

/// Fields of the `helm` of a source that templates read. Of a chart in the input, they count if its templates read them.
const OF_TEMPLATES: [&str; 7] =
    ["values", "valuesObject", "parameters", "fileParameters", "valueFiles", "releaseName", "namespace"];

/// Fields of the `kustomize` of a source that change other kinds of objects, or only the metadata of an object itself.
///
/// Source: `ApplicationSourceKustomize` in pkg/apis/application/v1alpha1/types.go of argoproj/argo-cd; api/internal/konfig/builtinpluginconsts/
/// commonlabels.go of kubernetes-sigs/kustomize: the labels of templates are those of known kinds.
const OF_OTHERS: [&str; 10] = [
    "images",
    "replicas",
    "namespace",
    "commonLabels",
    "commonAnnotations",
    "commonAnnotationsEnvsubst",
    "forceCommonLabels",
    "forceCommonAnnotations",
    "labelWithoutSelector",
    "labelIncludeTemplates",
];

/// Fields of the destination of Argo CD that mean another cluster. The namespace is for objects without one in their text: NodePools and
/// EC2NodeClasses have none.
///
/// Source: `ApplicationDestination` in pkg/apis/application/v1alpha1/types.go of argoproj/argo-cd.
const OF_DESTINATION: [&[&str]; 2] = [&["destination", "server"], &["destination", "name"]];

/// One change for each object that applies objects of Karpenter in another way, or no longer.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
    feeds: &Feeds<'_>,
) -> Vec<PlannedChange> {
    let overlays = new.folders_of_overlays();
    let kept: BTreeSet<&str> = pair
        .new
        .cluster
        .files
        .iter()
        .map(|file| without_start(file.source.name(), pair.new.folder))
        .collect();
    let mut found = Vec::new();
    for before in old.appliers.all() {
        // A removed or moved object is compared by itself.
        let is_there = || {
            let mut files = old.files_of(before).into_iter();
            files.any(|file| kept.contains(without_start(file, pair.old.folder)))
        };
        let outside = named_sources(before);
        if !(outside || is_there()) {
            continue;
        }
        let Some(after) = new.counterpart(before, old) else {
            found.push(change(pair, before, None));
            continue;
        };
        let (olds, news) = (Parts::of(before, old), Parts::of(after, new));
        let is_elsewhere = || outside || old.contents_of(before) != new.contents_of(after);
        let field = if !olds.paths.is_subset(&news.paths) && is_elsewhere() {
            Some("path")
        } else {
            olds.difference(&news)
        };
        let is_generated = || generates_otherwise(before, pair).then_some("git.files");
        let what = field.or_else(is_generated).map(|field| format!("has another `{field}`"));
        let is_built_otherwise = || {
            let reason = after.unresolved.or(before.unresolved)?;
            let file = feeds.of_build(new.overlay_folder_of(after), &overlays, new.file_of(after))?;
            Some(format!("is not built for certain ({reason}, and {file} has changed)"))
        };
        found.extend(what.or_else(is_built_otherwise).map(|what| change(pair, after, Some(what))));
    }
    found
}

/// The address of a source of Argo CD: the repository, the chart or the path, and the name for other sources.
///
/// Source: docs/user-guide/multiple_sources.md of argoproj/argo-cd: the order of sources matters only to objects that several of them produce.
type SourceAddress = [String; 3];

/// The parts of an object that change what it applies, by field.
struct Parts {
    paths: BTreeSet<String>,
    fields: BTreeMap<String, String>,
    /// The sources of Argo CD that may have objects of Karpenter, with their fields.
    sources: BTreeMap<SourceAddress, BTreeSet<(&'static str, String)>>,
    /// The elements of generators: new ones make new Applications, and change no other.
    elements: BTreeSet<String>,
}

impl Parts {
    fn of<'p>(applier: &Applier<'p>, objects: &AppliedObjects<'p>) -> Self {
        let spec = applier.root.get("spec");
        let mut parts = Self {
            paths: BTreeSet::new(),
            fields: BTreeMap::new(),
            sources: BTreeMap::new(),
            elements: BTreeSet::new(),
        };
        match applier.root.str_at(&["kind"]) {
            Some("Kustomization") => parts.add_flux(spec),
            Some("HelmRelease") => {
                // The values for a chart in the input count if its templates read them.
                let is_compared = |keys: &&&[&str]| applier.is_outside || **keys != ["values"];
                for keys in OF_HELM.iter().filter(is_compared) {
                    parts.add(&keys.join("."), spec.and_then(|spec| spec.at_path(keys)));
                }
            }
            Some("ApplicationSet") => {
                parts.add_generators(spec);
                parts.add("templatePatch", spec.and_then(|spec| spec.get("templatePatch")));
                parts.add_argo(spec.and_then(|spec| spec.at_path(&["template", "spec"])), applier, objects);
            }
            _ => parts.add_argo(spec, applier, objects),
        }
        parts
    }

    fn add(&mut self, field: &str, node: Option<Node<'_>>) {
        if let Some(node) = node {
            self.fields.insert(field.to_owned(), node.to_json().to_string());
        }
    }

    fn add_flux(&mut self, spec: Option<Node<'_>>) {
        let Some(spec) = spec else { return };
        self.paths.extend(spec.str_at(&["path"]).map(plain));
        for field in OF_FLUX {
            self.add(field, spec.get(field));
        }
        for field in PATCHES {
            let patches = items_of(spec.get(field)).filter(|item| may_patch(*item));
            let texts: Vec<String> = patches.map(|item| item.to_json().to_string()).collect();
            if !texts.is_empty() {
                self.fields.insert(field.to_owned(), texts.concat());
            }
        }
    }

    fn add_argo<'p>(&mut self, spec: Option<Node<'p>>, applier: &Applier<'p>, objects: &AppliedObjects<'p>) {
        for keys in OF_DESTINATION {
            self.add(&keys.join("."), spec.and_then(|spec| spec.at_path(keys)));
        }
        for source in planned_sources(spec, applier, objects) {
            self.paths.extend(source.str_at(&["path"]).map(plain));
            let text = |field: &str| source.str_at(&[field]).unwrap_or_default().to_owned();
            let address = [
                text("repoURL"),
                source.str_at(&["chart"]).map_or_else(|| plain(&text("path")), str::to_owned),
                text("ref"),
            ];
            let fields = OF_SOURCE.into_iter();
            let is_own_chart = source.str_at(&["path"]).is_some_and(|path| objects.has_chart(path));
            let fields = fields
                .filter_map(|field| Some((field, text_of_field(field, source.get(field)?, is_own_chart)?)));
            self.sources.entry(address).or_default().extend(fields);
        }
    }

    /// The elements of lists and of folders, also of generators that a matrix combines: without one of them, an Application goes. A new
    /// generator makes new Applications, too. Generators that a merge combines override each other, and count as a whole.
    fn add_generators(&mut self, spec: Option<Node<'_>>) {
        let mut open: Vec<Node<'_>> = items_of(spec.and_then(|spec| spec.get("generators"))).collect();
        while let Some(generator) = open.pop() {
            for (kind, node) in generator.members() {
                match kind {
                    "selector" => self.add(&format!("generators: {}", generator.to_json()), Some(node)),
                    "merge" => drop(self.elements.insert(node.to_json().to_string())),
                    _ => open.extend(self.add_generator(kind, node)),
                }
            }
        }
    }

    /// Adds one generator. Returns the generators that it combines.
    fn add_generator<'d>(&mut self, kind: &str, node: Node<'d>) -> Vec<Node<'d>> {
        let (mut rest, mut combined) = (String::new(), Vec::new());
        for (key, value) in node.members() {
            match key {
                "generators" => combined.extend(value.items()),
                "elements" | "directories" | "files" => value.items().for_each(|one| self.add_element(one)),
                // The other fields hold for all elements.
                "requeueAfterSeconds" => {}
                _ => rest.extend([" ", key, ": ", &value.to_json().to_string()]),
            }
        }
        self.elements.insert(format!("{kind}{rest}"));
        combined
    }

    fn add_element(&mut self, element: Node<'_>) {
        let text = element.to_json().to_string();
        if element.get("exclude").and_then(Node::as_bool) == Some(true) {
            self.fields.insert(format!("generators: {text}"), text);
        } else {
            self.elements.insert(text);
        }
    }

    /// A field that differs.
    fn difference<'p>(&'p self, new: &'p Self) -> Option<&'p str> {
        let names = self.fields.keys().chain(new.fields.keys());
        let mut changed = names.filter(|name| self.fields.get(*name) != new.fields.get(*name));
        let field = changed.next().map(|name| name.split(':').next().unwrap_or(name));
        let field = field.or_else(|| self.different_source(new));
        field.or_else(|| (!self.elements.is_subset(&new.elements)).then_some("generators"))
    }

    /// A field of a source that differs. A new source changes no object of the others.
    fn different_source(&self, new: &Self) -> Option<&'static str> {
        let of_both =
            self.sources.iter().filter_map(|(address, fields)| Some((fields, new.sources.get(address)?)));
        let field =
            of_both.flat_map(|(old, new)| old.symmetric_difference(new)).map(|(field, _)| *field).next();
        let gone: Vec<_> =
            self.sources.iter().filter(|(address, _)| !new.sources.contains_key(*address)).collect();
        let added: Vec<_> =
            new.sources.iter().filter(|(address, _)| !self.sources.contains_key(*address)).collect();
        field.or_else(|| match (gone.as_slice(), added.as_slice()) {
            ([], _) => None,
            ([([repository, ..], _)], [([other, ..], _)]) if repository != other => Some("repoURL"),
            // The objects of another path have been compared.
            ([([_, path, _], old)], [([_, other, _], fields)])
                if self.paths.contains(path) && new.paths.contains(other) =>
            {
                old.symmetric_difference(fields).next().map(|(field, _)| *field)
            }
            ([_], [_]) => Some("chart"),
            _ => Some("sources"),
        })
    }
}

/// The text of a field of a source; `None` for a field that changes no object of Karpenter, or only through what the templates of a chart in
/// the input read.
fn text_of_field(field: &str, node: Node<'_>, is_own_chart: bool) -> Option<String> {
    let others = match field {
        "kustomize" => &OF_OTHERS[..],
        "helm" if is_own_chart => &OF_TEMPLATES[..],
        _ => return Some(node.to_json().to_string()),
    };
    let texts = node.members().filter(|(key, _)| !others.contains(key)).map(|(key, value)| match key {
        "patches" => {
            let patches = value.items().filter(|patch| may_patch(*patch));
            patches.map(|patch| patch.to_json().to_string()).collect()
        }
        _ => format!("{key}: {}", value.to_json()),
    });
    let texts: Vec<String> = texts.filter(|text: &String| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The sources of an Application that may have objects of Karpenter: the ones with such objects or a name of Karpenter, else all, with the
/// sources of their values.
fn planned_sources<'p>(
    spec: Option<Node<'p>>,
    applier: &Applier<'p>,
    objects: &AppliedObjects<'p>,
) -> Vec<Node<'p>> {
    let all: Vec<Node<'p>> = sources(spec).filter(|source| !is_own(*source)).collect();
    let has_objects = |source: &Node<'p>| {
        let path = source.str_at(&["path"]);
        path.is_some_and(|path| !objects.files_of(&applier.of_path(path)).is_empty())
    };
    let is_planned = |source: &Node<'p>| {
        !is_of_values(*source) && (has_objects(source) || names_of(*source).any(is_about))
    };
    let planned: Vec<Node<'p>> = all.iter().copied().filter(is_planned).collect();
    if planned.is_empty() {
        return all;
    }
    let text: String = planned.iter().map(|source| source.to_json().to_string()).collect();
    let is_used =
        |source: &Node<'p>| source.str_at(&["ref"]).is_some_and(|name| text.contains(&format!("${name}/")));
    let others = all.into_iter().filter(|source| !planned.contains(source));
    let used: Vec<Node<'p>> = others.filter(is_used).collect();
    [planned, used].concat()
}

/// Whether a source has only values for others.
fn is_of_values(source: Node<'_>) -> bool {
    source.get("ref").is_some() && source.get("path").is_none() && source.get("chart").is_none()
}

/// The texts that name a source.
fn names_of(source: Node<'_>) -> impl Iterator<Item = &str> {
    ["path", "chart"].into_iter().filter_map(move |field| source.str_at(&[field]))
}

/// Whether a file has changed from which an `ApplicationSet` generates Applications.
///
/// Source: "Git Generator: Files" in docs/operator-manual/applicationset/Generators-Git.md of argoproj/argo-cd.
fn generates_otherwise(applier: &Applier<'_>, pair: PlanPair<'_>) -> bool {
    let generators = generators(applier.root).into_iter();
    let files = generators.flat_map(|generator| items_of(generator.at_path(&["git", "files"])));
    let patterns: Vec<&str> = files.filter_map(|file| file.str_at(&["path"])).collect();
    let texts = |side: PlanSide<'_>| -> BTreeSet<(String, String)> {
        let files = side.cluster.files.iter().map(|file| {
            (without_start(file.source.name(), side.folder).to_owned(), file.source.text().to_owned())
        });
        files.filter(|(name, _)| patterns.iter().any(|pattern| is_meant(pattern, name))).collect()
    };
    // A new file makes another Application.
    !patterns.is_empty() && !texts(pair.old).is_subset(&texts(pair.new))
}

/// Whether a pattern from the root of a repository may mean a file: the input may be a part of the repository, or be around it.
fn is_meant(pattern: &str, file: &str) -> bool {
    let mut own = file.rsplit('/');
    let mut parts = pattern.trim_start_matches("./").rsplit('/').take_while(|part| *part != "**");
    parts.all(|part| {
        let (start, end) = part.split_once('*').unwrap_or((part, ""));
        let is_like = |own: &str| {
            let is_open = part.contains('*');
            if is_open {
                own.starts_with(start) && (end.contains('*') || own.ends_with(end))
            } else {
                own == part
            }
        };
        own.next().is_none_or(is_like)
    })
}

fn plain(path: &str) -> String {
    path.trim_start_matches("./").trim_matches('/').to_owned()
}

/// Whether an object applies what is outside of the input, and its name says that this is of Karpenter.
pub(super) fn named_sources(applier: &Applier<'_>) -> bool {
    let root = applier.root;
    let spec = root.get("spec");
    let text = |keys: &[&str]| spec.and_then(|spec| spec.str_at(keys));
    let own = root.str_at(&["metadata", "name"]);
    let texts: Vec<&str> = match root.str_at(&["kind"]) {
        Some("Kustomization") if applier.is_outside => {
            [own, text(&["path"]), text(&["sourceRef", "name"])].into_iter().flatten().collect()
        }
        Some("HelmRelease") => {
            let chart = text(&["chart", "spec", "chart"]).or(text(&["chartRef", "name"])).unwrap_or_default();
            // The templates of a chart in a folder are compared by themselves.
            if is_own_chart(chart) || (chart.starts_with('.') && !applier.is_outside) {
                return false;
            }
            if spec.and_then(|spec| spec.get("values")).is_some_and(describe_pools) {
                return true;
            }
            [own, Some(chart)].into_iter().flatten().collect()
        }
        Some("Application" | "ApplicationSet") if applier.is_outside => {
            let template = spec.and_then(|spec| spec.at_path(&["template", "spec"]));
            let all = sources(template.or(spec));
            let all = all.filter(|source| !is_own(*source) && !is_of_values(*source));
            let all: Vec<Node<'_>> = all.collect();
            let texts = all.iter().copied().flat_map(names_of);
            texts.chain(own.filter(|_| !all.is_empty())).collect()
        }
        _ => Vec::new(),
    };
    texts.into_iter().any(is_about)
}

/// Whether some values of a chart describe NodePools or EC2NodeClasses: `nodePools: {spot: {…}}` does, and `nodePool: spot` only names one.
/// Whole objects, as a chart such as `raw` makes them, are compared by themselves.
fn describe_pools(values: Node<'_>) -> bool {
    let mut open = vec![values];
    while let Some(node) = open.pop() {
        if ["apiVersion", "kind", "metadata"].iter().all(|key| node.get(key).is_some()) {
            continue;
        }
        if node.members().any(|(key, value)| is_pools(key) && has_objects(value)) {
            return true;
        }
        open.extend(node.children());
    }
    false
}

fn is_pools(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['-', '_'], "");
    key.contains("nodepool") || key.contains("nodeclass")
}

/// Fields of a NodePool or an EC2NodeClass with a simple value.
const SIMPLE_FIELDS: [&str; 9] = [
    "amiFamily",
    "capacityType",
    "consolidateAfter",
    "consolidationPolicy",
    "expireAfter",
    "instanceProfile",
    "replicas",
    "role",
    "weight",
];

/// Whether a value is a list of objects, an object with others, or one with fields of Karpenter: `nodePool: {enabled: true}` is no object. The `nodePools` of an `OpenSearchCluster` have roles.
///
/// Source: `NodePool` in opensearch-operator/api/v1/opensearch_types.go of opensearch-project/opensearch-k8s-operator.
fn has_objects(value: Node<'_>) -> bool {
    let is_object = |node: Node<'_>| node.is_mapping() && !node.is_empty();
    let has_roles = value.children().any(|node| node.get("roles").is_some());
    let is_field =
        |(key, node): (&str, Node<'_>)| is_object(node) || node.is_sequence() || SIMPLE_FIELDS.contains(&key);
    !has_roles && (value.members().any(is_field) || value.items().any(is_object))
}

fn is_own(source: Node<'_>) -> bool {
    source.str_at(&["chart"]).is_some_and(is_own_chart)
}

pub(super) fn is_own_chart(chart: &str) -> bool {
    OWN_CHARTS.contains(&chart::name_of(chart))
}

/// The change of an object, in words, or its removal.
fn change(pair: PlanPair<'_>, applier: &Applier<'_>, what: Option<String>) -> PlannedChange {
    let (kind, _, name) = name_of(applier);
    let place = applier.root.at_path(&["metadata", "name"]).unwrap_or(applier.root);
    let source = place.source();
    let (change, what) = match what {
        Some(what) => (ObjectChangeKind::Changed, what),
        None => (ObjectChangeKind::Removed, "is removed".to_owned()),
    };
    PlannedChange::of_file(
        pair.name,
        change,
        (source.name(), source.position(place.span().start).line),
        format!("{kind}/{name} {what}, which changes what it applies of Karpenter"),
    )
}
